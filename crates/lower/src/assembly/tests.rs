//! One matrix, assembled in each way without a statement.
//!
//! ```text
//! 1 . . 4
//! . . . .
//! . 22 . .
//! ```

use std::collections::HashSet;
use std::rc::Rc;

use sparsec_base::{ElementType, Scalar};
use sparsec_format::Format;
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome};
use sparsec_loop::{BinaryOp, Builder, Expr, Function, Role, interpret, verify};

use super::{Chains, Target};
use crate::arrays::argument;
use crate::value::Update;

const EXTENTS: [i64; 2] = [3, 4];

/// Writes loops over the levels from `coordinates.len()` on.
fn levels(b: &mut Builder, chains: &Chains<'_>, coordinates: &[Expr], position: &Expr) {
    let level = coordinates.len();
    let at = |level: usize| coordinates[level].clone();
    if level == EXTENTS.len() {
        let is_on = at(0).add(at(1)).binary(BinaryOp::Mod, 3).equals(0);
        let is_entry = is_on.and(at(0).binary(BinaryOp::Ne, 1));
        let number = at(0).mul(10).add(at(1)).add(1);
        return b.if_then(is_entry, |b| {
            let (value, reduce) = (number, None);
            chains.store(b, position.clone(), Update { value, reduce }, at);
        });
    }
    let extent = Expr::int(EXTENTS[level]);
    let number = chains.number_at(level);
    if let Some(number) = number {
        chains.reserve(b, number, extent.clone());
    }
    let i = b.fixed("i", ElementType::I64);
    b.for_loop(i, 0, extent.clone(), |b| {
        let coordinates = [coordinates, &[i.into()]].concat();
        let mut chains = chains.clone();
        if let Some(number) = number {
            let position = chains.counter(number).into();
            let kept = chains.begin_entry(b, number);
            levels(b, &chains, &coordinates, &position);
            chains.end_entry(b, number, kept, |level| coordinates[level].clone());
            return;
        }
        let position = position.clone().mul(extent).add(i);
        let Some(below) = chains.below(level, level + 1) else {
            return levels(b, &chains, &coordinates, &position);
        };
        chains.begin_segment(b, below, position.clone());
        levels(b, &chains, &coordinates, &position);
        chains.close_segment(b, below, position);
    });
}

/// The kernel that assembles the matrix.
fn kernel(format: &Format, inserts: bool) -> Function {
    let mut b = Builder::new("assemble");
    let arrays = argument(&mut b, "C", ElementType::I64, format, Role::Out);
    let target = Rc::new(Target {
        name: "C",
        format,
        arrays: &arrays,
        extents: arrays.extents.iter().map(|it| (*it).into()).collect(),
        known: &[None, None],
        fill: Scalar::I64(0),
    });
    target.check_coordinates(&mut b);
    let mut chains = match inserts {
        true => Chains::insert(target),
        false => Chains::append(&mut b, target, |_| false),
    };
    let write = |b: &mut Builder, chains: &Chains<'_>| levels(b, chains, &[], &Expr::int(0));
    chains.count(&mut b, &HashSet::new(), |b, chains| write(b, chains));
    write(&mut b, &chains);
    chains.end(&mut b);
    b.finish()
}

/// The arrays that a kernel assembles, as text.
fn assembled(format: &Format, inserts: bool) -> String {
    let function = kernel(format, inserts);
    verify(&function).expect("the kernel is valid");
    let buffers = function.arguments[0].buffers.iter();
    let empty = buffers.map(|it| Entries::empty(function.buffers[*it].storage));
    let mut result = [ArgumentData {
        extents: EXTENTS.to_vec(),
        buffers: empty.collect(),
    }];
    let outcome = interpret(&function, &mut result, &Options::default());
    assert_eq!(outcome.expect("the kernel keeps the rules"), Outcome::Done);
    let [result] = result;
    let named = function.arguments[0].buffers.iter().zip(&result.buffers);
    let lines = named.map(|(buffer, entries)| {
        let entries = (0..entries.len()).map(|at| entries.get(at).to_string());
        let entries: Vec<String> = entries.collect();
        format!("{}: {}", function.buffers[*buffer].name, entries.join(" "))
    });
    lines.collect::<Vec<_>>().join("; ")
}

fn check(format: &str, expect: &str) {
    let format = Format::parse(format).expect("the format is one");
    assert_eq!(assembled(&format, false), expect, "appended");
    assert_eq!(assembled(&format, true), expect, "inserted");
}

#[test]
fn segments_of_full_parents() {
    check("csr", "C1.pos: 0 2 2 3; C1.crd: 0 3 1; C.vals: 1 4 22");
    check(
        "(i, j) -> (i : dense, j : loose_compressed)",
        "C1.pos: 0 2 2 3; C1.end: 2 2 3; C1.crd: 0 3 1; C.vals: 1 4 22",
    );
}

#[test]
fn parents_are_kept_with_their_children() {
    check(
        "dcsr",
        "C0.pos: 0 2; C0.crd: 0 2; C1.pos: 0 2 3; C1.crd: 0 3 1; C.vals: 1 4 22",
    );
    check(
        "(i, j) -> (i : compressed, j : dense)",
        "C0.pos: 0 2; C0.crd: 0 2; C.vals: 1 0 0 4 0 22 0 0",
    );
}

#[test]
fn levels_share_positions() {
    check(
        "(i, j) -> (i : compressed(nonunique), j : singleton)",
        "C0.pos: 0 3; C0.crd: 0 0 2; C1.crd: 0 3 1; C.vals: 1 4 22",
    );
}

#[test]
fn tables_hold_entries_where_hashes_lead() {
    let format = Format::parse("(i, j) -> (i : dense, j : hashed)").expect("the format is one");
    // Row 0 has two entries in four slots, row 2 one in two; 4 marks those of none.
    let text = assembled(&format, false);
    let [pos, crd, _] = text.split("; ").collect::<Vec<_>>()[..] else {
        panic!("three arrays: {text}");
    };
    assert_eq!(pos, "C1.pos: 0 4 4 6");
    let mut slots: Vec<&str> = crd.split(' ').skip(1).collect();
    slots[..4].sort_unstable();
    slots[4..].sort_unstable();
    assert_eq!(slots, ["0", "3", "4", "4", "1", "4"]);
}
