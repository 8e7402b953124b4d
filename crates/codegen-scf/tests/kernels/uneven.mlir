module {
  // out C: (i, j) -> (i : compressed, j : compressed)
  // in  n: (i) -> (i : dense)
  func.func @uneven(
      %C.n0: index, %C.n1: index,
      %n.n0: index, %n.vals: memref<?xi64>) -> (memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c1000_i64 = arith.constant 1000 : i64
    %C0.pos = memref.alloc(%c0) : memref<?xi32>
    %C0.crd = memref.alloc(%c0) : memref<?xi32>
    %C1.pos = memref.alloc(%c0) : memref<?xi32>
    %C1.crd = memref.alloc(%c0) : memref<?xi32>
    %C.vals = memref.alloc(%c0) : memref<?xf64>
    // coordinates of rows grow alone, those of entries with their values
    %C0.pos_1 = func.call @sparsec_grow_i32(%C0.pos, %c2) : (memref<?xi32>, index) -> memref<?xi32>
    %0 = arith.trunci %c0_i64 : i64 to i32
    memref.store %0, %C0.pos_1[%c0] : memref<?xi32>
    %C1.pos_1 = func.call @sparsec_grow_i32(%C1.pos, %c1) : (memref<?xi32>, index) -> memref<?xi32>
    %1 = arith.trunci %c0_i64 : i64 to i32
    memref.store %1, %C1.pos_1[%c0] : memref<?xi32>
    %pC0_1, %pC1_1, %C0.crd_2, %C1.pos_3, %C1.crd_2, %C.vals_2 = scf.for %i = %c0 to %C.n0 step %c1 iter_args(%pC0 = %c0, %pC1 = %c0, %C0.crd_1 = %C0.crd, %C1.pos_2 = %C1.pos_1, %C1.crd_1 = %C1.crd, %C.vals_1 = %C.vals) -> (index, index, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>) {
      %2 = memref.load %n.vals[%i] : memref<?xi64>
      %3 = arith.cmpi sgt, %2, %c0_i64 : i64
      %pC0_2, %pC1_2, %C0.crd_3, %C1.pos_4, %C1.crd_3, %C.vals_3 = scf.if %3 -> (index, index, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>) {
        %4 = memref.load %n.vals[%i] : memref<?xi64>
        %5 = arith.index_cast %4 : i64 to index
        %6 = arith.addi %pC1, %5 : index
        %C1.crd_4 = func.call @sparsec_grow_i32(%C1.crd_1, %6) : (memref<?xi32>, index) -> memref<?xi32>
        %7 = memref.load %n.vals[%i] : memref<?xi64>
        %8 = arith.index_cast %7 : i64 to index
        %9 = arith.addi %pC1, %8 : index
        %C.vals_4 = func.call @sparsec_grow_f64(%C.vals_1, %9) : (memref<?xf64>, index) -> memref<?xf64>
        %10 = memref.load %n.vals[%i] : memref<?xi64>
        %11 = arith.index_cast %10 : i64 to index
        %pC1_4 = scf.for %j = %c0 to %11 step %c1 iter_args(%pC1_3 = %pC1) -> (index) {
          %12 = arith.index_cast %j : index to i32
          memref.store %12, %C1.crd_4[%pC1_3] : memref<?xi32>
          %13 = arith.index_cast %i : index to i64
          %14 = arith.muli %13, %c1000_i64 : i64
          %15 = arith.index_cast %j : index to i64
          %16 = arith.addi %14, %15 : i64
          %17 = arith.sitofp %16 : i64 to f64
          memref.store %17, %C.vals_4[%pC1_3] : memref<?xf64>
          %pC1_5 = arith.addi %pC1_3, %c1 : index
          scf.yield %pC1_5 : index
        }
        %18 = arith.addi %pC0, %c1 : index
        %C0.crd_4 = func.call @sparsec_grow_i32(%C0.crd_1, %18) : (memref<?xi32>, index) -> memref<?xi32>
        %19 = arith.addi %pC0, %c2 : index
        %C1.pos_5 = func.call @sparsec_grow_i32(%C1.pos_2, %19) : (memref<?xi32>, index) -> memref<?xi32>
        %20 = arith.index_cast %i : index to i32
        memref.store %20, %C0.crd_4[%pC0] : memref<?xi32>
        %21 = arith.addi %pC0, %c1 : index
        %22 = arith.index_cast %pC1_4 : index to i32
        memref.store %22, %C1.pos_5[%21] : memref<?xi32>
        %pC0_3 = arith.addi %pC0, %c1 : index
        scf.yield %pC0_3, %pC1_4, %C0.crd_4, %C1.pos_5, %C1.crd_4, %C.vals_4 : index, index, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>
      } else {
        scf.yield %pC0, %pC1, %C0.crd_1, %C1.pos_2, %C1.crd_1, %C.vals_1 : index, index, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>
      }
      scf.yield %pC0_2, %pC1_2, %C0.crd_3, %C1.pos_4, %C1.crd_3, %C.vals_3 : index, index, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>
    }
    %23 = arith.index_cast %pC0_1 : index to i32
    memref.store %23, %C0.pos_1[%c1] : memref<?xi32>
    %C0.crd_5 = func.call @sparsec_grow_i32(%C0.crd_2, %pC0_1) : (memref<?xi32>, index) -> memref<?xi32>
    %24 = arith.addi %pC0_1, %c1 : index
    %C1.pos_6 = func.call @sparsec_grow_i32(%C1.pos_3, %24) : (memref<?xi32>, index) -> memref<?xi32>
    %C1.crd_5 = func.call @sparsec_grow_i32(%C1.crd_2, %pC1_1) : (memref<?xi32>, index) -> memref<?xi32>
    %C.vals_5 = func.call @sparsec_grow_f64(%C.vals_2, %pC1_1) : (memref<?xf64>, index) -> memref<?xf64>
    %C0.pos_2 = memref.reinterpret_cast %C0.pos_1 to offset: [0], sizes: [%c2], strides: [1] : memref<?xi32> to memref<?xi32>
    %C0.crd_6 = memref.reinterpret_cast %C0.crd_5 to offset: [0], sizes: [%pC0_1], strides: [1] : memref<?xi32> to memref<?xi32>
    %C1.pos_7 = memref.reinterpret_cast %C1.pos_6 to offset: [0], sizes: [%24], strides: [1] : memref<?xi32> to memref<?xi32>
    %C1.crd_6 = memref.reinterpret_cast %C1.crd_5 to offset: [0], sizes: [%pC1_1], strides: [1] : memref<?xi32> to memref<?xi32>
    %C.vals_6 = memref.reinterpret_cast %C.vals_5 to offset: [0], sizes: [%pC1_1], strides: [1] : memref<?xf64> to memref<?xf64>
    return %C0.pos_2, %C0.crd_6, %C1.pos_7, %C1.crd_6, %C.vals_6 : memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?xf64>
  }
  func.func private @sparsec_grow_i32(%array: memref<?xi32>, %len: index) -> memref<?xi32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %room = memref.dim %array, %c0 : memref<?xi32>
    %fits = arith.cmpi sle, %len, %room : index
    %result = scf.if %fits -> (memref<?xi32>) {
      scf.yield %array : memref<?xi32>
    } else {
      %wanted = arith.shli %len, %c1 : index
      %new = memref.alloc(%wanted) : memref<?xi32>
      scf.for %at = %c0 to %room step %c1 {
        %value = memref.load %array[%at] : memref<?xi32>
        memref.store %value, %new[%at] : memref<?xi32>
      }
      memref.dealloc %array : memref<?xi32>
      scf.yield %new : memref<?xi32>
    }
    return %result : memref<?xi32>
  }
  func.func private @sparsec_grow_f64(%array: memref<?xf64>, %len: index) -> memref<?xf64> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %room = memref.dim %array, %c0 : memref<?xf64>
    %fits = arith.cmpi sle, %len, %room : index
    %result = scf.if %fits -> (memref<?xf64>) {
      scf.yield %array : memref<?xf64>
    } else {
      %wanted = arith.shli %len, %c1 : index
      %new = memref.alloc(%wanted) : memref<?xf64>
      scf.for %at = %c0 to %room step %c1 {
        %value = memref.load %array[%at] : memref<?xf64>
        memref.store %value, %new[%at] : memref<?xf64>
      }
      memref.dealloc %array : memref<?xf64>
      scf.yield %new : memref<?xf64>
    }
    return %result : memref<?xf64>
  }
}
