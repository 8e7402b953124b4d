//! Who may use whom, and why we use what is not ours.
//!
//! The arrows between our crates are a design decision: a front end cannot
//! reach a back end, a back end cannot ask about a format. [`MAY_USE`] lists
//! them; an arrow that is not there is refused, and so is a crate that is not.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Fault;

/// The crates below `crates/`, and which of ours each may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("machine", &[]),
    ("parallel", &["base"]),
    ("relation", &["base"]),
    ("computation", &["base", "relation"]),
    ("format", &["base", "relation"]),
    ("tensor", &["base", "parallel", "relation", "format"]),
    ("io", &["base", "parallel", "format", "tensor"]),
    ("index", &["base"]),
    ("notation", &["base", "index"]),
    ("schedule", &["base", "format", "index", "notation"]),
    ("graph", &["base", "format", "index"]),
    ("gradient", &["base", "index"]),
    ("network", &["base", "machine"]),
    (
        "plan",
        &[
            "base", "machine", "format", "index", "schedule", "graph", "network",
        ],
    ),
    ("certificate", &["base", "relation", "computation"]),
    (
        "convert",
        &["base", "relation", "computation", "certificate", "format"],
    ),
    ("walk", &["base", "relation", "computation", "index"]),
    ("mlir", &["base", "format", "tensor", "index"]),
    ("mlir-run", &["base", "format", "tensor", "index", "mlir"]),
    ("loop", &["base"]),
    (
        "lower",
        &[
            "base",
            "relation",
            "computation",
            "format",
            "index",
            "graph",
            "loop",
        ],
    ),
    ("codegen-c", &["base", "loop"]),
    ("codegen-cranelift", &["base", "loop"]),
    ("codegen-scf", &["base", "loop"]),
    ("codegen-linalg", &["base", "format", "index", "mlir"]),
    (
        "runtime",
        &["base", "parallel", "loop", "tensor", "codegen-cranelift"],
    ),
    (
        "reference",
        &["base", "format", "tensor", "index", "notation"],
    ),
    ("sparsec", LIBRARIES),
    ("bench", &["sparsec"]),
    // The program runs the benchmarks as one of its commands.
    ("cli", &["sparsec", "bench"]),
    ("python", &["sparsec"]),
    ("testing", LIBRARIES),
    ("fuzz", LIBRARIES),
];

/// Crates that live beside `crates/`, and whose code is for tests all the same.
const BESIDE: &[&str] = &["fuzz"];

/// What the facade brings together.
const LIBRARIES: &[&str] = &[
    "base",
    "parallel",
    "relation",
    "computation",
    "walk",
    "format",
    "tensor",
    "io",
    "index",
    "notation",
    "schedule",
    "graph",
    "plan",
    "gradient",
    "network",
    "certificate",
    "convert",
    "mlir",
    "mlir-run",
    "loop",
    "lower",
    "codegen-c",
    "codegen-cranelift",
    "codegen-scf",
    "codegen-linalg",
    "runtime",
    "reference",
    "sparsec",
];

/// What the tests of a crate may use beyond that, and what for. Every crate's
/// tests may use `testing`.
const TESTS_MAY_USE: &[(&str, &str)] = &[
    // Launching compiled kernels takes their C.
    ("runtime", "codegen-c"),
    // Programs are shortest as text, and concrete notation is read back.
    ("index", "notation"),
    ("index", "schedule"),
    ("graph", "notation"),
    ("walk", "notation"),
];

/// A package of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    name: String,
    /// The manifest, relative to the root.
    manifest: String,
    /// Our crates that it uses.
    uses: Vec<Use>,
}

#[derive(Clone, Debug)]
struct Use {
    name: String,
    for_tests: bool,
}

/// The packages of the workspace at `root`, as cargo reads their manifests.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    Ok(list(&metadata["packages"])
        .iter()
        .map(|package| Package::read(package, root))
        .collect())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Package {
    fn read(package: &Value, root: &Path) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let manifest = text(&package["manifest_path"]);
        let relative = Path::new(&manifest).strip_prefix(root);
        let uses = list(&package["dependencies"])
            .iter()
            .filter(|dependency| dependency["path"].is_string())
            .map(|dependency| Use {
                name: text(&dependency["name"]),
                for_tests: dependency["kind"] == "dev",
            });
        Self {
            name: text(&package["name"]),
            uses: uses.collect(),
            manifest: relative.map_or(manifest.clone(), |path| path.display().to_string()),
        }
    }
}

