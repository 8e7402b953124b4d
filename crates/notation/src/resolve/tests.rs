use sparsec_base::{ElementType, Scalar, Source};
use sparsec_index::Program;

use super::{Declaration, Declarations};
use crate::syntax::Notation;

/// Tensors as the tests' texts name them: `A B C: f64` matrices, `a b c`
/// vectors, `T` of order 3, `s` a scalar, and the same of other types behind
/// `i32_`, `i64_`, `f32_`, `bool_`. Only those that the text reads are declared.
fn declarations(notation: &Notation) -> Declarations {
    let mut declarations = Declarations::new();
    for tensor in notation.tensor_names() {
        let (element, name) = match tensor.name.split_once('_') {
            Some((element, name)) => (ElementType::parse(element), name),
            None => (None, tensor.name.as_str()),
        };
        let order = match name {
            "A" | "B" | "C" | "D" => 2,
            "T" => 3,
            "s" => 0,
            _ => 1,
        };
        if tensor.written || name == "unknown" {
            continue;
        }
        let declaration = Declaration::with_order(order);
        let declaration = Declaration {
            element,
            ..declaration
        };
        declarations.declare(tensor.name, declaration);
    }
    declarations
}

fn resolve(text: &str) -> Result<Program, String> {
    let notation = Notation::parse(&Source::new("expression", text)).map_err(|e| e.to_string())?;
    let program = notation.resolve(&declarations(&notation));
    program.map_err(|error| error.to_string())
}

/// What a text resolves to, or its diagnostic.
fn check(text: &str, expect: &str) {
    let found = match resolve(text) {
        Ok(program) => program.to_string(),
        Err(error) => error,
    };
    assert_eq!(found, expect, "for `{text}`");
}

/// The types of the results.
fn check_types(text: &str, expect: &[ElementType]) {
    let program = resolve(text).unwrap_or_else(|error| panic!("{error}"));
    let types = program.statements.iter().map(|statement| {
        let element = program.tensors[statement.lhs.tensor].element;
        assert_eq!(statement.rhs.element(&program.tensors), element);
        element
    });
    assert_eq!(types.collect::<Vec<_>>(), expect, "for `{text}`");
}

#[test]
fn each_term_is_summed_on_its_own() {
    check("y(i) = A(i,j) * b(j)", "y(i) = sum{j}(A(i,j) * b(j))");
    check(
        "y(i) = A(i,j) * b(j) + c(i)",
        "y(i) = sum{j}(A(i,j) * b(j)) + c(i)",
    );
    check(
        "y(i) = c(i) - A(i,j) * b(j)",
        "y(i) = c(i) - sum{j}(A(i,j) * b(j))",
    );
    check(
        "s = a(i) * (b(i) + c(i))",
        "s = sum{i}(a(i) * (b(i) + c(i)))",
    );
    check(
        "s = a(i) + b(i) + 1",
        "s = sum{i}(a(i)) + sum{i1}(b(i1)) + 1.0",
    );
    check(
        "s = a(i) + 1 + b(i)",
        "s = sum{i}(a(i)) + 1.0 + sum{i1}(b(i1))",
    );
    check(
        "y(i) = -(A(i,j) * b(j)) + c(i)",
        "y(i) = -sum{j}(A(i,j) * b(j)) + c(i)",
    );
    check(
        "s = 2 - (a(i) - (3 - b(k)))",
        "s = 2.0 - (sum{i}(a(i)) - (3.0 - sum{k}(b(k))))",
    );
    check(
        "s = A(i,j) + B(j,i)",
        "s = sum{i,j}(A(i,j)) + sum{j1,i1}(B(j1,i1))",
    );
    check(
        "C(i,j) = A(i,k) * B(k,j)",
        "C(i,j) = sum{k}(A(i,k) * B(k,j))",
    );
    check(
        "s = A(i,j) * B(j,k) * C(k,i)",
        "s = sum{i,j,k}(A(i,j) * B(j,k) * C(k,i))",
    );
    check("y(i) = A(i,j) / b(i)", "y(i) = sum{j}(A(i,j) / b(i))");
    check("y(i) = A(i,j) > 0", "y(i) = sum{j}(i64(A(i,j) > 0.0))");
    check(
        "y(i) = A(i,j) * sqrt(b(j))",
        "y(i) = sum{j}(A(i,j) * sqrt(b(j)))",
    );
    check("s = A(i,i)", "s = sum{i}(A(i,i))");
    check(
        "y(i) = (A(i,j) - b(i)) * c(j)",
        "y(i) = sum{j}((A(i,j) - b(i)) * c(j))",
    );
    check("s = a(i) / b(i)", "s = sum{i}(a(i) / b(i))");
    check(
        "s = (a(i) + sqrt(b(i))) * 2",
        "s = sum{i}((a(i) + sqrt(b(i))) * 2.0)",
    );
    check("s = a(i(0:2)) * 2", "s = sum{i}(a(i // 1) * 2.0)");
    check("s = i * a(i)", "s = sum{i}(f64(i) * a(i))");
    check("B(j,i) = A(i,j)", "B(j,i) = A(i,j)");
}

