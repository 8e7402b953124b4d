//! Operations of `linalg`: `generic`, and named computations such as `matmul`.

pub(super) const TABLE: &str = "
linalg.generic (inputs: any*, outputs: any*) -> (results: any*) {indexing_maps: array, iterator_types: array, doc: text?, library_call: text?} [region] +structured
  custom(Generic)
linalg.{matmul matvec vecmat dot batch_matmul batch_matvec quantized_matmul mmt4d} (inputs: any*, outputs: any*) -> (results: any*) {cast: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.copy 15.. (inputs: any*, outputs: any*) -> (results: any*) {cast: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.batch_vecmat 18.. (inputs: any*, outputs: any*) -> (results: any*) {cast: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{matmul_transpose_b batch_matmul_transpose_b} 16.. (inputs: any*, outputs: any*) -> (results: any*) {cast: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{matmul_transpose_a batch_matmul_transpose_a} 17.. (inputs: any*, outputs: any*) -> (results: any*) {cast: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{add sub mul div max min abs exp log negf floor ceil} 17.. (inputs: any*, outputs: any*) -> (results: any*) +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{conv_1d conv_2d conv_3d} (inputs: any*, outputs: any*) -> (results: any*) +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{pooling_nhwc_sum pooling_nhwc_max pooling_nhwc_min pooling_nchw_max pooling_ndhwc_sum pooling_ndhwc_max pooling_ndhwc_min} (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{conv_1d_nwc_wcf conv_2d_nhwc_hwcf conv_2d_nchw_fchw conv_3d_ndhwc_dhwcf depthwise_conv_1d_nwc_wc depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nhwc_hwcm conv_2d_nhwc_hwcf_q depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm_q pooling_nhwc_max_unsigned pooling_nhwc_min_unsigned} 14.. (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{conv_2d_nhwc_fhwc depthwise_conv_2d_nchw_chw pooling_nchw_sum depthwise_conv_1d_nwc_wcm depthwise_conv_3d_ndhwc_dhwc depthwise_conv_3d_ndhwc_dhwcm} 15.. (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.conv_2d_ngchw_fgchw 15..17 (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.conv_2d_ngchw_fgchw 18.. (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{conv_1d_ncw_fcw pooling_nwc_sum pooling_nwc_max pooling_ncw_sum pooling_ncw_max pooling_nwc_min pooling_nwc_max_unsigned pooling_nwc_min_unsigned conv_3d_ndhwc_dhwcf_q} 16.. (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.{conv_2d_ngchw_gfchw conv_2d_nhwc_fhwc_q conv_2d_ngchw_gfchw_q depthwise_conv_1d_ncw_cw depthwise_conv_3d_ncdhw_cdhw} 18.. (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.conv_3d_ncdhw_fcdhw 17.. (inputs: any*, outputs: any*) -> (results: any*) {strides: any?, dilations: any?} +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.fill 15.. (inputs: any*, outputs: any*) -> (results: any*) +structured
  attr-dict ( `ins` `(` ^$inputs `:` type($inputs) `)` )? `outs` `(` $outputs `:` type($outputs) `)` arrow($results)
linalg.fill ..14 (inputs: any, outputs: any) -> (results: any*) +structured
  `(` $inputs `,` $outputs `)` attr-dict `:` type($inputs) `,` type($outputs) arrow($results)
linalg.transpose 16.. (inputs: any, outputs: any) -> (results: any*) {permutation: i64s} +structured
  `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` `permutation` `=` $permutation attr-dict
linalg.broadcast 16.. (inputs: any, outputs: any) -> (results: any*) {dimensions: i64s} +structured
  `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` `dimensions` `=` $dimensions attr-dict
linalg.index -> (result: index) {dim: i64}
  $dim attr-dict `:` type($result)
linalg.yield (values: any*) +terminator
  attr-dict ( ^$values `:` type($values) )?
linalg.init_tensor ..15 (sizes: index*) -> (result: tensor) {static_sizes: i64s}
  list($sizes, static_sizes) attr-dict `:` type($result)
linalg.{tensor_collapse_shape tensor_expand_shape} ..13 (src: tensor) -> (result: tensor) {reassociation: array}
  $src $reassociation attr-dict `:` type($src) `into` type($result)
";
