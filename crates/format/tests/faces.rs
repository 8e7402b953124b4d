//! The two faces of a format agree: what a walk over its levels visits is what
//! its relation holds.

mod common;

use std::collections::BTreeSet;

use proptest::prelude::*;
use sparsec_format::{Format, LevelKind};
use sparsec_relation::{Environment, Pair};

/// The index arrays of a tensor; a level without an array has an empty one.
#[derive(Clone, Debug, PartialEq)]
struct Arrays {
    pos: Vec<Vec<i64>>,
    crd: Vec<Vec<i64>>,
}

/// The level face: positions and coordinates in the order of a loop nest.
fn walk(format: &Format, extents: &[i64], arrays: &Arrays) -> Vec<Pair> {
    let mut found = Vec::new();
    let mut positions = Vec::new();
    let mut coordinates = vec![0; format.order()];
    let mut walk = Walk {
        format,
        extents,
        arrays,
        found: &mut found,
    };
    walk.level(0, &mut positions, &mut coordinates);
    found
}

struct Walk<'a> {
    format: &'a Format,
    extents: &'a [i64],
    arrays: &'a Arrays,
    found: &'a mut Vec<Pair>,
}

impl Walk<'_> {
    fn level(&mut self, number: usize, positions: &mut Vec<i64>, coordinates: &mut Vec<i64>) {
        let Some(level) = self.format.levels().get(number) else {
            self.found.push((positions.clone(), coordinates.clone()));
            return;
        };
        let parent = positions.last().copied().unwrap_or(0);
        let (pos, crd) = (&self.arrays.pos[number], &self.arrays.crd[number]);
        let extent = self.extents[level.mode()];
        let children: Vec<(i64, i64)> = match level.kind {
            LevelKind::Dense => (0..extent).map(|i| (parent * extent + i, i)).collect(),
            LevelKind::Compressed => {
                let segment = pos[parent as usize]..pos[parent as usize + 1];
                segment.map(|q| (q, crd[q as usize])).collect()
            }
            LevelKind::Singleton => vec![(parent, crd[parent as usize])],
            other => unreachable!("{other:?} is not laid out here"),
        };
        for (position, coordinate) in children {
            positions.push(position);
            coordinates[level.mode()] = coordinate;
            self.level(number + 1, positions, coordinates);
            positions.pop();
        }
    }
}

/// The relation face.
fn pairs(format: &Format, extents: &[i64], arrays: &Arrays) -> BTreeSet<Pair> {
    let mut known = Environment::new();
    for (mode, extent) in extents.iter().enumerate() {
        known = known.constant(format!("N{mode}"), *extent);
    }
    for level in 0..format.order() {
        known = known
            .table(format!("pos{level}"), arrays.pos[level].clone())
            .table(format!("crd{level}"), arrays.crd[level].clone());
    }
    let relation = format.relation();
    let pairs = relation.enumerate(&known, -1..1000);
    pairs.unwrap_or_else(|error| panic!("{error}"))
}

/// Both faces of these arrays hold these coordinates, in the walk's order.
#[track_caller]
fn check<const N: usize>(
    format: &Format,
    extents: [i64; N],
    levels: &[(&[i64], &[i64])],
    expect: &[[i64; N]],
) {
    let arrays = Arrays {
        pos: levels.iter().map(|(pos, _)| pos.to_vec()).collect(),
        crd: levels.iter().map(|(_, crd)| crd.to_vec()).collect(),
    };
    let walked = walk(format, &extents, &arrays);
    let coordinates: Vec<&[i64]> = walked.iter().map(|(_, c)| c.as_slice()).collect();
    assert_eq!(coordinates, expect);
    assert_eq!(
        pairs(format, &extents, &arrays),
        walked.into_iter().collect()
    );
}

//    0 a . b
//    1 . . .
//    2 c d .
const ENTRIES: [[i64; 2]; 4] = [[0, 0], [0, 2], [2, 0], [2, 1]];
const BY_COLUMN: [[i64; 2]; 4] = [[0, 0], [2, 0], [2, 1], [0, 2]];

#[test]
fn csr() {
    let columns = (&[0, 2, 2, 4][..], &[0, 2, 0, 1][..]);
    check(&Format::csr(), [3, 3], &[(&[], &[]), columns], &ENTRIES);
}

#[test]
fn csc() {
    let rows = (&[0, 2, 3, 4][..], &[0, 2, 2, 0][..]);
    check(&Format::csc(), [3, 3], &[(&[], &[]), rows], &BY_COLUMN);
}

#[test]
fn dcsr() {
    let (rows, columns) = (
        (&[0, 2][..], &[0, 2][..]),
        (&[0, 2, 4][..], &[0, 2, 0, 1][..]),
    );
    check(&Format::dcsr(), [3, 3], &[rows, columns], &ENTRIES);
}

#[test]
fn dcsc() {
    let (columns, rows) = (
        (&[0, 3][..], &[0, 1, 2][..]),
        (&[0, 2, 3, 4][..], &[0, 2, 2, 0][..]),
    );
    check(&Format::dcsc(), [3, 3], &[columns, rows], &BY_COLUMN);
}

#[test]
fn scoo() {
    let (rows, columns) = (
        (&[0, 4][..], &[0, 0, 2, 2][..]),
        (&[][..], &[0, 2, 0, 1][..]),
    );
    check(&Format::scoo(2), [3, 3], &[rows, columns], &ENTRIES);
}

