module {
  // out y: (i) -> (i : compressed)
  // in  a: (i) -> (i : compressed)
  // in  b: (i) -> (i : dense)
  func.func @integers(
      %y.n0: index,
      %a.n0: index, %a1.pos: memref<?xi16>, %a1.crd: memref<?xi8>, %a.vals: memref<?xi8>,
      %b.n0: index, %b.vals: memref<?xi32>) -> (memref<?xi16>, memref<?xi8>, memref<?xi64>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
    %c3_i8 = arith.constant 3 : i8
    %c0_i8 = arith.constant 0 : i8
    %c10_i64 = arith.constant 10 : i64
    %c7_i64 = arith.constant 7 : i64
    %c4294967296_i64 = arith.constant 4294967296 : i64
    %c5_i64 = arith.constant 5 : i64
    %y1.pos = memref.alloc(%c0) : memref<?xi16>
    %y1.crd = memref.alloc(%c0) : memref<?xi8>
    %y.vals = memref.alloc(%c0) : memref<?xi64>
    %y1.pos_1 = func.call @sparsec_grow_u16(%y1.pos, %c2) : (memref<?xi16>, index) -> memref<?xi16>
    %0 = arith.trunci %c0_i64 : i64 to i16
    memref.store %0, %y1.pos_1[%c0] : memref<?xi16>
    %1 = memref.load %a1.pos[%c0] : memref<?xi16>
    %2 = arith.index_castui %1 : i16 to index
    %3 = memref.load %a1.pos[%c1] : memref<?xi16>
    %4 = arith.index_castui %3 : i16 to index
    %n_1, %y1.crd_2, %y.vals_2 = scf.for %p = %2 to %4 step %c1 iter_args(%n = %c0, %y1.crd_1 = %y1.crd, %y.vals_1 = %y.vals) -> (index, memref<?xi8>, memref<?xi64>) {
      %5 = memref.load %a1.crd[%p] : memref<?xi8>
      %i = arith.index_castui %5 : i8 to index
      %6 = memref.load %a.vals[%p] : memref<?xi8>
      %7 = memref.load %a.vals[%p] : memref<?xi8>
      %8 = arith.muli %6, %7 : i8
      %narrow = arith.addi %8, %c3_i8 : i8
      %9 = math.absi %narrow : i8
      %cut = arith.subi %c0_i8, %9 : i8
      %10 = memref.load %b.vals[%i] : memref<?xi32>
      %11 = arith.extui %10 : i32 to i64
      %12 = arith.addi %i, %c1 : index
      %13 = memref.load %b.vals[%12] : memref<?xi32>
      %14 = arith.extui %13 : i32 to i64
      %wide = arith.muli %11, %14 : i64
      %15 = memref.load %b.vals[%i] : memref<?xi32>
      %16 = arith.extui %15 : i32 to i64
      %17 = arith.extsi %cut : i8 to i64
      %18 = arith.cmpi sgt, %16, %17 : i64
      %19 = arith.divui %wide, %c10_i64 : i64
      %20 = arith.cmpi uge, %19, %c7_i64 : i64
      %21 = arith.andi %18, %20 : i1
      %n_2, %y1.crd_3, %y.vals_3 = scf.if %21 -> (index, memref<?xi8>, memref<?xi64>) {
        %22 = arith.addi %n, %c1 : index
        %y1.crd_4 = func.call @sparsec_grow_u8(%y1.crd_1, %22) : (memref<?xi8>, index) -> memref<?xi8>
        %23 = arith.index_cast %i : index to i8
        memref.store %23, %y1.crd_4[%n] : memref<?xi8>
        %24 = arith.addi %n, %c1 : index
        %y.vals_4 = func.call @sparsec_grow_u64(%y.vals_1, %24) : (memref<?xi64>, index) -> memref<?xi64>
        %25 = arith.remui %wide, %c4294967296_i64 : i64
        %26 = arith.extsi %cut : i8 to i64
        %27 = arith.maxui %25, %26 : i64
        %28 = arith.subi %27, %c5_i64 : i64
        memref.store %28, %y.vals_4[%n] : memref<?xi64>
        %n_3 = arith.addi %n, %c1 : index
        scf.yield %n_3, %y1.crd_4, %y.vals_4 : index, memref<?xi8>, memref<?xi64>
      } else {
        scf.yield %n, %y1.crd_1, %y.vals_1 : index, memref<?xi8>, memref<?xi64>
      }
      scf.yield %n_2, %y1.crd_3, %y.vals_3 : index, memref<?xi8>, memref<?xi64>
    }
    %29 = arith.index_cast %n_1 : index to i16
    memref.store %29, %y1.pos_1[%c1] : memref<?xi16>
    %y1.crd_5 = func.call @sparsec_grow_u8(%y1.crd_2, %n_1) : (memref<?xi8>, index) -> memref<?xi8>
    %y.vals_5 = func.call @sparsec_grow_u64(%y.vals_2, %n_1) : (memref<?xi64>, index) -> memref<?xi64>
    %y1.pos_2 = memref.reinterpret_cast %y1.pos_1 to offset: [0], sizes: [%c2], strides: [1] : memref<?xi16> to memref<?xi16>
    %y1.crd_6 = memref.reinterpret_cast %y1.crd_5 to offset: [0], sizes: [%n_1], strides: [1] : memref<?xi8> to memref<?xi8>
    %y.vals_6 = memref.reinterpret_cast %y.vals_5 to offset: [0], sizes: [%n_1], strides: [1] : memref<?xi64> to memref<?xi64>
    return %y1.pos_2, %y1.crd_6, %y.vals_6 : memref<?xi16>, memref<?xi8>, memref<?xi64>
  }
  func.func private @sparsec_grow_u8(%array: memref<?xi8>, %len: index) -> memref<?xi8> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %room = memref.dim %array, %c0 : memref<?xi8>
    %fits = arith.cmpi sle, %len, %room : index
    %result = scf.if %fits -> (memref<?xi8>) {
      scf.yield %array : memref<?xi8>
    } else {
      %wanted = arith.shli %len, %c1 : index
      %new = memref.alloc(%wanted) : memref<?xi8>
      scf.for %at = %c0 to %room step %c1 {
        %value = memref.load %array[%at] : memref<?xi8>
        memref.store %value, %new[%at] : memref<?xi8>
      }
      memref.dealloc %array : memref<?xi8>
      scf.yield %new : memref<?xi8>
    }
    return %result : memref<?xi8>
  }
  func.func private @sparsec_grow_u16(%array: memref<?xi16>, %len: index) -> memref<?xi16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %room = memref.dim %array, %c0 : memref<?xi16>
    %fits = arith.cmpi sle, %len, %room : index
    %result = scf.if %fits -> (memref<?xi16>) {
      scf.yield %array : memref<?xi16>
    } else {
      %wanted = arith.shli %len, %c1 : index
      %new = memref.alloc(%wanted) : memref<?xi16>
      scf.for %at = %c0 to %room step %c1 {
        %value = memref.load %array[%at] : memref<?xi16>
        memref.store %value, %new[%at] : memref<?xi16>
      }
      memref.dealloc %array : memref<?xi16>
      scf.yield %new : memref<?xi16>
    }
    return %result : memref<?xi16>
  }
  func.func private @sparsec_grow_u64(%array: memref<?xi64>, %len: index) -> memref<?xi64> {
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
      memref.dealloc %array : memref<?xi64>
      scf.yield %new : memref<?xi64>
    }
    return %result : memref<?xi64>
  }
}
