//! Affine maps and the expressions of levels.

use sparsec_base::suggest::closest;
use sparsec_base::{Result, Span, code};
use sparsec_format::Coordinate;

use crate::affine::{AffineExpr, AffineMap, AffineOp};
use crate::encoding::LevelExpr;
use crate::lex::Kind;
use crate::release::Dialect;

use super::Parser;

/// The names of dimensions and symbols.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) dimensions: Vec<String>,
    pub(super) symbols: Vec<String>,
}

impl Parser {
    /// Reads `(d0, d1)[s0] -> (d0 + s0, d1)`.
    pub(super) fn affine_map(&mut self) -> Result<AffineMap> {
        let mut names = Names::default();
        self.cursor.expect("(")?;
        names.dimensions = self.list(")", |parser| parser.new_name("a dimension"))?;
        if self.cursor.eat("[") {
            names.symbols = self.list("]", |parser| parser.new_name("a symbol"))?;
        }
        self.check_names(&names)?;
        self.cursor.expect("->")?;
        self.cursor.expect("(")?;
        let results = self.list(")", |parser| parser.affine(&names))?;
        Ok(AffineMap {
            n_dimensions: names.dimensions.len(),
            n_symbols: names.symbols.len(),
            results,
        })
    }

    pub(super) fn new_name(&mut self, of: &str) -> Result<String> {
        let token = self.cursor.expect_kind(Kind::Name, of)?;
        Ok(self.cursor.slice(token.span).to_owned())
    }

    pub(super) fn check_names(&self, names: &Names) -> Result<()> {
        let all: Vec<&String> = names.dimensions.iter().chain(&names.symbols).collect();
        let twice = (0..all.len()).find(|&n| all[..n].contains(&all[n]));
        match twice {
            None => Ok(()),
            Some(n) => Err(self
                .fault(
                    code::DEFINED_TWICE,
                    format!("two dimensions or symbols of a map are named `{}`", all[n]),
                    self.cursor.before(),
                    "in this map",
                )
                .help("give each a name of its own")),
        }
    }

    /// Reads a sum.
    pub(super) fn affine(&mut self, names: &Names) -> Result<AffineExpr> {
        self.deeper(|parser| {
            let mut left = parser.affine_product(names)?;
            loop {
                let op = match () {
                    () if parser.cursor.eat("+") => AffineOp::Add,
                    () if parser.cursor.eat("-") => AffineOp::Subtract,
                    () => return Ok(left),
                };
                let right = parser.affine_product(names)?;
                left = parser.deeper_expression(op, left, right)?;
            }
        })
    }

    fn affine_product(&mut self, names: &Names) -> Result<AffineExpr> {
        let mut left = self.affine_factor(names)?;
        loop {
            let op = match () {
                () if self.cursor.eat("*") => AffineOp::Multiply,
                () if self.cursor.eat("floordiv") => AffineOp::FloorDivide,
                () if self.cursor.eat("ceildiv") => AffineOp::CeilDivide,
                () if self.cursor.eat("mod") => AffineOp::Modulo,
                () => return Ok(left),
            };
            let place = self.cursor.peek().span;
            let right = self.affine_factor(names)?;
            let has_dimension = |expression: &AffineExpr| {
                let mut found = false;
                expression.for_each_dimension(&mut |_| found = true);
                found
            };
            let is_affine = match op {
                AffineOp::Multiply => !has_dimension(&left) || !has_dimension(&right),
                _ => !has_dimension(&right),
            };
            let place = place.to(self.cursor.before());
            if !is_affine {
                return Err(self
                    .fault(
                        code::BAD_MAP,
                        format!(
                            "`{}` of a dimension by a dimension is not affine",
                            op.text()
                        ),
                        place,
                        "has a dimension",
                    )
                    .help("multiply and divide by numbers"));
            }
            if op != AffineOp::Multiply && matches!(right, AffineExpr::Constant(by) if by <= 0) {
                let message = format!("`{}` by a number that is not positive", op.text());
                return Err(self
                    .fault(code::BAD_MAP, message, place, "not positive")
                    .help("divide by a number from 1 on"));
            }
            left = self.deeper_expression(op, left, right)?;
        }
    }

    /// Builds an operator node. A long sum is as deep as it has terms, so its depth is limited too.
    fn deeper_expression(&self, op: AffineOp, a: AffineExpr, b: AffineExpr) -> Result<AffineExpr> {
        fn depth(expression: &AffineExpr) -> usize {
            match expression {
                AffineExpr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
                _ => 0,
            }
        }
        if depth(&a).max(depth(&b)) >= super::DEEPEST {
            let message = format!("an expression of more than {} steps", super::DEEPEST);
            return Err(self
                .fault(
                    code::MLIR_TOO_DEEP,
                    message,
                    self.cursor.before(),
                    "one step too many",
                )
                .help("write a shorter expression"));
        }
        Ok(AffineExpr::Binary(op, Box::new(a), Box::new(b)))
    }

