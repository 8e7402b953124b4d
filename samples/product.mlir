// Prints y(i) = A(i,j) * x(j) for the matrix of TENSOR0 and x = 0, 1, 2, …, in the words of LLVM 19.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#product = {
  indexing_maps = [
    affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (j)>,
    affine_map<(i, j) -> (i)>
  ],
  iterator_types = ["parallel", "reduction"]
}

func.func private @getTensorFilename(index) -> !llvm.ptr

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %file = call @getTensorFilename(%c0) : (index) -> !llvm.ptr
  %A = sparse_tensor.new %file : !llvm.ptr to tensor<?x?xf64, #CSR>
  %m = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %x = tensor.generate %n {
  ^bb0(%i: index):
    %0 = arith.index_cast %i : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    tensor.yield %1 : f64
  } : tensor<?xf64>
  %y = tensor.splat %zero[%m] : tensor<?xf64>
  %z = linalg.generic #product
    ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>)
    outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %0 = arith.mulf %a, %b : f64
    %1 = arith.addf %c, %0 : f64
    linalg.yield %1 : f64
  } -> tensor<?xf64>
  %v = vector.transfer_read %z[%c0], %zero : tensor<?xf64>, vector<8xf64>
  vector.print %v : vector<8xf64>
  return
}