/// Checks the readings that the diagnostic of an ambiguous text proposes.
fn check_ambiguous(text: &str, help: &str) {
    let error = resolve(text).expect_err(text);
    assert!(error.contains("error[E0211]"), "for `{text}`: {error}");
    assert!(
        error.contains(&format!("= help: {help}")),
        "for `{text}`: {error}"
    );
    for meaning in help.trim_start_matches("write ").split(" or ") {
        let (left, _) = text.split_once('=').unwrap();
        let explicit = format!("{left}= {}", meaning.trim_matches('`'));
        resolve(&explicit).unwrap_or_else(|error| panic!("`{explicit}`: {error}"));
    }
}

#[test]
fn hidden_variables_are_refused_with_both_meanings() {
    check_ambiguous(
        "s = (a(i) - 1)*2",
        "write `sum{i}((a(i) - 1) * 2)` or `(sum{i}(a(i)) - 1) * 2`",
    );
    check_ambiguous(
        "y(i) = a(i) * (b(j) + c(i))",
        "write `sum{j}(a(i) * (b(j) + c(i)))` or `a(i) * (sum{j}(b(j)) + c(i))`",
    );
    check_ambiguous(
        "y(i) = a(i) / A(i,j)",
        "write `sum{j}(a(i) / A(i,j))` or `a(i) / sum{j}(A(i,j))`",
    );
    check_ambiguous(
        "y(i) = sqrt(A(i,j) * b(j))",
        "write `sum{j}(sqrt(A(i,j) * b(j)))` or `sqrt(sum{j}(A(i,j) * b(j)))`",
    );
    check_ambiguous(
        "s = sqrt(A(i,j))",
        "write `sum{i,j}(sqrt(A(i,j)))` or `sqrt(sum{i,j}(A(i,j)))`",
    );
    check_ambiguous(
        "s = f32(a(i) * (2 - b(j)))",
        "write `sum{i,j}(f32(a(i) * (2 - b(j))))` or `f32(sum{i}(a(i) * (2 - sum{j}(b(j)))))`",
    );
    check_ambiguous(
        "s = (a(i) + 1) > 0",
        "write `sum{i}(a(i) + 1 > 0)` or `sum{i}(a(i)) + 1 > 0`",
    );
    check_ambiguous(
        "y(i) = max{k}(A(i,j) - b(k))",
        "write `sum{j}(max{k}(A(i,j) - b(k)))` or `max{k}(sum{j}(A(i,j)) - b(k))`",
    );
    check_ambiguous(
        "s = select(a(i) > 0, b(i), 0)",
        "write `sum{i}(select(a(i) > 0, b(i), 0))` or `select(sum{i}(a(i)) > 0, sum{i}(b(i)), 0)`",
    );
}

