//! Reading a preset: a name, and the numbers that it takes.

use sparsec_base::{Diagnostic, Result, Span, code};

use super::{Parser, map_with, meant};
use crate::level::LevelKind;
use crate::preset::{Parameters, Preset, presets};
use crate::region::{Mirrored, Side};
use crate::relational::{RelationPreset, relation_presets};
use crate::spec::{Form, SpecPart};

impl Parser {
    pub(super) fn preset(&mut self) -> Result<SpecPart> {
        let (name, place) = self.tokens.name("a format")?;
        let Some(preset) = Preset::find(&name) else {
            return match RelationPreset::find(&name) {
                Some(preset) => self.relation(preset, place),
                None => Err(self.unknown_preset(&name, place)),
            };
        };
        let mut arguments = Vec::new();
        let mut whole = place;
        if self.tokens.eat("(") {
            loop {
                let (size, span) = self.tokens.integer("a size").map_err(|error| {
                    let order = preset.order.unwrap_or(2);
                    error.help(format!("write it like `{}`", preset.text(order)))
                })?;
                if !(1..=1 << 31).contains(&size) {
                    return Err(self.bad_arguments(
                        preset,
                        span,
                        "sizes from 1 to 2^31",
                        "no such size",
                    ));
                }
                arguments.push(size);
                whole = place.to(self.tokens.peek().span);
                if !self.more(")")? {
                    break;
                }
            }
        }
        let takes = match preset.parameters {
            Parameters::None => 0..=0,
            Parameters::One => 1..=1,
            Parameters::EachMode => 1..=sparsec_base::MAX_ORDER,
        };
        if !takes.contains(&arguments.len()) {
            let why = match preset.parameters {
                Parameters::None => "no numbers",
                Parameters::One => "one number",
                Parameters::EachMode => "the size of its blocks in each mode",
            };
            let label = match arguments.len() {
                0 => "no number here".to_owned(),
                1 => "one number here".to_owned(),
                n => format!("{n} numbers here"),
            };
            return Err(self.bad_arguments(preset, whole, why, &label));
        }
        let n_modes = match preset.parameters {
            Parameters::EachMode => Some(arguments.len()),
            _ => preset.order,
        };
        let clauses = self.clauses(n_modes)?;
        Ok(SpecPart {
            place,
            form: Form::Preset {
                preset,
                arguments,
                clauses,
            },
        })
    }

    /// The rest of a preset that is a relation: its numbers.
    fn relation(&mut self, preset: &'static RelationPreset, place: Span) -> Result<SpecPart> {
        let mut numbers = Vec::new();
        let mut whole = place;
        if self.tokens.eat("(") {
            loop {
                let (number, span) = self
                    .tokens
                    .integer("a number")
                    .map_err(|error| error.help(format!("write it like `{}`", preset.text())))?;
                let parameter = preset.parameters.get(numbers.len());
                if let Some(parameter) = parameter
                    && !(parameter.range.0..=parameter.range.1).contains(&number)
                {
                    let (least, most) = parameter.range;
                    let message = format!(
                        "`{}` takes {} from {least} to {most}",
                        preset.name, parameter.summary
                    );
                    return Err(Diagnostic::new(code::PRESET_ARGUMENTS, message)
                        .at(self.source(), span, "not in there")
                        .help(format!("write `{}`", preset.text())));
                }
                numbers.push(number);
                whole = place.to(self.tokens.peek().span);
                if !self.more(")")? {
                    break;
                }
            }
        }
        if numbers.len() != preset.parameters.len() {
            let wanted: Vec<&str> = preset.parameters.iter().map(|it| it.summary).collect();
            let wanted = match wanted[..] {
                [] => "no numbers".to_owned(),
                _ => format!("numbers: {}", wanted.join(", ")),
            };
            let message = format!("`{}` takes {wanted}", preset.name);
            let label = format!("{} here", numbers.len());
            return Err(Diagnostic::new(code::PRESET_ARGUMENTS, message)
                .at(self.source(), whole, label)
                .help(format!("write `{}`", preset.text())));
        }
        let form = match preset.order {
            Some(order) => Form::Relation(preset.build(order, &numbers)?),
            None => Form::RelationOfOrder { preset, numbers },
        };
        Ok(SpecPart { place: whole, form })
    }

    fn bad_arguments(&self, preset: &Preset, place: Span, takes: &str, label: &str) -> Diagnostic {
        let message = format!("`{}` takes {takes}", preset.name);
        Diagnostic::new(code::PRESET_ARGUMENTS, message)
            .at(self.source(), place, label)
            .help(format!(
                "write `{}`",
                preset.text(preset.order.unwrap_or(2))
            ))
    }

    fn unknown_preset(&self, name: &str, place: Span) -> Diagnostic {
        let message = format!("no format is called `{name}`");
        if let Some(kind) = LevelKind::ALL.iter().find(|kind| kind.spec().name == name) {
            return Diagnostic::new(code::UNKNOWN_FORMAT, message)
                .at(self.source(), place, "this is a kind of level")
                .help(format!(
                    "name a kind for each mode, as in `{}`",
                    map_with(*kind)
                ));
        }
        let mirrors = Mirrored::ALL.map(Mirrored::name);
        if let Some(side) = mirrors
            .into_iter()
            .chain(Side::ALL.map(Side::name))
            .find(|side| name.starts_with(side))
        {
            let what = match mirrors.contains(&side) {
                true => "what entries stand for",
                false => "which entries are stored",
            };
            return Diagnostic::new(code::UNKNOWN_FORMAT, message)
                .at(self.source(), place, format!("`{side}` says {what}"))
                .help(format!(
                    "write it behind a format, as in `csr, {side}(i, j)`"
                ));
        }
        let of_levels = presets().iter().map(|preset| preset.name);
        let of_relations = relation_presets().iter().map(|preset| preset.name);
        let names: Vec<&str> = of_levels.chain(of_relations).collect();
        Diagnostic::new(code::UNKNOWN_FORMAT, message)
            .at(self.source(), place, "no format has this name")
            .help(meant(name, names.iter().copied()).unwrap_or_else(|| {
                format!(
                    "use one of `{}`, or a map such as `(i, j) -> (i : dense, j : compressed)`",
                    names.join("`, `")
                )
            }))
    }
}
