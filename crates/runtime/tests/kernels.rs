//! Kernels on every engine: the same results, the same failures.

use std::path::Path;
use std::sync::OnceLock;

use sparsec_base::{Bool8, Code, Scalar, Source, code};
use sparsec_loop::{Function, verify};
use sparsec_runtime::{Environment, Kernel, KernelArgument, OutputTensor, Session};
use sparsec_tensor::{Array, Format, Tensor};

mod trusted;

/// A kernel of the samples of `sparsec-codegen-c`, or one given as text.
fn function(text: &str) -> Function {
    let function = Function::parse(&Source::new("kernel", text)).unwrap_or_else(|e| panic!("{e}"));
    verify(&function).unwrap_or_else(|error| panic!("{error}"));
    function
}

fn sample(name: &str) -> Function {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen-c/tests/kernels");
    function(&std::fs::read_to_string(folder.join(name).with_extension("loop")).unwrap())
}

/// One cache for all tests of this file, so that the compiler is probed once.
fn session() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| {
        let mut environment = Environment::of_process();
        environment.cache_dir = Some(env!("CARGO_TARGET_TMPDIR").into());
        Session::new(environment)
    })
}

/// The function on every engine.
fn kernels(function: &Function) -> Vec<Kernel> {
    let text = sparsec_codegen_c::emit_unit(function);
    let entry = sparsec_codegen_c::launch_name(function);
    let compiler = session()
        .compiler()
        .unwrap_or_else(|error| panic!("{error}"));
    let cache = session().cache().unwrap();
    vec![
        Kernel::interpreter(function).unwrap_or_else(|error| panic!("{error}")),
        trusted::compile_c(function, &text, &entry, compiler, cache)
            .unwrap_or_else(|error| panic!("{error}\n{text}")),
        Kernel::generate(function).unwrap_or_else(|error| panic!("{error}")),
    ]
}

/// The function on every engine but the interpreter, which commits what it is asked
/// for.
fn compiled(function: &Function) -> Vec<Kernel> {
    kernels(function).split_off(1)
}

/// What a result is to be: format, extents, fill.
type Wanted<'a> = (Format, &'a [u64], Scalar);

