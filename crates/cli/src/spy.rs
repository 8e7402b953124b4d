//! Where the entries of a matrix lie, as a picture: in the terminal, as SVG and
//! as PNG.
//!
//! The matrix is cut into bins, few enough to see, and the entries of each are
//! counted:
//!
//! ```text
//!  x . . . . .                1 0 0     braille: ⡀⢄   a dot where a bin has entries
//!  . x . . . .      bins      0 3 0     files:   the more entries, the darker, on a
//!  . . x x . .     ─────►     0 0 1              logarithmic scale
//!  . . . . . .
//! ```
//!
//! Bins are square as far as whole entries allow. Of a tensor of a higher order
//! the first two modes are shown, and an entry of any of the others counts.

use std::fmt::Write as _;
use std::io;

use sparsec::Tensor;

/// Dots of a braille letter, by row and column, as bits of its number.
const BRAILLE: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// The letter without a dot.
const BLANK: u32 = 0x2800;
/// The most letters down a picture in the terminal.
const MOST_LINES: usize = 24;
/// The most bins along a side of a picture as SVG.
const SVG_BINS: usize = 256;
/// The most bins along a side of a picture as PNG.
const PNG_BINS: usize = 1024;
/// Bins of a small matrix are this long together.
const PICTURE: usize = 512;
/// Shades of an SVG, each a path of its own.
const SHADES: u8 = 8;
/// The frame around a picture, as a shade from black to white.
const FRAME: u8 = 0xc0;

/// Counts of entries by bin, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spy {
    rows: usize,
    columns: usize,
    counts: Vec<u64>,
}

impl Spy {
    /// The entries of the first two modes in bins, at most so many down and
    /// across; `None` for a tensor that has no two modes, or no coordinates.
    ///
    /// Time linear in the entries.
    pub(crate) fn of(tensor: &Tensor, most_rows: usize, most_columns: usize) -> Option<Self> {
        let &[n_rows, n_columns, ..] = tensor.extents() else {
            return None;
        };
        if tensor.extents().contains(&0) {
            return None;
        }
        // One scale for both modes, so that diagonals are drawn as diagonals.
        let scale = (most_rows as f64 / n_rows as f64)
            .min(most_columns as f64 / n_columns as f64)
            .min(1.0);
        let bins = |extent: u64| ((extent as f64 * scale).round() as usize).max(1);
        let (rows, columns) = (bins(n_rows), bins(n_columns));
        let mut counts = vec![0; rows * columns];
        let mut count = |i: u64, j: u64| {
            let row = bin(i, n_rows, rows);
            let column = bin(j, n_columns, columns);
            counts[row * columns + column] += 1;
        };
        if tensor.has_padding() {
            let entries = tensor.nonfill();
            entries.iter().for_each(|(at, _)| count(at.at(0), at.at(1)));
        } else {
            tensor.for_each_stored(|at, _| count(at[0], at[1]));
        }
        Some(Self {
            rows,
            columns,
            counts,
        })
    }

    /// The picture for a terminal of this width, in braille and a frame.
    pub(crate) fn braille(tensor: &Tensor, width: usize) -> Option<String> {
        let across = 2 * width.saturating_sub(2).max(1);
        let spy = Self::of(tensor, 4 * MOST_LINES, across)?;
        let letters = spy.columns.div_ceil(2);
        let mut out = format!("┌{}┐\n", "─".repeat(letters));
        for top in (0..spy.rows).step_by(4) {
            out.push('│');
            for left in (0..spy.columns).step_by(2) {
                let mut letter = BLANK;
                for (down, dots) in BRAILLE.iter().enumerate() {
                    for (right, dot) in dots.iter().enumerate() {
                        if spy.get(top + down, left + right) > 0 {
                            letter |= dot;
                        }
                    }
                }
                out.extend(char::from_u32(letter));
            }
            out.push_str("│\n");
        }
        let _ = writeln!(out, "└{}┘", "─".repeat(letters));
        Some(out)
    }

    /// How many entries a bin has; none beyond the last bin.
    fn get(&self, row: usize, column: usize) -> u64 {
        match row < self.rows && column < self.columns {
            true => self.counts[row * self.columns + column],
            false => 0,
        }
    }

    /// How dark each bin is, from 0 for no entry to `most`.
    fn shades(&self, most: u8) -> Vec<u8> {
        let largest = self.counts.iter().copied().max().unwrap_or(0);
        let shade = |&count: &u64| shade(count, largest, most);
        self.counts.iter().map(shade).collect()
    }

    /// How long the side of a bin is drawn.
    fn side(&self) -> usize {
        (PICTURE / self.rows.max(self.columns)).max(1)
    }
}

/// The bin of a coordinate.
fn bin(coord: u64, extent: u64, bins: usize) -> usize {
    match u32::try_from(extent) {
        // The product fits, since there are not 2^32 bins.
        Ok(_) => (coord * bins as u64 / extent) as usize,
        Err(_) => (u128::from(coord) * bins as u128 / u128::from(extent)) as usize,
    }
}

/// `count` of `largest` as a shade from 1 to `most`, on a logarithmic scale; 0
/// for none.
fn shade(count: u64, largest: u64, most: u8) -> u8 {
    if count == 0 {
        return 0;
    }
    let part = (1.0 + count as f64).ln() / (1.0 + largest as f64).ln();
    // A lone entry among many is to be seen as well.
    let visible = 0.35 + 0.65 * part;
    ((visible * f64::from(most)).round() as u8).clamp(1, most)
}

