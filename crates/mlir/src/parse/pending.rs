//! Operations whose types and values are not resolved yet.
//!
//! A form names some types only; the others follow from the constraints of the definition.
//! Constraints work in both directions: for `(lhs: intlike, rhs: same(lhs)) -> (result: same(lhs))`
//! any one type suffices.

use std::sync::Arc;

use sparsec_base::{Result, Span, code};

use crate::attribute::{Attribute, Dictionary, Number};
use crate::definition::{AttributeKind, COMBINING, Constraint, Count, Definition, Group, Trait};
use crate::module::{Op, OpData, Origin, Region, Value};
use crate::release::Releases;
use crate::types::{TensorType, Type};

use super::Parser;
use super::form::OPEN;
use super::operation::counted;

/// The use of a value by its name.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) name: String,
    pub(super) span: Span,
}

/// An operation before its types and values are resolved.
pub(super) struct Pending {
    pub(super) definition: &'static Definition,
    /// The operands, group by group.
    pub(super) operands: Vec<Vec<Use>>,
    /// The types of operands, for groups with given types.
    pub(super) operand_types: Vec<Option<Vec<Type>>>,
    /// The types of results, for groups with given types.
    pub(super) result_types: Vec<Option<Vec<Type>>>,
    pub(super) attributes: Dictionary,
    pub(super) regions: Vec<Region>,
    pub(super) span: Span,
}

impl Pending {
    pub(super) fn new(definition: &'static Definition, span: Span) -> Self {
        Self {
            definition,
            operands: definition.operands.iter().map(|_| Vec::new()).collect(),
            operand_types: definition.operands.iter().map(|_| None).collect(),
            result_types: definition.results.iter().map(|_| None).collect(),
            attributes: Vec::new(),
            regions: Vec::new(),
            span,
        }
    }

    /// The first type of a group, if known.
    fn known(&self, name: &str) -> Option<&Type> {
        let of = |groups: &[Group], types: &[Option<Vec<Type>>]| {
            let place = groups.iter().position(|group| group.name == name)?;
            Some((place, types[place].is_some()))
        };
        if let Some((place, _)) = of(&self.definition.operands, &self.operand_types) {
            return self.operand_types[place].as_ref()?.first();
        }
        let (place, _) = of(&self.definition.results, &self.result_types)?;
        self.result_types[place].as_ref()?.first()
    }

    /// The type that a constraint gives, if the types of the groups that it names are known.
    fn follows(&self, constraint: &Constraint) -> Option<Type> {
        match constraint {
            Constraint::Kinds(_) => None,
            Constraint::Exactly(ty) => Some(ty.clone()),
            Constraint::Same(of) => self.known(of).cloned(),
            Constraint::Part(of) => self.known(of).map(part_of),
            Constraint::Element(of) => self.known(of).map(|ty| ty.element().clone()),
            Constraint::BoolLike(of) => self.known(of).map(bool_like),
            Constraint::TensorOf(of) => self.known(of).map(tensor_of),
        }
    }

    /// Infers types from other types until nothing changes.
    fn infer(&mut self) {
        loop {
            let mut found = false;
            for (n, group) in self.definition.operands.iter().enumerate() {
                if self.operand_types[n].is_none()
                    && let Some(ty) = self.follows(&group.ty)
                {
                    self.operand_types[n] = Some(vec![ty; self.operands[n].len()]);
                    found = true;
                }
            }
            for (n, group) in self.definition.results.iter().enumerate() {
                if self.result_types[n].is_none()
                    && let Some(ty) = self.follows(&group.ty)
                {
                    // A write to a tensor gives a tensor, a write to memory nothing.
                    let count = match group.count {
                        Count::One => 1,
                        Count::Optional => usize::from(matches!(ty, Type::Tensor(_))),
                        Count::Any => 0,
                    };
                    self.result_types[n] = Some(vec![ty; count]);
                    found = true;
                }
            }
            if !self.infer_backwards() && !found {
                return;
            }
        }
    }

