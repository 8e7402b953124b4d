//! Iterators and indexing maps of named operations of `linalg`.
//!
//! ```text
//! matmul    m,k;k,n;m,n      a(m, k)  b(k, n)  c(m, n): m and n parallel, k a reduction
//! conv_1d   x+u;u;x          the place u of the window at x, with strides and dilations
//! ```
//!
//! Source: the definitions of the operations in LLVM 19, `LinalgNamedStructuredOps.yaml`.

use crate::affine::{AffineExpr, AffineMap, AffineOp};
use crate::attribute::Attribute;
use crate::module::Operation;
use crate::release::Dialect;

/// Subscripts of operands, the result last.
const SUBSCRIPTS: &[(&str, &str)] = &[
    ("matmul", "m,k;k,n;m,n"),
    ("matmul_transpose_a", "k,m;k,n;m,n"),
    ("matmul_transpose_b", "m,k;n,k;m,n"),
    ("quantized_matmul", "m,k;k,n;;;m,n"),
    ("matvec", "m,k;k;m"),
    ("vecmat", "k;k,n;n"),
    ("dot", "k;k;"),
    ("batch_matmul", "b,m,k;b,k,n;b,m,n"),
    ("batch_matmul_transpose_a", "b,k,m;b,k,n;b,m,n"),
    ("batch_matmul_transpose_b", "b,m,k;b,n,k;b,m,n"),
    ("batch_matvec", "b,m,k;b,k;b,m"),
    ("batch_vecmat", "b,k;b,k,n;b,n"),
    ("mmt4d", "m,k,a,c;n,k,b,c;m,n,a,b"),
    ("conv_1d", "x+u;u;x"),
    ("conv_2d", "y+u,x+v;u,v;y,x"),
    ("conv_3d", "z+t,y+u,x+v;t,u,v;z,y,x"),
    ("conv_1d_nwc_wcf", "n,x+u,c;u,c,f;n,x,f"),
    ("conv_1d_ncw_fcw", "n,c,x+u;f,c,u;n,f,x"),
    ("conv_2d_nhwc_hwcf", "n,y+u,x+v,c;u,v,c,f;n,y,x,f"),
    ("conv_2d_nhwc_fhwc", "n,y+u,x+v,c;f,u,v,c;n,y,x,f"),
    ("conv_2d_nchw_fchw", "n,c,y+u,x+v;f,c,u,v;n,f,y,x"),
    ("conv_3d_ndhwc_dhwcf", "n,z+t,y+u,x+v,c;t,u,v,c,f;n,z,y,x,f"),
    ("conv_3d_ncdhw_fcdhw", "n,c,z+t,y+u,x+v;f,c,t,u,v;n,f,z,y,x"),
    ("depthwise_conv_1d_nwc_wc", "n,x+u,c;u,c;n,x,c"),
    ("depthwise_conv_2d_nhwc_hwc", "n,y+u,x+v,c;u,v,c;n,y,x,c"),
    ("depthwise_conv_2d_nchw_chw", "n,c,y+u,x+v;c,u,v;n,c,y,x"),
    (
        "depthwise_conv_2d_nhwc_hwcm",
        "n,y+u,x+v,c;u,v,c,m;n,y,x,c,m",
    ),
    ("depthwise_conv_1d_ncw_cw", "n,c,x+u;c,u;n,c,x"),
    ("depthwise_conv_1d_nwc_wcm", "n,x+u,c;u,c,m;n,x,c,m"),
    (
        "depthwise_conv_3d_ndhwc_dhwc",
        "n,z+t,y+u,x+v,c;t,u,v,c;n,z,y,x,c",
    ),
    (
        "depthwise_conv_3d_ncdhw_cdhw",
        "n,c,z+t,y+u,x+v;c,t,u,v;n,c,z,y,x",
    ),
    (
        "depthwise_conv_3d_ndhwc_dhwcm",
        "n,z+t,y+u,x+v,c;t,u,v,c,m;n,z,y,x,c,m",
    ),
    ("conv_2d_ngchw_fgchw", "n,g,c,y+u,x+v;f,g,c,u,v;n,g,f,y,x"),
    ("conv_2d_ngchw_gfchw", "n,g,c,y+u,x+v;g,f,c,u,v;n,g,f,y,x"),
    ("conv_2d_nhwc_hwcf_q", "n,y+u,x+v,c;u,v,c,f;;;n,y,x,f"),
    ("conv_2d_nhwc_fhwc_q", "n,y+u,x+v,c;f,u,v,c;;;n,y,x,f"),
    (
        "conv_2d_ngchw_gfchw_q",
        "n,g,c,y+u,x+v;g,f,c,u,v;;;n,g,f,y,x",
    ),
    (
        "conv_3d_ndhwc_dhwcf_q",
        "n,z+t,y+u,x+v,c;t,u,v,c,f;;;n,z,y,x,f",
    ),
    (
        "depthwise_conv_2d_nhwc_hwc_q",
        "n,y+u,x+v,c;u,v,c;;;n,y,x,c",
    ),
    (
        "depthwise_conv_2d_nhwc_hwcm_q",
        "n,y+u,x+v,c;u,v,c,m;;;n,y,x,c,m",
    ),
    ("pooling_nhwc_sum", "n,y+u,x+v,c;u,v;n,y,x,c"),
    ("pooling_nhwc_max", "n,y+u,x+v,c;u,v;n,y,x,c"),
    ("pooling_nhwc_min", "n,y+u,x+v,c;u,v;n,y,x,c"),
    ("pooling_nchw_sum", "n,c,y+u,x+v;u,v;n,c,y,x"),
    ("pooling_nchw_max", "n,c,y+u,x+v;u,v;n,c,y,x"),
    ("pooling_nwc_min", "n,x+u,c;u;n,x,c"),
    ("pooling_nhwc_max_unsigned", "n,y+u,x+v,c;u,v;n,y,x,c"),
    ("pooling_nhwc_min_unsigned", "n,y+u,x+v,c;u,v;n,y,x,c"),
    ("pooling_nwc_max_unsigned", "n,x+u,c;u;n,x,c"),
    ("pooling_nwc_min_unsigned", "n,x+u,c;u;n,x,c"),
    ("pooling_ndhwc_min", "n,z+t,y+u,x+v,c;t,u,v;n,z,y,x,c"),
    ("pooling_nwc_sum", "n,x+u,c;u;n,x,c"),
    ("pooling_nwc_max", "n,x+u,c;u;n,x,c"),
    ("pooling_ncw_sum", "n,c,x+u;u;n,c,x"),
    ("pooling_ncw_max", "n,c,x+u;u;n,c,x"),
    ("pooling_ndhwc_sum", "n,z+t,y+u,x+v,c;t,u,v;n,z,y,x,c"),
    ("pooling_ndhwc_max", "n,z+t,y+u,x+v,c;t,u,v;n,z,y,x,c"),
];

