use sparsec_base::Source;

use super::Notation;

/// What a text prints as, or its diagnostic from the first place on.
fn read(text: &str) -> String {
    match Notation::parse(&Source::new("expression", text)) {
        Ok(notation) => {
            let printed = notation.to_string();
            let again = Notation::parse(&Source::new("printed", printed.as_str()));
            assert_eq!(again.as_ref().map_err(ToString::to_string), Ok(&notation));
            printed
        }
        Err(error) => error.to_string(),
    }
}

fn check(text: &str, expect: &str) {
    assert_eq!(read(text), expect, "for `{text}`");
}

fn refused(text: &str, expect: &str) {
    let expect: Vec<&str> = expect.lines().map(str::trim_end).collect();
    let found = read(text);
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    assert_eq!(found.join("\n"), expect.join("\n"), "for `{text}`");
}

#[test]
fn statements() {
    check("y(i)=A(i,j)*x(j)", "y(i) = A(i,j) * x(j)");
    check("y[i] = A[i, j] * x[j]", "y(i) = A(i,j) * x(j)");
    check("s = a(i)", "s = a(i)");
    check("s() = a(i)", "s = a(i)");
    check("t(i) = a(i); s = t(i)", "t(i) = a(i)\ns = t(i)");
    check("t(i) = a(i)\n\n; s = t(i);", "t(i) = a(i)\ns = t(i)");
    check("s = (a(i)\n  + b(i))", "s = a(i) + b(i)");
    check("s = a(i) +\n b(i)", "s = a(i) + b(i)");
}

#[test]
fn operators_by_how_tightly_they_bind() {
    check("s = a+b*c-d", "s = a + b * c - d");
    check("s = (a+b)*c", "s = (a + b) * c");
    check("s = a-(b-c)", "s = a - (b - c)");
    check("s = (a-b)-c", "s = a - b - c");
    check("s = a/b//c%d", "s = a / b // c % d");
    check("s = -a*b", "s = -a * b");
    check("s = -(a*b)", "s = -(a * b)");
    check("s = a - -b", "s = a - -b");
    check("s = not a and b or c", "s = not a and b or c");
    check("s = not (a and (b or c))", "s = not (a and (b or c))");
    check("s = a<b and c>=d", "s = a < b and c >= d");
    check("s = (a<b) == c", "s = (a < b) == c");
    check("s = a+b == c", "s = a + b == c");
    check("s = a*(not b)", "s = a * (not b)");
}

#[test]
fn numbers() {
    check("s = 2 * 1.50 + 1e3 + -3", "s = 2 * 1.5 + 1000.0 + -3");
    check("s = -(2) - -2", "s = -(2) - -2");
    check("s = inf + -inf + nan", "s = inf + -inf + nan");
    check("s = true or false", "s = true or false");
    check("s = -9223372036854775808", "s = -9223372036854775808");
    check("s = 1e-320 + 0.1", "s = 1e-320 + 0.1");
}

#[test]
fn functions_casts_and_reductions() {
    check("s = max(a, min(b,2))", "s = max(a, min(b, 2))");
    check("s = select(a>0, a, -a)", "s = select(a > 0, a, -a)");
    check("s = f32(a) + bool(b)", "s = f32(a) + bool(b)");
    check(
        "s = sum{i}(a(i)) + max{i,j}(B(i,j))",
        "s = sum{i}(a(i)) + max{i,j}(B(i,j))",
    );
    check(
        "s = or{i}(a(i)) and and{i}(b(i))",
        "s = or{i}(a(i)) and and{i}(b(i))",
    );
    check("sum = sqrt + max(sqrt, sum)", "sum = sqrt + max(sqrt, sum)");
}

#[test]
fn assignments_with_operators() {
    for op in ["=", "+=", "*=", "min=", "max=", "or=", "and="] {
        let text = format!("y(i) {op} A(i,j)");
        check(&text, &text);
    }
}