    fn affine_factor(&mut self, names: &Names) -> Result<AffineExpr> {
        if self.cursor.eat("(") {
            let inside = self.affine(names)?;
            self.cursor.expect(")")?;
            return Ok(inside);
        }
        if self.cursor.at("-") {
            return self.deeper(|parser| {
                parser.cursor.take();
                Ok(match parser.affine_factor(names)? {
                    AffineExpr::Constant(value) => AffineExpr::Constant(-value),
                    other => AffineExpr::Binary(
                        AffineOp::Multiply,
                        Box::new(other),
                        Box::new(AffineExpr::Constant(-1)),
                    ),
                })
            });
        }
        if self.cursor.kind() == Kind::Integer {
            let (value, span) = self.cursor.integer("a number")?;
            let value =
                i64::try_from(value).map_err(|_| self.cursor.too_large(span, i64::MAX as u64))?;
            return Ok(AffineExpr::Constant(value));
        }
        let token = self
            .cursor
            .expect_kind(Kind::Name, "a dimension, a symbol or a number")?;
        self.affine_name(names, token.span)
    }

    fn affine_name(&self, names: &Names, span: Span) -> Result<AffineExpr> {
        let name = self.cursor.slice(span);
        let place = |list: &[String]| list.iter().position(|known| known == name);
        if let Some(n) = place(&names.dimensions) {
            return Ok(AffineExpr::Dimension(n));
        }
        if let Some(n) = place(&names.symbols) {
            return Ok(AffineExpr::Symbol(n));
        }
        let known = names
            .dimensions
            .iter()
            .chain(&names.symbols)
            .map(String::as_str);
        let help = match closest(name, known.clone()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => match known.collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => "name it in the list before `->`".to_owned(),
                all => format!("the map has {all}"),
            },
        };
        Err(self
            .fault(
                code::BAD_MAP,
                format!("the map has no `{name}`"),
                span,
                "not a dimension or symbol",
            )
            .help(help))
    }

    /// Reads the expression of a level: affine, or in the dialect `sparsec` a curve or a rank.
    pub(super) fn level_expression(&mut self, names: &Names) -> Result<LevelExpr> {
        let is_ours = self.asked == Some(Dialect::Sparsec);
        let start = self.cursor.peek().span;
        let is_rank = matches!(self.cursor.kind(), Kind::Hash | Kind::Symbol)
            && self.cursor.word().starts_with('#');
        let is_curve = self.cursor.at("morton") || self.cursor.at("alto");
        let is_curve = is_curve && self.cursor.slice(self.cursor.second().span) == "(";
        if !is_rank && !is_curve {
            return Ok(LevelExpr::Affine(self.affine(names)?));
        }
        if !is_ours {
            let message = "curves and ranks are level expressions of sparsec, not of MLIR";
            return Err(self
                .fault(code::OTHER_RELEASE, message, start, "not affine")
                .help("read the text as `--dialect sparsec`"));
        }
        let coordinate = match is_rank {
            true => self.rank(names)?,
            false => self.curve(names)?,
        };
        Ok(LevelExpr::Other(coordinate))
    }

    /// Reads a rank: `#i < 4`, `#(i, j)`.
    fn rank(&mut self, names: &Names) -> Result<Coordinate> {
        let token = self.cursor.take();
        let of = match self.cursor.slice(token.span) {
            "#" => {
                self.cursor.expect("(")?;
                self.list(")", |parser| parser.mode(names))?
            }
            _ => {
                let name = Span::new(token.span.start as usize + 1, token.span.end as usize);
                vec![self.mode_at(names, name)?]
            }
        };
        let below = match self.cursor.eat("<") {
            true => Some(self.cursor.integer("how many ranks there are")?.0),
            false => None,
        };
        Ok(Coordinate::Rank { of, below })
    }

    fn curve(&mut self, names: &Names) -> Result<Coordinate> {
        let is_morton = self.cursor.at("morton");
        self.cursor.take();
        self.cursor.expect("(")?;
        if !is_morton {
            return Ok(Coordinate::Alto(
                self.list(")", |parser| parser.mode(names))?,
            ));
        }
        let start = self.cursor.peek().span;
        let arguments = self.list(")", |parser| parser.affine(names))?;
        let span = start.to(self.cursor.before());
        let coordinate = |expression: &AffineExpr| expression.coordinate();
        let arguments: Option<Vec<Coordinate>> = arguments.iter().map(coordinate).collect();
        let arguments = arguments.ok_or_else(|| {
            self.fault(
                code::BAD_MAP,
                "a curve has no products and symbols",
                span,
                "in these arguments",
            )
            .help("give modes, `i floordiv c` and `i mod c`")
        })?;
        Ok(Coordinate::Morton(arguments))
    }

    fn mode(&mut self, names: &Names) -> Result<usize> {
        let token = self.cursor.expect_kind(Kind::Name, "a mode")?;
        self.mode_at(names, token.span)
    }

    fn mode_at(&self, names: &Names, span: Span) -> Result<usize> {
        match self.affine_name(names, span)? {
            AffineExpr::Dimension(mode) => Ok(mode),
            _ => Err(self
                .fault(
                    code::BAD_MAP,
                    "a symbol in place of a mode",
                    span,
                    "not a mode",
                )
                .help("name one of the modes before `->`")),
        }
    }
}
