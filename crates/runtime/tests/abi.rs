//! The structures of the runtime have the layout of the C declarations, and
//! kernels see what the page `abi` of `sparsec-codegen-c` promises.

use sparsec_base::{Scalar, Source, code};
use sparsec_loop::Function;
use sparsec_runtime::{Cache, Compiler, Environment, KernelArgument, OutputTensor};
use sparsec_tensor::{Array, Format, Tensor};

mod trusted;

/// C in place of the loops of a kernel: looks at everything that it is handed.
const PROBE: &str = r#"
int32_t probe_launch(sparsec_context *context, sparsec_tensor **tensors) {
  double *out = tensors[0]->arrays[0].data;
  sparsec_array *crd = &tensors[0]->arrays[1];
  sparsec_array *vals = &tensors[0]->arrays[2];
  ((int32_t *)out)[0] = 0;
  const sparsec_tensor *in = tensors[1];
  if (in->extents[0] != 3 || in->arrays[0].len != 3) return 1;
  if (((double *)in->arrays[0].data)[2] != 2.5) return 1;

  int64_t n = 1000000;
  int32_t *list = crd->data;
  if (!list || crd->len != 0) return 2;
  list[0] = 7;
  if (context->grow(context, crd, n, sizeof(int32_t)) != crd->data) return 2;
  if (crd->capacity < n || ((int32_t *)crd->data)[0] != 7) return 2;
  if (context->grow(context, crd, INT64_MAX, sizeof(int32_t))) return 2;
  if (context->grow(context, vals, n, sizeof(double)) != vals->data) return 2;

  int64_t *wide = context->workspace(context, 1000, sizeof(int64_t));
  if (!wide || ((uintptr_t)wide & 7)) return 3;
  for (int64_t i = 0; i < 1000; i++) {
    if (wide[i]) return 3;
    wide[i] = (i * 7919) % 1000 - 10;
  }
  if (!context->workspace(context, 0, 8)) return 3;
  if (context->workspace(context, INT64_MAX / 2, 8)) return 3;
  context->sort_i64(context, wide, 1000);
  for (int64_t i = 0; i < 1000; i++)
    if (wide[i] != i - 10) return 4;
  int64_t *along = context->workspace(context, 1000, sizeof(int64_t));
  for (int64_t i = 0; i < 1000; i++) {
    wide[i] = (i * 7919) % 500;
    along[i] = i;
  }
  context->sort_pairs(context, wide, along, 1000);
  for (int64_t i = 0; i < 1000; i++)
    if (wide[i] != i / 2 || (along[i] * 7919) % 500 != wide[i]) return 4;
  list = crd->data;
  for (int64_t i = 0; i < n; i++) list[i] = (int32_t)(n - 1 - i);
  if (context->sort_i32(context, list, n)) return 4;
  for (int64_t i = 0; i < n; i++)
    if (list[i] != i) return 4;
  for (int64_t i = 0; i < n; i++) ((double *)vals->data)[i] = (double)i;
  ((int32_t *)out)[1] = (int32_t)n;
  crd->len = vals->len = n;
  return 0;
}
"#;

#[test]
fn a_kernel_sees_what_the_page_says() {
    let signature = r#"fn probe(
      out y "(i) -> (i : compressed)" {
        extent y.n0, write y0.pos: i64 as i32, grow y0.crd: i64 as i32, grow y.vals: f64 },
      in x "(i) -> (i : dense)" { extent x.n0, read x.vals: f64 }) {
      fail out_of_memory
    }"#;
    let function = Function::parse(&Source::new("probe", signature)).unwrap();
    let text = sparsec_codegen_c::emit_file(&[], &Default::default()) + PROBE;
    let mut environment = Environment::of_process();
    environment.cache_dir = Some(env!("CARGO_TARGET_TMPDIR").into());
    let cache = Cache::open(&environment).unwrap();
    let compiler = Compiler::detect(&environment, &cache).unwrap();
    let kernel = trusted::compile_c(&function, &text, "probe_launch", &compiler, &cache)
        .unwrap_or_else(|error| panic!("{error}"));
    let fill = Scalar::F64(0.0);
    let x = Tensor::new(
        Format::dense(1),
        vec![3],
        fill.element(),
        fill,
        vec![Array::from_vec(vec![0.5, 1.5, 2.5])],
    )
    .unwrap();
    let argument = &function.arguments[0];
    // One past the last row is no number of 64 bits.
    let beyond = OutputTensor::new(
        &function,
        argument,
        Format::csr(),
        vec![i64::MAX as u64, 3],
        fill,
    );
    let refused = beyond.err().map(|error| error.code());
    assert_eq!(refused, Some(code::KERNEL_OUT_OF_MEMORY));
    let mut y =
        OutputTensor::new(&function, argument, Format::csf(1), vec![1_000_000], fill).unwrap();
    let mut arguments = [KernelArgument::Out(&mut y), KernelArgument::In(&x)];
    trusted::launch(&kernel, &mut arguments).unwrap_or_else(|error| panic!("{error}"));
    let y = y.finish().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(y.n_stored(), 1_000_000);
    assert_eq!(y.values::<f64>().unwrap()[999_999], 999_999.0);
}
