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

/// The message, the line with the caret, and the help of a diagnostic.
fn refused(text: &str, expect: &[&str]) {
    let error = read(text);
    for part in expect {
        assert!(error.contains(part), "`{part}` in:\n{error}");
    }
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

#[test]
fn slips_are_shown_where_they_are() {
    refused(
        "y(i) = A(i,j * x(j)",
        &["E0101", "             ^ expected `,` or `)`"],
    );
    refused("y(i) = sqr(a(i) + 1)", &["E0212", "did you mean `sqrt`?"]);
    refused(
        "y(i) = (a(i) + b(i)",
        &["E0101", "expected an operator or `)`"],
    );
    refused("y(i) = a(i", &["E0101"]);
    refused(
        "y(i) a(i)",
        &[
            "E0101",
            "expected `=`",
            "`= += *= min= max= or= and= bitor= bitand= bitxor=`",
        ],
    );
    refused("y(i) = a(i) = b(i)", &["E0101", "`==` compares"]);
    refused("y(i) = a(i)^2", &["E0101", "`pow(a, b)`"]);
    refused("y(i) = a(i) ** 2", &["E0101", "`pow(a, b)`"]);
    refused("y = A @ x", &["E0101", "`C(i,j) = A(i,k) * B(k,j)`"]);
    refused("y(i) = ", &["E0101", "a tensor, a number or `(`"]);
    refused("", &["E0101", "a tensor to assign"]);
    refused(
        "y(i) = a(i)\n  + b(i)",
        &["E0101", "unless parentheses are open"],
    );
    refused("y(i) = a(i) b(i)", &["E0101", "an operator or the end"]);
    refused("y(i) = 2x(i)", &["E0103", "`2x` is no number"]);
    refused(
        "y(i) = 18446744073709551616",
        &["E0103", "18446744073709551616.0"],
    );
    refused("y(i) = 1e400", &["E0103"]);
    refused("y(i) = a(i) \u{d7} 2", &["E0102"]);
    refused("y(i) = A.vals(i)", &["E0221", "has a point"]);
    refused("y(i) = sum(A(i,j))", &["E0101", "write `sum{j}(A(i,j))`"]);
    refused("y(i) = sum{}(A(i,j))", &["E0101", "an index variable"]);
    refused(
        "y(i) = a(i) * not b(i)",
        &["E0101", "put parentheses around it"],
    );
    refused(
        "y(i) = foo(a(i), 2.5)",
        &["E0212", "no function has this name"],
    );

    refused("y(i) = sqrt(a(i)", &["E0101", "expected `,` or `)`"]);
}

/// The proposed statement is read as it stands.
#[test]
fn a_missing_left_side_is_proposed() {
    let proposes = |text: &str, statement: &str| {
        refused(
            text,
            &["E0101", "name the result", &format!("`{statement}`")],
        );
        check(statement, statement);
    };
    proposes("A(i,j) * x(j)", "y(i) = A(i,j) * x(j)");
    proposes("A(i,k) * B(k,j)", "C(i,j) = A(i,k) * B(k,j)");
    proposes("A(i,k) * B(k,j) * c(k)", "C(i,j) = A(i,k) * B(k,j) * c(k)");
    proposes("A(i,j) + B(i,j)", "C(i,j) = A(i,j) + B(i,j)");
    proposes("x(i) * y(i)", "s = x(i) * y(i)");
    proposes("2 * y(i)", "z(i) = 2 * y(i)");
    proposes("sum{j}(A(i,j))", "y(i) = sum{j}(A(i,j))");
    proposes("sum(A(i,j))", "s = sum{i,j}(A(i,j))");
    proposes("max(x(i))", "s = max{i}(x(i))");
    // A sum inside of a function is never implied.
    proposes("sqrt(A(i,j) * x(j))", "C(i,j) = sqrt(A(i,j) * x(j))");
    proposes("-(x(i) - a / b(i))", "y(i) = -(x(i) - a / b(i))");
    refused("y(i) = = x(i)", &["expected a tensor, a number or `(`"]);
    let assigns = |text: &str, statement: &str| {
        helps(
            text,
            &format!("`==` compares, and `=` assigns: `{statement}`"),
            statement,
        );
    };
    assigns("y(i) == A(i,j)", "y(i) = A(i,j)");
    assigns("s == (x(i) == 1)", "s = (x(i) == 1)");
    proposes("y(i) == y(i)", "z(i) = y(i) == y(i)");
}

/// The help, with a statement that is read as it stands.
fn helps(text: &str, help: &str, statement: &str) {
    refused(text, &[&format!("help: {help}")]);
    assert!(help.contains(statement), "`{help}`");
    assert!(!read(statement).contains("error"), "{}", read(statement));
}

#[test]
fn arrows_are_assignments() {
    let on_the_left = |text: &str, statement: &str| {
        let help = format!("the result is on the left: `{statement}`");
        helps(text, &help, statement);
    };
    on_the_left("A(i,j) -> B(j,i)", "B(j,i) = A(i,j)");
    on_the_left("A(i,j), x(j) -> y(i)", "y(i) = A(i,j) * x(j)");
    on_the_left("ij,jk->ik", "C(i,k) = A(i,j) * B(j,k)");
    on_the_left("ij->", "s = A(i,j)");
    let unknown = "einsum's `ij,j->i` is written `y(i) = A(i,j) * x(j)`";
    helps("ij,ii->i", unknown, "y(i) = A(i,j) * x(j)");
}

#[test]
fn a_tensor_is_no_index() {
    let instead = |text: &str, product: &str, statement: &str| {
        refused(
            text,
            &["E0214", "cannot be an index of", "an indirect access"],
        );
        refused(
            text,
            &[&format!(
                "help: write `{product}`, where `S` stores 1 at each `k = "
            )],
        );
        assert!(!read(statement).contains("error"), "{}", read(statement));
    };
    instead(
        "y(i) = A(x(i), j)",
        "sum{k}(S(i,k) * A(k, j))",
        "y(i) = sum{k}(S(i,k) * A(k, j))",
    );
    instead(
        "y(i) = 2 * A[j, 2*x[i] + 1]",
        "sum{k}(S(i,k) * A[j, 2*k + 1])",
        "y(i) = 2 * sum{k}(S(i,k) * A[j, 2*k + 1])",
    );
    let scattered = "y(k) = S(i,k) * (x(i))";
    instead("y(p(i)) = x(i)", scattered, scattered);
    // Names like those of functions.
    refused("y(i) = foo(x(i))", &["E0212", "unknown function `foo`"]);
    refused(
        "y(i) = max(A(i,j))",
        &["over indices it is `max{j}(A(i,j))`"],
    );
}

#[test]
fn a_function_is_no_reduction() {
    refused(
        "s = sin{j}(x(j))",
        &["E0244", "^^^ used as", "`sum{j}(sin(x(j)))`"],
    );
    refused("s = pow{j}(x(j))", &["E0244", "`sum{j}(pow(x(j), x(j)))`"]);
    refused("s = sun{j}(x(j))", &["E0212", "did you mean `sum`?"]);
}

#[test]
fn deep_nesting_is_refused_before_it_hurts() {
    let nest =
        |open: &str, close: &str, n: usize| format!("s = {}a{}", open.repeat(n), close.repeat(n));
    let levels = [("(", ")"), ("-", ""), ("not ", ""), ("sqrt(", ")")];
    for (open, close) in levels {
        refused(&nest(open, close, 100_000), &["E0220", "too deep"]);
        assert!(read(&nest(open, close, 99)).starts_with("s = "));
    }
    refused(
        &nest("a or a and a == a + a * (", ")", 100_000),
        &["E0220", "one too many"],
    );
    assert!(read(&nest("a or a and a == a + a * (", ")", 80)).starts_with("s = "));
    refused(&nest("a + ", "", 100_000), &["E0220", "one too many"]);
    assert!(read(&nest("a + ", "", 500)).starts_with("s = "));
}

#[test]
fn names_come_in_order_of_appearance() {
    let text = "C(i,j) = A(i,k) * B(k,j); s = C(i,i) + A(i,i)";
    let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
    let names = notation.tensor_names();
    let seen: Vec<_> = names
        .iter()
        .map(|name| (name.name.as_str(), name.order, name.read, name.written))
        .collect();
    let expect = [
        ("C", 2, true, true),
        ("A", 2, true, false),
        ("B", 2, true, false),
        ("s", 0, false, true),
    ];
    assert_eq!(seen, expect);
}

#[test]
fn windows_that_count_down() {
    let help = "as in `x(9 - 2*k)`";
    refused(
        "y(k) = x(k(9:0:-2))",
        &["E0215", "^^^^^^", "steps below 0", help],
    );
    refused("y(i) = x(9:0:-1)", &["E0215", "^^^^^^", "as in `x(9 - i)`"]);
    refused("y(i) = x(i(9:0:-k))", &["E0101", "a whole number"]);
}

#[test]
fn functions_that_call_themselves() {
    for body in ["f(a - 1)", "1 + f(min(a, 1))", "f(2.5)"] {
        let text = format!("def f(a) = {body}; y(i) = f(x(i))");
        refused(&text, &["E0240", "`f` calls itself", "defined before it"]);
    }
    // A parameter may have the name of its function.
    check(
        "def f(f) = f + 1; y(i) = f(x(i))",
        "def f(f) = f + 1\ny(i) = f(x(i))",
    );
}
