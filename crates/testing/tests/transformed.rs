//! Computations of several statements, transformed at random: what their loops compute
//! is what the statements of the first one do, point by point in the order of their times.
//!
//! ```text
//! computation ── points, in order ─────────────────────────► what is live out
//!      │                                                        ▲ the same
//!      └─ command ─ command ─ … ─► computation ── loops, run ───┘
//! ```
//!
//! A command that would break a dependence, or does not apply, is refused by its code,
//! and left out. `PROPTEST_CASES=N` runs N.

#[path = "../../computation/tests/commands/mod.rs"]
mod commands;
#[path = "../../computation/tests/random/mod.rs"]
mod random;

use std::collections::BTreeMap;

use proptest::prelude::*;
use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Backend, Code, Options, Session, Tensor, code};
use sparsec_base::Scalar;

const POS: [i32; 5] = [0, 2, 2, 3, 5];
const CRD: [i32; 5] = [3, 0, 1, 2, 3];
const A: [i64; 5] = [1, -2, 3, 5, -7];
const X: [i64; 4] = [2, -1, 4, 1];

/// Why a command is refused: its temporary data may be gone, as nothing uses them.
const REFUSALS: [Code; 3] = [
    code::DEPENDENCE_BROKEN,
    code::TRANSFORMATION,
    code::COMPUTATION_UNKNOWN,
];

type Results = BTreeMap<String, Vec<Scalar>>;

/// What is live out, as points are run one by one.
fn enumerated(computation: &Computation) -> Results {
    let long = |values: &[i64]| values.iter().map(|n| Scalar::I64(*n)).collect();
    let narrow = |values: &[i32]| values.iter().map(|n| Scalar::I32(*n)).collect();
    let given = sparsec::internals::computation::Given {
        parameters: [("N".to_owned(), 4), ("NZ".to_owned(), 5)].into(),
        data: [
            ("pos".to_owned(), narrow(&POS)),
            ("crd".to_owned(), narrow(&CRD)),
            ("a".to_owned(), long(&A)),
            ("x".to_owned(), long(&X)),
        ]
        .into(),
    };
    let found = computation.evaluate(&given, -2..8);
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// What is live out, as loops compute it.
fn scanned(computation: &Computation, session: &Session) -> Results {
    let compiled = compile_computation(computation);
    let compiled = compiled.unwrap_or_else(|error| panic!("{computation}\n{error}"));
    let vector = |n: usize| vec![n as u64];
    let tensors = [
        ("pos", Tensor::dense(&vector(POS.len()), POS.to_vec())),
        ("crd", Tensor::dense(&vector(CRD.len()), CRD.to_vec())),
        ("a", Tensor::dense(&vector(A.len()), A.to_vec())),
        ("x", Tensor::dense(&vector(X.len()), X.to_vec())),
    ]
    .map(|(name, tensor)| (name, tensor.expect("a vector")));
    let mut given = Given::new().parameter("N", 4).parameter("NZ", 5);
    for (name, tensor) in &tensors {
        given = given.data(*name, tensor);
    }
    let results = session.compute(&compiled, &given);
    let results = results.unwrap_or_else(|error| panic!("{computation}\n{error}"));
    let shared = session.compute(&compiled.in_shares(1), &given);
    let shared = shared.unwrap_or_else(|error| panic!("{computation}\n{error}"));
    assert_eq!(
        format!("{shared:?}"),
        format!("{results:?}"),
        "{computation}"
    );
    let scalars = |tensor: &Tensor| {
        let values = tensor.values::<i64>().expect("integers");
        values.iter().map(|n| Scalar::I64(*n)).collect()
    };
    let named = results.iter();
    named
        .map(|(name, tensor)| (name.clone(), scalars(tensor)))
        .collect()
}

fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(16)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        // In milliseconds.
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn loops_of_transformed_computations_compute_the_same(
        computation in random::computation(),
        throws in prop::collection::vec(commands::dice(), 1..9),
    ) {
        let sessions = [Backend::Interpreter, Backend::Cranelift].map(|backend| {
            Session::new(Options::from_env().backend(backend))
        });
        let expect = enumerated(&computation);
        let mut script = String::new();
        let mut now = computation.clone();
        for dice in &throws {
            if now.statements.is_empty() {
                break;
            }
            let command = commands::command(&now, dice);
            match now.transformed(&command) {
                Ok(after) => {
                    script += &format!("{command}\n");
                    now = after;
                }
                Err(error) => prop_assert!(
                    REFUSALS.contains(&error.code()),
                    "{command}\n{error}"
                ),
            }
        }
        let (pipeline, best) = now.optimised().expect("it applies what is right");
        for (after, by) in [
            (&computation, String::new()),
            (&now, script.clone()),
            (&best, format!("{script}{pipeline}")),
        ] {
            for session in &sessions {
                prop_assert_eq!(
                    scanned(after, session), expect.clone(),
                    "{} after\n{}which is\n{}", computation, by, after
                );
            }
        }
    }
}
