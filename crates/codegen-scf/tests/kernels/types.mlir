module {
  // out y: (i) -> (i : dense)
  // out m: (i) -> (i : dense)
  // out k: (i) -> (i : dense)
  // out int: (i) -> (i : dense)
  // in  x: (i) -> (i : dense)
  // in  z: (i) -> (i : dense)
  // in  c: (i) -> (i : dense)
  // in  e: (i) -> (i : dense)
  // in  s: (i) -> (i : dense)
  func.func @types(
      %y.n0: index, %y.vals: memref<?xf32>,
      %m.n0: index, %m.vals: memref<?xi1>,
      %k.n0: index, %k.vals: memref<?xi32>,
      %int.n0: index, %int.vals: memref<?xf64>,
      %x.n0: index, %x.vals: memref<?xf32>,
      %z.n0: index, %z.vals: memref<?xf64>,
      %c.n0: index, %c.vals: memref<?xi32>,
      %e.n0: index, %e.vals: memref<?xi32>,
      %s.n0: index, %s.vals: memref<?xi1>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.10000000149011612 : f32
    %cst_1 = arith.constant 3.0 : f32
    %cst_2 = arith.constant 0x7F800000 : f32
    %cst_3 = arith.constant 0.75 : f32
    %cst_4 = arith.constant 1.0 : f32
    %false = arith.constant false
    %true = arith.constant true
    %c3_i64 = arith.constant 3 : i64
    %c_2147483648_i32 = arith.constant -2147483648 : i32
    %c0_i32 = arith.constant 0 : i32
    %c7_i32 = arith.constant 7 : i32
    %c_3_i32 = arith.constant -3 : i32
    %c16_i64 = arith.constant 16 : i64
    %cst_5 = arith.constant 0.3 : f64
    %cst_6 = arith.constant 1.0e30 : f64
    %cst_7 = arith.constant -1.5 : f64
    %cst_8 = arith.constant 0xFFF0000000000000 : f64
    %cst_9 = arith.constant 1000000000.0 : f64
    %cst_10 = arith.constant 0x7FF8000000000000 : f64
    %cst_11 = arith.constant 0.5 : f64
    %c1_i64 = arith.constant 1 : i64
    %c5_i64 = arith.constant 5 : i64
    %c_9223372036854775808_i64 = arith.constant -9223372036854775808 : i64
    scf.for %i = %c0 to %y.n0 step %c1 {
      %double = memref.load %x.vals[%i] : memref<?xf32>
      %0 = arith.subf %double, %cst : f32
      %1 = arith.subf %double, %double : f32
      %2 = arith.subf %double, %1 : f32
      %3 = arith.mulf %0, %2 : f32
      %4 = arith.divf %3, %cst_1 : f32
      memref.store %4, %y.vals[%i] : memref<?xf32>
      %5 = memref.load %y.vals[%i] : memref<?xf32>
      %6 = func.call @sparsec_max_f32(%5, %double) : (f32, f32) -> f32
      memref.store %6, %y.vals[%i] : memref<?xf32>
      %7 = memref.load %y.vals[%i] : memref<?xf32>
      %8 = func.call @sparsec_min_f32(%7, %cst_2) : (f32, f32) -> f32
      memref.store %8, %y.vals[%i] : memref<?xf32>
      %9 = memref.load %y.vals[%i] : memref<?xf32>
      %10 = math.absf %double : f32
      %11 = math.sqrt %10 : f32
      %12 = math.floor %double : f32
      %13 = func.call @sparsec_mod_f32(%12, %cst_3) : (f32, f32) -> f32
      %14 = arith.addf %11, %13 : f32
      %15 = arith.addf %9, %14 : f32
      memref.store %15, %y.vals[%i] : memref<?xf32>
      %16 = memref.load %x.vals[%i] : memref<?xf32>
      %17 = arith.cmpf olt, %16, %cst_4 : f32
      %18 = scf.if %17 -> (i1) {
        %19 = memref.load %s.vals[%i] : memref<?xi1>
        scf.yield %19 : i1
      } else {
        scf.yield %false : i1
      }
      %20 = scf.if %18 -> (i1) {
        scf.yield %true : i1
      } else {
        %21 = memref.load %s.vals[%i] : memref<?xi1>
        %22 = arith.xori %21, %true : i1
        scf.yield %22 : i1
      }
      memref.store %20, %m.vals[%i] : memref<?xi1>
      %23 = memref.load %m.vals[%i] : memref<?xi1>
      %24 = scf.if %23 -> (i1) {
        scf.yield %true : i1
      } else {
        %25 = memref.load %z.vals[%i] : memref<?xf64>
        %26 = memref.load %z.vals[%i] : memref<?xf64>
        %27 = arith.cmpf une, %25, %26 : f64
        scf.yield %27 : i1
      }
      memref.store %24, %m.vals[%i] : memref<?xi1>
      %28 = memref.load %m.vals[%i] : memref<?xi1>
      %29 = scf.if %28 -> (i1) {
        %30 = memref.load %s.vals[%i] : memref<?xi1>
        %31 = memref.load %c.vals[%i] : memref<?xi32>
        %32 = arith.extsi %31 : i32 to i64
        %33 = arith.cmpi slt, %32, %c3_i64 : i64
        %34 = arith.cmpi eq, %30, %33 : i1
        scf.yield %34 : i1
      } else {
        scf.yield %false : i1
      }
      memref.store %29, %m.vals[%i] : memref<?xi1>
      %35 = memref.load %e.vals[%i] : memref<?xi32>
      %36 = memref.load %e.vals[%i] : memref<?xi32>
      %37 = arith.muli %35, %36 : i32
      %38 = arith.addi %37, %c_2147483648_i32 : i32
      %39 = memref.load %e.vals[%i] : memref<?xi32>
      %40 = arith.subi %c0_i32, %39 : i32
      %41 = arith.subi %38, %40 : i32
      memref.store %41, %k.vals[%i] : memref<?xi32>
      %42 = memref.load %k.vals[%i] : memref<?xi32>
      %43 = func.call @sparsec_floordiv_i32(%42, %c7_i32) : (i32, i32) -> i32
      %44 = memref.load %k.vals[%i] : memref<?xi32>
      %45 = func.call @sparsec_mod_i32(%44, %c_3_i32) : (i32, i32) -> i32
      %46 = arith.subi %43, %45 : i32
      %47 = memref.load %k.vals[%i] : memref<?xi32>
      %48 = math.absi %47 : i32
      %49 = arith.addi %46, %48 : i32
      memref.store %49, %k.vals[%i] : memref<?xi32>
      %50 = memref.load %k.vals[%i] : memref<?xi32>
      %51 = memref.load %e.vals[%i] : memref<?xi32>
      %52 = arith.maxsi %50, %51 : i32
      memref.store %52, %k.vals[%i] : memref<?xi32>
      %53 = memref.load %k.vals[%i] : memref<?xi32>
      %54 = memref.load %c.vals[%i] : memref<?xi32>
      %55 = arith.extsi %54 : i32 to i64
      %56 = memref.load %c.vals[%i] : memref<?xi32>
      %57 = arith.extsi %56 : i32 to i64
      %58 = arith.muli %55, %57 : i64
      %59 = arith.shrsi %58, %c16_i64 : i64
      %60 = arith.trunci %59 : i64 to i32
      %61 = arith.addi %53, %60 : i32
      memref.store %61, %k.vals[%i] : memref<?xi32>
      %62 = memref.load %c.vals[%i] : memref<?xi32>
      %63 = arith.extsi %62 : i32 to i64
      %64 = memref.load %c.vals[%i] : memref<?xi32>
      %65 = arith.extsi %64 : i32 to i64
      %66 = arith.muli %63, %65 : i64
      %67 = arith.sitofp %66 : i64 to f64
      %68 = memref.load %z.vals[%i] : memref<?xf64>
      %69 = func.call @sparsec_floordiv_f64(%68, %cst_5) : (f64, f64) -> f64
      %70 = arith.addf %67, %69 : f64
      %71 = arith.addf %70, %cst_6 : f64
      %72 = arith.negf %cst_7 : f64
      %73 = arith.addf %71, %72 : f64
      memref.store %73, %int.vals[%i] : memref<?xf64>
      %74 = memref.load %int.vals[%i] : memref<?xf64>
      %75 = memref.load %z.vals[%i] : memref<?xf64>
      %76 = func.call @sparsec_max_f64(%75, %cst_8) : (f64, f64) -> f64
      %77 = memref.load %z.vals[%i] : memref<?xf64>
      %78 = arith.cmpf ogt, %77, %cst_9 : f64
      %79 = scf.if %78 -> (f64) {
        scf.yield %cst_10 : f64
      } else {
        %80 = memref.load %z.vals[%i] : memref<?xf64>
        %81 = func.call @sparsec_min_f64(%80, %cst_11) : (f64, f64) -> f64
        scf.yield %81 : f64
      }
      %82 = arith.subf %76, %79 : f64
      %83 = arith.subf %74, %82 : f64
      memref.store %83, %int.vals[%i] : memref<?xf64>
      %84 = memref.load %int.vals[%i] : memref<?xf64>
      %85 = memref.load %c.vals[%i] : memref<?xi32>
      %86 = arith.extsi %85 : i32 to i64
      %87 = arith.addi %86, %c1_i64 : i64
      %88 = arith.sitofp %87 : i64 to f64
      %89 = memref.load %s.vals[%i] : memref<?xi1>
      %90 = arith.uitofp %89 : i1 to f64
      %91 = arith.addf %88, %90 : f64
      %92 = memref.load %x.vals[%i] : memref<?xf32>
      %93 = arith.extf %92 : f32 to f64
      %94 = arith.addf %91, %93 : f64
      %95 = arith.mulf %84, %94 : f64
      memref.store %95, %int.vals[%i] : memref<?xf64>
      %96 = memref.load %int.vals[%i] : memref<?xf64>
      %97 = memref.load %z.vals[%i] : memref<?xf64>
      %98 = math.exp %97 : f64
      %99 = memref.load %z.vals[%i] : memref<?xf64>
      %100 = math.absf %99 : f64
      %101 = math.powf %100, %cst_11 : f64
      %102 = arith.addf %98, %101 : f64
      %103 = memref.load %z.vals[%i] : memref<?xf64>
      %104 = math.tanh %103 : f64
      %105 = arith.addf %102, %104 : f64
      %106 = arith.addf %96, %105 : f64
      memref.store %106, %int.vals[%i] : memref<?xf64>
      %107 = memref.load %int.vals[%i] : memref<?xf64>
      %108 = memref.load %c.vals[%i] : memref<?xi32>
      %109 = arith.extsi %108 : i32 to i64
      %110 = arith.minsi %109, %c5_i64 : i64
      %111 = arith.sitofp %110 : i64 to f64
      %112 = arith.sitofp %c_9223372036854775808_i64 : i64 to f64
      %113 = arith.addf %111, %112 : f64
      %114 = memref.load %s.vals[%i] : memref<?xi1>
      %115 = arith.extui %114 : i1 to i64
      %116 = arith.subi %115, %c1_i64 : i64
      %117 = arith.sitofp %116 : i64 to f64
      %118 = arith.addf %113, %117 : f64
      %119 = arith.addf %107, %118 : f64
      memref.store %119, %int.vals[%i] : memref<?xf64>
    }
    return
  }
  func.func private @sparsec_floordiv_i32(%a: i32, %b: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %minus_one = arith.constant -1 : i32
    %is_minus_one = arith.cmpi eq, %b, %minus_one : i32
    %divisor = arith.select %is_minus_one, %one, %b : i32
    %rest = arith.remsi %a, %divisor : i32
    %is_inexact = arith.cmpi ne, %rest, %zero : i32
    %a_is_negative = arith.cmpi slt, %a, %zero : i32
    %b_is_negative = arith.cmpi slt, %b, %zero : i32
    %signs_differ = arith.xori %a_is_negative, %b_is_negative : i1
    %is_below = arith.andi %is_inexact, %signs_differ : i1
    %quotient = arith.divsi %a, %divisor : i32
    %below = arith.subi %quotient, %one : i32
    %floor = arith.select %is_below, %below, %quotient : i32
    %negated = arith.subi %zero, %a : i32
    %result = arith.select %is_minus_one, %negated, %floor : i32
    return %result : i32
  }
  func.func private @sparsec_floordiv_f64(%a: f64, %b: f64) -> f64 {
    %zero = arith.constant 0.0 : f64
    %rest = arith.remf %a, %b : f64
    %is_inexact = arith.cmpf une, %rest, %zero : f64
    %rest_is_negative = arith.cmpf olt, %rest, %zero : f64
    %b_is_negative = arith.cmpf olt, %b, %zero : f64
    %signs_differ = arith.xori %rest_is_negative, %b_is_negative : i1
    %is_below = arith.andi %is_inexact, %signs_differ : i1
    %one = arith.constant 1.0 : f64
    %half = arith.constant 0x3FE0000000000000 : f64
    %plain = arith.divf %a, %b : f64
    %less = arith.subf %a, %rest : f64
    %near = arith.divf %less, %b : f64
    %lower = arith.subf %near, %one : f64
    %whole = arith.select %is_below, %lower, %near : f64
    %floor = math.floor %whole : f64
    %fraction = arith.subf %whole, %floor : f64
    %rounds_up = arith.cmpf ogt, %fraction, %half : f64
    %up = arith.addf %floor, %one : f64
    %rounded = arith.select %rounds_up, %up, %floor : f64
    %is_zero = arith.cmpf oeq, %whole, %zero : f64
    %signed = math.copysign %zero, %plain : f64
    %quotient = arith.select %is_zero, %signed, %rounded : f64
    %by_zero = arith.cmpf oeq, %b, %zero : f64
    %result = arith.select %by_zero, %plain, %quotient : f64
    return %result : f64
  }
  func.func private @sparsec_mod_i32(%a: i32, %b: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %minus_one = arith.constant -1 : i32
    %is_minus_one = arith.cmpi eq, %b, %minus_one : i32
    %divisor = arith.select %is_minus_one, %one, %b : i32
    %rest = arith.remsi %a, %divisor : i32
    %is_inexact = arith.cmpi ne, %rest, %zero : i32
    %a_is_negative = arith.cmpi slt, %a, %zero : i32
    %b_is_negative = arith.cmpi slt, %b, %zero : i32
    %signs_differ = arith.xori %a_is_negative, %b_is_negative : i1
    %is_below = arith.andi %is_inexact, %signs_differ : i1
    %above = arith.addi %rest, %b : i32
    %floor = arith.select %is_below, %above, %rest : i32
    %result = arith.select %is_minus_one, %zero, %floor : i32
    return %result : i32
  }
  func.func private @sparsec_mod_f32(%a: f32, %b: f32) -> f32 {
    %zero = arith.constant 0.0 : f32
    %rest = arith.remf %a, %b : f32
    %is_inexact = arith.cmpf une, %rest, %zero : f32
    %rest_is_negative = arith.cmpf olt, %rest, %zero : f32
    %b_is_negative = arith.cmpf olt, %b, %zero : f32
    %signs_differ = arith.xori %rest_is_negative, %b_is_negative : i1
    %is_below = arith.andi %is_inexact, %signs_differ : i1
    %above = arith.addf %rest, %b : f32
    %floor = arith.select %is_below, %above, %rest : f32
    %is_zero = arith.cmpf oeq, %rest, %zero : f32
    %signed = math.copysign %zero, %b : f32
    %result = arith.select %is_zero, %signed, %floor : f32
    return %result : f32
  }
  func.func private @sparsec_min_f32(%a: f32, %b: f32) -> f32 {
    %is_first = arith.cmpf olt, %a, %b : f32
    %is_nan = arith.cmpf uno, %a, %a : f32
    %takes_a = arith.ori %is_first, %is_nan : i1
    %result = arith.select %takes_a, %a, %b : f32
    return %result : f32
  }
  func.func private @sparsec_min_f64(%a: f64, %b: f64) -> f64 {
    %is_first = arith.cmpf olt, %a, %b : f64
    %is_nan = arith.cmpf uno, %a, %a : f64
    %takes_a = arith.ori %is_first, %is_nan : i1
    %result = arith.select %takes_a, %a, %b : f64
    return %result : f64
  }
  func.func private @sparsec_max_f32(%a: f32, %b: f32) -> f32 {
    %is_first = arith.cmpf ogt, %a, %b : f32
    %is_nan = arith.cmpf uno, %a, %a : f32
    %takes_a = arith.ori %is_first, %is_nan : i1
    %result = arith.select %takes_a, %a, %b : f32
    return %result : f32
  }
  func.func private @sparsec_max_f64(%a: f64, %b: f64) -> f64 {
    %is_first = arith.cmpf ogt, %a, %b : f64
    %is_nan = arith.cmpf uno, %a, %a : f64
    %takes_a = arith.ori %is_first, %is_nan : i1
    %result = arith.select %takes_a, %a, %b : f64
    return %result : f64
  }
}
