//! Operations around a kernel: modules, functions, loops, conditions.

pub(super) const TABLE: &str = "
builtin.module {sym_name: text?, sym_visibility: text?} [bodyRegion] +isolated +open +dialect(builtin)
  custom(Module)
builtin.func ..14 {sym_name: text, type: function, sym_visibility: text?} [body] +isolated +dialect(std)
  custom(Function)
builtin.unrealized_conversion_cast 14.. (inputs: any*) -> (outputs: any*)
  ( ^$inputs `:` type($inputs) )? `to` type($outputs) attr-dict

func.func 15.. {sym_name: text, function_type: function, sym_visibility: text?, arg_attrs: array?, res_attrs: array?} [body] +isolated +dialect(func)
  custom(Function)
func.call 15.. (operands: any*) -> (results: any*) {callee: symbol}
  $callee `(` $operands `)` attr-dict `:` functional($operands, $results)
func.return 15.. (operands: any*) +terminator +within(func.func)
  attr-dict ( ^$operands `:` type($operands) )?
func.constant 15.. -> (result: function) {value: symbol}
  attr-dict $value `:` type($result)
std.call ..14 (operands: any*) -> (results: any*) {callee: symbol}
  $callee `(` $operands `)` attr-dict `:` functional($operands, $results)
std.return ..14 (operands: any*) +terminator +within(builtin.func)
  attr-dict ( ^$operands `:` type($operands) )?
std.assert ..14 (arg: i1) {msg: text}
  $arg `,` $msg attr-dict
std.select ..14 (condition: i1, true_value: any, false_value: same(true_value)) -> (result: same(true_value))
  $condition `,` $true_value `,` $false_value attr-dict `:` type($result)
std.select ..14 (condition: boollike(true_value), true_value: any, false_value: same(true_value)) -> (result: same(true_value))
  $condition `,` $true_value `,` $false_value attr-dict `:` type($condition) `,` type($result)
cf.assert 15.. (arg: i1) {msg: text}
  $arg `,` $msg attr-dict

scf.for (lowerBound: int|index, upperBound: same(lowerBound), step: same(lowerBound), initArgs: any*) -> (results: any*) [region] +implicit(scf.yield)
  custom(For)
scf.if (condition: i1) -> (results: any*) [thenRegion, elseRegion] +implicit(scf.yield)
  custom(If)
scf.while (inits: any*) -> (results: any*) [before, after]
  custom(While)
scf.condition (condition: i1, args: any*) +terminator +within(scf.while)
  `(` $condition `)` attr-dict ( ^$args `:` type($args) )?
scf.yield (results: any*) +terminator
  attr-dict ( ^$results `:` type($results) )?

llvm.mlir.zero 17.. -> (res: any)
  attr-dict `:` type($res)
llvm.mlir.null ..17 -> (res: any)
  attr-dict `:` type($res)
";
