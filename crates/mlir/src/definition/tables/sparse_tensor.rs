//! The operations of `sparse_tensor`, release by release.
//!
//! Releases up to 16 say `pointers` and `indices` for `positions` and `coordinates`.

pub(super) const TABLE: &str = "
; Tensors as wholes.
sparse_tensor.new 18.. (source: any) -> (result: sparse)
  $source attr-dict `:` type($source) `to` type($result)
sparse_tensor.new 16..17 (source: any) -> (result: sparse) {expandSymmetry: unit?}
  ( `expand_symmetry` ^$expandSymmetry )? $source attr-dict `:` type($source) `to` type($result)
sparse_tensor.new ..15 (source: any) -> (result: sparse)
  $source attr-dict `:` type($source) `to` type($result)
sparse_tensor.init 14 (sizes: index*) -> (result: sparse)
  `[` $sizes `]` attr-dict `:` type($result)
sparse_tensor.tensor 13 (memrefs: buffer*) -> (result: sparse)
  $memrefs attr-dict `:` type($memrefs) `to` type($result)
sparse_tensor.convert 14.. (source: tensor) -> (dest: tensor)
  $source attr-dict `:` type($source) `to` type($dest)
sparse_tensor.reinterpret_map 18.. (source: tensor) -> (dest: tensor)
  $source attr-dict `:` type($source) `to` type($dest)
sparse_tensor.release 14 (tensor: sparse)
  $tensor attr-dict `:` type($tensor)
sparse_tensor.out 14.. (tensor: sparse, dest: any)
  $tensor `,` $dest attr-dict `:` type($tensor) `,` type($dest)
sparse_tensor.print 19.. (tensor: sparse)
  $tensor attr-dict `:` type($tensor)
sparse_tensor.concatenate 16.. (inputs: tensor*) -> (result: tensor) {dimension: index}
  $inputs attr-dict `:` type($inputs) `to` type($result)
sparse_tensor.reorder_coo 18.. (input_coo: sparse) -> (result_coo: sparse) {algorithm: sorting}
  $algorithm $input_coo attr-dict `:` type($input_coo) `to` type($result_coo)

; Tensors from buffers, and back.
sparse_tensor.assemble 19.. (levels: tensor*, values: tensor) -> (result: sparse)
  `(` $levels `)` `,` $values attr-dict `:` `(` type($levels) `)` `,` type($values) `to` type($result)
sparse_tensor.assemble 18 (values: tensor, levels: tensor*) -> (result: sparse)
  $values `,` $levels attr-dict `:` type($values) `,` type($levels) `to` type($result)
sparse_tensor.pack 17 (values: tensor, levels: tensor*) -> (result: sparse)
  $values `,` $levels attr-dict `:` type($values) `,` type($levels) `to` type($result)
sparse_tensor.disassemble 19.. (tensor: sparse, out_levels: tensor*, out_values: tensor) -> (ret_levels: tensor*, ret_values: tensor, lvl_lens: length*, val_len: length) +samesize
  $tensor attr-dict `:` type($tensor) `out_lvls` `(` $out_levels `:` type($out_levels) `)` `out_vals` `(` $out_values `:` type($out_values) `)` `->` `(` type($ret_levels) `)` `,` type($ret_values) `,` `(` type($lvl_lens) `)` `,` type($val_len)
sparse_tensor.disassemble 18 (tensor: sparse, out_values: tensor, out_levels: tensor*) -> (ret_values: tensor, ret_levels: tensor*, val_len: length, lvl_lens: length*) +samesize
  $tensor attr-dict `:` type($tensor) `outs` `(` $out_values `,` $out_levels `:` type($out_values) `,` type($out_levels) `)` `->` type($ret_values) `,` `(` type($ret_levels) `)` `,` type($val_len) `,` `(` type($lvl_lens) `)`
sparse_tensor.unpack 17 (tensor: sparse, out_values: tensor, out_levels: tensor*) -> (ret_values: tensor, ret_levels: tensor*, val_len: length, lvl_lens: length*) +samesize
  $tensor attr-dict `:` type($tensor) `outs` `(` $out_values `,` $out_levels `:` type($out_values) `,` type($out_levels) `)` `->` type($ret_values) `,` `(` type($ret_levels) `)` `,` type($val_len) `,` `(` type($lvl_lens) `)`

