//! Kernels as modules of MLIR, verified and run by MLIR's own tools.
//!
//! Without the [tools](sparsec_testing::mlir_tools) the tests report that they are skipped. With
//! them, `mlir-opt` verifies the module of every filetest, and kernels print what the interpreter
//! computes, bit by bit.

use std::path::Path;

use sparsec::internals::compute::{ComputeStage, Transformations, compute as sparsec_compute};
use sparsec::internals::conversion::Converter;
use sparsec::internals::{Compiled, Inputs, compile};
use sparsec::{Session, Source, Tensor};
use sparsec_loop::interpret::{ArgumentData, Entries};
use sparsec_loop::{Function, Role};
use sparsec_runtime::{KernelArgument, OutputTensor};
use sparsec_testing::file::Filetest;
use sparsec_testing::mlir_tools::Tools;
use sparsec_testing::modules::{self, Call};
use sparsec_testing::{run, suite};

#[path = "../../runtime/tests/random/mod.rs"]
mod random;

/// Random kernels.
const KERNELS: usize = 150;
/// Entries of their operands.
const ENTRIES: usize = 8;
/// Calls in one program: a run of the tools takes longer than most calls.
const CALLS: usize = 40;

/// The filetests of expressions that compile, with their names.
fn expressions() -> Vec<(String, Filetest, Compiled)> {
    let mut found = Vec::new();
    for (name, file) in suite::expressions() {
        if let Ok(compiled) = compile(&file.request, &Inputs::new()) {
            found.push((name, file, compiled));
        }
    }
    found
}

