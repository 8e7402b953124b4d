//! Operations on numbers: `arith`, `math` and `complex`.

pub(super) const TABLE: &str = "
; Constants.
arith.constant 14.. -> (result: any) {value: any}
  custom(Constant)
complex.constant 14.. -> (complex: complex) {value: array}
  $value attr-dict `:` type($complex)

; Integers.
arith.{addi subi muli shli} 14.. (lhs: intlike, rhs: same(lhs)) -> (result: same(lhs)) {overflowFlags: overflow?}
  $lhs `,` $rhs ( `overflow` ^$overflowFlags )? attr-dict `:` type($result)
arith.{divsi divui remsi remui ceildivsi ceildivui floordivsi andi ori xori shrsi shrui maxsi maxui minsi minui} 14.. (lhs: intlike, rhs: same(lhs)) -> (result: same(lhs))
  $lhs `,` $rhs attr-dict `:` type($result)
arith.cmpi 14.. (lhs: intlike, rhs: same(lhs)) -> (result: boollike(lhs)) {predicate: cmpi}
  $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)

; Floating-point numbers.
arith.{addf subf mulf divf remf} 14.. (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.{maxf minf} 14..17 (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.{maximumf minimumf maxnumf minnumf} 17.. (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.negf 14.. (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.cmpf 14.. (lhs: floatlike, rhs: same(lhs)) -> (result: boollike(lhs)) {predicate: cmpf, fastmath: fastmath?}
  $predicate `,` $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($lhs)

; Between types.
arith.{extsi extui trunci} 14.. (in: intlike) -> (out: intlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.index_cast 14.. (in: any) -> (out: any)
  $in attr-dict `:` type($in) `to` type($out)
arith.index_castui 16.. (in: any) -> (out: any)
  $in attr-dict `:` type($in) `to` type($out)
arith.extf 14.. (in: floatlike) -> (out: floatlike) {fastmath: fastmath?}
  $in ( `fastmath` ^$fastmath )? attr-dict `:` type($in) `to` type($out)
arith.truncf 14.. (in: floatlike) -> (out: floatlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.{sitofp uitofp} 14.. (in: intlike) -> (out: floatlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.{fptosi fptoui} 14.. (in: floatlike) -> (out: intlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.bitcast 14.. (in: any) -> (out: any)
  $in attr-dict `:` type($in) `to` type($out)
arith.addui_extended 16.. (lhs: intlike, rhs: same(lhs)) -> (sum: same(lhs), overflow: boollike(lhs))
  $lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)
arith.{mulsi_extended mului_extended} 16.. (lhs: intlike, rhs: same(lhs)) -> (low: same(lhs), high: same(lhs))
  $lhs `,` $rhs attr-dict `:` type($lhs)
arith.select 15.. (condition: i1, true_value: any, false_value: same(true_value)) -> (result: same(true_value))
  $condition `,` $true_value `,` $false_value attr-dict `:` type($result)
arith.select 15.. (condition: boollike(true_value), true_value: any, false_value: same(true_value)) -> (result: same(true_value))
  $condition `,` $true_value `,` $false_value attr-dict `:` type($condition) `,` type($result)

; Functions.
math.{cos exp exp2 expm1 log log10 log1p log2 rsqrt sin sqrt tanh atan} (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.{ceil erf floor} 14.. (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.{round tan} 15.. (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.{absf cbrt roundeven trunc} 16.. (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.{cosh sinh} 18.. (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.abs 14..15 (operand: floatlike) -> (result: same(operand))
  $operand attr-dict `:` type($result)
math.{acos acosh asin asinh atanh} 19.. (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.absi 16.. (operand: intlike) -> (result: same(operand))
  $operand attr-dict `:` type($result)
math.{ctpop ctlz cttz} 14.. (operand: intlike) -> (result: same(operand))
  $operand attr-dict `:` type($result)
math.{powf atan2} (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.copysign 14.. (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.ipowi 16.. (lhs: intlike, rhs: same(lhs)) -> (result: same(lhs))
  $lhs `,` $rhs attr-dict `:` type($result)
math.fpowi 16.. (lhs: floatlike, rhs: intlike) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($lhs) `,` type($rhs)
math.fma 14.. (a: floatlike, b: same(a), c: same(a)) -> (result: same(a)) {fastmath: fastmath?}
  $a `,` $b `,` $c ( `fastmath` ^$fastmath )? attr-dict `:` type($result)

; Complex numbers.
complex.create (real: part(complex), imaginary: part(complex)) -> (complex: complex)
  $real `,` $imaginary attr-dict `:` type($complex)
complex.{re im abs} (complex: complex) -> (result: part(complex)) {fastmath: fastmath?}
  $complex ( `fastmath` ^$fastmath )? attr-dict `:` type($complex)
complex.{add sub mul div} (lhs: complex, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
complex.{pow atan2} 15.. (lhs: complex, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
complex.{neg exp log log1p sign} (complex: complex) -> (result: same(complex)) {fastmath: fastmath?}
  $complex ( `fastmath` ^$fastmath )? attr-dict `:` type($complex)
complex.{expm1 sin cos tan tanh sqrt rsqrt conj} 15.. (complex: complex) -> (result: same(complex)) {fastmath: fastmath?}
  $complex ( `fastmath` ^$fastmath )? attr-dict `:` type($complex)
complex.angle 15.. (complex: complex) -> (result: part(complex)) {fastmath: fastmath?}
  $complex ( `fastmath` ^$fastmath )? attr-dict `:` type($complex)
complex.{eq neq} (lhs: complex, rhs: same(lhs)) -> (result: i1)
  $lhs `,` $rhs attr-dict `:` type($lhs)
complex.bitcast 17.. (operand: any) -> (result: any)
  $operand attr-dict `:` type($operand) `to` type($result)

; The same in release 13, in the dialect `std`.
std.constant ..13 -> (result: any) {value: any}
  custom(Constant)
std.{addi subi muli divi_signed divi_unsigned remi_signed remi_unsigned ceildivi_signed floordivi_signed and or xor shift_left shift_right_signed shift_right_unsigned} ..13 (lhs: intlike, rhs: same(lhs)) -> (result: same(lhs))
  $lhs `,` $rhs attr-dict `:` type($result)
std.{addf subf mulf divf remf copysign} ..13 (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs))
  $lhs `,` $rhs attr-dict `:` type($result)
std.{negf absf ceilf floorf} ..13 (operand: floatlike) -> (result: same(operand))
  $operand attr-dict `:` type($result)
std.fmaf ..13 (a: floatlike, b: same(a), c: same(a)) -> (result: same(a))
  $a `,` $b `,` $c attr-dict `:` type($result)
std.cmpi ..13 (lhs: intlike, rhs: same(lhs)) -> (result: boollike(lhs)) {predicate: cmpi}
  $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)
std.cmpf ..13 (lhs: floatlike, rhs: same(lhs)) -> (result: boollike(lhs)) {predicate: cmpf}
  $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)
std.{sexti zexti trunci} ..13 (in: intlike) -> (out: intlike)
  $in attr-dict `:` type($in) `to` type($out)
std.{fpext fptrunc} ..13 (in: floatlike) -> (out: floatlike)
  $in attr-dict `:` type($in) `to` type($out)
std.{sitofp uitofp} ..13 (in: intlike) -> (out: floatlike)
  $in attr-dict `:` type($in) `to` type($out)
std.{fptosi fptoui} ..13 (in: floatlike) -> (out: intlike)
  $in attr-dict `:` type($in) `to` type($out)
std.index_cast ..13 (in: any) -> (out: any)
  $in attr-dict `:` type($in) `to` type($out)
";
