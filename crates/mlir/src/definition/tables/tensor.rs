//! Operations on tensors and memory: `tensor`, `bufferization`, `memref` and `vector`.

pub(super) const TABLE: &str = "
tensor.empty 16.. (dynamicSizes: index*) -> (result: tensor)
  `(` $dynamicSizes `)` attr-dict `:` type($result)
tensor.splat 18.. (input: element(aggregate), dynamicSizes: index*) -> (aggregate: tensor)
  $input ( `[` ^$dynamicSizes `]` )? attr-dict `:` type($aggregate)
tensor.splat 15..17 (input: element(aggregate)) -> (aggregate: tensor)
  $input attr-dict `:` type($aggregate)
std.splat ..14 (input: element(aggregate)) -> (aggregate: tensor)
  $input attr-dict `:` type($aggregate)
std.rank ..13 (tensor: tensor) -> (result: index)
  $tensor attr-dict `:` type($tensor)
tensor.from_elements (elements: element(result)*) -> (result: tensor)
  $elements attr-dict `:` type($result)
tensor.extract (tensor: tensor, indices: index*) -> (result: element(tensor))
  $tensor `[` $indices `]` attr-dict `:` type($tensor)
tensor.insert (scalar: element(dest), dest: tensor, indices: index*) -> (result: same(dest))
  $scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)
tensor.cast (source: tensor) -> (dest: tensor)
  $source attr-dict `:` type($source) `to` type($dest)
tensor.bitcast 17.. (source: tensor) -> (dest: tensor)
  $source attr-dict `:` type($source) `to` type($dest)
tensor.dim (source: tensor, index: index) -> (result: index)
  attr-dict $source `,` $index `:` type($source)
tensor.rank 14.. (tensor: tensor) -> (result: index)
  $tensor attr-dict `:` type($tensor)
tensor.reshape (source: tensor, shape: tensor) -> (result: tensor)
  $source `(` $shape `)` attr-dict `:` functional($source $shape, $result)
tensor.collapse_shape 14.. (src: tensor) -> (result: tensor) {reassociation: array}
  $src $reassociation attr-dict `:` type($src) `into` type($result)
tensor.expand_shape 19.. (src: tensor, output_shape: index*) -> (result: tensor) {reassociation: array, static_output_shape: i64s}
  $src $reassociation `output_shape` list($output_shape, static_output_shape) attr-dict `:` type($src) `into` type($result)
tensor.expand_shape 14..18 (src: tensor) -> (result: tensor) {reassociation: array}
  $src $reassociation attr-dict `:` type($src) `into` type($result)
tensor.extract_slice (source: tensor, offsets: index*, sizes: index*, strides: index*) -> (result: tensor) {static_offsets: i64s, static_sizes: i64s, static_strides: i64s}
  $source list($offsets, static_offsets) list($sizes, static_sizes) list($strides, static_strides) attr-dict `:` type($source) `to` type($result)
tensor.insert_slice (source: tensor, dest: tensor, offsets: index*, sizes: index*, strides: index*) -> (result: same(dest)) {static_offsets: i64s, static_sizes: i64s, static_strides: i64s}
  $source `into` $dest list($offsets, static_offsets) list($sizes, static_sizes) list($strides, static_strides) attr-dict `:` type($source) `into` type($dest)
tensor.pad 14.. (source: tensor, low: index*, high: index*) -> (result: tensor) {static_low: i64s, static_high: i64s, nofold: unit?} [region]
  $source ( `nofold` ^$nofold )? `low` list($low, static_low) `high` list($high, static_high) $region attr-dict `:` type($source) `to` type($result)
tensor.generate (dynamicExtents: index*) -> (result: tensor) [body]
  $dynamicExtents $body attr-dict `:` type($result)
tensor.yield (value: any) +terminator
  $value attr-dict `:` type($value)

bufferization.alloc_tensor 15.. (dynamic_sizes: index*, copy: same(result)?, size_hint: index?) -> (result: tensor) {memory_space: any?}
  `(` $dynamic_sizes `)` ( `copy` `(` ^$copy `)` )? ( `size_hint` `=` ^$size_hint )? attr-dict `:` type($result)
bufferization.dealloc_tensor 15.. (tensor: tensor)
  $tensor attr-dict `:` type($tensor)
bufferization.to_memref 14..19 (tensor: tensorof(memref)) -> (memref: memref) {read_only: unit?}
  $tensor ( `read_only` ^$read_only )? attr-dict `:` type($memref)
bufferization.to_memref 20 (tensor: tensor) -> (memref: memref) {read_only: unit?}
  $tensor ( `read_only` ^$read_only )? attr-dict `:` type($tensor) `to` type($memref)
bufferization.to_tensor 14..19 (memref: memref) -> (result: tensorof(memref)) {restrict: unit?, writable: unit?}
  $memref ( `restrict` ^$restrict )? ( `writable` ^$writable )? attr-dict `:` type($memref)
