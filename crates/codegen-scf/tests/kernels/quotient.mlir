module {
  // out q: (i) -> (i : dense)
  // in  a: (i) -> (i : dense)
  // in  b: (i) -> (i : dense)
  // in  f: (i) -> (i : dense)
  func.func @quotient(
      %q.n0: index, %q.vals: memref<?xi64>,
      %a.n0: index, %a.vals: memref<?xi64>,
      %b.n0: index, %b.vals: memref<?xi64>,
      %f.n0: index, %f.vals: memref<?xf64>) {
    %c7_i64 = arith.constant 7 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c0_i64 = arith.constant 0 : i64
    %false = arith.constant false
    %c1_i64 = arith.constant 1 : i64
    %c_1_i64 = arith.constant -1 : i64
    %cst = arith.constant -9.223372036854776e18 : f64
    %cst_1 = arith.constant 9.223372036854776e18 : f64
    %cst_2 = arith.constant 0.5 : f64
    %cst_3 = arith.constant -2147483649.0 : f64
    %cst_4 = arith.constant 2147483648.0 : f64
    scf.for %at = %c0 to %q.n0 step %c1 {
      memref.store %c7_i64, %q.vals[%at] : memref<?xi64>
    }
    scf.for %i = %c0 to %q.n0 step %c1 {
      %0 = memref.load %b.vals[%i] : memref<?xi64>
      %1 = arith.cmpi ne, %0, %c0_i64 : i64
      %2 = scf.if %1 -> (i1) {
        %3 = memref.load %a.vals[%i] : memref<?xi64>
        %4 = memref.load %b.vals[%i] : memref<?xi64>
        %5 = arith.cmpi ne, %4, %c0_i64 : i64
        cf.assert %5, "division_by_zero"
        %6 = func.call @sparsec_floordiv_i64(%3, %4) : (i64, i64) -> i64
        %7 = arith.cmpi sgt, %6, %c1_i64 : i64
        scf.yield %7 : i1
      } else {
        scf.yield %false : i1
      }
      scf.if %2 {
        %8 = memref.load %q.vals[%i] : memref<?xi64>
        %9 = memref.load %b.vals[%i] : memref<?xi64>
        %10 = arith.cmpi ne, %9, %c0_i64 : i64
        cf.assert %10, "division_by_zero"
        %11 = func.call @sparsec_floordiv_i64(%8, %9) : (i64, i64) -> i64
        memref.store %11, %q.vals[%i] : memref<?xi64>
      } else {
        %12 = memref.load %b.vals[%i] : memref<?xi64>
        %13 = arith.cmpi eq, %12, %c0_i64 : i64
        scf.if %13 {
          memref.store %c_1_i64, %q.vals[%i] : memref<?xi64>
        } else {
          %14 = memref.load %a.vals[%i] : memref<?xi64>
          %15 = memref.load %b.vals[%i] : memref<?xi64>
          %16 = arith.cmpi ne, %15, %c0_i64 : i64
          cf.assert %16, "division_by_zero"
          %17 = func.call @sparsec_mod_i64(%14, %15) : (i64, i64) -> i64
          %18 = arith.cmpi eq, %17, %c1_i64 : i64
          scf.if %18 {
            %19 = memref.load %q.vals[%i] : memref<?xi64>
            %20 = memref.load %a.vals[%i] : memref<?xi64>
            %21 = arith.cmpi sgt, %20, %c0_i64 : i64
            %22 = scf.if %21 -> (i64) {
              %23 = memref.load %a.vals[%i] : memref<?xi64>
              %24 = memref.load %b.vals[%i] : memref<?xi64>
              %25 = arith.cmpi ne, %24, %c0_i64 : i64
              cf.assert %25, "division_by_zero"
              %26 = func.call @sparsec_floordiv_i64(%23, %24) : (i64, i64) -> i64
              scf.yield %26 : i64
            } else {
              %27 = memref.load %b.vals[%i] : memref<?xi64>
              scf.yield %27 : i64
            }
            %28 = arith.addi %19, %22 : i64
            memref.store %28, %q.vals[%i] : memref<?xi64>
          }
        }
      }
      %29 = memref.load %f.vals[%i] : memref<?xf64>
      %30 = arith.cmpf oge, %29, %cst : f64
      %31 = arith.cmpf olt, %29, %cst_1 : f64
      %32 = arith.andi %30, %31 : i1
      cf.assert %32, "cast_out_of_range"
      %t = arith.fptosi %29 : f64 to i64
      %t_3 = scf.while (%t_1 = %t) : (i64) -> (i64) {
        %33 = arith.shrsi %t_1, %c1_i64 : i64
        %34 = arith.cmpi sgt, %33, %c0_i64 : i64
        scf.condition(%34) %t_1 : i64
      } do {
      ^bb0(%t_2: i64):
        %t_4 = arith.shrsi %t_2, %c1_i64 : i64
        scf.yield %t_4 : i64
      }
      %35 = memref.load %q.vals[%i] : memref<?xi64>
      %36 = memref.load %f.vals[%i] : memref<?xf64>
      %37 = arith.mulf %36, %cst_2 : f64
      %38 = arith.cmpf ogt, %37, %cst_3 : f64
      %39 = arith.cmpf olt, %37, %cst_4 : f64
      %40 = arith.andi %38, %39 : i1
      cf.assert %40, "cast_out_of_range"
      %41 = arith.fptosi %37 : f64 to i32
      %42 = arith.extsi %41 : i32 to i64
      %43 = arith.muli %t_3, %42 : i64
      %44 = arith.addi %35, %43 : i64
      memref.store %44, %q.vals[%i] : memref<?xi64>
    }
    return
  }
  func.func private @sparsec_floordiv_i64(%a: i64, %b: i64) -> i64 {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %minus_one = arith.constant -1 : i64
    %is_minus_one = arith.cmpi eq, %b, %minus_one : i64
    %divisor = arith.select %is_minus_one, %one, %b : i64
    %rest = arith.remsi %a, %divisor : i64
    %is_inexact = arith.cmpi ne, %rest, %zero : i64
    %a_is_negative = arith.cmpi slt, %a, %zero : i64
    %b_is_negative = arith.cmpi slt, %b, %zero : i64
    %signs_differ = arith.xori %a_is_negative, %b_is_negative : i1
    %is_below = arith.andi %is_inexact, %signs_differ : i1
    %quotient = arith.divsi %a, %divisor : i64
    %below = arith.subi %quotient, %one : i64
    %floor = arith.select %is_below, %below, %quotient : i64
    %negated = arith.subi %zero, %a : i64
    %result = arith.select %is_minus_one, %negated, %floor : i64
    return %result : i64
  }
  func.func private @sparsec_mod_i64(%a: i64, %b: i64) -> i64 {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %minus_one = arith.constant -1 : i64
    %is_minus_one = arith.cmpi eq, %b, %minus_one : i64
    %divisor = arith.select %is_minus_one, %one, %b : i64
    %rest = arith.remsi %a, %divisor : i64
    %is_inexact = arith.cmpi ne, %rest, %zero : i64
    %a_is_negative = arith.cmpi slt, %a, %zero : i64
    %b_is_negative = arith.cmpi slt, %b, %zero : i64
    %signs_differ = arith.xori %a_is_negative, %b_is_negative : i1
    %is_below = arith.andi %is_inexact, %signs_differ : i1
    %above = arith.addi %rest, %b : i64
    %floor = arith.select %is_below, %above, %rest : i64
    %result = arith.select %is_minus_one, %zero, %floor : i64
    return %result : i64
  }
}
