//! In which type two types meet: the narrowest that holds both, as in NumPy 2.
//!
//! | types                | meet in                                               |
//! |----------------------|-------------------------------------------------------|
//! | `bool` and another   | the other                                             |
//! | two of one kind      | the wider                                             |
//! | `iN` and `uM`        | the signed type that holds both; `f64` beside `u64`   |
//! | integer and float    | the wider of the float and the one the integer needs: a float of 16 bits for an integer of 8, `f32` for 16, `f64` for more |
//! | `f16` and `bf16`     | `f32`                                                 |
//! | complex and another  | the complex type whose parts hold both                |
//!
//! NumPy itself leaves `bf16` to a package, which does not say what it makes
//! beside `f16` and integers of more than 8 bits. Here it follows the rule of
//! `f16`, which bounds what is lost in the same way.
//!
//! Every pair stands in `promotion.txt`, which the test reads.

use sparsec_base::{ElementType, types::Kind};

/// The type in which values of two types meet.
pub fn promote(a: ElementType, b: ElementType) -> ElementType {
    let (a, b) = if a.kind() <= b.kind() { (a, b) } else { (b, a) };
    let wider = if a.size() < b.size() { b } else { a };
    match (a.kind(), b.kind()) {
        (Kind::Bool, _) => b,
        (Kind::Float, Kind::Float) if a != b && a.size() == b.size() => ElementType::F32,
        (one, other) if one == other => wider,
        (Kind::Signed, Kind::Unsigned) => signed(a.size().max(2 * b.size())),
        (_, Kind::Float) => match float_for(a) {
            needed if needed.size() > b.size() => needed,
            _ => b,
        },
        (_, _) => complex(promote(a, b.part())),
    }
}

/// The signed integer of so many bytes; where there is none, `f64`.
fn signed(bytes: usize) -> ElementType {
    let of_size = |ty: &ElementType| ty.kind() == Kind::Signed && ty.size() == bytes;
    let found = ElementType::ALL.into_iter().find(of_size);
    found.unwrap_or(ElementType::F64)
}

/// The narrowest float that takes an integer type; of `f16` and `bf16`, which
/// are equally wide, either stands for both.
fn float_for(integer: ElementType) -> ElementType {
    match integer.size() {
        1 => ElementType::F16,
        2 => ElementType::F32,
        _ => ElementType::F64,
    }
}

fn complex(part: ElementType) -> ElementType {
    match part {
        ElementType::F64 => ElementType::C128,
        _ => ElementType::C64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair, from the committed table: a row and a column for each type.
    #[test]
    fn types_meet_where_the_table_says() {
        let table = include_str!("promotion.txt");
        let mut lines = table.lines().filter(|line| !line.starts_with('#'));
        let parse = |name: &str| ElementType::parse(name).expect("the table names types");
        let columns: Vec<ElementType> = lines
            .next()
            .expect("the table has a head")
            .split_whitespace()
            .map(parse)
            .collect();
        assert_eq!(columns, ElementType::ALL);
        let mut n_rows = 0;
        for line in lines {
            let mut words = line.split_whitespace();
            let row = parse(words.next().expect("a row begins with its type"));
            let facts: Vec<ElementType> = words.map(parse).collect();
            assert_eq!(facts.len(), columns.len(), "row {row}");
            for (column, fact) in columns.iter().zip(facts) {
                assert_eq!(promote(row, *column), fact, "{row} and {column}");
            }
            n_rows += 1;
        }
        assert_eq!(n_rows, columns.len());
    }
}