bufferization.to_tensor 20 (memref: memref) -> (result: tensor) {restrict: unit?, writable: unit?}
  $memref ( `restrict` ^$restrict )? ( `writable` ^$writable )? attr-dict `:` type($memref) `to` type($result)
bufferization.materialize_in_destination 17.. (source: tensor, dest: tensor|memref) -> (result: tensor?) {restrict: unit?, writable: unit?}
  $source `in` ( `restrict` ^$restrict )? ( `writable` ^$writable )? $dest attr-dict `:` functional($source $dest, $result)
bufferization.clone 14.. (input: memref) -> (output: memref)
  $input attr-dict `:` type($input) `to` type($output)

memref.{alloc alloca} (dynamicSizes: index*, symbolOperands: index*) -> (memref: memref) {alignment: i64?}
  `(` $dynamicSizes `)` ( `[` ^$symbolOperands `]` )? attr-dict `:` type($memref)
memref.realloc 16.. (source: buffer, dynamicResultSize: index?) -> (result: buffer) {alignment: i64?}
  $source ( `(` ^$dynamicResultSize `)` )? attr-dict `:` type($source) `to` type($result)
memref.dealloc (memref: memref)
  $memref attr-dict `:` type($memref)
memref.load (memref: memref, indices: index*) -> (result: element(memref)) {nontemporal: bool?}
  $memref `[` $indices `]` attr-dict `:` type($memref)
memref.store (value: element(memref), memref: memref, indices: index*) {nontemporal: bool?}
  $value `,` $memref `[` $indices `]` attr-dict `:` type($memref)
memref.dim (source: memref, index: index) -> (result: index)
  attr-dict $source `,` $index `:` type($source)
memref.cast (source: memref) -> (dest: memref)
  $source attr-dict `:` type($source) `to` type($dest)
memref.copy (source: memref, target: memref)
  $source `,` $target attr-dict `:` type($source) `to` type($target)
memref.subview (source: memref, offsets: index*, sizes: index*, strides: index*) -> (result: memref) {static_offsets: i64s, static_sizes: i64s, static_strides: i64s}
  $source list($offsets, static_offsets) list($sizes, static_sizes) list($strides, static_strides) attr-dict `:` type($source) `to` type($result)
memref.buffer_cast 13 (tensor: tensorof(memref)) -> (memref: memref)
  $tensor attr-dict `:` type($memref)
memref.tensor_load 13 (memref: memref) -> (result: tensorof(memref))
  $memref attr-dict `:` type($memref)

vector.transfer_read (source: tensor|memref, indices: index*, padding: any, mask: vector?) -> (vector: vector) {permutation_map: map?, in_bounds: array?}
  $source `[` $indices `]` `,` $padding ( `,` ^$mask )? attr-dict `:` type($source) `,` type($vector)
vector.transfer_write (vector: vector, source: tensor|memref, indices: index*, mask: vector?) -> (result: same(source)?) {permutation_map: map?, in_bounds: array?}
  $vector `,` $source `[` $indices `]` ( `,` ^$mask )? attr-dict `:` type($vector) `,` type($source)
vector.load (base: memref, indices: index*) -> (result: vector) {nontemporal: bool?}
  $base `[` $indices `]` attr-dict `:` type($base) `,` type($result)
vector.store (valueToStore: vector, base: memref, indices: index*) {nontemporal: bool?}
  $valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore)
vector.{bitcast shape_cast} (source: vector) -> (result: vector)
  $source attr-dict `:` type($source) `to` type($result)
vector.splat 15.. (input: element(aggregate)) -> (aggregate: vector)
  $input attr-dict `:` type($aggregate)
vector.print (source: any) {punctuation: punctuation?}
  $source attr-dict `:` type($source) ( `punctuation` ^$punctuation )?
vector.print 18.. {punctuation: punctuation?, stringLiteral: text}
  `str` $stringLiteral attr-dict
vector.print 17.. {punctuation: punctuation?}
  ( `punctuation` ^$punctuation )? attr-dict
vector.broadcast (source: any) -> (vector: vector)
  $source attr-dict `:` type($source) `to` type($vector)
vector.fma (lhs: vector, rhs: same(lhs), acc: same(lhs)) -> (result: same(lhs))
  $lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)
vector.reduction 15.. (vector: vector, acc: element(vector)?) -> (dest: element(vector)) {kind: combining, fastmath: fastmath?}
  $kind `,` $vector ( `,` ^$acc )? ( `fastmath` ^$fastmath )? attr-dict `:` type($vector) `into` type($dest)
vector.contract (lhs: vector, rhs: vector, acc: any) -> (result: same(acc)) {indexing_maps: array, iterator_types: array, kind: combining?}
  attr-dict $lhs `,` $rhs `,` $acc `:` type($lhs) `,` type($rhs) `into` type($result)
";
