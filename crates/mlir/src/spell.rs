//! Types and attributes as text, in the spelling of a release and with aliases.

use crate::attribute::{Attribute, Dense, Number, Sparse};
use crate::lex::quoted;
use crate::release::Dialect;
use crate::types::{Layout, Levels, Shape, Sign, Type};

/// The aliases of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aliases {
    /// Aliases of attributes, with `#`.
    pub attributes: Vec<(String, Attribute)>,
    /// Aliases of types, with `!`.
    pub types: Vec<(String, Type)>,
}

impl Aliases {
    fn name_of(&self, attribute: &Attribute) -> Option<&str> {
        let found = self.attributes.iter().find(|(_, known)| known == attribute);
        found.map(|(name, _)| name.as_str())
    }
}

/// A spelling of types and attributes.
#[derive(Clone, Copy, Debug)]
pub struct Spell<'a> {
    /// The dialect to write.
    pub dialect: Dialect,
    /// The aliases to use.
    pub aliases: &'a Aliases,
}

impl Spell<'_> {
    /// The text of a type.
    pub fn ty(&self, ty: &Type) -> String {
        let alias = self.aliases.types.iter().find(|(_, known)| known == ty);
        if let Some((name, _)) = alias {
            return name.clone();
        }
        self.whole_type(ty)
    }

    /// The text of a type, without an alias for the type as a whole.
    pub fn whole_type(&self, ty: &Type) -> String {
        match ty {
            Type::Index => "index".to_owned(),
            Type::None => "none".to_owned(),
            Type::Integer(width, Sign::Signless) => format!("i{width}"),
            Type::Integer(width, Sign::Signed) => format!("si{width}"),
            Type::Integer(width, Sign::Unsigned) => format!("ui{width}"),
            Type::Float(float) => float.name().to_owned(),
            Type::Complex(part) => format!("complex<{}>", self.ty(part)),
            Type::Tensor(tensor) => {
                let encoding = match &tensor.encoding {
                    None => String::new(),
                    Some(encoding) => {
                        format!(
                            ", {}",
                            self.attribute(&Attribute::Encoding(encoding.clone()))
                        )
                    }
                };
                let shape = shape(&tensor.shape);
                format!("tensor<{shape}{}{encoding}>", self.ty(&tensor.element))
            }
            Type::UnrankedTensor(element) => format!("tensor<*x{}>", self.ty(element)),
            Type::MemRef(memref) => {
                let layout = match &memref.layout {
                    None => String::new(),
                    Some(Layout::Map(map)) => {
                        format!(", {}", self.attribute(&Attribute::Map(map.clone())))
                    }
                    Some(Layout::Strided { strides, offset }) => {
                        format!(", {}", strided(strides, *offset))
                    }
                };
                let space = match &memref.space {
                    None => String::new(),
                    Some(space) => format!(", {}", self.attribute(space)),
                };
                let shape = shape(&memref.shape);
                format!("memref<{shape}{}{layout}{space}>", self.ty(&memref.element))
            }
            Type::UnrankedMemRef(element) => format!("memref<*x{}>", self.ty(element)),
            Type::Vector(vector) => {
                let extents: String = vector.shape.iter().map(|n| format!("{n}x")).collect();
                format!("vector<{extents}{}>", self.ty(&vector.element))
            }
            Type::Function(function) => self.function(&function.inputs, &function.results),
            Type::Tuple(parts) => format!("tuple<{}>", self.types(parts)),
            Type::Pointer(to) => match (to, self.dialect.release()) {
                (_, 18..) => "!llvm.ptr".to_owned(),
                (Some(to), _) => format!("!llvm.ptr<{}>", self.ty(to)),
                (None, ..=14) => "!llvm.ptr<i8>".to_owned(),
                (None, _) => "!llvm.ptr".to_owned(),
            },
            Type::Specifier(encoding) => {
                let encoding = self.attribute(&Attribute::Encoding(encoding.clone()));
                format!("!sparse_tensor.storage_specifier<{encoding}>")
            }
            Type::Space(levels) => format!("!sparse_tensor.iter_space<{}>", self.levels(levels)),
            Type::Iterator(levels) => format!("!sparse_tensor.iterator<{}>", self.levels(levels)),
        }
    }

    fn levels(&self, levels: &Levels) -> String {
        let encoding = self.attribute(&Attribute::Encoding(levels.encoding.clone()));
        format!("{encoding}, lvls = {}", level_range(levels.from, levels.to))
    }

    /// Types with commas between them.
    pub fn types(&self, types: &[Type]) -> String {
        let texts: Vec<String> = types.iter().map(|ty| self.ty(ty)).collect();
        texts.join(", ")
    }

    /// `(f64) -> f64`
    pub fn function(&self, inputs: &[Type], results: &[Type]) -> String {
        format!("({}) -> {}", self.types(inputs), self.results(results))
    }

    /// The types of results: one alone, others in parentheses.
    pub fn results(&self, results: &[Type]) -> String {
        match results {
            [only] if !matches!(only, Type::Function(_)) => self.ty(only),
            results => format!("({})", self.types(results)),
        }
    }

    /// The text of an attribute.
    pub fn attribute(&self, attribute: &Attribute) -> String {
        match self.aliases.name_of(attribute) {
            Some(name) => name.to_owned(),
            None => self.whole(attribute),
        }
    }

    /// The text of an attribute, without an alias for the attribute as a whole.
    pub fn whole(&self, attribute: &Attribute) -> String {
        match attribute {
            Attribute::Unit => "unit".to_owned(),
            Attribute::Bool(value) => value.to_string(),
            Attribute::Integer(value, Type::Integer(64, Sign::Signless)) => value.to_string(),
            Attribute::Integer(value, ty) => format!("{value} : {}", self.ty(ty)),
            Attribute::Float(value, ty) => {
                let Type::Float(float) = ty else {
                    unreachable!("a floating-point number has such a type")
                };
                match value.0.is_finite() && *ty == Type::Float(crate::types::Float::F64) {
                    true => value.text(*float),
                    false => format!("{} : {}", value.text(*float), self.ty(ty)),
                }
            }
            Attribute::Text(text) => quoted(text),
            Attribute::Symbol(path) => symbol(path),
            Attribute::Type(ty) => self.ty(ty),
            Attribute::Map(map) => format!("affine_map<{map}>"),
            Attribute::Array(list) => {
                let texts: Vec<String> = list.iter().map(|entry| self.attribute(entry)).collect();
                format!("[{}]", texts.join(", "))
            }
            Attribute::Dictionary(entries) => self.dictionary(entries),
            Attribute::Dense(dense) => {
                format!("dense<{}> : {}", self.dense(dense), self.ty(&dense.ty))
            }
            Attribute::Sparse(sparse) => {
                format!("sparse<{}> : {}", self.sparse(sparse), self.ty(&sparse.ty))
            }
            Attribute::Numbers(ty, numbers) => {
                let texts: Vec<String> = numbers
                    .iter()
                    .map(|number| self.number(number, ty))
                    .collect();
                match texts.is_empty() {
                    true => format!("array<{}>", self.ty(ty)),
                    false => format!("array<{}: {}>", self.ty(ty), texts.join(", ")),
                }
            }
            Attribute::Encoding(encoding) => {
                format!("#sparse_tensor.encoding<{}>", encoding.text(self))
            }
            Attribute::Strided(strides, offset) => strided(strides, *offset),
            Attribute::Complex(ty, re, im) => {
                let part = match ty {
                    Type::Complex(part) => &**part,
                    _ => ty,
                };
                let Type::Float(float) = part else {
                    unreachable!("parts of complex numbers are floats")
                };
                let parts = [re, im].map(|it| it.text(*float));
                format!("#complex.number<:{} {}>", self.ty(part), parts.join(", "))
            }
            Attribute::Dialect(name, body) if body.is_empty() => format!("#{name}"),
            Attribute::Dialect(name, body) => format!("#{name}<{body}>"),
            Attribute::Word(word) => (*word).to_owned(),
        }
    }

    /// `{a = 1, b}`
    pub fn dictionary(&self, entries: &[(String, Attribute)]) -> String {
        let entry = |(name, value): &(String, Attribute)| {
            let name = attribute_name(name);
            match value {
                Attribute::Unit => name,
                value => format!("{name} = {}", self.attribute(value)),
            }
        };
        let texts: Vec<String> = entries.iter().map(entry).collect();
        format!("{{{}}}", texts.join(", "))
    }

    fn number(&self, number: &Number, ty: &Type) -> String {
        let part = match ty {
            Type::Complex(part) => part,
            ty => ty,
        };
        let real = |value: &crate::attribute::Real| match part {
            Type::Float(float) => value.text(*float),
            _ => format!("{:?}", value.0),
        };
        match number {
            Number::Bool(value) => value.to_string(),
            Number::Integer(value) => value.to_string(),
            Number::Float(value) => real(value),
            Number::Complex(re, im) => format!("({}, {})", real(re), real(im)),
            Number::IntegerPair(re, im) => format!("({re}, {im})"),
        }
    }

    fn dense(&self, dense: &Dense) -> String {
        let element = dense.ty.element();
        let shape: Vec<u64> = dense
            .ty
            .shape()
            .unwrap_or_default()
            .into_iter()
            .flatten()
            .collect();
        match dense.entries.first() {
            Some(entry) if dense.is_splat => self.number(entry, element),
            None => String::new(),
            Some(_) => self.nested(&dense.entries, &shape, element),
        }
    }

    fn nested(&self, entries: &[Number], shape: &[u64], element: &Type) -> String {
        let Some((_, inner)) = shape.split_first() else {
            return entries
                .first()
                .map_or_else(String::new, |entry| self.number(entry, element));
        };
        let each = inner.iter().product::<u64>().max(1) as usize;
        let parts = entries
            .chunks(each)
            .map(|part| self.nested(part, inner, element));
        format!("[{}]", parts.collect::<Vec<_>>().join(", "))
    }

    fn sparse(&self, sparse: &Sparse) -> String {
        let order = sparse.ty.shape().unwrap_or_default().len().max(1);
        if sparse.entries.is_empty() {
            return String::new();
        }
        let tuple = |coords: &[u64]| {
            let texts: Vec<String> = coords.iter().map(ToString::to_string).collect();
            format!("[{}]", texts.join(", "))
        };
        let coords: Vec<String> = sparse.coords.chunks(order).map(tuple).collect();
        let element = sparse.ty.element();
        let entries: Vec<String> = sparse
            .entries
            .iter()
            .map(|entry| self.number(entry, element))
            .collect();
        format!("[{}], [{}]", coords.join(", "), entries.join(", "))
    }
}

