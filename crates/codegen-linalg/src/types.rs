//! Types of tensors and of their entries.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_format::Format;
use sparsec_index::{Program, TensorVar};
use sparsec_mlir::attribute::Real;
use sparsec_mlir::types::{Float, Sign, TensorType};
use sparsec_mlir::{Aliases, Attribute, Dialect, Encoding, Spell, Type};

use crate::refused;

/// The words of the module.
pub(crate) const DIALECT: Dialect = Dialect::Release(Dialect::USUAL);

/// The types of a program's tensors.
pub(crate) struct Types {
    aliases: Aliases,
    tensors: BTreeMap<TensorVar, Type>,
}

impl Types {
    /// # Errors
    /// Those of formats and entries that release 19 lacks.
    pub(crate) fn of(program: &Program, formats: &BTreeMap<TensorVar, Format>) -> Result<Self> {
        let mut types = Self {
            aliases: Aliases::default(),
            tensors: BTreeMap::new(),
        };
        for (tensor, data) in program.tensors.iter() {
            if matches!(data.element, ElementType::F16 | ElementType::Bf16) {
                let message = format!(
                    "`{}` has entries of type {}, which MLIR rounds after each operation",
                    data.name, data.element
                );
                return Err(refused(program, message, data.span));
            }
            let encoding = match formats.get(&tensor) {
                Some(format) if !is_plain(format) => {
                    if data.fill != data.element.zero() {
                        let (name, fill) = (&data.name, data.fill);
                        let message =
                            format!("entries of `{name}` that are not stored are {fill}, not zero");
                        return Err(refused(program, message, data.span));
                    }
                    let encoding = encoding(format).map_err(|fault| {
                        fault.or_at(&program.source, data.span, "stored in this format")
                    })?;
                    Some(types.named(&data.name, encoding))
                }
                _ => None,
            };
            let ty = Type::Tensor(Arc::new(TensorType {
                shape: data.extents.clone(),
                element: number(data.element),
                encoding,
            }));
            types.tensors.insert(tensor, ty);
        }
        Ok(types)
    }

    /// An encoding with an alias.
    fn named(&mut self, name: &str, encoding: Encoding) -> Arc<Encoding> {
        let encoding = Arc::new(encoding);
        let attribute = Attribute::Encoding(encoding.clone());
        let known = &mut self.aliases.attributes;
        if known.iter().all(|(_, other)| *other != attribute) {
            known.push((format!("#{name}"), attribute));
        }
        encoding
    }

    fn spell(&self) -> Spell<'_> {
        Spell {
            dialect: DIALECT,
            aliases: &self.aliases,
        }
    }

    /// The lines that define aliases.
    pub(crate) fn aliases(&self) -> String {
        let aliases = self.aliases.attributes.iter();
        aliases
            .map(|(name, attribute)| format!("{name} = {}\n", self.spell().whole(attribute)))
            .collect()
    }

    pub(crate) fn tensor(&self, tensor: TensorVar) -> String {
        self.spell().ty(&self.tensors[&tensor])
    }

    /// Whether a tensor has an encoding.
    pub(crate) fn is_sparse(&self, tensor: TensorVar) -> bool {
        self.tensors[&tensor].encoding().is_some()
    }

    pub(crate) fn element(&self, element: ElementType) -> String {
        self.spell().ty(&number(element))
    }

    /// The operation that makes a constant.
    pub(crate) fn constant(&self, value: Scalar) -> String {
        let element = value.element();
        let ty = self.element(element);
        let float = |value: f64, element| {
            let value = Attribute::Float(Real(value), number(element));
            self.spell().attribute(&value)
        };
        let plain = |text: &str| match text.split_once(" : ") {
            Some((value, _)) => value.to_owned(),
            None => text.to_owned(),
        };
        match value {
            Scalar::Bool(value) => format!("arith.constant {value}"),
            Scalar::C64(_) | Scalar::C128(_) => {
                let (value, part) = (value.to_c128(), part_of(element));
                let parts = [value.re, value.im].map(|it| float(it, part));
                let spelled = parts.map(|it| match it.contains(" : ") {
                    true => it,
                    false => format!("{it} : {}", self.element(part)),
                });
                format!("complex.constant [{}] : {ty}", spelled.join(", "))
            }
            _ => match value.to_integer() {
                Some(integer) => format!("arith.constant {integer} : {ty}"),
                None => {
                    let text = float(value.to_f64(), element);
                    format!("arith.constant {} : {ty}", plain(&text))
                }
            },
        }
    }
}

/// Whether a format is the layout of a tensor without an encoding.
fn is_plain(format: &Format) -> bool {
    format.is_all_dense() && *format.levels() == *Format::dense(format.order()).levels()
}

fn encoding(format: &Format) -> Result<Encoding> {
    let encoding = Encoding::of_format(format)?;
    match encoding.refusal(DIALECT) {
        None => Ok(encoding),
        Some(why) => {
            let message = format!("release {} {why}: `{format}`", Dialect::USUAL);
            Err(Diagnostic::new(code::NOT_IN_RELEASE, message)
                .help("`Stage::Mlir` writes the loops of any format as a module"))
        }
    }
}

/// The type of the parts of complex numbers.
fn part_of(element: ElementType) -> ElementType {
    match element {
        ElementType::C64 => ElementType::F32,
        _ => ElementType::F64,
    }
}

/// The type of numbers. Integers have no sign; operations have one.
fn number(element: ElementType) -> Type {
    match element {
        ElementType::Bool => Type::Integer(1, Sign::Signless),
        ElementType::F16 => Type::Float(Float::F16),
        ElementType::Bf16 => Type::Float(Float::Bf16),
        ElementType::F32 => Type::Float(Float::F32),
        ElementType::F64 => Type::Float(Float::F64),
        ElementType::C64 => Type::Complex(Arc::new(Type::Float(Float::F32))),
        ElementType::C128 => Type::Complex(Arc::new(Type::Float(Float::F64))),
        integer => Type::Integer(8 * integer.size() as u32, Sign::Signless),
    }
}
