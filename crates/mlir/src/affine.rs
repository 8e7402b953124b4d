//! Affine maps: `(d0, d1)[s0] -> (d1, d0 floordiv 4 + s0)`.
//!
//! Products have a constant factor. Divisors are constants or symbols. A map keeps the form of its
//! text, except that numbers replace the names.

use std::fmt;

/// An expression over the dimensions and symbols of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AffineExpr {
    /// `d0`
    Dimension(usize),
    /// `s0`
    Symbol(usize),
    /// A number.
    Constant(i64),
    /// An operator with two operands.
    Binary(AffineOp, Box<Self>, Box<Self>),
}

/// An operator of affine expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineOp {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a floordiv b`
    FloorDivide,
    /// `a ceildiv b`
    CeilDivide,
    /// `a mod b`
    Modulo,
}

impl AffineOp {
    /// The operator in text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::FloorDivide => "floordiv",
            Self::CeilDivide => "ceildiv",
            Self::Modulo => "mod",
        }
    }
}

/// A function from dimensions and symbols to expressions over them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// The number of dimensions.
    pub n_dimensions: usize,
    /// The number of symbols.
    pub n_symbols: usize,
    /// The results.
    pub results: Vec<AffineExpr>,
}

impl AffineMap {
    /// The map whose results are its dimensions.
    pub fn identity(n: usize) -> Self {
        Self {
            n_dimensions: n,
            n_symbols: 0,
            results: (0..n).map(AffineExpr::Dimension).collect(),
        }
    }

    /// Whether the results are the dimensions in order.
    pub fn is_identity(&self) -> bool {
        *self == Self::identity(self.n_dimensions)
    }

    /// Whether the results are the last dimensions in order.
    pub fn is_minor_identity(&self) -> bool {
        let first = self.n_dimensions.checked_sub(self.results.len());
        let wanted = first.map(|first| (first..self.n_dimensions).collect());
        wanted.is_some() && self.n_symbols == 0 && self.projection() == wanted
    }

    /// The dimension of each result, if every result is a dimension and none occurs twice.
    ///
    /// ```
    /// use sparsec_mlir::AffineMap;
    /// assert_eq!(AffineMap::identity(2).projection(), Some(vec![0, 1]));
    /// ```
    pub fn projection(&self) -> Option<Vec<usize>> {
        let dimensions: Option<Vec<usize>> =
            self.results.iter().map(AffineExpr::dimension).collect();
        dimensions.filter(|list| {
            let is_first = |(n, d): (usize, &usize)| !list[..n].contains(d);
            list.iter().enumerate().all(is_first)
        })
    }

    /// The dimension of each result, if the results are a permutation of the dimensions.
    pub fn permutation(&self) -> Option<Vec<usize>> {
        let projection = self.projection()?;
        (projection.len() == self.n_dimensions && self.n_symbols == 0).then_some(projection)
    }
}

impl AffineExpr {
    /// The dimension, if the expression is one.
    pub fn dimension(&self) -> Option<usize> {
        match self {
            Self::Dimension(dimension) => Some(*dimension),
            _ => None,
        }
    }

    /// Calls `visit` for each occurrence of a dimension.
    pub fn for_each_dimension(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Self::Dimension(dimension) => visit(*dimension),
            Self::Binary(_, a, b) => {
                a.for_each_dimension(visit);
                b.for_each_dimension(visit);
            }
            Self::Symbol(_) | Self::Constant(_) => {}
        }
    }

    /// The value at these dimensions and symbols; `None` for a divisor that is not positive, and
    /// for overflow of 64 bits.
    pub fn value(&self, dimensions: &[i64], symbols: &[i64]) -> Option<i64> {
        let value = |part: &Self| part.value(dimensions, symbols);
        match self {
            Self::Dimension(n) => dimensions.get(*n).copied(),
            Self::Symbol(n) => symbols.get(*n).copied(),
            Self::Constant(value) => Some(*value),
            Self::Binary(op, a, b) => {
                let (a, b) = (value(a)?, value(b)?);
                match op {
                    AffineOp::Add => a.checked_add(b),
                    AffineOp::Subtract => a.checked_sub(b),
                    AffineOp::Multiply => a.checked_mul(b),
                    _ if b <= 0 => None,
                    AffineOp::FloorDivide => Some(a.div_euclid(b)),
                    AffineOp::CeilDivide => a.checked_neg()?.div_euclid(b).checked_neg(),
                    AffineOp::Modulo => Some(a.rem_euclid(b)),
                }
            }
        }
    }

    /// How tightly the expression binds: sums bind least, then products and quotients, then the
    /// rest.
    fn binds(&self) -> u8 {
        match self {
            Self::Binary(AffineOp::Add | AffineOp::Subtract, ..) => 0,
            Self::Binary(..) => 1,
            // A factor has no sign.
            Self::Constant(value) if *value < 0 => 0,
            _ => 2,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, at_least: u8) -> fmt::Result {
        if self.binds() < at_least {
            f.write_str("(")?;
            self.write(f, 0)?;
            return f.write_str(")");
        }
        match self {
            Self::Dimension(n) => write!(f, "d{n}"),
            Self::Symbol(n) => write!(f, "s{n}"),
            Self::Constant(value) => write!(f, "{value}"),
            Self::Binary(op, a, b) => {
                a.write(f, self.binds())?;
                write!(f, " {} ", op.text())?;
                b.write(f, self.binds() + 1)
            }
        }
    }
}

impl fmt::Display for AffineExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |letter: char, n: usize| -> String {
            let names: Vec<String> = (0..n).map(|n| format!("{letter}{n}")).collect();
            names.join(", ")
        };
        write!(f, "({})", names('d', self.n_dimensions))?;
        if self.n_symbols > 0 {
            write!(f, "[{}]", names('s', self.n_symbols))?;
        }
        let results: Vec<String> = self.results.iter().map(ToString::to_string).collect();
        write!(f, " -> ({})", results.join(", "))
    }
}
