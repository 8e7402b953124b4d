module {
  // out y: (i) -> (i : dense)
  // in  a: (i) -> (i : dense)
  // in  b: (i) -> (i : dense)
  func.func @halves(
      %y.n0: index, %y.vals: memref<?xf16>,
      %a.n0: index, %a.vals: memref<?xf16>,
      %b.n0: index, %b.vals: memref<?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.0 : f32
    %cst_1 = arith.constant 0.0999755859375 : f16
    %cst_2 = arith.constant 3.0 : f64
    scf.for %i = %c0 to %y.n0 step %c1 {
      %0 = memref.load %a.vals[%i] : memref<?xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = memref.load %b.vals[%i] : memref<?xbf16>
      %3 = arith.extf %2 : bf16 to f32
      %x = arith.mulf %1, %3 : f32
      %4 = arith.cmpf ogt, %x, %cst : f32
      %5 = arith.truncf %x : f32 to f16
      %6 = arith.select %4, %5, %cst_1 : f16
      memref.store %6, %y.vals[%i] : memref<?xf16>
    }
    %7 = arith.cmpi sgt, %y.n0, %c0 : index
    scf.if %7 {
      %8 = memref.load %b.vals[%c0] : memref<?xbf16>
      %9 = arith.extf %8 : bf16 to f32
      %10 = arith.extf %9 : f32 to f64
      %11 = arith.divf %10, %cst_2 : f64
      %12 = func.call @sparsec_rounded_to_odd(%11) : (f64) -> f32
      %13 = arith.truncf %12 : f32 to f16
      memref.store %13, %y.vals[%c0] : memref<?xf16>
    }
    return
  }
  func.func private @sparsec_rounded_to_odd(%a: f64) -> f32 {
    %one = arith.constant 1 : i32
    %minus_one = arith.constant -1 : i32
    %zero = arith.constant 0 : i32
    %near = arith.truncf %a : f64 to f32
    %bits = arith.bitcast %near : f32 to i32
    %wide = arith.extf %near : f32 to f64
    %is_exact = arith.cmpf ueq, %wide, %a : f64
    %last = arith.andi %bits, %one : i32
    %is_odd = arith.cmpi ne, %last, %zero : i32
    %stays = arith.ori %is_exact, %is_odd : i1
    %size = math.absf %a : f64
    %near_size = math.absf %wide : f64
    %is_below = arith.cmpf olt, %near_size, %size : f64
    %step = arith.select %is_below, %one, %minus_one : i32
    %moved = arith.addi %bits, %step : i32
    %chosen = arith.select %stays, %bits, %moved : i32
    %result = arith.bitcast %chosen : i32 to f32
    return %result : f32
  }
}
