module {
  // out C: (i, j) -> (i : dense, j : compressed)
  // in  A: (i, j) -> (i : dense, j : compressed)
  // in  B: (i, j) -> (i : dense, j : compressed)
  func.func @add(
      %C.n0: index, %C.n1: index, %C1.pos: memref<?xi32>,
      %A.n0: index, %A.n1: index, %A1.pos: memref<?xi32>, %A1.crd: memref<?xi32>, %A.vals: memref<?xf64>,
      %B.n0: index, %B.n1: index, %B1.pos: memref<?xi32>, %B1.crd: memref<?xi32>, %B.vals: memref<?xf64>) -> (memref<?xi32>, memref<?xf64>) {
    %c0 = arith.constant 0 : index
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %C1.crd = memref.alloc(%c0) : memref<?xi32>
    %C.vals = memref.alloc(%c0) : memref<?xf64>
    %0 = arith.trunci %c0_i64 : i64 to i32
    memref.store %0, %C1.pos[%c0] : memref<?xi32>
    %pC1_1, %C1.crd_2, %C.vals_2 = scf.for %i = %c0 to %A.n0 step %c1 iter_args(%pC1 = %c0, %C1.crd_1 = %C1.crd, %C.vals_1 = %C.vals) -> (index, memref<?xi32>, memref<?xf64>) {
      %1 = memref.load %A1.pos[%i] : memref<?xi32>
      %pA1 = arith.index_cast %1 : i32 to index
      %2 = arith.addi %i, %c1 : index
      %3 = memref.load %A1.pos[%2] : memref<?xi32>
      %pA1_end = arith.extsi %3 : i32 to i64
      %4 = memref.load %B1.pos[%i] : memref<?xi32>
      %pB1 = arith.index_cast %4 : i32 to index
      %5 = arith.addi %i, %c1 : index
      %6 = memref.load %B1.pos[%5] : memref<?xi32>
      %pB1_end = arith.extsi %6 : i32 to i64
      %pC1_4, %pA1_3, %pB1_3, %C1.crd_5, %C.vals_5 = scf.while (%pC1_2 = %pC1, %pA1_1 = %pA1, %pB1_1 = %pB1, %C1.crd_3 = %C1.crd_1, %C.vals_3 = %C.vals_1) : (index, index, index, memref<?xi32>, memref<?xf64>) -> (index, index, index, memref<?xi32>, memref<?xf64>) {
        %7 = arith.index_cast %pA1_end : i64 to index
        %8 = arith.cmpi slt, %pA1_1, %7 : index
        %9 = arith.index_cast %pB1_end : i64 to index
        %10 = arith.cmpi slt, %pB1_1, %9 : index
        %11 = arith.andi %8, %10 : i1
        scf.condition(%11) %pC1_2, %pA1_1, %pB1_1, %C1.crd_3, %C.vals_3 : index, index, index, memref<?xi32>, memref<?xf64>
      } do {
      ^bb0(%pC1_3: index, %pA1_2: index, %pB1_2: index, %C1.crd_4: memref<?xi32>, %C.vals_4: memref<?xf64>):
        %12 = memref.load %A1.crd[%pA1_2] : memref<?xi32>
        %jA = arith.extsi %12 : i32 to i64
        %13 = memref.load %B1.crd[%pB1_2] : memref<?xi32>
        %jB = arith.extsi %13 : i32 to i64
        %j = arith.minsi %jA, %jB : i64
        %14 = arith.addi %pC1_3, %c1 : index
        %C1.crd_6 = func.call @sparsec_grow_i32(%C1.crd_4, %14) : (memref<?xi32>, index) -> memref<?xi32>
        %15 = arith.addi %pC1_3, %c1 : index
        %C.vals_6 = func.call @sparsec_grow_f64(%C.vals_4, %15) : (memref<?xf64>, index) -> memref<?xf64>
        %16 = arith.trunci %j : i64 to i32
        memref.store %16, %C1.crd_6[%pC1_3] : memref<?xi32>
        %17 = arith.cmpi eq, %jA, %j : i64
        %18 = arith.cmpi eq, %jB, %j : i64
        %19 = arith.andi %17, %18 : i1
        scf.if %19 {
          %20 = memref.load %A.vals[%pA1_2] : memref<?xf64>
          %21 = memref.load %B.vals[%pB1_2] : memref<?xf64>
          %22 = arith.addf %20, %21 : f64
          memref.store %22, %C.vals_6[%pC1_3] : memref<?xf64>
        } else {
          %23 = arith.cmpi eq, %jA, %j : i64
          scf.if %23 {
            %24 = memref.load %A.vals[%pA1_2] : memref<?xf64>
            memref.store %24, %C.vals_6[%pC1_3] : memref<?xf64>
          } else {
            %25 = memref.load %B.vals[%pB1_2] : memref<?xf64>
            memref.store %25, %C.vals_6[%pC1_3] : memref<?xf64>
          }
        }
        %26 = arith.cmpi eq, %jA, %j : i64
        %27 = arith.extui %26 : i1 to i64
        %28 = arith.index_cast %27 : i64 to index
        %pA1_4 = arith.addi %pA1_2, %28 : index
        %29 = arith.cmpi eq, %jB, %j : i64
        %30 = arith.extui %29 : i1 to i64
        %31 = arith.index_cast %30 : i64 to index
        %pB1_4 = arith.addi %pB1_2, %31 : index
        %pC1_5 = arith.addi %pC1_3, %c1 : index
        scf.yield %pC1_5, %pA1_4, %pB1_4, %C1.crd_6, %C.vals_6 : index, index, index, memref<?xi32>, memref<?xf64>
      }
      %pC1_8, %pA1_7, %C1.crd_9, %C.vals_9 = scf.while (%pC1_6 = %pC1_4, %pA1_5 = %pA1_3, %C1.crd_7 = %C1.crd_5, %C.vals_7 = %C.vals_5) : (index, index, memref<?xi32>, memref<?xf64>) -> (index, index, memref<?xi32>, memref<?xf64>) {
        %32 = arith.index_cast %pA1_end : i64 to index
        %33 = arith.cmpi slt, %pA1_5, %32 : index
        scf.condition(%33) %pC1_6, %pA1_5, %C1.crd_7, %C.vals_7 : index, index, memref<?xi32>, memref<?xf64>
      } do {
      ^bb0(%pC1_7: index, %pA1_6: index, %C1.crd_8: memref<?xi32>, %C.vals_8: memref<?xf64>):
        %34 = arith.addi %pC1_7, %c1 : index
        %C1.crd_10 = func.call @sparsec_grow_i32(%C1.crd_8, %34) : (memref<?xi32>, index) -> memref<?xi32>
        %35 = arith.addi %pC1_7, %c1 : index
        %C.vals_10 = func.call @sparsec_grow_f64(%C.vals_8, %35) : (memref<?xf64>, index) -> memref<?xf64>
        %36 = memref.load %A1.crd[%pA1_6] : memref<?xi32>
        %37 = arith.extsi %36 : i32 to i64
        %38 = arith.trunci %37 : i64 to i32
        memref.store %38, %C1.crd_10[%pC1_7] : memref<?xi32>
        %39 = memref.load %A.vals[%pA1_6] : memref<?xf64>
        memref.store %39, %C.vals_10[%pC1_7] : memref<?xf64>
        %pA1_8 = arith.addi %pA1_6, %c1 : index
        %pC1_9 = arith.addi %pC1_7, %c1 : index
        scf.yield %pC1_9, %pA1_8, %C1.crd_10, %C.vals_10 : index, index, memref<?xi32>, memref<?xf64>
      }
      %pC1_12, %pB1_7, %C1.crd_13, %C.vals_13 = scf.while (%pC1_10 = %pC1_8, %pB1_5 = %pB1_3, %C1.crd_11 = %C1.crd_9, %C.vals_11 = %C.vals_9) : (index, index, memref<?xi32>, memref<?xf64>) -> (index, index, memref<?xi32>, memref<?xf64>) {
        %40 = arith.index_cast %pB1_end : i64 to index
        %41 = arith.cmpi slt, %pB1_5, %40 : index
        scf.condition(%41) %pC1_10, %pB1_5, %C1.crd_11, %C.vals_11 : index, index, memref<?xi32>, memref<?xf64>
      } do {
      ^bb0(%pC1_11: index, %pB1_6: index, %C1.crd_12: memref<?xi32>, %C.vals_12: memref<?xf64>):
        %42 = arith.addi %pC1_11, %c1 : index
        %C1.crd_14 = func.call @sparsec_grow_i32(%C1.crd_12, %42) : (memref<?xi32>, index) -> memref<?xi32>
        %43 = arith.addi %pC1_11, %c1 : index
        %C.vals_14 = func.call @sparsec_grow_f64(%C.vals_12, %43) : (memref<?xf64>, index) -> memref<?xf64>
        %44 = memref.load %B1.crd[%pB1_6] : memref<?xi32>
        %45 = arith.extsi %44 : i32 to i64
        %46 = arith.trunci %45 : i64 to i32
        memref.store %46, %C1.crd_14[%pC1_11] : memref<?xi32>
        %47 = memref.load %B.vals[%pB1_6] : memref<?xf64>
        memref.store %47, %C.vals_14[%pC1_11] : memref<?xf64>
        %pB1_8 = arith.addi %pB1_6, %c1 : index
        %pC1_13 = arith.addi %pC1_11, %c1 : index
        scf.yield %pC1_13, %pB1_8, %C1.crd_14, %C.vals_14 : index, index, memref<?xi32>, memref<?xf64>
      }
      %48 = arith.addi %i, %c1 : index
      %49 = arith.index_cast %pC1_12 : index to i32
      memref.store %49, %C1.pos[%48] : memref<?xi32>
      scf.yield %pC1_12, %C1.crd_13, %C.vals_13 : index, memref<?xi32>, memref<?xf64>
    }
    %C1.crd_15 = func.call @sparsec_grow_i32(%C1.crd_2, %pC1_1) : (memref<?xi32>, index) -> memref<?xi32>
    %C.vals_15 = func.call @sparsec_grow_f64(%C.vals_2, %pC1_1) : (memref<?xf64>, index) -> memref<?xf64>
    %C1.crd_16 = memref.reinterpret_cast %C1.crd_15 to offset: [0], sizes: [%pC1_1], strides: [1] : memref<?xi32> to memref<?xi32>
    %C.vals_16 = memref.reinterpret_cast %C.vals_15 to offset: [0], sizes: [%pC1_1], strides: [1] : memref<?xf64> to memref<?xf64>
    return %C1.crd_16, %C.vals_16 : memref<?xi32>, memref<?xf64>
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
