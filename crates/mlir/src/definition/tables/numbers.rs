//! Operations on numbers: `arith`, `math` and `complex`.

pub(super) const TABLE: &str = "
; Constants.
arith.constant -> (result: any) {value: any}
  custom(Constant)
complex.constant -> (complex: complex) {value: array}
  $value attr-dict `:` type($complex)

; Integers.
arith.{addi subi muli shli} (lhs: intlike, rhs: same(lhs)) -> (result: same(lhs)) {overflowFlags: overflow?}
  $lhs `,` $rhs ( `overflow` ^$overflowFlags )? attr-dict `:` type($result)
arith.{divsi divui remsi remui ceildivsi ceildivui floordivsi andi ori xori shrsi shrui maxsi maxui minsi minui} (lhs: intlike, rhs: same(lhs)) -> (result: same(lhs))
  $lhs `,` $rhs attr-dict `:` type($result)
arith.cmpi (lhs: intlike, rhs: same(lhs)) -> (result: boollike(lhs)) {predicate: cmpi}
  $predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)

; Floating-point numbers.
arith.{addf subf mulf divf remf} (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.{maxf minf} ..17 (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.{maximumf minimumf maxnumf minnumf} 17.. (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.negf (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
arith.cmpf (lhs: floatlike, rhs: same(lhs)) -> (result: boollike(lhs)) {predicate: cmpf, fastmath: fastmath?}
  $predicate `,` $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($lhs)

; Between types.
arith.{extsi extui trunci} (in: intlike) -> (out: intlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.{index_cast index_castui} (in: any) -> (out: any)
  $in attr-dict `:` type($in) `to` type($out)
arith.extf (in: floatlike) -> (out: floatlike) {fastmath: fastmath?}
  $in ( `fastmath` ^$fastmath )? attr-dict `:` type($in) `to` type($out)
arith.truncf (in: floatlike) -> (out: floatlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.{sitofp uitofp} (in: intlike) -> (out: floatlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.{fptosi fptoui} (in: floatlike) -> (out: intlike)
  $in attr-dict `:` type($in) `to` type($out)
arith.bitcast (in: any) -> (out: any)
  $in attr-dict `:` type($in) `to` type($out)
arith.select (condition: i1, true_value: any, false_value: same(true_value)) -> (result: same(true_value))
  $condition `,` $true_value `,` $false_value attr-dict `:` type($result)
arith.select (condition: boollike(true_value), true_value: any, false_value: same(true_value)) -> (result: same(true_value))
  $condition `,` $true_value `,` $false_value attr-dict `:` type($condition) `,` type($result)

; Functions.
math.{absf ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2 round roundeven rsqrt sin sinh sqrt tan tanh trunc atan cbrt} (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.{acos acosh asin asinh atanh} 19.. (operand: floatlike) -> (result: same(operand)) {fastmath: fastmath?}
  $operand ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.{absi ctpop ctlz cttz} (operand: intlike) -> (result: same(operand))
  $operand attr-dict `:` type($result)
math.{powf atan2 copysign} (lhs: floatlike, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
math.ipowi (lhs: intlike, rhs: same(lhs)) -> (result: same(lhs))
  $lhs `,` $rhs attr-dict `:` type($result)
math.fma (a: floatlike, b: same(a), c: same(a)) -> (result: same(a)) {fastmath: fastmath?}
  $a `,` $b `,` $c ( `fastmath` ^$fastmath )? attr-dict `:` type($result)

; Complex numbers.
complex.create (real: part(complex), imaginary: part(complex)) -> (complex: complex)
  $real `,` $imaginary attr-dict `:` type($complex)
complex.{re im abs} (complex: complex) -> (result: part(complex)) {fastmath: fastmath?}
  $complex ( `fastmath` ^$fastmath )? attr-dict `:` type($complex)
complex.{add sub mul div pow atan2} (lhs: complex, rhs: same(lhs)) -> (result: same(lhs)) {fastmath: fastmath?}
  $lhs `,` $rhs ( `fastmath` ^$fastmath )? attr-dict `:` type($result)
complex.{neg exp expm1 log log1p sin cos tan tanh sqrt rsqrt sign conj} (complex: complex) -> (result: same(complex)) {fastmath: fastmath?}
  $complex ( `fastmath` ^$fastmath )? attr-dict `:` type($complex)
complex.{eq neq} (lhs: complex, rhs: same(lhs)) -> (result: i1)
  $lhs `,` $rhs attr-dict `:` type($lhs)
complex.bitcast (operand: any) -> (result: any)
  $operand attr-dict `:` type($operand) `to` type($result)
";
