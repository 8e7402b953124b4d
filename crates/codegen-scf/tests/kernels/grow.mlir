module {
  // out C: (i, j) -> (i : dense, j : compressed)
  // in  x: (j) -> (j : dense)
  func.func @grow(
      %C.n0: index, %C.n1: index, %C1.pos: memref<?xi32>,
      %x.n0: index, %x.vals: memref<?xf64>) -> (memref<?xi32>, memref<?xf64>) {
    %c0 = arith.constant 0 : index
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %cst = arith.constant 1.0 : f64
    %c1000 = arith.constant 1000 : index
    %cst_1 = arith.constant 2.0 : f64
    %C1.crd = memref.alloc(%c0) : memref<?xi32>
    %C.vals = memref.alloc(%c0) : memref<?xf64>
    %0 = arith.trunci %c0_i64 : i64 to i32
    memref.store %0, %C1.pos[%c0] : memref<?xi32>
    %p_1, %C1.crd_2, %C.vals_2 = scf.for %i = %c0 to %C.n0 step %c1 iter_args(%p = %c0, %C1.crd_1 = %C1.crd, %C.vals_1 = %C.vals) -> (index, memref<?xi32>, memref<?xf64>) {
      %p_3, %C1.crd_4, %C.vals_4 = scf.for %j = %c0 to %x.n0 step %c1 iter_args(%p_2 = %p, %C1.crd_3 = %C1.crd_1, %C.vals_3 = %C.vals_1) -> (index, memref<?xi32>, memref<?xf64>) {
        %1 = memref.load %x.vals[%j] : memref<?xf64>
        %2 = arith.index_cast %i : index to i64
        %3 = arith.sitofp %2 : i64 to f64
        %4 = arith.cmpf ogt, %1, %3 : f64
        %p_4, %C1.crd_5, %C.vals_5 = scf.if %4 -> (index, memref<?xi32>, memref<?xf64>) {
          %5 = arith.addi %p_2, %c1 : index
          %C1.crd_6 = func.call @sparsec_grow_i32(%C1.crd_3, %5) : (memref<?xi32>, index) -> memref<?xi32>
          %6 = arith.addi %p_2, %c1 : index
          %C.vals_6 = func.call @sparsec_grow_f64(%C.vals_3, %6) : (memref<?xf64>, index) -> memref<?xf64>
          %7 = arith.index_cast %j : index to i32
          memref.store %7, %C1.crd_6[%p_2] : memref<?xi32>
          %8 = memref.load %x.vals[%j] : memref<?xf64>
          memref.store %8, %C.vals_6[%p_2] : memref<?xf64>
          %9 = arith.cmpi sgt, %p_2, %p : index
          scf.if %9 {
            %10 = memref.load %C.vals_6[%p_2] : memref<?xf64>
            %11 = arith.subi %p_2, %c1 : index
            %12 = memref.load %C.vals_6[%11] : memref<?xf64>
            %13 = arith.addf %10, %12 : f64
            memref.store %13, %C.vals_6[%p_2] : memref<?xf64>
          }
          %p_5 = arith.addi %p_2, %c1 : index
          scf.yield %p_5, %C1.crd_6, %C.vals_6 : index, memref<?xi32>, memref<?xf64>
        } else {
          scf.yield %p_2, %C1.crd_3, %C.vals_3 : index, memref<?xi32>, memref<?xf64>
        }
        scf.for %k = %p to %p_4 step %c1 {
          %14 = memref.load %C.vals_5[%k] : memref<?xf64>
          %15 = arith.addf %14, %cst : f64
          memref.store %15, %C.vals_5[%k] : memref<?xf64>
        }
        scf.yield %p_4, %C1.crd_5, %C.vals_5 : index, memref<?xi32>, memref<?xf64>
      }
      %last_2 = scf.while (%last = %p_3) : (index) -> (index) {
        %16 = arith.cmpi sgt, %last, %p : index
        %17 = arith.addi %p, %c1000 : index
        %18 = arith.cmpi slt, %p_3, %17 : index
        %19 = arith.andi %16, %18 : i1
        scf.condition(%19) %last : index
      } do {
      ^bb0(%last_1: index):
        %last_3 = arith.subi %last_1, %c1 : index
        %20 = memref.load %C.vals_4[%last_3] : memref<?xf64>
        %21 = arith.mulf %20, %cst_1 : f64
        %22 = memref.load %C.vals_4[%p] : memref<?xf64>
        %23 = arith.subf %21, %22 : f64
        memref.store %23, %C.vals_4[%last_3] : memref<?xf64>
        scf.yield %last_3 : index
      }
      %24 = arith.addi %i, %c1 : index
      %25 = arith.index_cast %p_3 : index to i32
      memref.store %25, %C1.pos[%24] : memref<?xi32>
      scf.yield %p_3, %C1.crd_4, %C.vals_4 : index, memref<?xi32>, memref<?xf64>
    }
    %C1.crd_7 = func.call @sparsec_grow_i32(%C1.crd_2, %p_1) : (memref<?xi32>, index) -> memref<?xi32>
    %C.vals_7 = func.call @sparsec_grow_f64(%C.vals_2, %p_1) : (memref<?xf64>, index) -> memref<?xf64>
    %C1.crd_8 = memref.reinterpret_cast %C1.crd_7 to offset: [0], sizes: [%p_1], strides: [1] : memref<?xi32> to memref<?xi32>
    %C.vals_8 = memref.reinterpret_cast %C.vals_7 to offset: [0], sizes: [%p_1], strides: [1] : memref<?xf64> to memref<?xf64>
    return %C1.crd_8, %C.vals_8 : memref<?xi32>, memref<?xf64>
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