/// The iteration space of a named operation.
#[derive(Clone, Debug)]
pub struct NamedIteration {
    /// The map of each operand, those of `ins` first.
    pub maps: Vec<AffineMap>,
    /// Whether each iterator is a reduction: one that the result lacks.
    pub reductions: Vec<bool>,
}

/// The iteration space of a product, a convolution or a pooling; `None` for other operations.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_mlir::{Module, named_iteration};
/// let text = "func.func @f(%a: tensor<2x3xf32>, %x: tensor<3xf32>, %y: tensor<2xf32>) {
///   %r = linalg.matvec ins(%a, %x : tensor<2x3xf32>, tensor<3xf32>)
///     outs(%y : tensor<2xf32>) -> tensor<2xf32>
///   return
/// }";
/// let module = Module::parse(&Source::new("a.mlir", text), None)?;
/// let ops = module.walk().into_iter();
/// let named = ops.filter_map(|op| named_iteration(module.op(op))).next().expect("a product");
/// assert_eq!(named.reductions, [false, true]);
/// assert_eq!(named.maps[1].results[0].dimension(), Some(1));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn named_iteration(op: Operation<'_>) -> Option<NamedIteration> {
    let word = op.name().strip_prefix("linalg.")?;
    // Releases up to 17 have the groups in front, whatever the name says.
    let is_before_18 = matches!(op.module().dialect(), Dialect::Release(..18));
    let word = match word {
        "conv_2d_ngchw_fgchw" if is_before_18 => "conv_2d_ngchw_gfchw",
        word => word,
    };
    let (_, spec) = SUBSCRIPTS.iter().find(|(name, _)| *name == word)?;
    let mut letters: Vec<char> = Vec::new();
    let add = |text: &str, letters: &mut Vec<char>| {
        for letter in text.chars().filter(char::is_ascii_alphabetic) {
            if !letters.contains(&letter) {
                letters.push(letter);
            }
        }
    };
    let operands: Vec<&str> = spec.split(';').collect();
    let result = operands[operands.len() - 1];
    add(result, &mut letters);
    let n_parallel = letters.len();
    add(spec, &mut letters);
    let numbers = |name: &str| op.attribute(name).and_then(Attribute::integers);
    let (strides, dilations) = (numbers("strides"), numbers("dilations"));
    let maps = operands.iter().map(|operand| {
        let mut window = 0;
        let places = operand.split(',').filter(|place| !place.is_empty());
        let results = places.map(|place| {
            let dimension = |letter: char| {
                let number = letters.iter().position(|known| *known == letter);
                AffineExpr::Dimension(number.unwrap_or(0))
            };
            let mut parts = place.chars().filter(char::is_ascii_alphabetic);
            let (first, second) = (parts.next().map(dimension), parts.next().map(dimension));
            let first = first.unwrap_or(AffineExpr::Constant(0));
            let Some(second) = second else { return first };
            let factor = |list: &Option<Vec<i128>>| match list {
                Some(list) => list.get(window).map_or(1, |by| *by as i64),
                None => 1,
            };
            let times = |of: AffineExpr, by: i64| match by {
                1 => of,
                by => AffineExpr::Binary(
                    AffineOp::Multiply,
                    Box::new(of),
                    Box::new(AffineExpr::Constant(by)),
                ),
            };
            let (stride, dilation) = (factor(&strides), factor(&dilations));
            window += 1;
            AffineExpr::Binary(
                AffineOp::Add,
                Box::new(times(first, stride)),
                Box::new(times(second, dilation)),
            )
        });
        AffineMap {
            n_dimensions: letters.len(),
            n_symbols: 0,
            results: results.collect(),
        }
    });
    Some(NamedIteration {
        maps: maps.collect(),
        reductions: (0..letters.len()).map(|n| n >= n_parallel).collect(),
    })
}