/// Runs on every engine with `wanted` as the first arguments; the results of
/// the first, which the others must have too. Results that are no tensor (a
/// kernel that failed) are compared by code alone.
fn run(function: &Function, wanted: &[Wanted<'_>], given: &[&Tensor]) -> Result<Vec<Tensor>, Code> {
    let mut first: Option<Result<Vec<Tensor>, Code>> = None;
    for kernel in kernels(function) {
        let mut outputs: Vec<OutputTensor> = wanted
            .iter()
            .zip(&function.arguments)
            .map(|((format, extents, fill), argument)| {
                OutputTensor::new(function, argument, format.clone(), extents.to_vec(), *fill)
                    .unwrap()
            })
            .collect();
        let mut arguments: Vec<KernelArgument<'_>> =
            outputs.iter_mut().map(KernelArgument::Out).collect();
        arguments.extend(given.iter().map(|tensor| KernelArgument::In(tensor)));
        let ended = trusted::launch(&kernel, &mut arguments).map_err(|error| error.code());
        let ended = ended.map(|()| {
            let finish = |output: OutputTensor| output.finish().unwrap_or_else(|e| panic!("{e}"));
            outputs.into_iter().map(finish).collect::<Vec<_>>()
        });
        match &first {
            None => first = Some(ended),
            Some(first) => assert_eq!(*first, ended, "the engines differ"),
        }
    }
    first.unwrap()
}

const ZERO: Scalar = Scalar::F64(0.0);

/// A small matrix with an empty row, and a larger one by a rule.
fn matrix(rows: u64, columns: u64, step: u64) -> Tensor {
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for e in (0..rows * columns).step_by(step as usize) {
        if e / columns != 1 {
            coords.extend([(e / columns) as i64, (e % columns) as i64]);
            values.push((e % 7) as f64 - 2.0);
        }
    }
    let coords: Vec<u64> = coords.iter().map(|&c| c as u64).collect();
    Tensor::pack(&Format::csr(), &[rows, columns], &coords, &values).unwrap()
}

fn vector<T: sparsec_tensor::Element>(values: Vec<T>) -> Tensor {
    let extents = vec![values.len() as u64];
    let fill = T::ZERO.scalar();
    let array = Array::from_vec(values);
    Tensor::new(Format::dense(1), extents, fill.element(), fill, vec![array]).unwrap()
}

fn dense_of(matrix: &Tensor) -> Vec<Vec<f64>> {
    let extents = matrix.extents();
    let mut dense = vec![vec![0.0; extents[1] as usize]; extents[0] as usize];
    let (pos, crd) = (matrix.level(1).pos(), matrix.level(1).crd());
    let values = matrix.values::<f64>().unwrap();
    for (i, row) in dense.iter_mut().enumerate() {
        for p in pos.get(i)..pos.get(i + 1) {
            row[crd.get(p as usize) as usize] = values[p as usize];
        }
    }
    dense
}

#[test]
fn spmv_multiplies() {
    let a = matrix(5, 4, 3);
    let x = vector(vec![1.0, -2.0, 0.5, 4.0]);
    let results = run(
        &sample("spmv"),
        &[(Format::dense(1), &[5], ZERO)],
        &[&a, &x],
    )
    .unwrap();
    let expect: Vec<f64> = dense_of(&a)
        .iter()
        .map(|row| {
            row.iter()
                .zip([1.0, -2.0, 0.5, 4.0])
                .map(|(a, x)| a * x)
                .sum()
        })
        .collect();
    assert_eq!(results[0].values::<f64>().unwrap(), expect);
}

#[test]
fn addition_appends_past_every_first_room() {
    let (a, b) = (matrix(200, 300, 2), matrix(200, 300, 3));
    let wanted = (Format::csr(), &[200, 300][..], ZERO);
    let results = run(&sample("add"), &[wanted], &[&a, &b]).unwrap();
    let (a, b) = (dense_of(&a), dense_of(&b));
    for (i, row) in dense_of(&results[0]).iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            assert_eq!(*value, a[i][j] + b[i][j]);
        }
    }
}

/// Loops along rows, which engines may run some entries at a time, and loops that
/// only look like them: each turn reads what the one before it stored.
#[test]
fn rows_are_the_same_whatever_their_length() {
    for ty in ["f32", "f64"] {
        let text = format!(
            "fn rows(
              out y \"(i) -> (i : dense)\" {{ extent y.n0, write y.vals: {ty} }},
              out z \"(i) -> (i : dense)\" {{ extent z.n0, write z.vals: {ty} }},
              in x \"(i) -> (i : dense)\" {{ extent x.n0, read x.vals: {ty} }}) {{
              let half: {ty} = {ty}(0.5)
              for i in 0..y.n0 {{
                y.vals[i] = -x.vals[i]
                z.vals[i] = y.vals[i] * half
              }}
              for j in 1..y.n0 {{ y.vals[j] += half * x.vals[j] - x.vals[0] }}
              for k in 0..y.n0 {{ z.vals[k] *= sqrt(abs(y.vals[k])) / (half + abs(x.vals[k])) }}
              for l in 0..y.n0 - 3 {{ y.vals[3 + l] -= z.vals[l] }}
              for m in 1..y.n0 {{ y.vals[m] = y.vals[m - 1] + x.vals[m] }}
              for p in 0..y.n0 - 2 {{ y.vals[2 + p] += y.vals[0 + p] }}
              for q in 0..y.n0 {{ y.vals[q] += y.vals[0] }}
              for r in 0..y.n0 {{
                z.vals[r] += y.vals[r]
                z.vals[r] += half
              }}
            }}"
        );
        let rows = function(&text);
        for n in 0..=19_u64 {
            let values: Vec<f64> = (0..n).map(|i| (i * i % 13) as f64 * 0.3 - 1.7).collect();
            let (x, zero) = match ty {
                "f32" => {
                    let narrow = values.iter().map(|&value| value as f32).collect();
                    (vector::<f32>(narrow), Scalar::F32(0.0))
                }
                _ => (vector(values), ZERO),
            };
            let wanted = (Format::dense(1), &[n][..], zero);
            let results = run(&rows, &[wanted.clone(), wanted], &[&x]).unwrap();
            assert_eq!(results.len(), 2);
        }
    }
}