    /// Infers a type from a group that has to have the same type.
    fn infer_backwards(&mut self) -> bool {
        let operands = self.definition.operands.iter().zip(&self.operand_types);
        let results = self.definition.results.iter().zip(&self.result_types);
        let given = operands
            .chain(results)
            .filter_map(|(group, types)| match (&group.ty, types) {
                (Constraint::Same(of), Some(types)) => Some((*of, types.first()?.clone())),
                _ => None,
            });
        let given: Vec<(&str, Type)> = given.collect();
        for (of, ty) in given {
            if self.known(of).is_some() {
                continue;
            }
            if let Some(n) = self
                .definition
                .operands
                .iter()
                .position(|group| group.name == of)
            {
                if self.operand_types[n].is_none() {
                    self.operand_types[n] = Some(vec![ty; self.operands[n].len()]);
                    return true;
                }
            } else if let Some(n) = self
                .definition
                .results
                .iter()
                .position(|group| group.name == of)
                && self.result_types[n].is_none()
            {
                self.result_types[n] = Some(vec![ty]);
                return true;
            }
        }
        false
    }
}

/// Marks numbers that operands give by [`OPEN`]. Releases up to 15 mark sizes by -1.
fn mark_open_numbers(pending: &mut Pending) {
    let groups = pending.definition.operands.iter().zip(&pending.operands);
    for (group, operands) in groups {
        let name = format!("static_{}", group.name);
        for (known, value) in &mut pending.attributes {
            let Some(numbers) = value.integers().filter(|_| *known == name) else {
                continue;
            };
            let n_marked = |mark: i128| numbers.iter().filter(|n| **n == mark).count();
            if n_marked(-1) == 0 || n_marked(-1) + n_marked(OPEN) != operands.len() {
                continue;
            }
            let marked = |n: i128| Number::Integer(if n == -1 { OPEN } else { n });
            let numbers = numbers.iter().copied().map(marked).collect();
            *value = Attribute::Numbers(Type::integer(64), numbers);
        }
    }
}

/// The type of the components of a complex type; other types themselves.
pub(crate) fn part_of(ty: &Type) -> Type {
    match ty {
        Type::Complex(part) => (**part).clone(),
        other => other.clone(),
    }
}

/// The type with the shape of `ty` and Boolean entries.
pub(crate) fn bool_like(ty: &Type) -> Type {
    match ty {
        Type::Vector(_) | Type::Tensor(_) | Type::UnrankedTensor(_) => ty.with_element(Type::BOOL),
        _ => Type::BOOL,
    }
}

/// The tensor type with the shape of a memref.
pub(crate) fn tensor_of(ty: &Type) -> Type {
    match ty {
        Type::MemRef(memref) => Type::Tensor(Arc::new(TensorType {
            shape: memref.shape.clone(),
            element: memref.element.clone(),
            encoding: None,
        })),
        Type::UnrankedMemRef(element) => Type::UnrankedTensor(element.clone()),
        other => other.clone(),
    }
}

