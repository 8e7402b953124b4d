//! `skew`: a loop over the values of a sum in place of one of its variables.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)         3 rows, so j - i is at least -2
//!
//!   skew(j, d, j - i + 2)                           one loop over diagonals
//!
//! forall i: forall d: y(i) += A(i,j) * x(j) suchthat(skew(j, d, j - i + 2))
//! ```
//!
//! `j` is `i + d - 2` where both loops are, and nothing is done where that is
//! outside of its extent. A coordinate that is the sum is named `d`, so a tensor
//! that is stored by diagonals is walked by this loop.

use sparsec_base::lex::Kind;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::concrete::{Clause, Skew};
use sparsec_index::{Concrete, IndexExpr, IndexVar, Stmt};
use sparsec_notation::Parser;

use super::Name;
use super::apply::{illegal, loop_to_derive, new_vars, replace_loops, var};
use super::parse::{name, next_name};
use super::split::named;

/// The largest number in a sum: sums of coordinates stay below 63 bits.
const MAX_OFFSET: i64 = 1 << 40;

/// `NAME "," NAME "," sum`
pub(super) fn parse(parser: &mut Parser) -> Result<Clause<Name, Name>> {
    let var = next_name(parser, "a loop")?;
    let made = next_name(parser, "a name for the loop over sums")?;
    let start = parser.tokens.peek().span;
    let (mut own, mut offset) = (0i64, 0i64);
    let mut along: Option<(Name, i64)> = None;
    let mut fits = true;
    let mut sign = if parser.tokens.eat("-") { -1 } else { 1 };
    loop {
        let mut factor = 1;
        let is_name = parser.tokens.peek().kind == Kind::Name;
        if !is_name {
            let (number, span) = parser.tokens.integer("a variable or a number")?;
            let number = i64::try_from(number).ok().filter(|n| *n <= MAX_OFFSET);
            let Some(number) = number else {
                let message = "a number of a sum is at most 2^40";
                let error = Diagnostic::new(code::SCHEDULE_SIZE, message);
                return Err(error
                    .at(parser.tokens.source(), span, "larger")
                    .help("write a smaller number"));
            };
            factor = number;
        }
        if is_name || parser.tokens.eat("*") {
            let named = name(parser, "a loop")?;
            if named.word.text == var.word.text {
                fits &= own == 0;
                own = sign * factor;
            } else {
                fits &= along.is_none();
                along = Some((named, sign * factor));
            }
        } else {
            fits &= offset == 0;
            offset = sign * factor;
        }
        if parser.tokens.eat("+") {
            sign = 1;
        } else if parser.tokens.eat("-") {
            sign = -1;
        } else {
            break;
        }
    }
    match along {
        Some((along, factor)) if fits && own.abs() == 1 && factor != 0 => Ok(Clause::Skew {
            var,
            made,
            along,
            by: Skew {
                is_negative: own < 0,
                factor,
                offset,
            },
        }),
        _ => {
            let message = format!("this is no sum of `{var}`, another loop and a number");
            let span = start.to(parser.tokens.peek_before());
            Err(Diagnostic::new(code::SCHEDULE_SKEW, message)
                .at(parser.tokens.source(), span, "not such a sum")
                .help(format!("write one such as `{var} - i + 2`")))
        }
    }
}

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let Clause::Skew {
        var: name,
        made,
        along: along_name,
        by,
    } = clause
    else {
        unreachable!("only this skews");
    };
    let span = name.word.span.to(along_name.word.span);
    let replaced = loop_to_derive(concrete, name)?;
    let along = var(concrete, along_name)?;
    if along == replaced {
        let message = format!("`{name}` is the variable that is replaced");
        let error = illegal(along_name, along_name.word.span, message, "again");
        return Err(error.help("name another loop, around it or inside of it"));
    }
    if !are_together(&concrete.stmt, replaced, along, &mut Vec::new()) {
        let message = format!("`{name}` is used where no loop over `{along_name}` is around");
        return Err(Diagnostic::new(code::SCHEDULE_SKEW, message)
            .at(&name.source, span, "cannot be computed there")
            .note(format!("the statement is\n{concrete}"))
            .help("skew loops that are around the same statements"));
    }
    let least = by.least(concrete.extent(replaced), concrete.extent(along));
    if least.is_none_or(|least| least < 0) {
        let message = match least {
            Some(least) => format!("the least value of `{made}` would be {least}"),
            None => format!("the least value of `{made}` is not known"),
        };
        return Err(Diagnostic::new(code::SCHEDULE_SKEW, message)
            .at(&name.source, span, "leaves out coordinates")
            .help(match least {
                Some(least) => format!("add {} to the sum", least.unsigned_abs()),
                None => "give the extents of both loops, as in `.extent(\"i\", 100)`".to_owned(),
            }));
    }
    let mut skewed = concrete.clone();
    let made = new_vars(&mut skewed, &[made])?[0];
    skewed.stmt = replace_loops(&concrete.stmt, replaced, &[made]);
    // The sum is the variable: var = sign * (made - factor * along - offset).
    let value = (|| {
        let along = IndexExpr::from(along).times(by.factor)?;
        let rest = along.plus(&IndexExpr::constant(by.offset))?;
        IndexExpr::from(made).minus(&rest)?.times(by.sign())
    })();
    if let Some(value) = value {
        let replace = |var: IndexVar| (var == replaced).then(|| value.clone());
        skewed.stmt = named(&skewed.stmt, &replace, &|_| None);
    }
    let clause = Clause::Skew {
        var: replaced,
        made,
        along,
        by: *by,
    };
    Ok((skewed, clause))
}

/// Whether a loop over `along` is around every assignment that has one over `var`.
fn are_together(stmt: &Stmt, var: IndexVar, along: IndexVar, loops: &mut Vec<IndexVar>) -> bool {
    match stmt {
        Stmt::Assign { .. } => !loops.contains(&var) || loops.contains(&along),
        Stmt::Forall { var: here, body } => {
            loops.push(*here);
            let together = are_together(body, var, along, loops);
            loops.pop();
            together
        }
        Stmt::Where { consumer, producer } => {
            are_together(consumer, var, along, loops) && are_together(producer, var, along, loops)
        }
        Stmt::Sequence(stmts) => stmts
            .iter()
            .all(|stmt| are_together(stmt, var, along, loops)),
    }
}
