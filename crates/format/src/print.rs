//! The text of a format, and where its parts stand in it.
//!
//! A format that a program builds has no text of its own; where it is at
//! fault, diagnostics point into the text printed here.

use std::fmt;

use sparsec_base::Span;

use crate::check::{LevelPlace, Places, Property};
use crate::format::{Format, Level, Widths};

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(&self.modes, &self.levels, self.widths).0)
    }
}

/// The text of a format, checked or not, and the places of its parts.
pub(crate) fn print(modes: &[String], levels: &[Level], widths: Widths) -> (String, Places) {
    let mut printer = Printer::default();
    printer.modes(modes);
    printer.text.push_str(" -> ");
    printer.levels(modes, levels);
    printer.text.push_str(&print_widths(widths));
    (printer.text, printer.places)
}

/// The clauses that declare widths, each after a comma.
pub(crate) fn print_widths(widths: Widths) -> String {
    let mut text = String::new();
    for (name, width) in [("pos", widths.pos), ("crd", widths.crd)] {
        if let Some(width) = width {
            text.push_str(&format!(", {name} = {}", width.bits()));
        }
    }
    text
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
            let mode = self.push(&level.coordinate.text(modes));
            self.text.push_str(" : ");
            let mut kind = self.push(level.kind.spec().name);
            let properties = self.properties(level);
            kind = kind.to(Span::new(kind.start as usize, self.text.len()));
            self.places.levels.push(LevelPlace {
                mode,
                kind,
                properties,
            });
        }
        self.text.push(')');
    }

    fn properties(&mut self, level: &Level) -> Vec<(Property, Span)> {
        let mut places = Vec::new();
        for property in Property::ALL {
            if property.of(level) {
                let before = if places.is_empty() { "(" } else { ", " };
                self.text.push_str(before);
                let place = self.push(property.name());
                places.push((property, place));
            }
        }
        if !places.is_empty() {
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