; The arrays of a tensor.
sparse_tensor.pointers ..15 (tensor: sparse, dim: index) -> (result: buffer)
  $tensor `,` $dim attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.indices ..15 (tensor: sparse, dim: index) -> (result: buffer)
  $tensor `,` $dim attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.pointers 16 (tensor: sparse) -> (result: buffer) {dimension: index}
  $tensor attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.indices 16 (tensor: sparse) -> (result: buffer) {dimension: index}
  $tensor attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.indices_buffer 16 (tensor: sparse) -> (result: buffer)
  $tensor attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.positions 17.. (tensor: sparse) -> (result: memref) {level: index}
  $tensor attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.coordinates 17.. (tensor: sparse) -> (result: memref) {level: index}
  $tensor attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.coordinates_buffer 17.. (tensor: sparse) -> (result: memref)
  $tensor attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.values (tensor: sparse) -> (result: memref)
  $tensor attr-dict `:` type($tensor) `to` type($result)
sparse_tensor.number_of_entries 16.. (tensor: sparse) -> (result: index)
  $tensor attr-dict `:` type($tensor)
sparse_tensor.lvl 18.. (source: sparse, index: index) -> (result: index)
  attr-dict $source `,` $index `:` type($source)
sparse_tensor.slice.offset 17.. (slice: sparse) -> (offset: index) {dim: index}
  $slice `at` $dim attr-dict `:` type($slice)
sparse_tensor.slice.stride 17.. (slice: sparse) -> (stride: index) {dim: index}
  $slice `at` $dim attr-dict `:` type($slice)
sparse_tensor.crd_translate 18.. (in_crds: index*) -> (out_crds: index*) {direction: direction, encoder: encoding}
  $direction `[` $in_crds `]` `as` $encoder attr-dict `:` type($out_crds)
sparse_tensor.has_runtime_library 19.. -> (result: i1)
  attr-dict

; Entries, one by one.
sparse_tensor.lex_insert 14..15 (tensor: sparse, indices: buffer, value: any)
  $tensor `,` $indices `,` $value attr-dict `:` type($tensor) `,` type($indices) `,` type($value)
sparse_tensor.insert 16 (value: element(tensor), tensor: sparse, indices: index*) -> (result: same(tensor))
  $value `into` $tensor `[` $indices `]` attr-dict `:` type($tensor)
sparse_tensor.insert 17..18 (value: element(tensor), tensor: sparse, indices: index*) -> (result: same(tensor))
  $value `into` $tensor `[` $indices `]` attr-dict `:` type($tensor)
sparse_tensor.load 14.. (tensor: sparse) -> (result: same(tensor)) {hasInserts: unit?}
  $tensor ( `hasInserts` ^$hasInserts )? attr-dict `:` type($tensor)
sparse_tensor.expand 14..15 (tensor: sparse) -> (values: buffer, filled: buffer, added: buffer, count: index)
  $tensor attr-dict `:` type($tensor) `to` type($values) `,` type($filled) `,` type($added) `,` type($count)
sparse_tensor.expand 16.. (tensor: sparse) -> (values: buffer, filled: buffer, added: buffer, count: index)
  $tensor attr-dict `:` type($tensor) `to` type($values) `,` type($filled) `,` type($added)
sparse_tensor.compress 14..15 (tensor: sparse, indices: buffer, values: buffer, filled: buffer, added: buffer, count: index)
  $tensor `,` $indices `,` $values `,` $filled `,` $added `,` $count attr-dict `:` type($tensor) `,` type($indices) `,` type($values) `,` type($filled) `,` type($added) `,` type($count)
sparse_tensor.compress 16.. (values: buffer, filled: buffer, added: buffer, count: index, tensor: sparse, lvlCoords: index*) -> (result: same(tensor))
  $values `,` $filled `,` $added `,` $count `into` $tensor `[` $lvlCoords `]` attr-dict `:` type($values) `,` type($filled) `,` type($added) `,` type($tensor)
sparse_tensor.push_back 16.. (curSize: index, inBuffer: buffer, value: any, n: index?) -> (outBuffer: same(inBuffer), newSize: index) {inbounds: unit?}
  ( `inbounds` ^$inbounds )? $curSize `,` $inBuffer `,` $value ( `,` ^$n )? attr-dict `:` type($curSize) `,` type($inBuffer) `,` type($value) ( `,` ^type($n) )?
sparse_tensor.sort 18.. (n: index, xy: buffer, ys: buffer*) {algorithm: sorting, perm_map: map, ny: index?}
  $algorithm $n `,` $xy ( `jointly` ^$ys )? attr-dict `:` type($xy) ( `jointly` ^type($ys) )?
sparse_tensor.sort 17 (n: index, xs: buffer*, ys: buffer*) {algorithm: sorting}
  $algorithm $n `,` $xs ( `jointly` ^$ys )? attr-dict `:` type($xs) ( `jointly` ^type($ys) )?
