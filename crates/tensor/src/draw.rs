//! A small tensor as a drawing: its entries in a grid, and its arrays with each
//! element where its entries are.
//!
//! ```
//! # use sparsec_format::Format;
//! # use sparsec_tensor::Tensor;
//! let a = Tensor::pack(&Format::csr(), &[3, 4], &[0, 0, 0, 3, 2, 1], &[1.0, 2.0, 3.0])?;
//! assert_eq!(a.drawing().lines().map(|line| line.trim_end()).collect::<Vec<_>>(), [
//!     "    0  1  2  3",
//!     " 0  1  .  .  2",
//!     " 1  .  .  .  .",
//!     " 2  .  3  .  .",
//!     "",
//!     "i : dense",
//!     "    coordinates  0     1  2",
//!     "j : compressed",
//!     "    1.pos        0     2  2  3",
//!     "    1.crd        0  3     1",
//!     "vals             1  2     3",
//! ]);
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! What belongs to a position stands above the first of its entries; bounds of
//! segments stand above the segments, and their end behind all. Arrays that
//! have no place for each position (bounds of runs, slots of tables) are lists.

use std::fmt::Write as _;

use sparsec_format::level::Part as ArrayPart;

use crate::check::name_of;
use crate::irregular::{Part, parts};
use crate::tensor::Tensor;
use crate::walk::Walk;

/// Places to the left of the columns.
const MARGIN: &str = "    ";

impl Tensor {
    /// The tensor as a drawing of text, for small ones: as wide as it has entries.
    ///
    /// Time and space are proportional to the places stored and, for matrices, to
    /// the product of the extents.
    pub fn drawing(&self) -> String {
        let mut out = String::new();
        self.draw_grid(&mut out);
        let Ok(parts) = parts(self.format(), self.extents()) else {
            unreachable!("a tensor's coordinates can be counted");
        };
        let several = parts.len() > 1;
        let mut n_values = 0;
        for (number, part) in parts.iter().enumerate() {
            let mut arrays = String::new();
            let n_own = self.draw_part(part, n_values, &mut arrays);
            n_values += n_own;
            if several {
                let (nth, all, name) = (number + 1, parts.len(), part.format.short_name());
                let empty = match n_own {
                    0 => "; no entries, since parts before take them all",
                    _ => "",
                };
                let _ = writeln!(out, "part {nth} of {all}: {name}{empty}");
            }
            out.push_str(&arrays);
            if several && number + 1 < parts.len() {
                out.push('\n');
            }
        }
        out
    }

    /// The entries of a matrix at their coordinates.
    fn draw_grid(&self, out: &mut String) {
        let &[n_rows, n_columns] = self.extents() else {
            return;
        };
        let mut cells = vec![vec![".".to_owned(); n_columns as usize]; n_rows as usize];
        self.for_each_stored(|coords, value| {
            cells[coords[0] as usize][coords[1] as usize] = short(&value.to_string());
        });
        let head: Vec<String> = (0..n_columns).map(|column| column.to_string()).collect();
        let width = cells.iter().flatten().chain(&head).map(String::len).max();
        let width = width.unwrap_or(1) + 2;
        let _ = writeln!(out, "  {}", row(&head, width));
        for (number, line) in cells.iter().enumerate() {
            let _ = writeln!(out, "{number:2}{}", row(line, width));
        }
        out.push('\n');
    }

    /// Draws the arrays of a part; returns how many values it has.
    fn draw_part(&self, part: &Part, first_value: usize, out: &mut String) -> usize {
        let levels = part.format.levels();
        if levels.is_empty() {
            let _ = writeln!(
                out,
                "vals  {}",
                short(&self.vals().get(first_value).to_string())
            );
            return 1;
        }
        let extents = part.extents(|level| self.level(level));
        let walk = Walk::of_part(self, &part.format, part.first_level, &extents);
        let mut layout = Layout {
            walk: &walk,
            levels: vec![Vec::new(); levels.len()],
            n_columns: 0,
        };
        layout.place(0, 0);
        let n_values = self.n_positions(part.first_level + levels.len() - 1);

        let mut lines: Vec<Line> = Vec::new();
        for (number, level) in levels.iter().enumerate() {
            let text = level.coordinate.text(self.format().modes());
            lines.push(Line::head(format!("{text} : {}", level.kind.text())));
            let places = &layout.levels[number];
            let least = part.map.least(number);
            let arrays = level.kind.spec().arrays;
            if !arrays.contains(&ArrayPart::Crd) || least != 0 {
                let mut cells = layout.empty();
                for place in places {
                    cells[place.column] = (place.coordinate as i64 + least).to_string();
                }
                lines.push(Line::columns("coordinates", cells));
            }
            let parents: Vec<usize> = match number.checked_sub(1) {
                Some(above) => layout.columns_of(above),
                None => vec![0],
            };
            for array in arrays {
                let role = array.role(part.first_level + number);
                let values = self.array(role);
                let name = name_of(role);
                let columns: Option<Vec<usize>> = match array {
                    ArrayPart::Pos => Some([&parents[..], &[layout.n_columns]].concat()),
                    ArrayPart::End | ArrayPart::First => Some(parents.clone()),
                    ArrayPart::Crd | ArrayPart::Bits => Some(layout.columns_of(number)),
                    ArrayPart::Bounds | ArrayPart::Size => None,
                };
                let texts = (0..values.len()).map(|at| values.get(at).to_string());
                let fits = |columns: &Vec<usize>| columns.len() == values.len();
                lines.push(match columns.filter(fits) {
                    Some(columns) => {
                        let mut cells = layout.empty();
                        for (column, text) in columns.into_iter().zip(texts) {
                            // Above a segment of nothing stands what begins last.
                            cells[column] = text;
                        }
                        Line::columns(&name, cells)
                    }
                    None => Line::list(&name, texts.collect::<Vec<_>>().join(" ")),
                });
            }
        }
        let mut cells = layout.empty();
        for place in layout.levels.last().expect("it has levels") {
            let value = self.vals().get(first_value + place.position);
            cells[place.column] = short(&value.to_string());
        }
        lines.push(Line::values(cells));
        write_lines(&lines, out);
        n_values
    }
}

