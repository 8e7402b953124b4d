module {
  // out C: (i, j) -> (i : dense, j : compressed)
  // in  A: (i, k) -> (i : dense, k : compressed)
  // in  B: (k, j) -> (k : dense, j : compressed)
  func.func @spgemm(
      %C.n0: index, %C.n1: index, %C1.pos: memref<?xi32>,
      %A.n0: index, %A.n1: index, %A1.pos: memref<?xi32>, %A1.crd: memref<?xi32>, %A.vals: memref<?xf64>,
      %B.n0: index, %B.n1: index, %B1.pos: memref<?xi32>, %B1.crd: memref<?xi32>, %B.vals: memref<?xf64>) -> (memref<?xi32>, memref<?xf64>) {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %c0_i32 = arith.constant 0 : i32
    %false = arith.constant false
    %c0_i64 = arith.constant 0 : i64
    %true = arith.constant true
    %c2147483647 = arith.constant 2147483647 : index
    %C1.crd = memref.alloc(%c0) : memref<?xi32>
    %C.vals = memref.alloc(%c0) : memref<?xf64>
    %w = memref.alloc(%B.n1) : memref<?xf64>
    scf.for %at = %c0 to %B.n1 step %c1 {
      memref.store %cst, %w[%at] : memref<?xf64>
    }
    %w.list = memref.alloc(%B.n1) : memref<?xi32>
    scf.for %at_1 = %c0 to %B.n1 step %c1 {
      memref.store %c0_i32, %w.list[%at_1] : memref<?xi32>
    }
    %w.seen = memref.alloc(%B.n1) : memref<?xi1>
    scf.for %at_2 = %c0 to %B.n1 step %c1 {
      memref.store %false, %w.seen[%at_2] : memref<?xi1>
    }
    %0 = arith.trunci %c0_i64 : i64 to i32
    memref.store %0, %C1.pos[%c0] : memref<?xi32>
    %pC1_1, %C1.crd_2, %C.vals_2 = scf.for %i = %c0 to %A.n0 step %c1 iter_args(%pC1 = %c0, %C1.crd_1 = %C1.crd, %C.vals_1 = %C.vals) -> (index, memref<?xi32>, memref<?xf64>) {
      %1 = memref.load %A1.pos[%i] : memref<?xi32>
      %2 = arith.index_cast %1 : i32 to index
      %3 = arith.addi %i, %c1 : index
      %4 = memref.load %A1.pos[%3] : memref<?xi32>
      %5 = arith.index_cast %4 : i32 to index
      %n_1 = scf.for %pA1 = %2 to %5 step %c1 iter_args(%n = %c0) -> (index) {
        %6 = memref.load %A1.crd[%pA1] : memref<?xi32>
        %k = arith.index_cast %6 : i32 to index
        %7 = memref.load %B1.pos[%k] : memref<?xi32>
        %8 = arith.index_cast %7 : i32 to index
        %9 = arith.addi %k, %c1 : index
        %10 = memref.load %B1.pos[%9] : memref<?xi32>
        %11 = arith.index_cast %10 : i32 to index
        %n_3 = scf.for %pB1 = %8 to %11 step %c1 iter_args(%n_2 = %n) -> (index) {
          %12 = memref.load %B1.crd[%pB1] : memref<?xi32>
          %j = arith.index_cast %12 : i32 to index
          %13 = memref.load %w.seen[%j] : memref<?xi1>
          %14 = arith.xori %13, %true : i1
          %n_4 = scf.if %14 -> (index) {
            memref.store %true, %w.seen[%j] : memref<?xi1>
            %15 = arith.index_cast %j : index to i32
            memref.store %15, %w.list[%n_2] : memref<?xi32>
            %n_5 = arith.addi %n_2, %c1 : index
            scf.yield %n_5 : index
          } else {
            scf.yield %n_2 : index
          }
          %16 = memref.load %w[%j] : memref<?xf64>
          %17 = memref.load %A.vals[%pA1] : memref<?xf64>
          %18 = memref.load %B.vals[%pB1] : memref<?xf64>
          %19 = arith.mulf %17, %18 : f64
          %20 = arith.addf %16, %19 : f64
          memref.store %20, %w[%j] : memref<?xf64>
          scf.yield %n_4 : index
        }
        scf.yield %n_3 : index
      }
      func.call @sparsec_sort_i32(%w.list, %c0, %n_1) : (memref<?xi32>, index, index) -> ()
      // append the row and clear what it touched
      %21 = arith.addi %pC1, %n_1 : index
      %C1.crd_3 = func.call @sparsec_grow_i32(%C1.crd_1, %21) : (memref<?xi32>, index) -> memref<?xi32>
      %22 = arith.addi %pC1, %n_1 : index
      %C.vals_3 = func.call @sparsec_grow_f64(%C.vals_1, %22) : (memref<?xf64>, index) -> memref<?xf64>
      %pC1_3 = scf.for %e = %c0 to %n_1 step %c1 iter_args(%pC1_2 = %pC1) -> (index) {
        %23 = memref.load %w.list[%e] : memref<?xi32>
        %j_2 = arith.index_cast %23 : i32 to index
        %24 = arith.index_cast %j_2 : index to i32
        memref.store %24, %C1.crd_3[%pC1_2] : memref<?xi32>
        %25 = memref.load %w[%j_2] : memref<?xf64>
        memref.store %25, %C.vals_3[%pC1_2] : memref<?xf64>
        memref.store %cst, %w[%j_2] : memref<?xf64>
        memref.store %false, %w.seen[%j_2] : memref<?xi1>
        %pC1_4 = arith.addi %pC1_2, %c1 : index
        scf.yield %pC1_4 : index
      }
      %26 = arith.cmpi sgt, %pC1_3, %c2147483647 : index
      scf.if %26 {
        cf.assert %false, "width_overflow"
      }
      %27 = arith.addi %i, %c1 : index
      %28 = arith.index_cast %pC1_3 : index to i32
      memref.store %28, %C1.pos[%27] : memref<?xi32>
      scf.yield %pC1_3, %C1.crd_3, %C.vals_3 : index, memref<?xi32>, memref<?xf64>
    }
    %C1.crd_4 = func.call @sparsec_grow_i32(%C1.crd_2, %pC1_1) : (memref<?xi32>, index) -> memref<?xi32>
    %C.vals_4 = func.call @sparsec_grow_f64(%C.vals_2, %pC1_1) : (memref<?xf64>, index) -> memref<?xf64>
    memref.dealloc %w : memref<?xf64>
    memref.dealloc %w.list : memref<?xi32>
    memref.dealloc %w.seen : memref<?xi1>
    %C1.crd_5 = memref.reinterpret_cast %C1.crd_4 to offset: [0], sizes: [%pC1_1], strides: [1] : memref<?xi32> to memref<?xi32>
    %C.vals_5 = memref.reinterpret_cast %C.vals_4 to offset: [0], sizes: [%pC1_1], strides: [1] : memref<?xf64> to memref<?xf64>
    return %C1.crd_5, %C.vals_5 : memref<?xi32>, memref<?xf64>
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
  func.func private @sparsec_sort_i32(%data: memref<?xi32>, %lo: index, %hi: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %false = arith.constant false
    scf.for %run = %lo to %hi step %c16 {
      %full = arith.addi %run, %c16 : index
      %end = arith.minsi %full, %hi : index
      %second = arith.addi %run, %c1 : index
      scf.for %i = %second to %end step %c1 {
        %key = memref.load %data[%i] : memref<?xi32>
        %place = scf.while (%p = %i) : (index) -> index {
          %is_inside = arith.cmpi sgt, %p, %run : index
          %moves = scf.if %is_inside -> (i1) {
            %q = arith.subi %p, %c1 : index
            %before = memref.load %data[%q] : memref<?xi32>
            %is_larger = arith.cmpi sgt, %before, %key : i32
            scf.yield %is_larger : i1
          } else {
            scf.yield %false : i1
          }
          scf.condition(%moves) %p : index
        } do {
        ^bb0(%p: index):
          %q = arith.subi %p, %c1 : index
          %before = memref.load %data[%q] : memref<?xi32>
          memref.store %before, %data[%p] : memref<?xi32>
          scf.yield %q : index
        }
        memref.store %key, %data[%place] : memref<?xi32>
      }
    }
    %n = arith.subi %hi, %lo : index
    %is_long = arith.cmpi sgt, %n, %c16 : index
    scf.if %is_long {
      %merged = memref.alloc(%n) : memref<?xi32>
      %sorted = scf.while (%width = %c16) : (index) -> index {
        %goes_on = arith.cmpi slt, %width, %n : index
        scf.condition(%goes_on) %width : index
      } do {
      ^bb0(%width: index):
        %double = arith.addi %width, %width : index
        scf.for %left = %lo to %hi step %double {
          %left_full = arith.addi %left, %width : index
          %middle = arith.minsi %left_full, %hi : index
          %right_full = arith.addi %left, %double : index
          %end = arith.minsi %right_full, %hi : index
          %rest:2 = scf.for %to = %left to %end step %c1 iter_args(%p = %left, %q = %middle) -> (index, index) {
            %has_left = arith.cmpi slt, %p, %middle : index
            %has_right = arith.cmpi slt, %q, %end : index
            %takes_left = scf.if %has_left -> (i1) {
              %takes = scf.if %has_right -> (i1) {
                %a = memref.load %data[%p] : memref<?xi32>
                %b = memref.load %data[%q] : memref<?xi32>
                %is_first = arith.cmpi sle, %a, %b : i32
                scf.yield %is_first : i1
              } else {
                scf.yield %has_left : i1
              }
              scf.yield %takes : i1
            } else {
              scf.yield %false : i1
            }
            %from = arith.select %takes_left, %p, %q : index
            %value = memref.load %data[%from] : memref<?xi32>
            %at = arith.subi %to, %lo : index
            memref.store %value, %merged[%at] : memref<?xi32>
            %p_next = arith.addi %p, %c1 : index
            %q_next = arith.addi %q, %c1 : index
            %p_new = arith.select %takes_left, %p_next, %p : index
            %q_new = arith.select %takes_left, %q, %q_next : index
            scf.yield %p_new, %q_new : index, index
          }
        }
        scf.for %at = %c0 to %n step %c1 {
          %to = arith.addi %lo, %at : index
          %value = memref.load %merged[%at] : memref<?xi32>
          memref.store %value, %data[%to] : memref<?xi32>
        }
        scf.yield %double : index
      }
      memref.dealloc %merged : memref<?xi32>
    }
    return
  }
}
