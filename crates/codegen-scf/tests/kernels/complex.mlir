module {
  // out y: (i) -> (i : dense)
  // out s: () -> ()
  // in  A: (i, j) -> (i : dense, j : compressed)
  // in  x: (i) -> (i : dense)
  func.func @complex(
      %y.n0: index, %y.vals: memref<?xcomplex<f64>>,
      %s.vals: memref<?xf32>,
      %A.n0: index, %A.n1: index, %A1.pos: memref<?xi32>, %A1.crd: memref<?xi32>, %A.vals: memref<?xcomplex<f32>>,
      %x.n0: index, %x.vals: memref<?xcomplex<f64>>) {
    %cst = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst_1 = complex.constant [0.0 : f64, 0.0 : f64] : complex<f64>
    %cst_2 = arith.constant 0.0 : f64
    %cst_3 = complex.constant [1.0 : f64, -0.5 : f64] : complex<f64>
    %cst_4 = arith.constant 2.0 : f64
    %most_1 = scf.for %i = %c0 to %y.n0 step %c1 iter_args(%most = %cst) -> (f32) {
      %0 = memref.load %A1.pos[%i] : memref<?xi32>
      %1 = arith.index_cast %0 : i32 to index
      %2 = arith.addi %i, %c1 : index
      %3 = memref.load %A1.pos[%2] : memref<?xi32>
      %4 = arith.index_cast %3 : i32 to index
      %most_3, %t_1 = scf.for %pA1 = %1 to %4 step %c1 iter_args(%most_2 = %most, %t = %cst_1) -> (f32, complex<f64>) {
        %5 = memref.load %A1.crd[%pA1] : memref<?xi32>
        %j = arith.index_cast %5 : i32 to index
        %6 = memref.load %A.vals[%pA1] : memref<?xcomplex<f32>>
        %7 = func.call @sparsec_conj_c64(%6) : (complex<f32>) -> complex<f32>
        %8 = complex.re %7 : complex<f32>
        %9 = arith.extf %8 : f32 to f64
        %10 = complex.im %7 : complex<f32>
        %11 = arith.extf %10 : f32 to f64
        %12 = complex.create %9, %11 : complex<f64>
        %13 = memref.load %x.vals[%j] : memref<?xcomplex<f64>>
        %14 = func.call @sparsec_mul_c128(%12, %13) : (complex<f64>, complex<f64>) -> complex<f64>
        %t_2 = func.call @sparsec_add_c128(%t, %14) : (complex<f64>, complex<f64>) -> complex<f64>
        %15 = memref.load %A.vals[%pA1] : memref<?xcomplex<f32>>
        %16 = func.call @sparsec_abs_c64(%15) : (complex<f32>) -> f32
        %most_4 = func.call @sparsec_max_f32(%most_2, %16) : (f32, f32) -> f32
        scf.yield %most_4, %t_2 : f32, complex<f64>
      }
      %17 = complex.re %t_1 : complex<f64>
      %18 = arith.cmpf oeq, %17, %cst_2 : f64
      %19 = func.call @sparsec_sqrt_c128(%t_1) : (complex<f64>) -> complex<f64>
      %20 = func.call @sparsec_div_c128(%19, %cst_3) : (complex<f64>, complex<f64>) -> complex<f64>
      %21 = func.call @sparsec_neg_c128(%t_1) : (complex<f64>) -> complex<f64>
      %22 = arith.select %18, %20, %21 : complex<f64>
      memref.store %22, %y.vals[%i] : memref<?xcomplex<f64>>
      %23 = memref.load %y.vals[%i] : memref<?xcomplex<f64>>
      %24 = complex.create %cst_4, %cst_2 : complex<f64>
      %25 = func.call @sparsec_mul_c128(%23, %24) : (complex<f64>, complex<f64>) -> complex<f64>
      memref.store %25, %y.vals[%i] : memref<?xcomplex<f64>>
      scf.yield %most_3 : f32
    }
    memref.store %most_1, %s.vals[%c0] : memref<?xf32>
    return
  }
  func.func private @sparsec_max_f32(%a: f32, %b: f32) -> f32 {
    %is_first = arith.cmpf ogt, %a, %b : f32
    %is_nan = arith.cmpf uno, %a, %a : f32
    %takes_a = arith.ori %is_first, %is_nan : i1
    %result = arith.select %takes_a, %a, %b : f32
    return %result : f32
  }
  func.func private @sparsec_abs_c64(%a: complex<f32>) -> f32 {
    %a_re = complex.re %a : complex<f32>
    %a_im = complex.im %a : complex<f32>
    %0 = func.call @hypotf(%a_re, %a_im) : (f32, f32) -> f32
    return %0 : f32
  }
  func.func private @sparsec_add_c128(%a: complex<f64>, %b: complex<f64>) -> complex<f64> {
    %a_re = complex.re %a : complex<f64>
    %a_im = complex.im %a : complex<f64>
    %b_re = complex.re %b : complex<f64>
    %b_im = complex.im %b : complex<f64>
    %0 = arith.addf %a_re, %b_re : f64
    %1 = arith.addf %a_im, %b_im : f64
    %2 = complex.create %0, %1 : complex<f64>
    return %2 : complex<f64>
  }
  func.func private @sparsec_conj_c64(%a: complex<f32>) -> complex<f32> {
    %a_re = complex.re %a : complex<f32>
    %a_im = complex.im %a : complex<f32>
    %0 = arith.negf %a_im : f32
    %1 = complex.create %a_re, %0 : complex<f32>
    return %1 : complex<f32>
  }
  func.func private @sparsec_div_c128(%a: complex<f64>, %b: complex<f64>) -> complex<f64> {
    %cst = arith.constant 0.0 : f64
    %a_re = complex.re %a : complex<f64>
    %a_im = complex.im %a : complex<f64>
    %b_re = complex.re %b : complex<f64>
    %b_im = complex.im %b : complex<f64>
    %0 = math.absf %b_re : f64
    %1 = math.absf %b_im : f64
    %t = arith.cmpf olt, %0, %1 : f64
    %t_2 = arith.select %t, %b_im, %b_re : f64
    %t_3 = arith.select %t, %b_re, %b_im : f64
    %2 = arith.cmpf oeq, %t_3, %cst : f64
    %3 = arith.divf %t_3, %t_2 : f64
    %t_4 = arith.select %2, %cst, %3 : f64
    %4 = arith.mulf %t_3, %t_4 : f64
    %t_5 = arith.addf %t_2, %4 : f64
    %t_6 = arith.select %t, %a_im, %a_re : f64
    %t_7 = arith.select %t, %a_re, %a_im : f64
    %5 = arith.negf %t_4 : f64
    %6 = arith.mulf %t_6, %5 : f64
    %t_8 = arith.addf %t_7, %6 : f64
    %7 = arith.mulf %t_7, %t_4 : f64
    %8 = arith.addf %t_6, %7 : f64
    %9 = arith.divf %8, %t_5 : f64
    %10 = arith.negf %t_8 : f64
    %11 = arith.select %t, %10, %t_8 : f64
    %12 = arith.divf %11, %t_5 : f64
    %13 = complex.create %9, %12 : complex<f64>
    return %13 : complex<f64>
  }
  func.func private @sparsec_mul_c128(%a: complex<f64>, %b: complex<f64>) -> complex<f64> {
    %a_re = complex.re %a : complex<f64>
    %a_im = complex.im %a : complex<f64>
    %b_re = complex.re %b : complex<f64>
    %b_im = complex.im %b : complex<f64>
    %0 = arith.mulf %a_re, %b_re : f64
    %1 = arith.negf %b_im : f64
    %2 = arith.mulf %a_im, %1 : f64
    %3 = arith.addf %0, %2 : f64
    %4 = arith.mulf %a_re, %b_im : f64
    %5 = arith.mulf %a_im, %b_re : f64
    %6 = arith.addf %4, %5 : f64
    %7 = complex.create %3, %6 : complex<f64>
    return %7 : complex<f64>
  }
  func.func private @sparsec_neg_c128(%a: complex<f64>) -> complex<f64> {
    %a_re = complex.re %a : complex<f64>
    %a_im = complex.im %a : complex<f64>
    %0 = arith.negf %a_re : f64
    %1 = arith.negf %a_im : f64
    %2 = complex.create %0, %1 : complex<f64>
    return %2 : complex<f64>
  }
  func.func private @sparsec_sqrt_c128(%a: complex<f64>) -> complex<f64> {
    %cst = arith.constant 0.5 : f64
    %cst_1 = arith.constant 0.0 : f64
    %cst_2 = arith.constant 1.0 : f64
    %a_re = complex.re %a : complex<f64>
    %a_im = complex.im %a : complex<f64>
    %0 = func.call @hypot(%a_re, %a_im) : (f64, f64) -> f64
    %1 = arith.mulf %0, %cst : f64
    %2 = math.absf %a_re : f64
    %3 = arith.mulf %2, %cst : f64
    %4 = arith.addf %1, %3 : f64
    %t = math.sqrt %4 : f64
    %5 = arith.divf %a_im, %t : f64
    %t_2 = arith.mulf %5, %cst : f64
    %t_3 = arith.cmpf olt, %a_re, %cst_1 : f64
    %t_4 = arith.negf %t : f64
    %6 = arith.cmpf oeq, %a_re, %cst_1 : f64
    %7 = arith.cmpf oeq, %a_im, %cst_1 : f64
    %t_5 = arith.andi %6, %7 : i1
    %8 = math.absf %t_2 : f64
    %9 = arith.select %t_3, %8, %t : f64
    %10 = arith.select %t_5, %cst_1, %9 : f64
    %11 = arith.cmpf olt, %a_im, %cst_1 : f64
    %12 = arith.divf %cst_2, %a_im : f64
    %13 = arith.cmpf olt, %12, %cst_1 : f64
    %14 = arith.select %13, %t_4, %t : f64
    %15 = arith.select %11, %t_4, %14 : f64
    %16 = arith.select %t_3, %15, %t_2 : f64
    %17 = arith.select %t_5, %a_im, %16 : f64
    %18 = complex.create %10, %17 : complex<f64>
    return %18 : complex<f64>
  }
  func.func private @hypot(f64, f64) -> f64
  func.func private @hypotf(f32, f32) -> f32
}