sparse_tensor.sort 16 (n: index, xs: buffer*, ys: buffer*) {stable: unit?}
  ( `stable` ^$stable )? $n `,` $xs ( `jointly` ^$ys )? attr-dict `:` type($xs) ( `jointly` ^type($ys) )?
sparse_tensor.sort_coo 17 (n: index, xy: buffer, ys: buffer*) {algorithm: sorting, perm_map: map?, nx: index?, ny: index?}
  $algorithm $n `,` $xy ( `jointly` ^$ys )? attr-dict `:` type($xy) ( `jointly` ^type($ys) )?
sparse_tensor.sort_coo 16 (n: index, xy: buffer, ys: buffer*) {stable: unit?, nx: index?, ny: index?}
  ( `stable` ^$stable )? $n `,` $xy ( `jointly` ^$ys )? attr-dict `:` type($xy) ( `jointly` ^type($ys) )?

; Sizes of the arrays.
sparse_tensor.storage_specifier.init 16.. (source: specifier?) -> (result: specifier)
  attr-dict ( `with` ^$source )? `:` ( `from` ^type($source) `to` )? type($result)
sparse_tensor.storage_specifier.get 17.. (specifier: specifier) -> (result: index) {specifierKind: specifier, level: index?}
  $specifier $specifierKind ( `at` ^$level )? attr-dict `:` type($specifier)
sparse_tensor.storage_specifier.get 16 (specifier: specifier) -> (result: intlike) {specifierKind: specifier16, dim: index?}
  $specifier $specifierKind ( `at` ^$dim )? attr-dict `:` type($specifier) `to` type($result)
sparse_tensor.storage_specifier.set 16 (specifier: same(result), value: intlike) -> (result: specifier) {specifierKind: specifier16, dim: index?}
  $specifier $specifierKind ( `at` ^$dim )? `with` $value attr-dict `:` type($value) `,` type($result)
sparse_tensor.storage_specifier.set 17.. (specifier: same(result), value: index) -> (result: specifier) {specifierKind: specifier, level: index?}
  $specifier $specifierKind ( `at` ^$level )? `with` $value attr-dict `:` type($result)

; Operators of their own.
sparse_tensor.binary 15.. (x: any, y: any) -> (output: any) {left_identity: unit?, right_identity: unit?} [overlapRegion, leftRegion, rightRegion]
  $x `,` $y `:` attr-dict type($x) `,` type($y) `to` type($output) `overlap` `=` $overlapRegion `left` `=` custom(Left) `right` `=` custom(Right)
sparse_tensor.unary 15.. (x: any) -> (output: any) [presentRegion, absentRegion]
  $x attr-dict `:` type($x) `to` type($output) `present` `=` $presentRegion `absent` `=` $absentRegion
sparse_tensor.reduce 15.. (x: any, y: same(x), identity: same(x)) -> (output: same(x)) [region]
  $x `,` $y `,` $identity attr-dict `:` type($output) $region
sparse_tensor.select 16.. (x: any) -> (output: same(x)) [region]
  $x attr-dict `:` type($x) $region
sparse_tensor.yield 15.. (results: any*) +terminator
  ( ^$results )? attr-dict ( `:` ^type($results) )?
sparse_tensor.foreach 16.. (tensor: tensor, initArgs: any*) -> (results: any*) {order: map?} [region] +implicit(sparse_tensor.yield)
  `in` $tensor ( `init` `(` ^$initArgs `)` )? attr-dict `:` type($tensor) ( `,` ^type($initArgs) )? ( `->` ^type($results) )? `do` $region

; Iterators.
sparse_tensor.extract_iteration_space 19.. (tensor: sparse, parentIter: iterator?) -> (extractedSpace: space) {loLvl: index, hiLvl: index}
  $tensor ( `at` ^$parentIter )? custom(LevelRange) attr-dict `:` type($tensor) ( `,` ^type($parentIter) )? `->` type($extractedSpace)
sparse_tensor.extract_value 20.. (tensor: sparse, iterator: iterator) -> (result: element(tensor))
  $tensor `at` $iterator attr-dict `:` type($tensor) `,` type($iterator)
sparse_tensor.iterate 19.. (iterSpace: space, initArgs: any*) -> (results: any*) {crdUsedLvls: any} [region] +implicit(sparse_tensor.yield)
  custom(Iterate)
sparse_tensor.coiterate 20.. (iterSpaces: space*, initArgs: any*) -> (results: any*) {crdUsedLvls: any, cases: any} [caseRegions*] +implicit(sparse_tensor.yield)
  custom(Coiterate)
";