#[test]
fn modules_of_all_filetests_verify() {
    let Some(tools) = Tools::of_environment() else {
        return;
    };
    let all = expressions();
    // One module of all kernels is verified at once.
    for group in all.chunks(CALLS) {
        let statements = group
            .iter()
            .flat_map(|(_, _, compiled)| compiled.statements());
        let functions: Vec<&Function> = statements.map(|it| &it.function).collect();
        let module = sparsec::internals::codegen_scf::emit(&functions);
        tools
            .verify(&module)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(all.len() > 150, "{} files", all.len());
}

#[test]
fn modules_of_computations_verify() {
    let Some(tools) = Tools::of_environment() else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests/compute");
    let mut n_verified = 0;
    for path in suite::files(&root).expect("a folder of filetests") {
        let text = std::fs::read_to_string(&path).expect("a filetest");
        let (head, _) = sparsec_testing::file::split(&text);
        let lines = head.split_inclusive('\n');
        let program: String = lines
            .skip_while(|line| !line.starts_with("computation"))
            .collect();
        let source = Source::new(path.display().to_string(), program);
        // Some are to be refused.
        let made = sparsec_compute(&source, &Transformations::Nothing);
        let Ok(module) = made.and_then(|computed| computed.emit(ComputeStage::Mlir)) else {
            continue;
        };
        tools
            .verify(&module)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        n_verified += 1;
    }
    assert!(n_verified > 10, "{n_verified} computations");
}

#[test]
fn kernels_of_filetests_compute_the_same_bits() {
    let Some(tools) = Tools::of_environment() else {
        return;
    };
    let mut calls = Vec::new();
    let mut failing = Vec::new();
    for (name, file, _) in &expressions() {
        let Ok(cases) = run::inputs(file) else {
            continue;
        };
        for (compiled, inputs) in cases {
            let Some(call) = call_of(&compiled, &inputs) else {
                continue;
            };
            match call.expected() {
                Ok(_) => calls.push(call),
                Err(_) => failing.push((name.clone(), call)),
            }
        }
    }
    assert!(calls.len() > 60, "{} calls", calls.len());
    for group in calls.chunks(CALLS) {
        modules::check(&tools, group).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(failing.len() > 2, "{} failures", failing.len());
    for (name, call) in &failing {
        modules::check_failure(&tools, call).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The formats of conversions, both ways each.
const FORMATS: [&str; 9] = [
    "csr", "csc", "coo", "dcsr", "dense", "bsr(2,2)", "dia", "ell", "hash",
];

#[test]
fn conversions_compute_the_same_bits() {
    let Some(tools) = Tools::of_environment() else {
        return;
    };
    let entries = [
        ([0, 1], 1.5),
        ([1, 0], -2.0),
        ([1, 3], 3.0),
        ([4, 4], 0.25),
        ([5, 1], 8.0),
    ];
    let tensor = |format: &str| {
        let mut builder = Tensor::builder(format, &[6, 5]).expect("a format");
        for (at, value) in entries {
            builder = builder.push(at, value);
        }
        builder.build().expect("a tensor")
    };
    let mut calls = Vec::new();
    for (from, to) in FORMATS
        .iter()
        .flat_map(|a| FORMATS.iter().map(move |b| (a, b)))
    {
        let (source, destination) = (tensor(from), tensor(to));
        // Some pairs have no derived conversion.
        let Ok(converter) = Converter::new(&source, destination.format()) else {
            continue;
        };
        let lent = converter.lend(&source).expect("arrays");
        let session = Session::interpreter();
        let mut prepared = converter
            .prepare(&session, &lent)
            .expect("room for the result");
        let computation = prepared.computation();
        let function = computation.kernel().function().clone();
        let given = computation.arguments(&function);
        let arguments = given.into_iter().map(|argument| match argument {
            KernelArgument::In(tensor) => operand(tensor),
            KernelArgument::Out(output) => arguments_of(output.extents(), output.arrays()),
            KernelArgument::Numbers(numbers) => arguments_of(&numbers, &[]),
            KernelArgument::Alias(_) | KernelArgument::Values(..) => {
                panic!("{from} to {to}: an argument of expressions")
            }
        });
        let arguments = arguments.collect();
        calls.push(Call {
            function,
            arguments,
        });
    }
    assert!(calls.len() > 40, "{} conversions", calls.len());
    for group in calls.chunks(CALLS) {
        modules::check(&tools, group).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn random_kernels_compute_the_same_bits() {
    let Some(tools) = Tools::of_environment() else {
        return;
    };
    let random = &mut random::Random(1912);
    let (mut calls, mut n_failing) = (Vec::new(), 0);
    for number in 0..KERNELS {
        let function = random::kernel(random, number);
        let zeros = Entries::zeros(
            function.buffers[function.arguments[0].buffers[0]].storage,
            ENTRIES,
        );
        let mut arrays = vec![zeros];
        for (_, storage, _) in random::operands() {
            let mut entries = Entries::zeros(storage, ENTRIES);
            (0..ENTRIES).for_each(|at| entries.set(at, random.scalar(storage)));
            arrays.push(entries);
        }
        let argument = |entries| ArgumentData {
            extents: vec![ENTRIES as i64],
            buffers: vec![entries],
        };
        let call = Call {
            function,
            arguments: arrays.into_iter().map(argument).collect(),
        };
        match call.expected() {
            Ok(_) => calls.push(call),
            Err(_) => n_failing += 1,
        }
    }
    assert!(calls.len() > KERNELS / 4, "{n_failing} kernels fail");
    for group in calls.chunks(CALLS) {
        modules::check(&tools, group).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The call of a program with one kernel, if the kernel reads operands as they are given.
fn call_of(compiled: &Compiled, inputs: &Inputs) -> Option<Call> {
    let [statement] = compiled.statements() else {
        return None;
    };
    let plan = &statement.plan;
    if !plan.conversions.is_empty() || plan.levels_of_result.is_some() {
        return None;
    }
    let function = statement.function.clone();
    let mut arguments = Vec::new();
    for argument in &function.arguments {
        let data = match argument.role {
            Role::In => operand(inputs.get(&argument.name)?),
            Role::Out => {
                let program = compiled.resolved();
                let tensor = &program.tensors[program.tensors.named(&argument.name)?];
                let extents: Option<Vec<u64>> = tensor.extents.iter().copied().collect();
                let data = &plan.concrete.tensors[plan.concrete.result];
                let format = plan.formats.shared(plan.concrete.result).clone();
                let extents = extents?;
                let output =
                    OutputTensor::new(&function, argument, format, extents.clone(), data.fill)
                        .ok()?;
                arguments_of(&extents, output.arrays())
            }
        };
        let fits = data.buffers.len() == argument.buffers.len()
            && data.extents.len() == argument.extents.len();
        if !fits {
            return None;
        }
        arguments.push(data);
    }
    Some(Call {
        function,
        arguments,
    })
}

fn operand(tensor: &Tensor) -> ArgumentData {
    arguments_of(tensor.extents(), tensor.arrays())
}

fn arguments_of(extents: &[u64], arrays: &[sparsec::Array]) -> ArgumentData {
    let entries = |array: &sparsec::Array| {
        let mut entries = Entries::zeros(array.element(), array.len());
        for at in 0..array.len() {
            entries.set(at, array.get(at));
        }
        entries
    };
    ArgumentData {
        extents: extents.iter().map(|&extent| extent as i64).collect(),
        buffers: arrays.iter().map(entries).collect(),
    }
}