#[test]
fn arrays_grow_apart_where_they_must() {
    let rows: Vec<i64> = (0..5000).map(|i| (i * 37) % 11 - 3).collect();
    let entries: i64 = rows.iter().map(|&n| n.max(0)).sum();
    let n = vector(rows);
    let wanted = (Format::dcsr(), &[5000, 8][..], ZERO);
    let results = run(&sample("uneven"), &[wanted], &[&n]).unwrap();
    assert_eq!(results[0].n_stored() as i64, entries);
}

#[test]
fn a_result_may_be_empty() {
    let empty = Tensor::pack(&Format::csr(), &[3, 3], &[], &[]).unwrap();
    let wanted = (Format::csr(), &[3, 3][..], ZERO);
    let results = run(&sample("add"), &[wanted], &[&empty, &empty]).unwrap();
    assert_eq!(results[0].n_stored(), 0);
}

#[test]
fn products_are_collected_in_a_workspace_and_sorted() {
    let (a, b) = (matrix(40, 60, 7), matrix(60, 900, 3));
    let wanted = (Format::csr(), &[40, 900][..], ZERO);
    let results = run(&sample("spgemm"), &[wanted], &[&a, &b]).unwrap();
    let product = dense_of(&results[0]);
    let (a, b) = (dense_of(&a), dense_of(&b));
    for i in 0..40 {
        for j in 0..900 {
            let expect: f64 = (0..60).map(|k| a[i][k] * b[k][j]).sum();
            assert_eq!(product[i][j], expect, "({i}, {j})");
        }
    }
}

#[test]
fn a_kernel_is_launched_again_on_what_it_made() {
    let function = sample("add");
    let (a, b) = (matrix(200, 300, 2), matrix(200, 300, 3));
    for kernel in kernels(&function) {
        let mut output = OutputTensor::new(
            &function,
            &function.arguments[0],
            Format::csr(),
            vec![200, 300],
            ZERO,
        )
        .unwrap();
        let mut results = Vec::new();
        for _ in 0..3 {
            let mut arguments = [
                KernelArgument::Out(&mut output),
                KernelArgument::In(&a),
                KernelArgument::In(&b),
            ];
            trusted::launch(&kernel, &mut arguments).unwrap();
            results.push(output.clone().finish().unwrap());
        }
        assert!(results.iter().all(|result| *result == results[0]));
    }
}

/// The quotient kernel: what it gives, or the code of its failure.
#[track_caller]
fn check_quotient(a: i64, b: i64, f: f64, expect: Result<i64, Code>) {
    let given = [vector(vec![a]), vector(vec![b]), vector(vec![f])];
    let given: Vec<&Tensor> = given.iter().collect();
    let wanted = (Format::dense(1), &[1][..], Scalar::I64(0));
    let results = run(&sample("quotient"), &[wanted], &given);
    let value = results.map(|results| results[0].values::<i64>().unwrap()[0]);
    assert_eq!(value, expect);
}

#[test]
fn failures_follow_lazy_evaluation() {
    check_quotient(9, 2, 0.0, Ok(3));
    check_quotient(9, 0, 0.0, Ok(-1));
    check_quotient(-5, 3, 0.0, Ok(10));
    check_quotient(i64::MIN, -1, 0.0, Ok(7));
    check_quotient(i64::MIN + 1, -1, 0.0, Ok(-7));
    check_quotient(0, 0, 8.9, Ok(-1 + 4));
    check_quotient(0, 0, 1e19, Err(code::CAST_OUT_OF_RANGE));
    check_quotient(0, 0, 5e9, Err(code::CAST_OUT_OF_RANGE));
    check_quotient(0, 0, f64::NAN, Err(code::CAST_OUT_OF_RANGE));
    check_quotient(0, 0, -9223372036854775808.0, Err(code::CAST_OUT_OF_RANGE));
}

