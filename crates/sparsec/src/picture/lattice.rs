//! Merge lattices: for each loop its points, larger ones above smaller ones.
//!
//! ```text
//!    {b, c}        while both hold entries
//!    /    \
//!  {b}    {c}      one tail each
//! ```
//!
//! A line leads from a point to each of the largest points inside of it: these parts of the
//! loop may follow.

use sparsec_graph::{Lattice, Operand, Point};

use super::{Anchor, LINE, MARGIN, Sheet, text_width};

/// Between points of one size.
const GAP: f64 = 28.0;
/// From points of one size to the next smaller ones.
const DROP: f64 = 74.0;

/// One loop of a drawing.
pub(crate) struct Loop<'a> {
    /// How many loops are around it.
    pub(crate) depth: usize,
    /// Its variable, and the coordinates that it visits.
    pub(crate) title: String,
    pub(crate) lattice: Lattice,
    /// The label of an operand.
    pub(crate) name: Box<dyn Fn(Operand) -> String + 'a>,
}

/// Draws loops one below another.
pub(crate) fn lattices(sheet: &mut Sheet, title: &str, loops: &[Loop<'_>]) {
    let top = sheet.below();
    sheet.text(MARGIN, top + LINE / 2.0, Anchor::Start, "#000000", title);
    for each in loops {
        let left = MARGIN + 2.0 * GAP * each.depth as f64;
        let title = sheet.below() + LINE / 2.0;
        sheet.text(left, title, Anchor::Start, "#555555", &each.title);
        draw(sheet, each, left + GAP, title + LINE / 2.0 + 2.0);
    }
}

fn draw(sheet: &mut Sheet, each: &Loop<'_>, left: f64, top: f64) {
    let points = &each.lattice.points;
    let label = |point: &Point| {
        let names: Vec<String> = point
            .0
            .iter()
            .map(|operand| (each.name)(*operand))
            .collect();
        match (names.is_empty(), each.lattice.everything) {
            (true, true) => "every coordinate".to_owned(),
            _ => format!("{{{}}}", names.join(", ")),
        }
    };
    let mut sizes: Vec<usize> = points.iter().map(|point| point.0.len()).collect();
    sizes.dedup();
    let row = |size: usize| points.iter().filter(move |point| point.0.len() == size);
    let width = |size: usize| {
        let boxes = row(size).map(|point| text_width(&label(point)) + MARGIN + GAP);
        boxes.sum::<f64>() - GAP
    };
    let widest = sizes.iter().map(|size| width(*size)).fold(0.0, f64::max);
    let mut places = Vec::new();
    for (number, size) in sizes.iter().enumerate() {
        let mut x = left + (widest - width(*size)) / 2.0;
        for point in row(*size) {
            let width = text_width(&label(point)) + MARGIN;
            places.push((point, [x, top + DROP * number as f64, width, LINE + 4.0]));
            x += width + GAP;
        }
    }
    for (point, [x, y, width, height]) in &places {
        let inside = places.iter().filter(|(other, _)| is_inside(other, point));
        let inside: Vec<_> = inside.collect();
        for (next, corner) in &inside {
            let is_covered = inside.iter().any(|(other, _)| is_inside(next, other));
            if !is_covered {
                let from = [x + width / 2.0, y + height];
                let to = [corner[0] + corner[2] / 2.0, corner[1]];
                sheet.line(from, to, "#888888");
            }
        }
    }
    for (point, corner) in &places {
        sheet.rectangle(*corner, "#0072b2", "#eef5fa");
        let (x, y) = (corner[0] + corner[2] / 2.0, corner[1] + corner[3] / 2.0);
        sheet.text(x, y, Anchor::Middle, "#000000", &label(point));
    }
    if points.is_empty() {
        sheet.text(left, top, Anchor::Start, "#000000", "visits nothing");
    }
}

/// Whether `part` lacks operands of `whole` and has no others.
fn is_inside(part: &Point, whole: &Point) -> bool {
    part != whole && part.0.is_subset(&whole.0)
}
