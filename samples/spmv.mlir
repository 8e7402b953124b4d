// y(i) = A(i,j) * x(j) over a matrix of compressed rows, in the words of LLVM 14.
#CSR = #sparse_tensor.encoding<{
  dimLevelType = [ "dense", "compressed" ],
  pointerBitWidth = 32,
  indexBitWidth = 32
}>
#spmv = {
  indexing_maps = [
    affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i)>
  ],
  iterator_types = ["parallel", "reduction"]
}
!Filename = type !llvm.ptr<i8>

func private @getTensorFilename(index) -> !Filename

func @spmv(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %file = call @getTensorFilename(%c0) : (index) -> !Filename
  %A = sparse_tensor.new %file : !Filename to tensor<?x?xf64, #CSR>
  %pos = sparse_tensor.pointers %A, %c1 : tensor<?x?xf64, #CSR> to memref<?xi32>
  %0 = linalg.generic #spmv
    ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>)
    outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %1 = arith.mulf %a, %b : f64
    %2 = arith.addf %c, %1 : f64
    linalg.yield %2 : f64
  } -> tensor<?xf64>
  sparse_tensor.release %A : tensor<?x?xf64, #CSR>
  return %0 : tensor<?xf64>
}
