//! `sparsec doctor`: what sparsec finds on this machine, and whether it works.

use std::time::Instant;

use serde_json::{Value, json};
use sparsec::internals::parallel::Bytes;
use sparsec::internals::runtime::Environment;
use sparsec::internals::{Inputs, Request, parallel};
use sparsec::{Backend, Diagnostic, Format, Options, Result, Session, Source, Tensor};

use crate::screen::Screen;
use crate::table::{counted, duration, table};

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    text: String,
    value: Value,
    fault: Option<Diagnostic>,
}

/// Looks at everything; 1 if something does not work.
///
/// # Errors
/// As [`Screen::print`].
pub(crate) fn doctor(screen: &mut Screen) -> Result<u8> {
    let environment = Environment::of_process();
    let session = Session::new(Options::from_env().environment(environment.clone()));
    let compiler = compiler(&session);
    let c = match &compiler.fault {
        // Nor is one that hangs waited for twice.
        Some(fault) => faulty("backend c", fault.clone()),
        None => backend("backend c", Backend::C, &environment),
    };
    let findings = [
        finding("version", env!("CARGO_PKG_VERSION").to_owned()),
        compiler,
        cache(&session),
        processor(),
        finding("threads", parallel::threads().to_string()),
        c,
        backend("backend cranelift", Backend::Cranelift, &environment),
        backend("backend interp", Backend::Interpreter, &environment),
    ];
    screen.answer(
        || {
            let rows: Vec<[String; 2]> = findings
                .iter()
                .map(|finding| [finding.what.to_owned(), finding.text.clone()])
                .collect();
            table(&rows)
        },
        || {
            let values = findings
                .iter()
                .map(|it| (it.what.replace(' ', "_"), it.value.clone()));
            Value::Object(values.collect())
        },
    )?;
    let mut code = 0;
    let mut shown: Vec<&Diagnostic> = Vec::new();
    for fault in findings.iter().filter_map(|finding| finding.fault.as_ref()) {
        code = 1;
        // Without a compiler the C backend has the same to say.
        if !shown.contains(&fault) {
            screen.show(fault);
            shown.push(fault);
        }
    }
    Ok(code)
}

fn finding(what: &'static str, text: String) -> Finding {
    Finding {
        what,
        value: json!(text),
        text,
        fault: None,
    }
}

fn faulty(what: &'static str, fault: Diagnostic) -> Finding {
    Finding {
        what,
        text: format!("{} ({})", fault.message(), fault.code()),
        value: json!({ "fault": fault.message(), "code": fault.code().as_str() }),
        fault: Some(fault),
    }
}

fn compiler(session: &Session) -> Finding {
    match session.runtime().compiler() {
        Err(fault) => faulty("compiler", fault),
        Ok(compiler) => {
            let path = compiler.path().display().to_string();
            let flags = compiler.flags().join(" ");
            Finding {
                what: "compiler",
                text: format!("{path}, {}, {flags}", compiler.version()),
                value: json!({
                    "path": path,
                    "version": compiler.version(),
                    "flags": compiler.flags(),
                }),
                fault: None,
            }
        }
    }
}

fn cache(session: &Session) -> Finding {
    let found = session
        .runtime()
        .cache()
        .and_then(|cache| Ok((cache, cache.path()?, cache.stat()?)));
    match found {
        Err(fault) => faulty("cache", fault),
        Ok((cache, path, stat)) => {
            let path = path.display().to_string();
            let mut text = format!(
                "{path}, {}, {}",
                counted(stat.kernels, "kernel"),
                Bytes(stat.bytes.into())
            );
            if let Some(trouble) = cache.trouble() {
                text.push_str(&format!(
                    "; temporary: kernels are not kept on disk, because {trouble}"
                ));
            }
            Finding {
                what: "cache",
                text,
                value: json!({
                    "path": path,
                    "kernels": stat.kernels,
                    "bytes": stat.bytes,
                    "trouble": cache.trouble(),
                }),
                fault: None,
            }
        }
    }
}

fn processor() -> Finding {
    let features = features();
    let arch = std::env::consts::ARCH;
    Finding {
        what: "processor",
        text: [&[arch], &features[..]].concat().join(" "),
        value: json!({ "architecture": arch, "features": features }),
        fault: None,
    }
}

/// The features that make a difference to kernels.
fn features() -> Vec<&'static str> {
    macro_rules! detected {
        ($detect:ident: $($name:tt)*) => {
            [$(($name, std::arch::$detect!($name))),*]
                .into_iter()
                .filter_map(|(name, has)| has.then_some(name))
                .collect()
        };
    }
    #[cfg(target_arch = "x86_64")]
    return detected!(is_x86_feature_detected: "sse4.2" "avx" "avx2" "fma" "bmi2" "avx512f" "avx512vl");
    #[cfg(target_arch = "aarch64")]
    return detected!(is_aarch64_feature_detected: "neon" "sve" "sve2");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    Vec::new()
}

/// Runs a small kernel.
fn backend(what: &'static str, backend: Backend, environment: &Environment) -> Finding {
    let started = Instant::now();
    match try_kernel(backend, environment) {
        Err(fault) => faulty(what, fault),
        Ok(()) => {
            let time = started.elapsed();
            Finding {
                what,
                text: format!("works, {} for a small product", duration(time)),
                value: json!({ "works": true, "time": time.as_secs_f64() }),
                fault: None,
            }
        }
    }
}

/// Multiplies a matrix and a vector, and has the result confirmed.
fn try_kernel(backend: Backend, environment: &Environment) -> Result<()> {
    let a = Tensor::pack(
        &Format::csr(),
        &[2, 3],
        &[0, 0, 0, 2, 1, 1],
        &[1.0, 2.0, 3.0],
    )?;
    let x = Tensor::pack(&Format::dense(1), &[3], &[0, 1, 2], &[1.0, 10.0, 100.0])?;
    let inputs = Inputs::from([("A".to_owned(), a), ("x".to_owned(), x)]);
    let request = Request::new(Source::new("expression", "y(i) = A(i,j) * x(j)"));
    let compiled = sparsec::internals::compile(&request, &inputs)?;
    let session = Session::new(
        Options::from_env()
            .backend(backend)
            .environment(environment.clone()),
    );
    let outcome = session.run(&compiled, &inputs)?;
    session.check(&compiled, &inputs, &outcome)
}
