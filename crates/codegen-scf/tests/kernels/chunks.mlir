module {
  // out y: (i) -> (i : dense)
  // in  x: (i) -> (i : dense)
  func.func @scale(%y.n0: index, %y.vals: memref<?xf64>, %x.n0: index, %x.vals: memref<?xf64>) {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0_i64 = arith.constant 0 : i64
    %cst_1 = arith.constant 2.0 : f64
    %c2 = arith.constant 2 : index
    %w = memref.alloc(%x.n0) : memref<?xf64>
    scf.for %at = %c0 to %x.n0 step %c1 {
      memref.store %cst, %w[%at] : memref<?xf64>
    }
    %list = memref.alloc(%c4) : memref<?xi64>
    scf.for %at_1 = %c0 to %c4 step %c1 {
      memref.store %c0_i64, %list[%at_1] : memref<?xi64>
    }
    %list_2 = scf.for %chunk = %c0 to %c4 step %c1 iter_args(%list_1 = %list) -> (memref<?xi64>) {
      %0 = arith.muli %x.n0, %chunk : index
      %1 = arith.shrsi %0, %c2 : index
      %2 = arith.addi %chunk, %c1 : index
      %3 = arith.muli %x.n0, %2 : index
      %4 = arith.shrsi %3, %c2 : index
      %list_4 = scf.for %i = %1 to %4 step %c1 iter_args(%list_3 = %list_1) -> (memref<?xi64>) {
        %5 = arith.addi %i, %c1 : index
        %list_5 = func.call @sparsec_grow_with_zeros_i64(%list_3, %5) : (memref<?xi64>, index) -> memref<?xi64>
        %6 = arith.index_cast %i : index to i64
        memref.store %6, %list_5[%i] : memref<?xi64>
        %7 = memref.load %x.vals[%i] : memref<?xf64>
        %8 = arith.mulf %7, %cst_1 : f64
        memref.store %8, %w[%i] : memref<?xf64>
        %9 = memref.load %list_5[%i] : memref<?xi64>
        %10 = arith.index_cast %9 : i64 to index
        %11 = memref.load %w[%i] : memref<?xf64>
        memref.store %11, %y.vals[%10] : memref<?xf64>
        scf.yield %list_5 : memref<?xi64>
      }
      scf.yield %list_4 : memref<?xi64>
    }
    scf.parallel (%chunk_2) = (%c0) to (%c2) step (%c1) {
      memref.store %cst, %y.vals[%chunk_2] : memref<?xf64>
      scf.reduce
    }
    memref.dealloc %w : memref<?xf64>
    memref.dealloc %list_2 : memref<?xi64>
    return
  }
  func.func private @sparsec_grow_with_zeros_i64(%array: memref<?xi64>, %len: index) -> memref<?xi64> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %room = memref.dim %array, %c0 : memref<?xi64>
    %fits = arith.cmpi sle, %len, %room : index
    %result = scf.if %fits -> (memref<?xi64>) {
      scf.yield %array : memref<?xi64>
    } else {
      %wanted = arith.shli %len, %c1 : index
      %new = memref.alloc(%wanted) : memref<?xi64>
      scf.for %at = %c0 to %room step %c1 {
        %value = memref.load %array[%at] : memref<?xi64>
        memref.store %value, %new[%at] : memref<?xi64>
      }
      %zero = arith.constant 0 : i64
      scf.for %at = %room to %wanted step %c1 {
        memref.store %zero, %new[%at] : memref<?xi64>
      }
      memref.dealloc %array : memref<?xi64>
      scf.yield %new : memref<?xi64>
    }
    return %result : memref<?xi64>
  }
}