#[test]
fn division_by_zero_is_an_error() {
    let divide = function(
        r#"fn divide(
          out s "() -> ()" { write s.vals: i64 },
          in a "(i) -> (i : dense)" { extent a.n0, read a.vals: i64 }) {
          s.vals[0] = a.vals[0] % a.vals[1] + a.vals[0] // a.vals[1]
        }"#,
    );
    let wanted = (Format::dense(0), &[][..], Scalar::I64(0));
    let given = vector(vec![1i64, 0]);
    let ended = run(&divide, std::slice::from_ref(&wanted), &[&given]);
    assert_eq!(ended, Err(code::DIVISION_BY_ZERO));
    let given = vector(vec![-7i64, 2]);
    let results = run(&divide, &[wanted], &[&given]).unwrap();
    assert_eq!(results[0].values::<i64>().unwrap(), [1 - 4]);
}

#[test]
fn bounds_are_evaluated_once() {
    let given = Tensor::pack(&Format::csf(1), &[9], &[1, 3, 4, 8], &[1.0, 2.0, 4.0, 8.0]).unwrap();
    let wanted = (Format::dense(0), &[][..], ZERO);
    let results = run(&sample("scalar"), &[wanted], &[&given]).unwrap();
    assert_eq!(results[0].values::<f64>().unwrap(), [-15.0]);
}

#[test]
fn huge_growth_is_refused() {
    for len in [
        "4611686018427387904",
        "9223372036854775807",
        "1000000000000",
    ] {
        let grow = function(&format!(
            r#"fn grow_much(
              out s "(i) -> (i : compressed)" {{
                extent s.n0, write s0.pos: i64 as i32, grow s0.crd: i64 as i32, grow s.vals: f64 }}) {{
              s0.pos[0] = 0
              s0.pos[1] = 0
              resize s0.crd, 0
              if s.n0 > 0 {{ grow s.vals, {len} }}
              resize s.vals, 0
            }}"#
        ));
        for kernel in compiled(&grow) {
            let (grown, format) = (&grow.arguments[0], Format::csf(1));
            let mut output = OutputTensor::new(&grow, grown, format, vec![9], ZERO).unwrap();
            let error =
                trusted::launch(&kernel, &mut [KernelArgument::Out(&mut output)]).unwrap_err();
            assert_eq!(error.code(), code::KERNEL_OUT_OF_MEMORY, "{len}");
            let text = error.to_string();
            assert!(text.contains("memory for the result"), "{text}");
            assert!(text.contains("`s.vals` was to have"), "{text}");
            // What was lent is back: the same arrays serve the next launch.
            assert_eq!(output.arrays().len(), 3);
            assert_eq!(output.arrays()[2].len(), 0);
        }
    }
}

#[test]
fn huge_workspaces_are_refused() {
    for len in ["4611686018427387904", "1000000000000", "-1"] {
        let text = format!(
            r#"fn hoard(out s "() -> ()" {{ write s.vals: f64 }}) {{
              alloc w: f64[{len}]
              s.vals[0] = 0.0
            }}"#
        );
        let hoard = function(&text);
        for kernel in compiled(&hoard) {
            let (result, format) = (&hoard.arguments[0], Format::dense(0));
            let mut output = OutputTensor::new(&hoard, result, format, vec![], ZERO).unwrap();
            let error =
                trusted::launch(&kernel, &mut [KernelArgument::Out(&mut output)]).unwrap_err();
            assert_eq!(error.code(), code::KERNEL_OUT_OF_MEMORY, "{len}");
            assert!(error.to_string().contains("a workspace"), "{error}");
        }
    }
}

