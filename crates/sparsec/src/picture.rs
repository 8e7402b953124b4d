//! Stages drawn as SVG, one picture a program, in letters that a slide can show.
//!
//! | stage          | drawn as                                                        |
//! |----------------|-----------------------------------------------------------------|
//! | `graph=svg`    | index variables in a row, an arc for each order that a tensor asks for |
//! | `lattice=svg`  | for each loop the points of its merge lattice, larger ones above |
//! | `concrete=svg` | loops as frames in one another, temporaries as arrows between frames |
//!
//! Everything is laid out by a [`Sheet`] from widths of letters alone: the font is
//! monospaced, so a picture needs no measuring and looks the same everywhere.

mod concrete;
mod graph;
mod lattice;

use std::fmt::Write;

pub(crate) use concrete::concrete;
pub(crate) use graph::graph;
pub(crate) use lattice::{Loop, lattices};

/// The size of letters, in pixels.
const FONT: f64 = 18.0;
/// The width of one letter of a monospaced font of that size.
const LETTER: f64 = 0.6 * FONT;
/// The height of a line of text.
const LINE: f64 = 1.5 * FONT;
/// Room around pictures, and inside frames.
const MARGIN: f64 = 16.0;

/// Colours that people with any vision tell apart (Okabe and Ito, 2008), without the
/// yellow, which white hides.
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000",
];

/// A picture being drawn. It grows with its elements.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    body: String,
    width: f64,
    height: f64,
}

/// Where text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Start,
    Middle,
}

/// The width of a line of text.
fn text_width(text: &str) -> f64 {
    LETTER * text.chars().count() as f64
}

/// Text as XML holds it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

impl Sheet {
    /// Where the next part of the picture begins, below all that is drawn.
    fn below(&self) -> f64 {
        self.height + MARGIN
    }

    fn covers(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    /// A line of text whose middle is at height `y`.
    fn text(&mut self, x: f64, y: f64, anchor: Anchor, colour: &str, text: &str) {
        let width = text_width(text);
        let (word, right) = match anchor {
            Anchor::Start => ("start", x + width),
            Anchor::Middle => ("middle", x + width / 2.0),
        };
        self.covers(right, y + LINE / 2.0);
        let baseline = y + FONT / 3.0;
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{baseline:.1}\" text-anchor=\"{word}\" fill=\"{colour}\">{}</text>",
            escaped(text)
        );
    }

    fn rectangle(&mut self, [x, y, width, height]: [f64; 4], stroke: &str, fill: &str) {
        self.covers(x + width, y + height);
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\" \
             fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.5\"/>"
        );
    }

    fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: &str) {
        self.covers(from[0].max(to[0]), from[1].max(to[1]));
        let _ = writeln!(
            self.body,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            from[0], from[1], to[0], to[1]
        );
    }

    /// An arrow along a curve that leaves and arrives as `bend` pulls it.
    fn arrow(&mut self, from: [f64; 2], bend: [f64; 2], to: [f64; 2], colour: &str) {
        self.covers(from[0].max(to[0]), from[1].max(to[1]));
        let _ = writeln!(
            self.body,
            "<path d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"2\"/>",
            from[0], from[1], bend[0], bend[1], to[0], to[1]
        );
        // The head points along the end of the curve.
        let (dx, dy) = (to[0] - bend[0], to[1] - bend[1]);
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        let base = [to[0] - 10.0 * ux, to[1] - 10.0 * uy];
        let _ = writeln!(
            self.body,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z\" fill=\"{colour}\"/>",
            to[0],
            to[1],
            base[0] - 5.0 * uy,
            base[1] + 5.0 * ux,
            base[0] + 5.0 * uy,
            base[1] - 5.0 * ux,
        );
    }

    /// The picture as a file of its own; `title` is what readers of screens say.
    pub(crate) fn finish(self, title: &str) -> String {
        let (width, height) = ((self.width + MARGIN).ceil(), (self.height + MARGIN).ceil());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" \
             font-size=\"{FONT}\">\n<title>{}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escaped(title),
            self.body
        )
    }
}
