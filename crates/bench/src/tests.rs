//! Every kernel at sizes where the launch is all there is.

use super::*;

fn tiny() -> Sizes {
    Sizes {
        rows: 60,
        product_rows: 50,
        tensor_extents: [7, 5, 9],
        tensor_stored: 60,
        bandwidth_bytes: 1 << 16,
        conversions: conversions::Scale::Tiny,
        io: io::IoSizes {
            n: 40,
            file_entries: 100,
            triplets: 200,
        },
        networks: networks::Scale::Tiny,
    }
}

fn options(json: bool) -> Options {
    Options {
        repeat: 1,
        threads: 3,
        json,
        ..Options::default()
    }
}

#[test]
fn every_kernel_agrees_with_c_by_hand() {
    let mut out = Vec::new();
    let report = measure(&options(false), &tiny(), &mut out).unwrap_or_else(|e| panic!("{e}"));
    let text = String::from_utf8(out).expect("what is printed is text");
    for (case, pattern) in all_kernels() {
        assert!(text.contains(&case.full_name(pattern)), "{text}");
    }
    assert_eq!(report.rows.len(), 19);
    assert_eq!(report.latencies.len(), 4);
    let tasks: Vec<&str> = report
        .io
        .iter()
        .flat_map(|io| &io.rows)
        .map(|row| row.name)
        .collect();
    let all = [
        "read mtx",
        "read mtx/1",
        "read tns",
        "write mtx",
        "pack csr",
        "check csr",
    ];
    assert_eq!(tasks, all);
    assert_eq!(report.networks.len(), 48);
    for row in &report.networks {
        assert!(row.best() > 0.0 && row.best().is_finite(), "{}", row.text());
    }
    assert!(report.rows.iter().all(|row| row.ratio > 0.0));
    for row in &report.rows {
        let names: Vec<&str> = row.variants.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["plain C", "cranelift", "3 threads"], "{}", row.name);
    }
}

#[test]
fn json_is_one_object() {
    let mut options = options(true);
    options.only = vec!["spmv/band".to_owned(), "mttkrp".to_owned()];
    let mut out = Vec::new();
    measure(&options, &tiny(), &mut out).unwrap_or_else(|e| panic!("{e}"));
    let value: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(value["kernels"][0]["name"], "spmv/band");
    assert_eq!(value["kernels"][1]["name"], "mttkrp/uniform");
    assert_eq!(value["latencies"], serde_json::json!([]));
}

#[test]
fn unknown_names_are_refused() {
    let mut options = options(false);
    options.only = vec!["spmvv".to_owned()];
    let error = run(&options, &mut Vec::new()).expect_err("there is no such kernel");
    assert_eq!(error.code(), code::BAD_OPTION_VALUE);
    assert_eq!(error.help_text(), Some("did you mean `spmv`?"));
}

#[test]
fn suites_are_names_too() {
    let only = |names: &[&str]| {
        Chosen::of(
            &names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>(),
            &[],
        )
        .expect("known names")
    };
    assert!(only(&["io"]).kernels.is_empty());
    assert_eq!(only(&["io"]).suites, [Suite::Io]);
    assert_eq!(only(&["kernels"]).kernels.len(), all_kernels().count());
    assert_eq!(only(&["latency", "spmv/band"]).kernels.len(), 1);
}

#[test]
fn files_take_the_place_of_what_is_generated() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let matrix = dir.path().join("arrow.mtx");
    let rows: String = (1..=40)
        .map(|i| format!("{i} {i} 2\n40 {i} -1\n"))
        .collect();
    let rows = rows.replacen("40 40 -1\n", "", 1);
    let text = format!("%%MatrixMarket matrix coordinate real general\n40 40 79\n{rows}");
    std::fs::write(&matrix, text).expect("a file");
    let tensor = dir.path().join("steps.tns");
    let entries: String = (1..=9)
        .map(|i| format!("{i} {} {} 1.5\n", i % 4 + 1, i))
        .collect();
    std::fs::write(&tensor, entries).expect("a file");
    let mut options = options(false);
    options.files = vec![matrix, tensor.clone()];
    let report = measure(&options, &tiny(), &mut Vec::new()).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = report.rows.iter().map(|row| row.name.as_str()).collect();
    let wanted: Vec<String> = CASES
        .iter()
        .map(|case| format!("{}/{}", case.name, ["arrow", "steps"][case.order() - 2]))
        .collect();
    assert_eq!(names.len(), wanted.len());
    assert!(
        wanted.iter().all(|name| names.contains(&name.as_str())),
        "{names:?}"
    );
    assert!(report.latencies.is_empty());

    options.files = vec![tensor];
    options.only = vec!["spmv".to_owned()];
    let error = run(&options, &mut Vec::new()).expect_err("no matrix is given");
    assert_eq!(error.code(), code::BAD_OPTION_VALUE);
}

