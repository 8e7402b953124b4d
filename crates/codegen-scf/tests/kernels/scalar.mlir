module {
  // out s: () -> ()
  // in  A: (i) -> (i : compressed)
  func.func @scalar(
      %s.vals: memref<?xf64>,
      %A.n0: index, %A0.pos: memref<?xi32>, %A0.crd: memref<?xi32>, %A.vals: memref<?xf64>) {
    %cst = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = memref.load %A0.pos[%c0] : memref<?xi32>
    %p = arith.extsi %0 : i32 to i64
    %1 = memref.load %A0.pos[%c1] : memref<?xi32>
    %end = arith.index_cast %1 : i32 to index
    %t_1, %end_2 = scf.for %n = %c0 to %end step %c1 iter_args(%t = %cst, %end_1 = %end) -> (f64, index) {
      %end_3 = arith.subi %end_1, %c1 : index
      %2 = memref.load %A.vals[%n] : memref<?xf64>
      %t_2 = arith.subf %t, %2 : f64
      scf.yield %t_2, %end_3 : f64, index
    }
    memref.store %t_1, %s.vals[%c0] : memref<?xf64>
    return
  }
}