#[test]
fn coo() {
    let (rows, columns) = (
        (&[0, 4][..], &[0, 2, 2, 0][..]),
        (&[][..], &[0, 0, 1, 2][..]),
    );
    check(&Format::coo(2), [3, 3], &[rows, columns], &BY_COLUMN);
}

#[test]
fn csf() {
    check(
        &Format::csf(3),
        [2, 3, 4],
        &[
            (&[0, 2], &[0, 1]),
            (&[0, 2, 3], &[0, 2, 1]),
            (&[0, 1, 3, 4], &[3, 0, 1, 2]),
        ],
        &[[0, 0, 3], [0, 2, 0], [0, 2, 1], [1, 1, 2]],
    );
}

#[test]
fn dense_and_scalar() {
    check(
        &Format::dense(2),
        [2, 2],
        &[(&[], &[]), (&[], &[])],
        &[[0, 0], [0, 1], [1, 0], [1, 1]],
    );
    check(&Format::dense(0), [], &[], &[[]]);
}

#[test]
fn no_entries_and_no_extent() {
    check(&Format::csr(), [0, 3], &[(&[], &[]), (&[0], &[])], &[]);
    check(&Format::coo(2), [3, 3], &[(&[0, 0], &[]), (&[], &[])], &[]);
}

/// Lays out entries level by level. Each group is the entries below one
/// position, in the order in which they were given.
fn lay_out(format: &Format, extents: &[i64], entries: &[Vec<i64>]) -> Arrays {
    let mut arrays = Arrays {
        pos: Vec::new(),
        crd: Vec::new(),
    };
    let mut groups = vec![entries.to_vec()];
    for (number, level) in format.levels().iter().enumerate() {
        let (mut pos, mut crd) = (Vec::new(), Vec::new());
        let mut children: Vec<Vec<Vec<i64>>> = Vec::new();
        for mut group in groups {
            match level.kind {
                LevelKind::Dense => {
                    for i in 0..extents[level.mode()] {
                        let here = group.iter().filter(|entry| entry[level.mode()] == i);
                        children.push(here.cloned().collect());
                    }
                }
                LevelKind::Compressed => {
                    pos.push(children.len() as i64);
                    sort(format, number, &mut group);
                    for entry in group {
                        let same = |child: &&mut Vec<Vec<i64>>| {
                            child[0][level.mode()] == entry[level.mode()]
                        };
                        let start = *pos.last().expect("pushed above") as usize;
                        match children[start..].iter_mut().find(same) {
                            Some(child) if level.unique => child.push(entry),
                            _ => {
                                crd.push(entry[level.mode()]);
                                children.push(vec![entry]);
                            }
                        }
                    }
                }
                LevelKind::Singleton => {
                    crd.push(group[0][level.mode()]);
                    children.push(group);
                }
                other => unreachable!("{other:?} is not laid out here"),
            }
        }
        if level.kind == LevelKind::Compressed {
            pos.push(children.len() as i64);
        }
        arrays.pos.push(pos);
        arrays.crd.push(crd);
        groups = children;
    }
    arrays
}

/// Sorts by the ordered levels of the chain that begins at `level`.
fn sort(format: &Format, level: usize, group: &mut [Vec<i64>]) {
    let chain = &format.levels()[level..=format.chain_end(level)];
    let ordered: Vec<usize> = chain
        .iter()
        .take_while(|level| level.ordered)
        .map(|level| level.mode())
        .collect();
    group.sort_by_key(|entry| ordered.iter().map(|&mode| entry[mode]).collect::<Vec<_>>());
}

/// A format with extents and entries; entries repeat only where they may.
fn stored() -> impl Strategy<Value = (Format, Vec<i64>, Vec<Vec<i64>>)> {
    common::formats(0..=4).prop_flat_map(|format| {
        let order = format.order();
        let extents = prop::collection::vec(1..4i64, order);
        extents.prop_flat_map(move |extents| {
            let entry: Vec<_> = extents.iter().map(|&extent| 0..extent).collect();
            let format = format.clone();
            let entries = prop::collection::vec(entry, 0..6);
            entries.prop_map(move |mut entries| {
                if format.is_unique() {
                    let mut seen = BTreeSet::new();
                    entries.retain(|entry| seen.insert(entry.clone()));
                }
                (format.clone(), extents.clone(), entries)
            })
        })
    })
}

proptest! {
    #[test]
    fn both_faces_agree((format, extents, entries) in stored()) {
        let arrays = lay_out(&format, &extents, &entries);
        let walked = walk(&format, &extents, &arrays);
        let distinct: BTreeSet<Pair> = walked.iter().cloned().collect();
        prop_assert_eq!(distinct.len(), walked.len());
        prop_assert_eq!(pairs(&format, &extents, &arrays), distinct);

        let mut visited: Vec<Vec<i64>> = walked.into_iter().map(|(_, c)| c).collect();
        visited.sort();
        let mut entries = entries;
        entries.sort();
        if format.order() > 0 && format.levels().iter().all(|level| !level.is_full()) {
            prop_assert_eq!(visited, entries);
        } else {
            prop_assert!(entries.iter().all(|entry| visited.contains(entry)));
        }
    }
}
