//! `pieces`: a tensor that is the sum of several, which are read in its place.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)
//!
//!   pieces(A, (i, j) -> (i : dense, j : compressed), symmetric(i, j))
//!
//! sequence(
//!   forall i: forall j: y(i) += A_stored(i,j) * x(j),
//!   forall i1: forall j1: y(i1) += select(i1 < j1, A_stored(j1,i1) * x(j1), 0.0))
//! ```
//!
//! `A_stored` is what the arrays of `A` hold, seen as a tensor in which an entry
//! stands for itself alone ([`sparsec_format::Format::pieces`]); of a union each part is a tensor,
//! `A_part0`, `A_part1` and so on. Nothing is copied. The loops are distributed over
//! the terms (`additive`), and each nest can be ordered as its piece is stored.

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_format::{FormatSpec, Mirror, Mirrored, Piece, Side};
use sparsec_index::{Access, Concrete, Expr, Operator, TensorData, TensorRole, TensorVar};

use super::Name;
use super::additive::{Replaced, Summand, summed};
use super::apply::unknown;

pub(super) fn apply(concrete: &Concrete, name: &Name, format: &FormatSpec) -> Result<Concrete> {
    let read = reads(concrete);
    let named = |tensor: &&TensorVar| concrete.tensors[**tensor].name == name.word.text;
    let Some(&tensor) = read.iter().find(named) else {
        let known = read.iter().map(|it| concrete.tensors[*it].name.as_str());
        return Err(unknown("operand", name, known));
    };
    let data = concrete.tensors[tensor].clone();
    let format = format.resolve(data.order())?;
    let refuse = |why: &str| {
        Diagnostic::new(code::NO_PIECES, format!("`{name}` {why}"))
            .at(&name.source, name.word.span, "taken apart here")
            .note(format!("the format is `{format}`"))
    };
    let Some(pieces) = format.pieces() else {
        return Err(refuse("would be one piece in this format").help(format!(
            "leave the command out, or name the format that `{name}` is stored in"
        )));
    };
    let mirrors = pieces.iter().filter_map(|piece| piece.mirror);
    let keeps_fill = |(mirror, _): (Mirror, Side)| image_of_fill(mirror.of, data.fill);
    if !mirrors.into_iter().all(keeps_fill) {
        return Err(refuse("has a fill whose mirror image is another")
            .help(format!("convert it: `convert({name}, csf)`")));
    }
    // Rows without a column have no entry of the diagonal, but a place for one.
    let is_square = |[a, b]: [usize; 2]| {
        let (rows, columns) = (data.extents[a], data.extents[b]);
        rows.is_some() && rows == columns
    };
    let mut diagonals = pieces.iter().filter_map(|piece| piece.equal);
    if !diagonals.all(is_square) {
        return Err(refuse("has a diagonal that is not known to be of a square")
            .help(format!("convert it: `convert({name}, csf)`")));
    }
    let mut taken = concrete.clone();
    let views: Vec<TensorVar> = pieces
        .iter()
        .map(|piece| {
            let suffix = match pieces.len() {
                1 => "stored".to_owned(),
                _ => format!("part{}", piece.part),
            };
            let name = taken.fresh_name(&format!("{}_{suffix}", data.name));
            taken.tensors.push(TensorData {
                name,
                extents: piece.modes.iter().map(|mode| data.extents[*mode]).collect(),
                ..data.clone()
            })
        })
        .collect();
    let sum = |access: &Access| {
        let uses = pieces.iter().zip(&views);
        let uses = uses.flat_map(|(piece, view)| uses_of(piece, *view, access, &data));
        uses.collect::<Vec<Summand>>()
    };
    let may_repeat = |piece: &Piece| !piece.format.is_unique();
    summed(
        &taken,
        &mut Replaced {
            tensor,
            repeats: pieces.iter().any(may_repeat),
            summands: &mut |_, access| sum(access),
        },
    )
    .map_err(|fault| {
        Diagnostic::new(
            code::NOT_ADDITIVE,
            format!("`{name}` is used where no sum can be"),
        )
        .at(&concrete.source, fault.span, fault.why)
        .note(format!("the statement is\n{concrete}"))
        .help(format!("convert it instead: `convert({name}, csf)`"))
    })
}

/// The operands of the statement.
fn reads(concrete: &Concrete) -> Vec<TensorVar> {
    let mut read = Vec::new();
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            let is_workspace = concrete.tensors[access.tensor].role == TensorRole::Workspace;
            if !is_workspace && !read.contains(&access.tensor) {
                read.push(access.tensor);
            }
        });
    });
    read
}

