//! Concrete notation: a frame for each loop, and an arrow for each temporary from the
//! frame that computes it to the frame that reads it.
//!
//! ```text
//! ┌ forall i ─────────────────────────────┐
//! │ ┌ forall k ┌ forall j ──────────────┐ │     producers stand above
//! │ │          │ w(j) += B(i,k)*C(k,j)  │ │     their consumers: they run first
//! │ └──────────└────────────────────────┘ │
//! │        │ w                            │
//! │ ┌ forall j ─▼────────────┐            │
//! │ │ A(i,j) = w(j)          │            │
//! ```

use sparsec_index::Concrete;
use sparsec_index::concrete::Stmt;

use super::{Anchor, COLOURS, LINE, MARGIN, Sheet, text_width};

/// Room inside a frame.
const INSET: f64 = 12.0;
/// The height of an arrow from a producer to its consumer.
const ARROW: f64 = 40.0;

/// A part of a statement with its size.
enum Block {
    /// An assignment.
    Line(String),
    /// A loop, by its title, around others.
    Frame(String, Box<Block>),
    /// Parts that run one after another, each with the temporaries that it gives to the
    /// next.
    Stack(Vec<(Block, String)>),
}

/// Draws a statement below the elements that the sheet has.
pub(crate) fn concrete(sheet: &mut Sheet, title: &str, concrete: &Concrete) {
    let top = sheet.below();
    sheet.text(MARGIN, top + LINE / 2.0, Anchor::Start, "#000000", title);
    let block = block(concrete, &concrete.stmt);
    let below = top + LINE + MARGIN / 2.0;
    draw(sheet, &block, MARGIN, below, block.size()[0], 0);
    let clauses: Vec<String> = concrete
        .clauses()
        .map(|it| concrete.clause_text(it))
        .collect();
    if !clauses.is_empty() {
        let text = format!("such that {}", clauses.join(", "));
        sheet.text(MARGIN, sheet.below(), Anchor::Start, "#555555", &text);
    }
}

fn block(concrete: &Concrete, stmt: &Stmt) -> Block {
    match stmt {
        Stmt::Assign { .. } => Block::Line(concrete.stmt_text(stmt)),
        Stmt::Forall { var, body } => {
            let title = format!("forall {}", concrete.vars[*var].name);
            Block::Frame(title, Box::new(block(concrete, body)))
        }
        Stmt::Where { consumer, producer } => {
            let names = producer.temporaries().into_iter().map(|tensor| {
                let name = &concrete.tensors[tensor].name;
                match concrete.kinds.get(&tensor) {
                    Some(kind) => format!("{name} : {kind}"),
                    None => name.clone(),
                }
            });
            let names: Vec<String> = names.collect();
            Block::Stack(vec![
                (block(concrete, producer), names.join(", ")),
                (block(concrete, consumer), String::new()),
            ])
        }
        Stmt::Sequence(stmts) => {
            let parts = stmts
                .iter()
                .map(|stmt| (block(concrete, stmt), String::new()));
            Block::Stack(parts.collect())
        }
    }
}

impl Block {
    /// Width and height.
    fn size(&self) -> [f64; 2] {
        match self {
            Self::Line(text) => [text_width(text), LINE],
            Self::Frame(title, body) => {
                let [width, height] = body.size();
                let width = width.max(text_width(title)) + 2.0 * INSET;
                [width, height + LINE + 1.5 * INSET]
            }
            Self::Stack(parts) => {
                let sizes = parts.iter().map(|(part, _)| part.size());
                let between = parts.iter().map(|(_, gives)| gap(gives));
                let heights = sizes.clone().map(|size| size[1]).sum::<f64>();
                let gaps = between.sum::<f64>() - parts.last().map_or(0.0, |last| gap(&last.1));
                [
                    sizes.map(|size| size[0]).fold(0.0, f64::max),
                    heights + gaps,
                ]
            }
        }
    }
}

/// The room below a part that gives these temporaries.
fn gap(gives: &str) -> f64 {
    if gives.is_empty() { INSET } else { ARROW }
}

/// Draws a block in `width`, inside of `depth` frames.
fn draw(sheet: &mut Sheet, block: &Block, x: f64, y: f64, width: f64, depth: usize) {
    match block {
        Block::Line(text) => sheet.text(x, y + LINE / 2.0, Anchor::Start, "#000000", text),
        Block::Frame(title, body) => {
            let colour = COLOURS[depth % COLOURS.len()];
            let height = block.size()[1];
            sheet.rectangle([x, y, width, height], colour, "#ffffff");
            sheet.text(x + INSET, y + LINE / 2.0, Anchor::Start, colour, title);
            let inner = width - 2.0 * INSET;
            draw(
                sheet,
                body,
                x + INSET,
                y + LINE + INSET / 2.0,
                inner,
                depth + 1,
            );
        }
        Block::Stack(parts) => {
            let mut top = y;
            for (number, (part, gives)) in parts.iter().enumerate() {
                draw(sheet, part, x, top, width, depth);
                top += part.size()[1];
                if number + 1 < parts.len() && !gives.is_empty() {
                    let at = x + 3.0 * INSET;
                    let (from, to) = ([at, top + 3.0], [at, top + ARROW - 3.0]);
                    sheet.arrow(from, from, to, "#555555");
                    let middle = top + ARROW / 2.0;
                    sheet.text(at + INSET, middle, Anchor::Start, "#555555", gives);
                }
                top += gap(gives);
            }
        }
    }
}