impl Parser {
    /// Builds the operation.
    pub(super) fn make(&mut self, mut pending: Pending) -> Result<Op> {
        let definition = pending.definition;
        self.word_of(definition.releases, definition.name, pending.span)?;
        pending.infer();
        // Operands without a type have the types of their values.
        for n in 0..pending.operands.len() {
            if pending.operand_types[n].is_none() {
                let ty = |used: &Use| Ok(self.module.ty(self.resolve(used)?).clone());
                let types: Result<Vec<Type>> = pending.operands[n].iter().map(ty).collect();
                pending.operand_types[n] = Some(types?);
                pending.infer();
            }
        }
        if definition.has(Trait::Structured) && pending.result_types[0].is_none() {
            let outputs = pending.operand_types[definition.operand("outputs")].clone();
            let is_tensor = |ty: &Type| matches!(ty, Type::Tensor(_) | Type::UnrankedTensor(_));
            pending.result_types[0] = Some(
                outputs
                    .unwrap_or_default()
                    .into_iter()
                    .filter(is_tensor)
                    .collect(),
            );
        }
        let mut operands = Vec::new();
        let mut spans = Vec::new();
        let mut groups = Vec::new();
        for (n, uses) in pending.operands.iter().enumerate() {
            let types = pending.operand_types[n].clone().unwrap_or_default();
            self.check_count(&definition.operands[n], uses.len(), "operand", &pending)?;
            if types.len() != uses.len() {
                let message = format!(
                    "{} in `{}` with {}",
                    counted(uses.len(), "value"),
                    definition.operands[n].name,
                    counted(types.len(), "type"),
                );
                let span = uses.first().map_or(pending.span, |used| used.span);
                return Err(self
                    .fault(code::BAD_COUNT, message, span, "of these")
                    .help("write a type for each value"));
            }
            for (used, ty) in uses.iter().zip(&types) {
                operands.push(self.typed(used, ty)?);
                spans.push(used.span);
            }
            groups.push(uses.len());
        }
        let mut result_groups = Vec::new();
        for (n, group) in definition.results.iter().enumerate() {
            let n_results = pending.result_types[n].as_ref().map_or(0, Vec::len);
            self.check_count(group, n_results, "result", &pending)?;
            result_groups.push(n_results);
        }
        mark_open_numbers(&mut pending);
        let attributes = self.normal_attributes(&mut pending)?;
        self.check_regions(&pending)?;
        let op = self.module.ops.push(OpData {
            definition,
            operands,
            operand_spans: spans,
            operand_groups: groups,
            results: Vec::new(),
            result_groups,
            attributes,
            regions: pending.regions.clone(),
            block: None,
            span: pending.span,
        });
        let types: Vec<Type> = pending
            .result_types
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        for (n, ty) in types.into_iter().enumerate() {
            let value =
                self.module
                    .add_value(String::new(), ty, Origin::Result(op, n), pending.span);
            self.module.ops[op].results.push(value);
        }
        for region in pending.regions {
            self.module.regions[region].op = Some(op);
        }
        self.narrow_by_type(op)?;
        Ok(op)
    }

    /// Takes a text for one of the releases that leave the types of arrays open, if an array has
    /// another type than later releases infer.
    fn narrow_by_type(&mut self, op: Op) -> Result<()> {
        let older = Releases::until(18);
        let op = self.module.op(op);
        let Some(wanted) = op.array_type().filter(|_| self.asked.is_none()) else {
            return Ok(());
        };
        let (found, span) = (op.result_type("result"), op.data().span);
        if *found == wanted || !self.allows(older) {
            return Ok(());
        }
        let text = self.module.spell().ty(found);
        self.word_of(older, &text, span)
    }

    /// The value of a name. It must have this type.
    fn typed(&self, used: &Use, ty: &Type) -> Result<Value> {
        let value = self.resolve(used)?;
        let known = self.module.ty(value);
        if known == ty {
            return Ok(value);
        }
        let spell = self.module.spell();
        let message = format!(
            "`%{}` has type `{}`, not `{}`",
            used.name,
            spell.ty(known),
            spell.ty(ty)
        );
        let place = self.module.values[value].span;
        Err(self
            .fault(
                code::TYPES_DIFFER,
                message,
                used.span,
                format!("used as `{}`", spell.ty(ty)),
            )
            .also(self.source(), place, format!("`{}`", spell.ty(known)))
            .help(format!("write `{}`, or use another value", spell.ty(known))))
    }

    fn check_count(&self, group: &Group, n: usize, thing: &str, pending: &Pending) -> Result<()> {
        let fits = match group.count {
            Count::One => n == 1,
            Count::Optional => n <= 1,
            Count::Any => true,
        };
        if fits {
            return Ok(());
        }
        let name = pending.definition.name;
        let wanted = match group.count {
            Count::One => "one",
            _ => "at most one",
        };
        let message = format!(
            "`{name}` has {} `{}`, not {wanted}",
            counted(n, thing),
            group.name
        );
        Err(self
            .fault(code::BAD_COUNT, message, pending.span, "of this operation")
            .help(format!("give it {wanted}")))
    }

    fn check_regions(&self, pending: &Pending) -> Result<()> {
        let specs = &pending.definition.regions;
        let least = specs.iter().filter(|spec| spec.count == Count::One).count();
        let is_open = specs.iter().any(|spec| spec.count == Count::Any);
        let n = pending.regions.len();
        if n >= least && (is_open || n <= specs.len()) {
            return Ok(());
        }
        let message = format!(
            "`{}` has {}, not {n}",
            pending.definition.name,
            counted(specs.len(), "region")
        );
        Err(self
            .fault(code::BAD_REGION, message, pending.span, "of this operation")
            .help("write each region in braces, an empty one as `{}`"))
    }