/// What a piece is at the indices of an access: its entry there, and the mirror
/// image of the one at exchanged indices.
fn uses_of(piece: &Piece, view: TensorVar, access: &Access, data: &TensorData) -> Vec<Summand> {
    let own = Access {
        tensor: view,
        indices: piece
            .modes
            .iter()
            .map(|mode| access.indices[*mode].clone())
            .collect(),
        span: access.span,
    };
    let compare = |op: Operator, modes: [usize; 2]| Expr::Apply {
        op,
        args: modes
            .map(|mode| Expr::Index(access.indices[mode].clone()))
            .to_vec(),
    };
    let mut uses = vec![Summand {
        condition: piece.within.map(|region| {
            let inside = match region.side {
                Side::Lower => Operator::Ge,
                Side::Upper => Operator::Le,
                Side::Diagonal => Operator::Eq,
            };
            compare(inside, region.modes)
        }),
        equal: piece
            .equal
            .map(|modes| modes.map(|mode| access.indices[mode].clone())),
        ..Expr::Access(own.clone()).into()
    }];
    if let Some((Mirror { of, modes }, side)) = piece.mirror {
        let mut exchanged = own;
        exchanged.indices.swap(modes[0], modes[1]);
        let beyond = match side {
            Side::Lower => Operator::Lt,
            Side::Upper => Operator::Gt,
            Side::Diagonal => unreachable!("what is mirrored is a triangle"),
        };
        uses.push(Summand {
            condition: Some(compare(beyond, modes)),
            ..image(of, Expr::Access(exchanged), data.element).into()
        });
    }
    uses
}

/// The mirror image of a value.
fn image(of: Mirrored, value: Expr, element: ElementType) -> Expr {
    let Some(op) = image_operator(of, element) else {
        return value;
    };
    // Narrow numbers are for storage, and are computed with as wider ones.
    let computed = element.computed();
    let cast = |to: ElementType, value: Expr| match computed == element {
        true => value,
        false => Expr::Cast(to, Box::new(value)),
    };
    let args = vec![cast(computed, value)];
    cast(element, Expr::Apply { op, args })
}

/// What makes the mirror image of a value, where that is another value.
fn image_operator(of: Mirrored, element: ElementType) -> Option<Operator> {
    match of {
        Mirrored::Symmetric => None,
        // A truth value is its own negative.
        Mirrored::Skew => (element != ElementType::Bool).then_some(Operator::Neg),
        Mirrored::Hermitian => element.is_complex().then_some(Operator::Conj),
    }
}

/// Whether the mirror image of a fill is that fill.
fn image_of_fill(of: Mirrored, fill: Scalar) -> bool {
    image_operator(of, fill.element()).is_none() || fill.is_zero()
}

#[cfg(test)]
mod tests {
    use sparsec_base::Source;
    use sparsec_index::{Concrete, concretize};
    use sparsec_notation::{Declaration, Declarations, Notation};

    use crate::Schedule;

    const SYMMETRIC: &str = "pieces(A, (i, j) -> (i : dense, j : compressed), symmetric(i, j))";
    const UNION: &str = "pieces(A, csr, lower(i, j) | csc)";

    fn taken(text: &str, schedule: &str) -> sparsec_base::Result<Concrete> {
        let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
        let mut declarations = Declarations::new();
        for tensor in notation.tensor_names() {
            if !tensor.written {
                let extents = Some(vec![3; tensor.order]);
                declarations.declare(
                    tensor.name,
                    Declaration {
                        extents,
                        ..Declaration::with_order(tensor.order)
                    },
                );
            }
        }
        let program = notation.resolve(&declarations).expect("resolves");
        let schedule = Schedule::parse(&Source::new("schedule", schedule)).expect("reads");
        schedule.apply(&concretize(&program, 0))
    }

    fn check(text: &str, schedule: &str, expect: &str) {
        let concrete = taken(text, schedule).expect("can be taken apart");
        assert_eq!(concrete.to_string(), expect, "for `{text}`");
        let source = Source::new("concrete", expect);
        let again = crate::parse_concrete(&source, &concrete.tensors).expect("reads back");
        assert_eq!(again.to_string(), expect);
    }

    fn refused(text: &str, schedule: &str, expect: &[&str]) {
        let error = taken(text, schedule).expect_err(text).to_string();
        for part in expect {
            assert!(error.contains(part), "`{part}` in:\n{error}");
        }
    }

