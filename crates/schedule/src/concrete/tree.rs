//! Statements in concrete notation as they are written, with names.

use sparsec_base::lex::Kind;
use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_index::WorkspaceKind;
use sparsec_index::concrete::Clause;
use sparsec_notation::{Assignment, Parser, TensorUse, Word};

use crate::parse::{parse_command, parse_kind};
use crate::{Command, Name};

/// A clause with names, and its place.
pub(super) type Said = (Clause<Name, Name>, Span);

/// A statement with names.
pub(super) enum Tree {
    Assign(Box<Assignment>),
    Forall(Word, Box<Tree>),
    Where(Box<Tree>, Box<Tree>, Vec<(Word, WorkspaceKind)>),
    Sequence(Vec<Tree>),
}

impl Tree {
    /// The loops directly inside one another, and what is inside of them.
    pub(super) fn nest(&self) -> (Vec<&Word>, &Self) {
        let (mut words, mut inner) = (Vec::new(), self);
        while let Self::Forall(word, body) = inner {
            words.push(word);
            inner = body;
        }
        (words, inner)
    }

    /// Calls `visit` on every index variable of the assignments, left to right.
    pub(super) fn for_each_var<'a>(&'a self, visit: &mut dyn FnMut(&'a Word)) {
        match self {
            Self::Assign(assignment) => {
                let mut of = |tensor: &'a TensorUse| {
                    let indices = tensor.indices.iter();
                    indices.for_each(|index| index.for_each_var(visit));
                };
                of(&assignment.lhs);
                assignment.rhs.for_each_access(&mut of);
            }
            Self::Forall(_, body) => body.for_each_var(visit),
            Self::Where(consumer, producer, _) => {
                consumer.for_each_var(visit);
                producer.for_each_var(visit);
            }
            Self::Sequence(parts) => parts.iter().for_each(|part| part.for_each_var(visit)),
        }
    }
}

pub(super) fn tree(parser: &mut Parser) -> Result<Tree> {
    parser.count(parser.tokens.peek().span)?;
    let tokens = &mut parser.tokens;
    if tokens.at("forall") && tokens.peek_at(1).kind == Kind::Name {
        tokens.take();
        let var = parser.word("an index variable")?;
        parser.tokens.expect(":")?;
        return Ok(Tree::Forall(var, Box::new(tree(parser)?)));
    }
    if tokens.at("where") && tokens.at_nth(1, "(") {
        return where_(parser);
    }
    if tokens.at("sequence") && tokens.at_nth(1, "(") {
        return Ok(Tree::Sequence(list(parser)?));
    }
    Ok(Tree::Assign(Box::new(parser.assignment()?)))
}

/// `"where" "(" stmt "," stmt { "," NAME ":" KIND } ")"`
fn where_(parser: &mut Parser) -> Result<Tree> {
    parser.tokens.take();
    parser.tokens.expect("(")?;
    let consumer = tree(parser)?;
    parser.tokens.expect(",")?;
    let producer = tree(parser)?;
    let mut kinds = Vec::new();
    while parser.tokens.eat(",") {
        let word = parser.word("a workspace")?;
        match parse_kind(parser)? {
            Some(kind) => kinds.push((word, kind)),
            None => {
                return Err(parser
                    .tokens
                    .unexpected("`:` and how the workspace is kept"));
            }
        }
    }
    parser.tokens.expect(")")?;
    Ok(Tree::Where(Box::new(consumer), Box::new(producer), kinds))
}

/// `[ "suchthat" "(" clause { "," clause } ")" ]`
pub(super) fn clauses(parser: &mut Parser) -> Result<Vec<Said>> {
    let mut found = Vec::new();
    if !parser.tokens.eat("suchthat") {
        return Ok(found);
    }
    parser.tokens.expect("(")?;
    loop {
        let start = parser.tokens.peek().span;
        match parse_command(parser)? {
            Command::Clause { clause, span } => found.push((clause, span)),
            _ => {
                let message = "this command leaves no clause behind a statement";
                let span = start.to(parser.tokens.peek().span);
                return Err(Diagnostic::new(code::UNEXPECTED_TOKEN, message)
                    .at(parser.tokens.source(), span, "not a clause")
                    .help("write the statement as the command leaves it"));
            }
        }
        if !parser.tokens.eat(",") {
            break;
        }
    }
    parser.tokens.expect(")")?;
    Ok(found)
}

/// `NAME "(" stmt { "," stmt } ")"`
fn list(parser: &mut Parser) -> Result<Vec<Tree>> {
    parser.tokens.take();
    parser.tokens.expect("(")?;
    let mut parts = vec![tree(parser)?];
    while parser.tokens.eat(",") {
        parts.push(tree(parser)?);
    }
    parser.tokens.expect(")")?;
    Ok(parts)
}