#[test]
fn networks_have_tensors_of_files() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let tensor = dir.path().join("steps.tns");
    let entries: String = (1..=30)
        .map(|i| format!("{} {} {} {i} 1.5\n", i % 5 + 1, i % 4 + 1, i % 7 + 1))
        .collect();
    std::fs::write(&tensor, entries).expect("a file");
    let mut options = options(false);
    options.files = vec![tensor];
    options.only = vec!["networks/mttkrp".to_owned(), "networks/steps/2".to_owned()];
    let report = measure(&options, &tiny(), &mut Vec::new()).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = report
        .networks
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    let wanted = [
        "mttkrp/steps/0",
        "mttkrp/steps/1",
        "mttkrp/steps/2",
        "mttkrp/steps/3",
        "ttmc16/steps/2",
        "ttmc50/steps/2",
    ];
    assert_eq!(names, wanted);
    options.only = vec!["networks/medium".to_owned()];
    let error = run(&options, &mut Vec::new()).expect_err("integrals take no files");
    assert_eq!(error.code(), code::BAD_OPTION_VALUE);
}

#[test]
fn plans_that_were_priced_give_the_same_result() {
    let mut options = options(false);
    options.only = vec!["networks/search/tiny".to_owned()];
    let report = measure(&options, &tiny(), &mut Vec::new()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report.networks.len(), 3);
    for row in &report.networks {
        let plans = row.plans.as_ref().expect("one statement");
        assert!(plans.number > 1 && plans.over_fastest >= 1.0, "{row:?}");
    }
}

#[test]
fn plans_are_kept() {
    let sizes = Sizes {
        rows: 20_000,
        product_rows: 20_000,
        tensor_extents: [1_200, 900, 2_800],
        tensor_stored: 100_000,
        ..tiny()
    };
    let mut plans = String::new();
    for (case, pattern) in all_kernels() {
        let data = data::Data::generated(&sizes, pattern);
        let inputs = case.inputs(&data).unwrap_or_else(|e| panic!("{e}"));
        let request = case.request().unwrap_or_else(|e| panic!("{e}"));
        let compiled =
            sparsec::internals::compile(&request, &inputs).unwrap_or_else(|e| panic!("{e}"));
        plans += &format!("{}: {}\n", case.full_name(pattern), case.expression);
        for statement in compiled.statements() {
            // How many threads there are is up to the machine.
            let schedule = statement.plan.schedule.to_string();
            let is_of_threads = |line: &&str| line.contains("Thread") || line.starts_with("divide");
            for line in schedule.lines().filter(|line| !is_of_threads(line)) {
                plans += &format!("  {line}\n");
            }
        }
    }
    let expect = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("plans.txt");
    if std::env::var_os("SPARSEC_BLESS").is_some() {
        std::fs::write(&expect, &plans).unwrap_or_else(|e| panic!("{e}"));
    }
    let kept = std::fs::read_to_string(&expect).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        plans, kept,
        "set SPARSEC_BLESS=1 where the new plans are better"
    );
}

/// Where Python has SciPy, the method of the paper converts the pairs of its evaluation, and gives the same.
#[test]
fn conversions_are_measured_beside_synthesized_inspectors() {
    let pairs = [
        "scoo:csr",
        "coo:csr",
        "scoo:csc",
        "csr:csc",
        "scoo:dia",
        "scoo:mcoo",
    ];
    let mut options = options(false);
    options.only = pairs.iter().map(|pair| format!("convert/{pair}")).collect();
    let mut out = Vec::new();
    let report = measure(&options, &tiny(), &mut out).unwrap_or_else(|e| panic!("{e}"));
    let text = String::from_utf8(out).expect("what is printed is text");
    let is_alone = text.contains("nothing to compare with") || text.contains("no spf:");
    for pair in pairs {
        let named = |row: &&conversions::ConversionRow| row.name.starts_with(pair);
        let mut rows = report.conversions.iter().filter(named);
        let beside = rows.any(|row| row.of_synthesized().is_some());
        assert!(beside || is_alone, "{pair}: {text}");
    }
}

/// Where MLIR is installed, each of its programs computes the same.
#[test]
fn programs_of_mlir_agree() {
    let mut options = options(false);
    options.only = vec!["mlir".to_owned()];
    let mut out = Vec::new();
    let report = measure(&options, &tiny(), &mut out).unwrap_or_else(|e| panic!("{e}"));
    let text = String::from_utf8(out).expect("what is printed is text");
    match report.mlir.len() {
        0 => assert!(text.contains("no MLIR to compare with"), "{text}"),
        n => assert_eq!(n, 9, "{text}"),
    }
}

#[test]
fn unknown_parts_of_mlir_are_refused() {
    let mut options = options(false);
    options.only = vec!["mlir/spmw".to_owned()];
    let error = measure(&options, &tiny(), &mut Vec::new()).expect_err("there is no such part");
    assert_eq!(error.code(), code::BAD_OPTION_VALUE);
}