    fn kind_of_reduction(&mut self, kind: &str, span: Span) -> Result<()> {
        match COMBINING.iter().find(|(known, _)| *known == kind) {
            Some((kind, releases)) => self.word_of(*releases, kind, span),
            None => {
                let releases = self.releases();
                let is_known = |(_, known): &&(&str, Releases)| known.and(releases).is_some();
                let kinds = COMBINING.iter().filter(is_known).map(|(kind, _)| *kind);
                let kinds: Vec<&str> = kinds.collect();
                let kinds = kinds.join(", ");
                let message = format!("`{kind}` is no kind of reductions");
                Err(self
                    .fault(code::BAD_ATTRIBUTE, message, span, "of this operation")
                    .help(format!("write one of {kinds}")))
            }
        }
    }

    /// The attributes in normal form: words in place of numbers, and no defaults.
    fn normal_attributes(&mut self, pending: &mut Pending) -> Result<Dictionary> {
        let given = std::mem::take(&mut pending.attributes);
        let mut found = Dictionary::new();
        for (name, value) in given {
            let spec = pending.definition.attribute(&name);
            if let (Some(AttributeKind::Dialect("vector.kind", _)), Attribute::Dialect(_, kind)) =
                (spec.map(|spec| spec.kind), &value)
            {
                self.kind_of_reduction(kind, pending.span)?;
            }
            let value = match (spec.map(|spec| spec.kind), value) {
                (Some(AttributeKind::Word(words)), value) => {
                    let word = match &value {
                        Attribute::Integer(n, ty) if *ty == Type::integer(64) => {
                            usize::try_from(*n)
                                .ok()
                                .and_then(|n| words.words.get(n).copied())
                        }
                        Attribute::Dialect(dialect, body) => {
                            let own = words.prefix.filter(|(name, _)| name == dialect);
                            own.and_then(|(_, before)| body.strip_prefix(before))
                                .and_then(|word| words.word(word))
                        }
                        Attribute::Word(word) => words.word(word),
                        Attribute::Text(text) => words.word(text),
                        _ => None,
                    };
                    match word {
                        Some(word) => Attribute::Word(word),
                        None => {
                            let message = format!(
                                "`{name}` of `{}` is another word",
                                pending.definition.name
                            );
                            return Err(self
                                .fault(
                                    code::BAD_ATTRIBUTE,
                                    message,
                                    pending.span,
                                    "of this operation",
                                )
                                .help(format!("write one of {}", words.words.join(", "))));
                        }
                    }
                }
                // Defaults are dropped.
                (Some(AttributeKind::Dialect(_, usual)), Attribute::Dialect(_, body))
                    if body == usual && spec.is_some_and(|spec| spec.is_optional) =>
                {
                    continue;
                }
                (Some(AttributeKind::Numbers), value) => match value.integers() {
                    Some(numbers) => Attribute::Numbers(
                        Type::integer(64),
                        numbers.into_iter().map(Number::Integer).collect(),
                    ),
                    None => value,
                },
                // The form omits these defaults.
                (_, Attribute::Map(map))
                    if name == "permutation_map" && map.is_minor_identity() =>
                {
                    continue;
                }
                (_, Attribute::Array(list))
                    if name == "in_bounds"
                        && list.iter().all(|entry| *entry == Attribute::Bool(false)) =>
                {
                    continue;
                }
                // All spellings of iterator types become text.
                (_, Attribute::Array(list)) if name == "iterator_types" => {
                    let word = |entry: Attribute| match entry {
                        Attribute::Dialect(dialect, word) if dialect.ends_with("iterator_type") => {
                            Attribute::Text(word)
                        }
                        entry => entry,
                    };
                    Attribute::Array(list.into_iter().map(word).collect())
                }
                (_, value) => value,
            };
            found.push((name, value));
        }
        pending.definition.sort(&mut found);
        Ok(found)
    }
}