#[test]
fn a_zero_beside_a_term_changes_nothing_of_its_sum() {
    for term in ["a(i) * b(i)", "a(i)", "(a(i) - b(i)) * c(i)"] {
        let alone = resolve(&format!("s = {term}")).unwrap().to_string();
        let alone = alone.trim_start_matches("s = ");
        check(
            &format!("s = s0 + {term}").replace("s0", "f64_s"),
            &format!("s = f64_s + {alone}"),
        );
        check(&format!("s = {term} + 0"), &format!("s = {alone} + 0.0"));
    }
    let error = resolve("s = f64_s + (a(i) - 1)*2").unwrap_err();
    assert!(error.contains("E0211"), "{error}");
}

#[test]
fn terms_that_are_summed_over_one_name_run_equally_far() {
    let notation = Notation::parse(&Source::new("expression", "s = a(i) + i + b(2*i)")).unwrap();
    let mut declarations = declarations(&notation);
    declarations.declare("a", Declaration::with_extents(&[7]));
    let program = notation.resolve(&declarations).unwrap();
    let expect = "s = sum{i}(a(i)) + f64(sum{i1}(i1)) + sum{i2}(b(2*i2))";
    assert_eq!(program.to_string(), expect);
    let extents = program.vars.iter().map(|(_, var)| var.extent);
    assert_eq!(extents.collect::<Vec<_>>(), [Some(7); 3]);
}

#[test]
fn literals_that_would_become_infinite_are_refused() {
    for text in [
        "y(i) = a(i) * 1e999",
        "y(i) = f32_a(i) * 1e300",
        "y(i) = f32_a(i) + -1e39",
        "y(i) = c64_a(i) * 1e300j",
    ] {
        let error = resolve(text).expect_err(text);
        assert!(error.contains("help: "), "for `{text}`: {error}");
    }
    check_types("y(i) = f32_a(i) * inf", &[ElementType::F32]);
    check_types("y(i) = f64(f32_a(i)) * 1e300", &[ElementType::F64]);
    check_types("y(i) = f32_a(i) * 3.4e38", &[ElementType::F32]);
}

#[test]
fn assignment_operators_reduce() {
    check(
        "y(i) += A(i,j) * b(j) + c(i)",
        "y(i) = sum{j}(A(i,j) * b(j)) + c(i)",
    );
    check("y(i) max= A(i,j) + c(i)", "y(i) = max{j}(A(i,j) + c(i))");
    check("y(i) min= sqrt(A(i,j))", "y(i) = min{j}(sqrt(A(i,j)))");
    check("y(i) *= A(i,j)", "y(i) = prod{j}(A(i,j))");
    check("y(i) or= A(i,j) != 0", "y(i) = or{j}(A(i,j) != 0.0)");
    check("y(i) and= A(i,j) != 0", "y(i) = and{j}(A(i,j) != 0.0)");
}

#[test]
fn explicit_reductions_bind_their_variables() {
    check(
        "y(i) = sqrt(sum{j}(A(i,j) * A(i,j)))",
        "y(i) = sqrt(sum{j}(A(i,j) * A(i,j)))",
    );
    check(
        "y(i) = a(k) + sum{k}(A(i,k))",
        "y(i) = sum{k}(a(k)) + sum{k1}(A(i,k1))",
    );
    check("s = max{i}(sum{j}(A(i,j)))", "s = max{i}(sum{j}(A(i,j)))");
    check(
        "s = max{j}(A(i,j) + 1 * b(i))",
        "s = sum{i}(max{j}(A(i,j) + 1.0 * b(i)))",
    );
    check(
        "y(i) = sum{j}(A(i,j)) * b(k)",
        "y(i) = sum{k}(sum{j}(A(i,j)) * b(k))",
    );
}

