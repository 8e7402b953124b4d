//! The arrays of tensors and their types.
//!
//! ```text
//! level                 positions      coordinates
//! dense, batch          –              –
//! compressed            n + 1          one for each position
//! loose_compressed      2 n, pairs     one for each position
//! singleton             –              one for each position
//! structured[n, m]      –              n for each block
//! ```
//!
//! A coordinate list (`compressed(nonunique)` followed by singletons without `soa`) has one array
//! of tuples.

use sparsec_base::{Result, code};

use crate::attribute::Attribute;
use crate::encoding::arrays::of_width;
use crate::encoding::{Encoding, Level};
use crate::module::{Operation, Value};
use crate::parse::counted;
use crate::types::Type;

use super::Check;

impl Check<'_> {
    /// Rule 5 for operations on arrays.
    pub(super) fn arrays(&self, op: Operation<'_>, word: &str) -> Result<()> {
        match word {
            "pointers" | "positions" => self.level_array(op, true),
            "indices" | "coordinates" => self.level_array(op, false),
            "indices_buffer" | "coordinates_buffer" => self.tuples(op),
            "values" => {
                let wanted = op.operand_type("tensor").element().clone();
                self.array_of(op, &wanted, "the values")
            }
            "expand" => self.expanded(op, true),
            "compress" => {
                self.expanded(op, false)?;
                self.compressed(op)
            }
            "assemble" | "pack" => self.assembled(op),
            "disassemble" | "unpack" => self.disassembled(op),
            _ => Ok(()),
        }
    }

    /// Checks that an array has this element type.
    pub(super) fn buffer_of(
        &self,
        op: Operation<'_>,
        value: Value,
        wanted: &Type,
        of: &str,
    ) -> Result<()> {
        let ty = self.module.ty(value);
        if ty.element() == wanted {
            return Ok(());
        }
        let place = op
            .data()
            .operands
            .iter()
            .position(|operand| *operand == value);
        let span = place.map_or(op.data().span, |n| op.data().operand_spans[n]);
        let message = format!(
            "{of} are `{}`, not `{}`",
            self.text(wanted),
            self.text(ty.element())
        );
        Err(self
            .fault(
                code::BUFFER_TYPE,
                message,
                span,
                format!("`{}`", self.text(ty)),
            )
            .help(format!(
                "write `{}`",
                self.text(&ty.with_element(wanted.clone()))
            )))
    }

    /// Checks the type of an array that an operation gives.
    fn array_of(&self, op: Operation<'_>, element: &Type, of: &str) -> Result<()> {
        let result = op.result("result");
        self.buffer_of(op, result, element, of)?;
        let Some(wanted) = op.array_type() else {
            return Ok(());
        };
        let found = self.module.ty(result);
        let order = |ty: &Type| ty.shape().map(|shape| shape.len());
        let fits = match self.is_since(19) {
            true => *found == wanted,
            false => order(found) == order(&wanted),
        };
        if fits {
            return Ok(());
        }
        let (found, wanted) = (self.text(found), self.text(&wanted));
        let message = format!("{of} are a `{wanted}`, not a `{found}`");
        Err(self
            .fault(
                code::BUFFER_TYPE,
                message,
                op.data().span,
                format!("`{found}`"),
            )
            .help(format!("write `{wanted}`, and `memref.cast` behind it")))
    }

    /// The number of the level, if it is a constant of the text.
    fn level_of(&self, op: Operation<'_>) -> Option<i128> {
        let has_operand = op
            .data()
            .definition
            .operands
            .iter()
            .any(|group| group.name == "dim");
        match has_operand {
            true => self.constant_of(op.operand("dim")),
            false => match op.attribute("level").or(op.attribute("dimension"))? {
                Attribute::Integer(level, _) => Some(*level),
                _ => None,
            },
        }
    }

    fn level_array(&self, op: Operation<'_>, is_pos: bool) -> Result<()> {
        let Some((_, encoding)) = self.tensor(op.operand_type("tensor")) else {
            return Ok(());
        };
        let wanted = of_width(if is_pos {
            encoding.pos_width
        } else {
            encoding.crd_width
        });
        let of = if is_pos { "positions" } else { "coordinates" };
        let Some(number) = self.level_of(op) else {
            return self.array_of(op, &wanted, of);
        };
        let n_levels = encoding.n_levels();
        let level = usize::try_from(number)
            .ok()
            .and_then(|number| encoding.levels.get(number));
        let Some(level) = level else {
            let message = format!("level {number} of a tensor of {n_levels} levels");
            return Err(self
                .of_op(op, code::LEVEL_OUT_OF_RANGE, message)
                .help(format!("levels are 0 to {}", n_levels - 1)));
        };
        let has = if is_pos {
            level.has_positions()
        } else {
            level.has_coordinates()
        };
        if !has {
            let message = format!(
                "level {number} is `{}`, which has no {of}",
                level.kind.text()
            );
            let place = |level: &Level| {
                if is_pos {
                    level.has_positions()
                } else {
                    level.has_coordinates()
                }
            };
            let error = self.of_op(op, code::LEVEL_OUT_OF_RANGE, message);
            return Err(match encoding.levels.iter().position(place) {
                Some(other) => error.help(format!("level {other} has {of}")),
                None => error.help(format!("no level of this tensor has {of}")),
            });
        }
        self.array_of(op, &wanted, of)
    }

    fn tuples(&self, op: Operation<'_>) -> Result<()> {
        let Some((_, encoding)) = self.tensor(op.operand_type("tensor")) else {
            return Ok(());
        };
        if encoding.tuples_start().is_none() {
            let message = "a tensor without a list of coordinates";
            return Err(self
                .fault(
                    code::NOT_SPARSE,
                    message,
                    self.operand_span(op, "tensor"),
                    "no coordinate list",
                )
                .help("its last levels are to be `compressed(nonunique)` and singletons"));
        }
        self.array_of(op, &of_width(encoding.crd_width), "coordinates")
    }

    /// Checks the results of `expand` and the operands of `compress`.
    fn expanded(&self, op: Operation<'_>, is_result: bool) -> Result<()> {
        let element = op.operand_type("tensor").element().clone();
        let wanted = [
            ("values", element),
            ("filled", Type::BOOL),
            ("added", Type::Index),
        ];
        for (name, wanted) in wanted {
            let value = if is_result {
                op.result(name)
            } else {
                op.operand(name)
            };
            self.buffer_of(op, value, &wanted, &format!("`{name}`"))?;
        }
        Ok(())
    }

    fn compressed(&self, op: Operation<'_>) -> Result<()> {
        let Some((_, encoding)) = self.tensor(op.operand_type("tensor")) else {
            return Ok(());
        };
        let has_coords = op
            .data()
            .definition
            .operands
            .iter()
            .any(|group| group.name == "lvlCoords");
        let n = if has_coords {
            op.operands("lvlCoords").len()
        } else {
            return Ok(());
        };
        match n + 1 == encoding.n_levels() {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::SHAPE_MISMATCH,
                    format!(
                        "{n} coordinates for a tensor of {} levels",
                        encoding.n_levels()
                    ),
                )
                .help("give the coordinates of all levels but the last")),
        }
    }

    /// The element types of all arrays but the values.
    fn array_types(encoding: &Encoding) -> Vec<Type> {
        let arrays = encoding.arrays();
        let of = |name: &String| match name.contains("coordinates") {
            true => of_width(encoding.crd_width),
            false => of_width(encoding.pos_width),
        };
        arrays[..arrays.len() - 1].iter().map(of).collect()
    }

    fn assembled(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.result_type("result");
        let Some((tensor, encoding)) = self.tensor(ty) else {
            return Ok(());
        };
        if tensor.shape.iter().any(Option::is_none) {
            let message = format!("`{}` has extents that arrays do not tell", self.text(ty));
            return Err(self
                .of_op(op, code::BAD_ASSEMBLY, message)
                .help("write its extents, and forget them by `tensor.cast` behind it"));
        }
        self.arrays_fit(op, encoding, &tensor.element, "levels", "values")
    }

    fn disassembled(&self, op: Operation<'_>) -> Result<()> {
        let Some((tensor, encoding)) = self.tensor(op.operand_type("tensor")) else {
            return Ok(());
        };
        self.arrays_fit(op, encoding, &tensor.element, "out_levels", "out_values")?;
        let spell = self.module.spell();
        let types = |values: &[Value]| -> Vec<Type> {
            values
                .iter()
                .map(|value| self.module.ty(*value).clone())
                .collect()
        };
        if types(op.results("ret_levels")) != op.operand_types("out_levels")
            || types(op.results("ret_values")) != op.operand_types("out_values")
        {
            return Err(self
                .of_op(
                    op,
                    code::TYPES_DIFFER,
                    "arrays of other types come out than were given",
                )
                .help(format!(
                    "give results of types {}",
                    spell.types(&op.operand_types("out_levels"))
                )));
        }
        let n = op.results("lvl_lens").len();
        let wanted = op.operands("out_levels").len();
        match n == wanted {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::BAD_COUNT,
                    format!("{} for {}", counted(n, "length"), counted(wanted, "array")),
                )
                .help("give a length for each array")),
        }
    }

    /// Checks the orders of arrays: two modes for tuples of coordinates, one for others.
    fn tuples_fit(&self, op: Operation<'_>, encoding: &Encoding, levels: &str) -> Result<()> {
        let names = encoding.arrays();
        let width = encoding
            .coo_start()
            .map_or(1, |start| encoding.n_levels() - start);
        let n_batch = encoding.n_batch_levels();
        for (n, value) in op.operands(levels).iter().enumerate() {
            let ty = self.module.ty(*value);
            let shape = ty.shape().unwrap_or_default();
            let is_right = match names[n].starts_with("tuples") {
                true => {
                    shape.len() == n_batch + 2
                        && shape[n_batch + 1].is_none_or(|extent| extent == width as u64)
                }
                // Further modes of extent 1 hold no further numbers.
                false => {
                    shape.len() > n_batch
                        && shape[n_batch + 1..].iter().all(|extent| *extent == Some(1))
                }
            };
            if !is_right {
                let message = format!("{} are no array of `{}`", names[n], self.text(ty));
                return Err(self
                    .fault(
                        code::BAD_ASSEMBLY,
                        message,
                        op.operand_spans(levels)[n],
                        format!("`{}`", self.text(ty)),
                    )
                    .help(match names[n].starts_with("tuples") {
                        true => format!(
                            "give an array of {}, of which the last has extent {width}",
                            counted(n_batch + 2, "mode")
                        ),
                        false => format!("give an array of {}", counted(n_batch + 1, "mode")),
                    }));
            }
        }
        Ok(())
    }

    fn arrays_fit(
        &self,
        op: Operation<'_>,
        encoding: &Encoding,
        element: &Type,
        levels: &str,
        values: &str,
    ) -> Result<()> {
        let wanted = Self::array_types(encoding);
        let given = op.operands(levels);
        let names = encoding.arrays();
        if given.len() != wanted.len() {
            let message = format!(
                "{} for levels that have {}",
                counted(given.len(), "array"),
                wanted.len()
            );
            return Err(self.of_op(op, code::BAD_ASSEMBLY, message).help(
                match wanted.is_empty() {
                    true => "give the values alone".to_owned(),
                    false => format!("give {}", names[..names.len() - 1].join(", ")),
                },
            ));
        }
        for (n, (value, wanted)) in given.iter().zip(&wanted).enumerate() {
            let ty = self.module.ty(*value);
            if ty.element() != wanted {
                let message = format!(
                    "{} are `{}`, not `{}`",
                    names[n],
                    self.text(wanted),
                    self.text(ty.element())
                );
                return Err(self
                    .fault(
                        code::BUFFER_TYPE,
                        message,
                        op.operand_spans(levels)[n],
                        format!("`{}`", self.text(ty)),
                    )
                    .help(format!(
                        "write `{}`",
                        self.text(&ty.with_element(wanted.clone()))
                    )));
            }
        }
        self.tuples_fit(op, encoding, levels)?;
        let ty = op.operand_type(values);
        if ty.shape().is_none() {
            let message = format!("values are no array of `{}`", self.text(ty));
            return Err(self
                .of_op(op, code::BAD_ASSEMBLY, message)
                .help("give an array of known order"));
        }
        match ty.element() == element {
            true => Ok(()),
            false => {
                let message = format!(
                    "values are `{}`, not `{}`",
                    self.text(element),
                    self.text(ty.element())
                );
                Err(self
                    .fault(
                        code::BUFFER_TYPE,
                        message,
                        self.operand_span(op, values),
                        format!("`{}`", self.text(ty)),
                    )
                    .help(format!(
                        "write `{}`",
                        self.text(&ty.with_element(element.clone()))
                    )))
            }
        }
    }
}