/// The arrows that are not allowed.
pub(crate) fn check(packages: &[Package]) -> Vec<Fault> {
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Fault> {
    let fault = |text: String| Fault::new(&package.manifest, None, text);
    if package.name == "xtask" {
        let ours = package.uses.iter();
        return ours
            .map(|used| {
                fault(format!(
                    "`xtask` uses none of our crates, but `{}`",
                    used.name
                ))
            })
            .collect();
    }
    let name = short(&package.name);
    let mut faults = Vec::new();
    let folder = match BESIDE.contains(&name) {
        true => format!("{name}/Cargo.toml"),
        false => format!("crates/{name}/Cargo.toml"),
    };
    if package.manifest != folder {
        faults.push(fault(format!(
            "package `{}` lives in `{folder}`",
            package.name
        )));
    }
    let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
        faults.push(fault(format!(
            "`{name}` is not in the table of crates; add it to MAY_USE in xtask with what it may use"
        )));
        return faults;
    };
    for used in &package.uses {
        let other = short(&used.name);
        let for_tests = (used.for_tests || BESIDE.contains(&name))
            && (other == "testing" || TESTS_MAY_USE.contains(&(name, other)));
        if allowed.contains(&other) || for_tests {
            continue;
        }
        faults.push(fault(match (other, allowed.is_empty()) {
            ("testing", _) => {
                format!("`testing` is for tests: `{name}` may use it in [dev-dependencies] only")
            }
            (_, true) => format!("`{name}` may use none of our crates, so not `{other}`"),
            (_, false) => format!(
                "`{name}` may not use `{other}`, only {}",
                allowed.join(", ")
            ),
        }));
    }
    faults
}

/// The name in the table: without `sparsec-`.
fn short(package: &str) -> &str {
    package.strip_prefix("sparsec-").unwrap_or(package)
}

/// Outside dependencies in the root manifest without a comment above that says
/// what they are for.
pub(crate) fn check_reasons(manifest: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut inside = false;
    let mut before = "";
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
        } else if let Some((name, value)) = line.split_once('=')
            && inside
            && !line.starts_with('#')
            && !value.contains("path =")
            && before.trim_start_matches('#').trim().is_empty()
        {
            faults.push(Fault::new(
                "Cargo.toml",
                Some(number + 1),
                format!(
                    "`{}` has no comment above that says what it is for",
                    name.trim()
                ),
            ));
        }
        before = if line.starts_with('#') { line } else { "" };
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, uses: &[(&str, bool)]) -> Package {
        Package {
            name: name.to_owned(),
            manifest: match short(name) {
                "fuzz" => "fuzz/Cargo.toml".to_owned(),
                name => format!("crates/{name}/Cargo.toml"),
            },
            uses: uses
                .iter()
                .map(|&(name, for_tests)| Use {
                    name: name.to_owned(),
                    for_tests,
                })
                .collect(),
        }
    }

    fn check_one(package: Package, expect: &[&str]) {
        let texts: Vec<String> = check(&[package])
            .into_iter()
            .map(|fault| fault.text)
            .collect();
        assert_eq!(texts, expect);
    }

    #[test]
    fn arrows_of_the_table_are_allowed() {
        check_one(package("sparsec-format", &[("sparsec-base", false)]), &[]);
        check_one(package("sparsec-cli", &[("sparsec", false)]), &[]);
        check_one(
            package("sparsec-runtime", &[("sparsec-codegen-c", true)]),
            &[],
        );
        check_one(package("sparsec-io", &[("sparsec-testing", true)]), &[]);
        check_one(package("sparsec-fuzz", &[("sparsec-testing", false)]), &[]);
    }

    #[test]
    fn other_arrows_are_not() {
        check_one(
            package("sparsec-loop", &[("sparsec-format", false)]),
            &["`loop` may not use `format`, only base"],
        );
        check_one(
            package("sparsec-base", &[("sparsec-format", false)]),
            &["`base` may use none of our crates, so not `format`"],
        );
        check_one(
            package("sparsec-codegen-c", &[("sparsec-lower", true)]),
            &["`codegen-c` may not use `lower`, only base, loop"],
        );
    }

    #[test]
    fn testing_is_for_tests() {
        check_one(
            package("sparsec", &[("sparsec-testing", false)]),
            &["`testing` is for tests: `sparsec` may use it in [dev-dependencies] only"],
        );
    }

    #[test]
    fn new_crates_are_entered_in_the_table() {
        let texts = check(&[package("sparsec-util", &[])]);
        assert!(texts[0].text.contains("MAY_USE"));
    }

    #[test]
    fn the_table_points_upwards_only() {
        for (number, (name, uses)) in MAY_USE.iter().enumerate() {
            for used in *uses {
                let place = MAY_USE.iter().position(|(other, _)| other == used);
                let own = *name == "sparsec" && used == name;
                assert!(
                    own || place.is_some_and(|place| place < number),
                    "{name} uses {used}"
                );
            }
        }
    }

    #[test]
    fn reasons_stand_above_dependencies() {
        let manifest = "[workspace.dependencies]\nours = { path = \"x\" }\n\n# To count.\na = \"1\"\nb = \"2\"\n[profile]\nc = 3\n";
        let faults = check_reasons(manifest);
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].line, Some(6));
    }
}