#[test]
fn operators_give_the_types_in_which_arguments_meet() {
    use ElementType::{Bool, C64, C128, F16, F32, F64, I16, I32, I64};
    check_types("y(i) = i32_a(i) * f32_b(i)", &[F64]);
    check_types("y(i) = i8_a(i) - u8_b(i)", &[I16]);
    check_types("y(i) = i8_a(i) // i32_b(i)", &[I32]);
    check_types("y(i) = u64_a(i) + i64_b(i)", &[F64]);
    check_types("y(i) = i8_a(i) * f16_b(i)", &[F16]);
    check_types("y(i) = f16_a(i) * bf16_b(i)", &[F32]);
    check_types("y(i) = f64_a(i) * c64_b(i)", &[C128]);
    check_types("y(i) = f32_a(i) / c64_b(i)", &[C64]);
    check_types("y(i) = f16_a(i) < f64_b(i)", &[Bool]);
    check_types("y(i) = c64_a(i) == i8_b(i)", &[Bool]);
    check_types("y(i) = i8_a(i) / i8_b(i)", &[F64]);
    check_types("y(i) = f16_a(i) / f16_b(i)", &[F16]);
    check_types("y(i) = i64_a(i) / f32_b(i)", &[F64]);
    check_types("y(i) = bool_a(i) + bool_b(i)", &[Bool]);
    check_types("y(i) = i64(i8_a(i)) + 1", &[I64]);
}

#[test]
fn complex_numbers_have_parts() {
    use ElementType::{C64, C128, F32, F64, I8};
    check_types("y(i) = abs(c64_a(i))", &[F32]);
    check_types("y(i) = real(c128_a(i)) + imag(c128_a(i))", &[F64]);
    check_types("y(i) = conj(c64_a(i)) * c64_b(i)", &[C64]);
    check_types("y(i) = sqrt(c64_a(i)) * 2", &[C64]);
    check_types("y(i) = real(i8_a(i)); z(i) = imag(i8_a(i))", &[I8, I8]);
    check_types("y = 2j; z(i) = f32_a(i) * 2j", &[C128, C64]);
    check_types("z(i) = i8_a(i) * 2j", &[C128]);
    check(
        "y(i) = c64_a(i) * (1 - 2.5j)",
        "y(i) = c64_a(i) * (1.0 + -2.5j)",
    );
    check("y(i) = c64_a(i) * (2j * 2j)", "y(i) = c64_a(i) * -4.0");
}

#[test]
fn complex_numbers_have_no_order() {
    let refused = |text: &str, code: &str| {
        let error = resolve(text).expect_err("is refused");
        assert!(error.contains(code), "`{text}` gives {error}");
    };
    for text in [
        "y(i) = c64_a(i) < 1",
        "y(i) = min(b(i), c128_a(i))",
        "y = max{i}(c64_a(i))",
        "y min= c64_a(i)",
        "y(i) max= c64_a(i)",
        "y(i) = relu(c64_a(i))",
        "y(i) = c64_a(i) // 2",
        "y(i) = sin(c64_a(i))",
    ] {
        refused(text, "E0223");
    }
    refused("y(i) = f64(c64_a(i))", "E0224");
    refused("y(i) = i8(2j) * b(i)", "E0224");
    refused("y(i) = real(bool_a(i))", "E0208");
    refused("y(i) = c64_a(i) and bool_b(i)", "E0208");
}

#[test]
fn halves_are_computed_with_as_singles() {
    check(
        "y(i) = f16_a(i) * f16_b(i) + 1",
        "y(i) = f16(f32(f16_a(i)) * f32(f16_b(i)) + 1.0)",
    );
    check("y(i) = f16_a(i)", "y(i) = f16_a(i)");
    check("y = bf16_a(i)", "y = bf16(sum{i}(f32(bf16_a(i))))");
    check(
        "y(i) = f32(f16_a(i) * f16_a(i))",
        "y(i) = f32(f16_a(i)) * f32(f16_a(i))",
    );
    check("y(i) = f32(f16(f32_a(i)))", "y(i) = f32(f16(f32_a(i)))");
    check(
        "y(i) = -f16_a(i) < f16_a(i)",
        "y(i) = -f32(f16_a(i)) < f32(f16_a(i))",
    );
    check(
        "y(i) = max{j}(f16_A(i,j))",
        "y(i) = f16(max{j}(f32(f16_A(i,j))))",
    );
}

#[test]
fn integers_are_written_in_full() {
    use ElementType::{I64, U8, U64};
    check_types(
        "y = 9223372036854775807; z = 18446744073709551615",
        &[I64, U64],
    );
    check_types("y(i) = u8_a(i) + 255", &[U8]);
    check(
        "y(i) = u64_a(i) - 18446744073709551615",
        "y(i) = u64_a(i) - 18446744073709551615",
    );
}

