//! Random expressions of every type give the same bits, and the same failures,
//! compiled, made in memory and interpreted.

use sparsec_base::{ElementType, Kind};
use sparsec_codegen_c::{Options, emit_file, launch_name};
use sparsec_loop::Function;
use sparsec_runtime::{Cache, Compiler, Environment, Kernel, KernelArgument, OutputTensor};
use sparsec_tensor::{Array, Format, Tensor};

use random::{Random, kernel, operands};

mod random;
mod trusted;

/// Kernels in the one file that is compiled.
const KERNELS: usize = 150;
/// Entries of each operand.
const ENTRIES: usize = 8;

#[test]
fn engines_agree_on_random_expressions() {
    let random = &mut Random(2024);
    let functions: Vec<Function> = (0..KERNELS).map(|n| kernel(random, n)).collect();
    let options = Options {
        heading: Vec::new(),
        entry: sparsec_codegen_c::Entry::Launch,
    };
    let mut environment = Environment::of_process();
    environment.cache_dir = Some(env!("CARGO_TARGET_TMPDIR").into());
    let cache = Cache::open(&environment).unwrap();
    let compiler = Compiler::detect(&environment, &cache).unwrap();
    let mut failed = 0;
    // A file of all takes a compiler with sanitizers most of its minute.
    let files = functions.chunks(KERNELS / 8).flat_map(|group| {
        let all: Vec<&Function> = group.iter().collect();
        let text = emit_file(&all, &options);
        group.iter().map(move |function| (function, text.clone()))
    });
    for (function, text) in files {
        let entry = launch_name(function);
        let compiled = trusted::compile_c(function, &text, &entry, &compiler, &cache)
            .unwrap_or_else(|error| panic!("{error}"));
        let generated = Kernel::generate(function).unwrap_or_else(|error| panic!("{error}"));
        let interpreted = Kernel::interpreter(function).unwrap();
        for _ in 0..6 {
            let given: Vec<Tensor> = operands()
                .iter()
                .map(|&(_, storage, _)| operand(random, storage))
                .collect();
            let expect = run(&interpreted, &given);
            failed += usize::from(expect.is_err());
            for (how, kernel) in [("compiled", &compiled), ("generated", &generated)] {
                let result = run(kernel, &given);
                assert!(
                    same(&expect, &result),
                    "{function}\n{given:?}\ninterpreted {expect:?}\n{how} {result:?}\n{}",
                    sparsec_codegen_c::emit(function)
                );
            }
        }
    }
    let runs = KERNELS * 6;
    assert!(
        failed > runs / 20 && failed < runs * 3 / 4,
        "{failed} of {runs} failed"
    );
}

fn operand(random: &mut Random, storage: ElementType) -> Tensor {
    let mut array = Array::zeroed(storage, ENTRIES).unwrap();
    for i in 0..ENTRIES {
        array.set(i, random.scalar(storage));
    }
    let extents = vec![ENTRIES as u64];
    Tensor::new(
        Format::dense(1),
        extents,
        storage,
        storage.zero(),
        vec![array],
    )
    .unwrap()
}

fn run(kernel: &Kernel, given: &[Tensor]) -> Result<Array, String> {
    let function = kernel.function();
    let y = &function.arguments[0];
    let fill = function.buffers[y.buffers[0]].storage.zero();
    let extents = vec![ENTRIES as u64];
    let mut output = OutputTensor::new(function, y, Format::dense(1), extents, fill).unwrap();
    let mut arguments = vec![KernelArgument::Out(&mut output)];
    arguments.extend(given.iter().map(KernelArgument::In));
    match trusted::launch(kernel, &mut arguments) {
        Ok(()) => Ok(output.arrays()[0].clone()),
        Err(error) => Err(error.code().to_string()),
    }
}

/// Equal bits, except that one `NaN` is as good as another: IEEE leaves open
/// which of two operands' payloads and signs an operation keeps.
fn same(a: &Result<Array, String>, b: &Result<Array, String>) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => (0..a.len()).all(|i| {
            let (a, b) = (a.get(i), b.get(i));
            let part = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            let (x, y) = (a.to_c128(), b.to_c128());
            let floats = matches!(a.element().kind(), Kind::Float | Kind::Complex);
            a == b || (floats && part(x.re, y.re) && part(x.im, y.im))
        }),
        _ => a == b,
    }
}