    #[test]
    fn loops_are_distributed_over_terms() {
        check(
            "y(i) = A(i,j) * x(j)",
            UNION,
            "sequence(\n  forall i: forall j: y(i) += A_part0(i,j) * x(j),\n  \
             forall i1: forall j1: y(i1) += A_part1(i1,j1) * x(j1))",
        );
        check(
            "y(i) = A(i,j) * x(j)",
            SYMMETRIC,
            "sequence(\n  forall i: forall j: y(i) += A_stored(i,j) * x(j),\n  \
             forall i1: forall j1:\n    y(i1) += select(i1 < j1, A_stored(j1,i1) * x(j1), 0.0))",
        );
    }

    #[test]
    fn a_diagonal_has_one_loop() {
        check(
            "C(i,j) = A(i,j) * B(i,j) + B(j,i)",
            "pieces(A, msr)",
            "sequence(\n  forall i: C(i,i) += A_part0(i) * B(i,i),\n  \
             forall i1: forall j1: C(i1,j1) += A_part1(i1,j1) * B(i1,j1),\n  \
             forall i2: forall j2: C(i2,j2) += B(j2,i2))",
        );
        refused(
            "y(i) = A(i,0) * x(i)",
            "pieces(A, msr)",
            &["E0350", "diagonal"],
        );
        let collected = "precompute(A(i,j), {i, j}, w); pieces(A, msr)";
        refused("C(i,j) = A(i,j)", collected, &["E0350", "of a workspace"]);
    }

    #[test]
    fn what_is_added_is_a_term() {
        check(
            "r(i) = b(i) - A(i,j) * x(j) + c(i)",
            UNION,
            "sequence(\n  forall i: r(i) += b(i) + c(i),\n  \
             forall i1: forall j1: r(i1) += -(A_part0(i1,j1) * x(j1)),\n  \
             forall i2: forall j2: r(i2) += -(A_part1(i2,j2) * x(j2)))",
        );
        check(
            "y(i) = 2 * ((A(i,j) + B(i,j)) * x(j))",
            UNION,
            "sequence(\n  forall i: forall j: y(i) += 2.0 * (A_part0(i,j) * x(j)),\n  \
             forall i1: forall j1: y(i1) += 2.0 * (A_part1(i1,j1) * x(j1)),\n  \
             forall i2: forall j2: y(i2) += 2.0 * (B(i2,j2) * x(j2)))",
        );
    }

    #[test]
    fn a_scalar_is_collected_from_all_terms() {
        check(
            "y(i) = sqrt(sum{j}(A(i,j)))",
            UNION,
            "forall i: where(\n  y(i) = sqrt(t),\n  \
             sequence(forall j: t += A_part0(i,j), forall j1: t += A_part1(i,j1)))",
        );
    }

    #[test]
    fn each_use_has_to_be_nothing_by_itself() {
        // The first factor is not nothing where its use of `A` is.
        check(
            "y(i) = (A(i,j) + x(i)) * A(j,i)",
            UNION,
            "sequence(\n  forall i: forall j: y(i) += A_part0(i,j) * A_part0(j,i),\n  \
             forall i1: forall j1: y(i1) += A_part0(i1,j1) * A_part1(j1,i1),\n  \
             forall i2: forall j2: y(i2) += A_part1(i2,j2) * A_part0(j2,i2),\n  \
             forall i3: forall j3: y(i3) += A_part1(i3,j3) * A_part1(j3,i3),\n  \
             forall i4: forall j4: y(i4) += x(i4) * A_part0(j4,i4),\n  \
             forall i5: forall j5: y(i5) += x(i5) * A_part1(j5,i5))",
        );
    }

    #[test]
    fn one_piece_may_be_used_anywhere() {
        check(
            "C(i,j) = max(A(i,j), B(i,j))",
            "pieces(A, (i, j) -> (i : dense, j : compressed), lower(i, j))",
            "forall i: forall j: C(i,j) = max(A_stored(i,j), B(i,j))",
        );
    }

    #[test]
    fn what_is_no_sum_is_refused() {
        refused("C(i,j) = max(A(i,j), B(i,j))", UNION, &["E0350", "convert"]);
        refused("y(i) = sum{j}(exp(A(i,j)))", UNION, &["E0350"]);
        refused("y(i) = A(i,j)", "pieces(A, csr)", &["E0351", "one piece"]);
        refused("y(i) = A(i,j)", "pieces(B, csr)", &["E0310"]);
    }
}