#[test]
fn every_type_computes_alike() {
    let n = 64u64;
    let of = |k: u64, i: u64| (i * 2654435761 + k * 40503) % 1000;
    let floats: Vec<f64> = (0..n)
        .map(|i| match i {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => -0.0,
            3 => 1e300,
            _ => of(1, i) as f64 / 64.0 - 7.0,
        })
        .collect();
    let x = vector(floats.iter().map(|&v| v as f32).collect());
    let z = vector(floats);
    let ints = |k| {
        (0..n)
            .map(|i| (of(k, i) as i32).wrapping_mul(4_294_967))
            .collect::<Vec<i32>>()
    };
    let (c, e) = (vector(ints(2)), vector(ints(3)));
    let s = Tensor::new(
        Format::dense(1),
        vec![n],
        sparsec_base::ElementType::Bool,
        Scalar::Bool(false),
        vec![Array::from_vec(
            (0..n)
                .map(|i| Bool8::from(of(4, i) % 2 == 1))
                .collect::<Vec<_>>(),
        )],
    )
    .unwrap();
    let wanted = [Scalar::F32(0.0), Scalar::Bool(false), Scalar::I32(0), ZERO]
        .map(|fill| (Format::dense(1), &[64u64][..], fill));
    let results = run(&sample("types"), &wanted, &[&x, &z, &c, &e, &s]).unwrap();
    // The engines agree bit for bit, or `run` had said so; and not on `NaN` alone.
    for (result, (_, _, fill)) in results.iter().zip(&wanted) {
        assert!(result.vals().len() == 64 && result.vals().get(9) != *fill);
        assert!(!result.vals().get(9).to_f64().is_nan());
    }
}

/// Results that move while loops around, between and inside of the growth use them: what
/// was stored before is read after, wherever it is by then.
#[test]
fn results_that_grow_inside_of_loops_keep_what_they_hold() {
    let values: Vec<f64> = (0..500).map(|j| f64::from(j * 7 % 40)).collect();
    let wanted = (Format::csr(), &[40, 500][..], ZERO);
    let results = run(&sample("grow"), &[wanted], &[&vector(values.clone())]).unwrap();
    let mut expect = Vec::new();
    for i in 0..40 {
        let first = expect.len();
        for value in &values {
            if *value > f64::from(i) {
                let before = expect[first..].last().copied().unwrap_or(0.0);
                expect.push(value + before);
            }
            expect[first..].iter_mut().for_each(|entry| *entry += 1.0);
        }
        for at in (first..expect.len()).rev() {
            expect[at] = expect[at] * 2.0 - expect[first];
        }
    }
    assert!(expect.len() > 9000, "many times the first room");
    assert_eq!(results[0].values::<f64>().unwrap(), expect);
}

#[test]
fn names_of_the_library_can_be_kernels() {
    for name in ["index", "y1", "write", "memcpy", "int", "printf"] {
        let text = format!(
            r#"fn {name}_(out s "() -> ()" {{ write s.vals: f64 }}) {{ s.vals[0] = 2.5 }}"#
        );
        let mut kernel = function(&text);
        kernel.name = name.to_owned();
        let wanted = (Format::dense(0), &[][..], ZERO);
        let results = run(&kernel, &[wanted], &[]).unwrap();
        assert_eq!(results[0].values::<f64>().unwrap(), [2.5]);
    }
}

#[test]
fn kernels_run_in_many_threads_at_once() {
    let function = sample("spgemm");
    let (a, b) = (matrix(40, 60, 7), matrix(60, 90, 3));
    let kernel = kernels(&function).pop().unwrap();
    let product = || {
        let (argument, extents) = (&function.arguments[0], vec![40, 90]);
        let mut output =
            OutputTensor::new(&function, argument, Format::csr(), extents, ZERO).unwrap();
        let mut arguments = [
            KernelArgument::Out(&mut output),
            KernelArgument::In(&a),
            KernelArgument::In(&b),
        ];
        trusted::launch(&kernel, &mut arguments).unwrap();
        output.finish().unwrap()
    };
    let expect = product();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(product(), expect)));
        }
    });
}

#[test]
#[should_panic(expected = "storage of `A1.pos`")]
fn wrong_storage_is_a_fault_of_ours() {
    let function = sample("spmv");
    let wide = Format::csr();
    let pos = Array::from_vec(vec![0i64, 0]);
    let arrays = vec![
        pos,
        Array::from_vec(Vec::<i32>::new()),
        Array::from_vec(Vec::<f64>::new()),
    ];
    let element = sparsec_base::ElementType::F64;
    let a = Tensor::new(wide, vec![1, 1], element, ZERO, arrays).unwrap();
    let x = vector(vec![1.0]);
    let _ = run(&function, &[(Format::dense(1), &[1], ZERO)], &[&a, &x]);
}