/// `0 to 2`, or `0` for one level.
pub(crate) fn level_range(from: u64, to: u64) -> String {
    match to == from + 1 {
        true => from.to_string(),
        false => format!("{from} to {to}"),
    }
}

/// `@name`, with quotes if needed.
pub(crate) fn symbol(path: &[String]) -> String {
    let one = |name: &String| match is_bare(name) {
        true => format!("@{name}"),
        false => format!("@{}", quoted(name)),
    };
    path.iter().map(one).collect::<Vec<_>>().join("::")
}

/// The name of an attribute, with quotes if needed.
pub(crate) fn attribute_name(name: &str) -> String {
    match is_bare(name) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

fn is_bare(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'))
}

fn shape(shape: &Shape) -> String {
    let extent =
        |extent: &Option<u64>| extent.map_or("?x".to_owned(), |extent| format!("{extent}x"));
    shape.iter().map(extent).collect()
}

fn strided(strides: &[Option<i64>], offset: Option<i64>) -> String {
    let number = |n: &Option<i64>| n.map_or("?".to_owned(), |n| n.to_string());
    let strides: Vec<String> = strides.iter().map(number).collect();
    match offset {
        Some(0) => format!("strided<[{}]>", strides.join(", ")),
        offset => format!(
            "strided<[{}], offset: {}>",
            strides.join(", "),
            number(&offset)
        ),
    }
}

/// The text of a type in the default release without aliases.
pub(crate) fn plain(ty: &Type) -> String {
    let aliases = Aliases::default();
    let spell = Spell {
        dialect: Dialect::Release(Dialect::USUAL),
        aliases: &aliases,
    };
    spell.ty(ty)
}