#[test]
fn numbers_take_the_type_beside_them() {
    use ElementType::{Bool, F32, F64, I32, I64};
    check_types("y(i) = i32_a(i) * 2", &[I32]);
    check_types("y(i) = i32_a(i) * 2.5", &[F64]);
    check_types("y(i) = f32_a(i) * 2.5", &[F32]);
    check_types("y(i) = f32_a(i) * (sqrt(2) + 1)", &[F32]);
    check_types("y(i) = bool_a(i) * 2", &[I64]);
    check_types("y(i) = bool_a(i) or true", &[Bool]);
    check_types("y(i) = select(bool_a(i), i32_b(i), 0)", &[I32]);
    check_types("y(i) = sqrt(i32_a(i))", &[F64]);
    check_types("y(i) = sqrt(f32_a(i))", &[F32]);
    check_types("y = 1 + 2", &[I64]);
    check_types("y = 1 / 2", &[F64]);
    check("y(i) = i32_a(i) * 2.5", "y(i) = f64(i32_a(i)) * 2.5");
    check("y(i) = f32_a(i) * 0.1", "y(i) = f32_a(i) * 0.1");
    check("y(i) = a(i) * (2 + 3)", "y(i) = a(i) * 5.0");
}

#[test]
fn small_sums_accumulate_in_64_bits() {
    use ElementType::{Bool, F16, F32, I32, I64, U8, U64};
    check_types(
        "y = i32_a(i); z = bool_a(i); w = f32_a(i)",
        &[I64, I64, F32],
    );
    check_types(
        "y = i8_a(i); z = u16_a(i); w = prod{i}(u8_a(i)); v = f16_a(i)",
        &[I64, U64, U64, F16],
    );
    check_types("y = max{i}(u8_a(i))", &[U8]);
    check_types("y = max{i}(i32_a(i)); z = or{i}(bool_a(i))", &[I32, Bool]);
    check_types("y(i) = i32_a(i); z = y(i)", &[I32, I64]);
}

#[test]
fn fills_follow_from_the_expression() {
    let fill = |text: &str, extents: &[u64]| {
        let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
        let mut declarations = declarations(&notation);
        for (var, extent) in ["i", "j"].into_iter().zip(extents) {
            declarations.set_extent(var, *extent);
        }
        let program = notation.resolve(&declarations).expect("resolves");
        let last = program.statements.last().expect("there is one");
        program.tensors[last.lhs.tensor].fill
    };
    assert_eq!(fill("y(i) = a(i) * b(i)", &[]), Scalar::F64(0.0));
    assert_eq!(fill("y(i) = a(i) + 1", &[]), Scalar::F64(1.0));
    assert_eq!(fill("y(i) = -a(i)", &[]), Scalar::F64(0.0));
    assert_eq!(fill("y(i) = exp(a(i)) * nan", &[]).to_string(), "nan");
    assert_eq!(fill("y(i) = 0 * (a(i) / b(i))", &[]), Scalar::F64(0.0));
    assert_eq!(fill("y(i) = a(i) / b(i)", &[]).to_string(), "nan");
    assert_eq!(fill("y(i) = sum{j}(A(i,j) + 1)", &[2, 5]), Scalar::F64(5.0));
    assert_eq!(fill("y(i) = sum{j}(A(i,j) + 1)", &[]), Scalar::F64(0.0));
    assert_eq!(fill("y(i) = max{j}(A(i,j))", &[2, 5]), Scalar::F64(0.0));
    assert_eq!(
        fill("y(i) = max{j}(A(i,j))", &[2, 0]),
        Scalar::F64(f64::NEG_INFINITY)
    );
    assert_eq!(
        fill("y(i) = prod{j}(A(i,j) + 2)", &[2, 3]),
        Scalar::F64(8.0)
    );
    assert_eq!(
        fill("t(i) = a(i) == 0; y(i) = not t(i)", &[]),
        Scalar::Bool(false)
    );
}