/// The picture as SVG, with a title.
pub(crate) fn svg(tensor: &Tensor, title: &str) -> Option<Vec<u8>> {
    let spy = Spy::of(tensor, SVG_BINS, SVG_BINS)?;
    let (rows, columns, side) = (spy.rows, spy.columns, spy.side());
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {columns} {rows}" shape-rendering="crispEdges">"#,
        columns * side,
        rows * side,
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(title));
    let _ = writeln!(
        out,
        r##"<rect width="{columns}" height="{rows}" fill="#fff" stroke="#{FRAME:02x}{FRAME:02x}{FRAME:02x}" vector-effect="non-scaling-stroke"/>"##
    );
    let mut paths = vec![String::new(); usize::from(SHADES)];
    for (row, shades) in spy.shades(SHADES).chunks(columns).enumerate() {
        let mut column = 0;
        // Neighbours of one shade are one rectangle.
        for run in shades.chunk_by(|a, b| a == b) {
            if let Some(at) = usize::from(run[0]).checked_sub(1) {
                let length = run.len();
                let _ = write!(paths[at], "M{column} {row}h{length}v1h-{length}z");
            }
            column += run.len();
        }
    }
    for (n, path) in paths
        .iter()
        .enumerate()
        .filter(|(_, path)| !path.is_empty())
    {
        let grey = 255 - (255 * (n + 1) / usize::from(SHADES)) as u8;
        let _ = writeln!(
            out,
            r##"<path fill="#{grey:02x}{grey:02x}{grey:02x}" d="{path}"/>"##
        );
    }
    out.push_str("</svg>\n");
    Some(out.into_bytes())
}

/// Text inside an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The picture as PNG, in greys.
pub(crate) fn png(tensor: &Tensor) -> Option<io::Result<Vec<u8>>> {
    let spy = Spy::of(tensor, PNG_BINS, PNG_BINS)?;
    let side = spy.side();
    let (width, height) = (spy.columns * side + 2, spy.rows * side + 2);
    let mut pixels = vec![FRAME; width * height];
    let shades: Vec<u8> = spy.shades(u8::MAX);
    for row in 0..spy.rows * side {
        let line = &mut pixels[(row + 1) * width + 1..][..spy.columns * side];
        let bins = &shades[row / side * spy.columns..][..spy.columns];
        for (pixels, shade) in line.chunks_exact_mut(side).zip(bins) {
            pixels.fill(255 - shade);
        }
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels));
    Some(match written {
        Ok(()) => Ok(out),
        Err(error) => Err(io::Error::other(error)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec::Format;

    /// A matrix with ones at these places.
    fn matrix(extents: [u64; 2], coords: &[u64]) -> Tensor {
        let ones = vec![1.0; coords.len() / 2];
        Tensor::pack(&Format::csr(), &extents, coords, &ones).expect("a matrix")
    }

    #[test]
    fn bins_count_entries() {
        let a = matrix([6, 6], &[0, 0, 1, 1, 2, 2, 2, 3, 5, 5]);
        let spy = Spy::of(&a, 3, 3).expect("a matrix");
        assert_eq!(spy.counts, [2, 0, 0, 0, 2, 0, 0, 0, 1]);
        // Never more bins than coordinates, and one scale for both sides.
        let spy = Spy::of(&matrix([2, 6], &[1, 5]), 3, 3).expect("a matrix");
        assert_eq!((spy.rows, spy.columns), (1, 3));
    }

    #[test]
    fn coordinates_of_any_size_have_bins() {
        let last = (1 << 62) - 1;
        assert_eq!(bin(last, 1 << 62, 64), 63);
        assert_eq!(bin(0, 1 << 62, 64), 0);
        assert_eq!(
            bin(u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1024),
            1023
        );
    }

    #[test]
    fn dots_are_where_entries_are() {
        let a = matrix([4, 4], &[0, 0, 1, 1, 2, 2, 3, 3]);
        let expect = "┌──┐\n│⠑⢄│\n└──┘\n";
        assert_eq!(Spy::braille(&a, 80).as_deref(), Some(expect));
        let scalar = Tensor::pack(&Format::dense(1), &[2], &[0], &[1.0]).expect("a vector");
        assert_eq!(Spy::braille(&scalar, 80), None);
    }

    #[test]
    fn more_entries_are_darker_and_one_is_seen() {
        assert_eq!(shade(0, 1000, 255), 0);
        assert_eq!(shade(1000, 1000, 255), 255);
        assert!(shade(1, u64::MAX, 8) >= 3);
        assert!(shade(1, 100, 255) < shade(10, 100, 255));
    }

    #[test]
    fn neighbours_of_one_shade_are_one_rectangle() {
        let a = matrix([2, 4], &[0, 0, 0, 1, 1, 3]);
        let svg = String::from_utf8(svg(&a, "a < b").expect("a matrix")).expect("UTF-8");
        assert!(svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert!(
            svg.contains(r##"<path fill="#000000" d="M0 0h2v1h-2zM3 1h1v1h-1z"/>"##),
            "{svg}"
        );
    }

    #[test]
    fn pictures_read_back() {
        let a = matrix([2, 4], &[0, 0, 1, 3]);
        let bytes = png(&a).expect("a matrix").expect("a picture");
        let mut reader = png::Decoder::new(io::Cursor::new(bytes))
            .read_info()
            .expect("a header");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("pixels");
        assert_eq!((info.width, info.height), (514, 258));
        let at = |x: usize, y: usize| pixels[y * 514 + x];
        assert_eq!(
            (at(0, 0), at(10, 10), at(200, 10), at(500, 200)),
            (FRAME, 0, 255, 0)
        );
    }
}
