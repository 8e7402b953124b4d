//! The text of a format, and where its parts stand in it.
//!
//! A format that a program builds has no text of its own; where it is at
//! fault, diagnostics point into the text printed here.

use std::fmt;

use sparsec_base::Span;

use crate::check::{LevelPlace, Places, Property};
use crate::format::{Format, Level, Widths};
use crate::region::Side;

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self).0)?;
        for part in &self.rest {
            write!(f, " | {}", print(part).0)?;
        }
        Ok(())
    }
}

/// The text of the first part of a format, checked or not, and the places of
/// what it consists of.
pub(crate) fn print(format: &Format) -> (String, Places) {
    let mut printer = Printer::default();
    printer.modes(&format.modes);
    printer.text.push_str(" -> ");
    printer.levels(&format.modes, &format.levels);
    for clause in clauses(format) {
        printer.text.push_str(", ");
        let place = printer.push(&clause);
        let clauses = &mut printer.places.clauses;
        *clauses = clauses.map_or(Some(place), |all| Some(all.to(place)));
    }
    printer.text.push_str(&print_widths(format.widths));
    (printer.text, printer.places)
}

/// The clauses of a format, but for those that declare widths.
pub(crate) fn clauses(format: &Format) -> Vec<String> {
    let name = |mode: usize| match format.modes.get(mode) {
        Some(name) => name.clone(),
        None => mode.to_string(),
    };
    let pair = |word: &str, [a, b]: [usize; 2]| format!("{word}({}, {})", name(a), name(b));
    let mut clauses = Vec::new();
    if let Some(mirror) = format.mirror {
        clauses.push(pair(mirror.of.name(), mirror.modes));
    }
    // What is mirrored is the lower triangle unless another one is named.
    let is_said = |side| format.mirror.is_none() || side != Side::Lower;
    if let Some(region) = format.region.filter(|region| is_said(region.side)) {
        clauses.push(pair(region.side.name(), region.modes));
    }
    if let Some(key) = &format.order {
        clauses.push(format!("order {}", key.text(&format.modes)));
    }
    if let Some(fill) = format.fill {
        clauses.push(format!("fill {fill}"));
    }
    clauses
}

/// The clauses that declare widths, each after a comma.
pub(crate) fn print_widths(widths: Widths) -> String {
    let widths = width_list(widths).into_iter();
    widths.map(|text| format!(", {text}")).collect()
}

fn width_list(widths: Widths) -> Vec<String> {
    let both = [("pos", widths.pos), ("crd", widths.crd)].into_iter();
    both.filter_map(|(name, width)| Some(format!("{name} = {}", width?.bits())))
        .collect()
}

#[derive(Default)]
struct Printer {
    text: String,
    places: Places,
}

impl Printer {
    fn modes(&mut self, modes: &[String]) {
        self.text.push('(');
        for (number, name) in modes.iter().enumerate() {
            self.separate(number);
            let place = self.push(name);
            self.places.modes.push(place);
        }
        self.text.push(')');
        self.places.head = Span::new(0, self.text.len());
    }

    fn levels(&mut self, modes: &[String], levels: &[Level]) {
        self.text.push('(');
        for (number, level) in levels.iter().enumerate() {
            self.separate(number);
            let coordinate = self.push(&level.coordinate.text(modes));
            self.text.push_str(" : ");
            let mut kind = self.push(&level.kind.text());
            let properties = self.properties(level);
            kind = kind.to(Span::new(kind.start as usize, self.text.len()));
            self.places.levels.push(LevelPlace {
                coordinate,
                kind,
                properties,
            });
        }
        self.text.push(')');
    }

    fn properties(&mut self, level: &Level) -> Vec<(Property, Span)> {
        let mut places = Vec::new();
        let mut before = "(";
        for property in Property::ALL {
            if property.of(level) {
                self.text.push_str(before);
                let place = self.push(property.name());
                places.push((property, place));
                before = ", ";
            }
        }
        for width in width_list(level.widths) {
            self.text.push_str(before);
            self.text.push_str(&width);
            before = ", ";
        }
        if before != "(" {
            self.text.push(')');
        }
        places
    }

    fn separate(&mut self, number: usize) {
        if number > 0 {
            self.text.push_str(", ");
        }
    }

    fn push(&mut self, text: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(text);
        Span::new(start, self.text.len())
    }
}
