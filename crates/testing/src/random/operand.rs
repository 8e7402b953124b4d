//! Random operands: a format, a type, and small integers at random places.

use std::fmt;

use proptest::prelude::*;
use sparsec::internals::generate;
use sparsec::internals::index::Operator;
use sparsec::{
    Array, Complex, ElementType, Entries, Format, FormatSpec, PackOptions, Result, Scalar, Source,
    Tensor, Widths, code,
};
use sparsec_base::Kind;
use sparsec_format::Mirrored;

use super::format::format;
use super::huge;

/// Types that every operation takes.
const REAL: [ElementType; 12] = [
    ElementType::I8,
    ElementType::I16,
    ElementType::I32,
    ElementType::I64,
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::F16,
    ElementType::Bf16,
    ElementType::F32,
    ElementType::F64,
];

/// How an operand is stored, and what makes its entries.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) format: String,
    pub(crate) element: ElementType,
    pub(crate) density: f64,
    pub(crate) seed: u64,
    /// What is not stored.
    pub(crate) fill: f64,
}

pub(crate) fn any(order: usize) -> impl Strategy<Value = Operand> {
    // Most programs have one or two types, so that few are refused for mixing an
    // order with complex numbers.
    let element = prop_oneof![
        8 => Just(ElementType::F64),
        2 => Just(ElementType::I64),
        6 => prop::sample::select(REAL.to_vec()),
        1 => prop::sample::select(vec![ElementType::C64, ElementType::C128, ElementType::Bool]),
    ];
    let density = prop::sample::select(vec![0.0, 0.1, 0.4, 0.8, 1.0]);
    let fill = prop_oneof![
        10 => Just(0.0),
        2 => Just(1.0),
        // Of types without infinities: 0.
        2 => prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY]),
    ];
    let all = (format(order), element, density, 0..1000u64, fill);
    all.prop_map(|(format, element, density, seed, fill)| Operand {
        format,
        element,
        density,
        seed,
        fill,
    })
}

impl Operand {
    /// The operand with these extents.
    pub(crate) fn tensor(&self, extents: &[u64]) -> Tensor {
        let format = self.resolved(extents.len());
        let is_square = |[a, b]: [usize; 2]| extents[a] == extents[b];
        let format = match format.mirror().is_none_or(|mirror| is_square(mirror.modes)) {
            true => format,
            false => format.nearest(),
        };
        match self.generated(extents, &format) {
            Err(error) if error.code() == code::INDEX_WIDTH_OVERFLOW => {
                let wide = format.with_widths(Widths::default());
                self.generated(extents, &wide)
            }
            packed => packed,
        }
        .expect("small tensors")
    }

    /// The format for a tensor of this order.
    pub(crate) fn resolved(&self, order: usize) -> Format {
        FormatSpec::parse(&Source::new("format", self.format.as_str()))
            .and_then(|spec| spec.resolve(order))
            .expect("the strategy writes formats")
    }

    /// What generates its entries.
    pub(crate) fn spec(&self) -> String {
        let Self { density, seed, .. } = self;
        format!("random(density={density:?}, seed={seed}, values=int)")
    }

    /// Small integers; of unsigned types without a sign, of complex ones with an
    /// imaginary part.
    fn generated(&self, extents: &[u64], format: &Format) -> Result<Tensor> {
        let source = Source::new("generator", self.spec());
        let small = huge::drawn(extents);
        let whole = generate(&source, &small, None, ElementType::I64).expect("small tensors");
        let mut entries = whole.entries();
        if small != extents {
            huge::spread(&mut entries, extents);
        }
        let mut values = Array::zeroed(self.element, entries.values.len()).expect("small tensors");
        for at in 0..values.len() {
            let value = entries.values.get(at).to_f64();
            let value = match self.element.kind() {
                Kind::Complex => Scalar::C128(Complex::new(value, (value * 7.0) % 5.0)),
                Kind::Unsigned => Scalar::F64(value.abs()),
                _ => Scalar::F64(value),
            };
            values.set(at, value.cast(self.element).expect("small numbers"));
        }
        entries.values = values;
        let fill = match format.mirror() {
            // Mirror images of what is not stored are not stored.
            Some(_) => None,
            None => Scalar::F64(self.fill).cast(self.element),
        };
        if format.n_parts() == 1 {
            entries = fitted(&entries, format);
        }
        let options = PackOptions {
            fill: Some(fill.unwrap_or(self.element.zero())),
            ..PackOptions::default()
        };
        Tensor::pack_entries(format, entries, options)
    }
}

/// Those entries that a format of one part holds, with the mirror images that it has
/// of them.
fn fitted(entries: &Entries, format: &Format) -> Entries {
    let mut coords = Vec::new();
    let mut values = Vec::new();
    for (at, value) in entries.iter() {
        let mut at = at.to_vec();
        let is_held = format.region().is_none_or(|region| region.holds(&at));
        let mirror = format.mirror();
        let is_diagonal = mirror.is_some_and(|it| at[it.modes[0]] == at[it.modes[1]]);
        let is_own_image = mirror.is_none_or(|it| it.of == Mirrored::Symmetric);
        if !is_held || (is_diagonal && !is_own_image) {
            continue;
        }
        coords.extend(&at);
        values.push(value);
        if let Some(mirror) = mirror.filter(|_| !is_diagonal) {
            let computed = value.cast(value.element().computed()).expect("as wide");
            let image = match mirror.of {
                Mirrored::Symmetric => Some(value),
                // A truth value is its own negative and its own conjugate.
                _ if value.element() == ElementType::Bool => Some(value),
                Mirrored::Skew => Operator::Neg.evaluate(&[computed]),
                Mirrored::Hermitian => Operator::Conj.evaluate(&[computed]),
            };
            at.swap(mirror.modes[0], mirror.modes[1]);
            coords.extend(&at);
            values.push(image.expect("small numbers"));
        }
    }
    let element = entries.values.element();
    let mut array = Array::zeroed(element, values.len()).expect("small tensors");
    for (at, value) in values.into_iter().enumerate() {
        array.set(at, value.cast(element).expect("of that type"));
    }
    Entries {
        extents: entries.extents.clone(),
        coords: coords.into(),
        values: array,
    }
}

/// As options of the program, but for the fill, signs and imaginary parts.
impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            format,
            element,
            fill,
            ..
        } = self;
        write!(f, "{element} in {format}, {}, fill {fill}", self.spec())
    }
}
