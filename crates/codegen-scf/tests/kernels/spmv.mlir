module {
  // out y: (i) -> (i : dense)
  // in  A: (i, j) -> (i : dense, j : compressed)
  // in  x: (j) -> (j : dense)
  func.func @spmv(
      %y.n0: index, %y.vals: memref<?xf64>,
      %A.n0: index, %A.n1: index, %A1.pos: memref<?xi32>, %A1.crd: memref<?xi32>, %A.vals: memref<?xf64>,
      %x.n0: index, %x.vals: memref<?xf64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.0 : f64
    scf.for %i = %c0 to %A.n0 step %c1 {
      %0 = memref.load %A1.pos[%i] : memref<?xi32>
      %1 = arith.index_cast %0 : i32 to index
      %2 = arith.addi %i, %c1 : index
      %3 = memref.load %A1.pos[%2] : memref<?xi32>
      %4 = arith.index_cast %3 : i32 to index
      %t_1 = scf.for %pA1 = %1 to %4 step %c1 iter_args(%t = %cst) -> (f64) {
        %5 = memref.load %A1.crd[%pA1] : memref<?xi32>
        %j = arith.index_cast %5 : i32 to index
        %6 = memref.load %A.vals[%pA1] : memref<?xf64>
        %7 = memref.load %x.vals[%j] : memref<?xf64>
        %8 = arith.mulf %6, %7 : f64
        %t_2 = arith.addf %t, %8 : f64
        scf.yield %t_2 : f64
      }
      memref.store %t_1, %y.vals[%i] : memref<?xf64>
    }
    return
  }
}