/// A value without the zeros of its fraction.
fn short(value: &str) -> String {
    value.strip_suffix(".0").unwrap_or(value).to_owned()
}

fn row(cells: &[String], width: usize) -> String {
    cells.iter().map(|cell| format!("{cell:>width$}")).collect()
}

/// Where a position of a level stands.
#[derive(Clone)]
struct Place {
    position: usize,
    coordinate: u64,
    column: usize,
}

/// The columns of a part: one for each place in the last level, and one for each
/// position above it that has nothing below.
struct Layout<'a> {
    walk: &'a Walk<'a>,
    levels: Vec<Vec<Place>>,
    n_columns: usize,
}

impl Layout<'_> {
    fn place(&mut self, number: usize, parent: usize) {
        let mut children = Vec::new();
        self.walk.levels()[number].for_each_child(parent, &mut |coordinate, position| {
            children.push((coordinate, position));
        });
        if children.is_empty() {
            self.n_columns += 1;
        }
        for (coordinate, position) in children {
            let column = self.n_columns;
            self.levels[number].push(Place {
                position,
                coordinate,
                column,
            });
            match number + 1 == self.levels.len() {
                true => self.n_columns += 1,
                false => self.place(number + 1, position),
            }
        }
    }

    /// The columns of the positions of a level, by their order; not as many as there
    /// are where some hold nothing.
    fn columns_of(&self, number: usize) -> Vec<usize> {
        let mut places: Vec<(usize, usize)> = self.levels[number]
            .iter()
            .map(|place| (place.position, place.column))
            .collect();
        places.sort_unstable();
        places.dedup_by_key(|place| place.0);
        places.into_iter().map(|(_, column)| column).collect()
    }

    /// A cell for each column, and one behind them.
    fn empty(&self) -> Vec<String> {
        vec![String::new(); self.n_columns + 1]
    }
}

/// A line of a drawing.
struct Line {
    label: String,
    content: Content,
}

enum Content {
    Nothing,
    Columns(Vec<String>),
    List(String),
}

impl Line {
    fn head(label: String) -> Self {
        Self {
            label,
            content: Content::Nothing,
        }
    }

    fn columns(label: &str, cells: Vec<String>) -> Self {
        Self {
            label: format!("{MARGIN}{label}"),
            content: Content::Columns(cells),
        }
    }

    fn list(label: &str, text: String) -> Self {
        Self {
            label: format!("{MARGIN}{label}"),
            content: Content::List(text),
        }
    }

    fn values(cells: Vec<String>) -> Self {
        Self {
            label: "vals".to_owned(),
            content: Content::Columns(cells),
        }
    }
}

fn write_lines(lines: &[Line], out: &mut String) {
    let has_content = |line: &&Line| !matches!(line.content, Content::Nothing);
    let labels = lines.iter().filter(has_content);
    let margin = labels.map(|line| line.label.chars().count()).max();
    let margin = margin.unwrap_or(0) + 2;
    let cells = lines.iter().filter_map(|line| match &line.content {
        Content::Columns(cells) => Some(cells),
        _ => None,
    });
    let width = cells.flatten().map(String::len).max().unwrap_or(1) + 2;
    for line in lines {
        let text = match &line.content {
            Content::Nothing => line.label.clone(),
            Content::List(text) => format!("{:margin$}{text}", line.label),
            Content::Columns(cells) => {
                let cells = cells.iter().map(|cell| format!("{cell:width$}"));
                format!("{:margin$}{}", line.label, cells.collect::<String>())
            }
        };
        let _ = writeln!(out, "{}", text.trim_end());
    }
}
