//! Printing forms that the table of definitions cannot describe: functions, loops,
//! `linalg.generic`.

use crate::attribute::{Attribute, Dictionary};
use crate::module::{Operation, Region, Value};
use crate::spell::{level_range, symbol};
use crate::types::Type;

use super::Printer;

impl Printer<'_> {
    /// Prints the custom part of a form with this name.
    pub(super) fn custom(&mut self, name: &str, operation: Operation<'_>) {
        match name {
            "Module" => self.module_form(operation),
            "Function" => self.function_form(operation),
            "Constant" => self.constant_form(operation),
            "Generic" => self.generic_form(operation),
            "Left" => self.side_form(operation, "left_identity", 1),
            "Right" => self.side_form(operation, "right_identity", 2),
            "LevelRange" => {
                let level = |name| {
                    operation
                        .attribute(name)
                        .and_then(Attribute::natural)
                        .unwrap_or_default()
                };
                let text = format!("lvls = {}", level_range(level("loLvl"), level("hiLvl")));
                self.word(&text);
            }
            "For" => self.for_form(operation),
            "If" => self.if_form(operation),
            "While" => self.while_form(operation),
            "Iterate" => self.iterate_form(operation),
            "Coiterate" => self.coiterate_form(operation),
            other => unreachable!("no form is named {other}"),
        }
    }

    fn text_of(operation: Operation<'_>, name: &str) -> Option<String> {
        match operation.attribute(name) {
            Some(Attribute::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// `attributes {…}` with the attributes that the form does not show.
    fn attributes_behind_word(&mut self, operation: Operation<'_>, shown: &[&str]) {
        let text = self.dictionary(operation, shown);
        if !text.is_empty() {
            self.word(&format!("attributes {text}"));
        }
    }

    fn module_form(&mut self, operation: Operation<'_>) {
        if let Some(name) = Self::text_of(operation, "sym_name") {
            self.word(&symbol(&[name]));
        }
        self.attributes_behind_word(operation, &["sym_name"]);
        self.space();
        self.region(
            operation.data().regions[0],
            operation.data().definition,
            false,
        );
    }

    fn function_form(&mut self, operation: Operation<'_>) {
        let key = match operation.name() {
            "builtin.func" => "type",
            _ => "function_type",
        };
        let Some(Attribute::Type(Type::Function(ty))) = operation.attribute(key) else {
            unreachable!("a function has a type")
        };
        if let Some(visibility) = Self::text_of(operation, "sym_visibility") {
            self.word(&visibility);
        }
        let name = Self::text_of(operation, "sym_name").unwrap_or_default();
        self.word(&symbol(&[name]));
        let extra = |list: &str, n: usize| -> String {
            match operation.attribute(list) {
                Some(Attribute::Array(lists)) => match lists.get(n) {
                    Some(Attribute::Dictionary(entries)) if !entries.is_empty() => {
                        format!(" {}", self.spell.dictionary(entries))
                    }
                    _ => String::new(),
                },
                _ => String::new(),
            }
        };
        let body = operation.data().regions.first().copied();
        let body = body.filter(|body| self.module.regions[*body].block.is_some());
        let block = body.and_then(|body| self.module.regions[body].block);
        let arguments: Vec<Value> = block
            .map(|block| self.module.blocks[block].arguments.clone())
            .unwrap_or_default();
        let argument = |(n, ty): (usize, &Type)| {
            let ty = self.spell.ty(ty);
            let extra = extra("arg_attrs", n);
            match arguments.get(n) {
                Some(value) => format!("{}: {ty}{extra}", self.value(*value)),
                None => format!("{ty}{extra}"),
            }
        };
        let inputs: Vec<String> = ty.inputs.iter().enumerate().map(argument).collect();
        let has_extra = operation.attribute("res_attrs").is_some();
        let result =
            |(n, ty): (usize, &Type)| format!("{}{}", self.spell.ty(ty), extra("res_attrs", n));
        let results: Vec<String> = ty.results.iter().enumerate().map(result).collect();
        let mut text = format!("({})", inputs.join(", "));
        match &results[..] {
            [] => {}
            [only] if !has_extra && !matches!(ty.results[0], Type::Function(_)) => {
                text += &format!(" -> {only}")
            }
            several => text += &format!(" -> ({})", several.join(", ")),
        }
        self.out.push_str(&text);
        let shown = ["sym_name", "sym_visibility", key, "arg_attrs", "res_attrs"];
        self.attributes_behind_word(operation, &shown);
        if let Some(body) = body {
            self.space();
            self.region(body, operation.data().definition, false);
        }
    }

    fn constant_form(&mut self, operation: Operation<'_>) {
        let text = self.dictionary(operation, &["value"]);
        if !text.is_empty() {
            self.word(&text);
        }
        if let Some(value) = operation.attribute("value") {
            let text = match value {
                // The type tells `true` from `1 : i8`.
                Attribute::Integer(n, ty) => format!("{n} : {}", self.spell.ty(ty)),
                Attribute::Float(value, ty) => match ty {
                    Type::Float(float) => format!("{} : {}", value.text(*float), self.spell.ty(ty)),
                    _ => self.spell.whole(&Attribute::Float(*value, ty.clone())),
                },
                other => self.spell.attribute(other),
            };
            self.word(&text);
        }
    }

    fn generic_form(&mut self, operation: Operation<'_>) {
        let own = ["indexing_maps", "iterator_types", "doc", "library_call"];
        let is_own = |(name, _): &&(String, Attribute)| own.contains(&name.as_str());
        let own_entries: Dictionary = operation
            .data()
            .attributes
            .iter()
            .filter(is_own)
            .cloned()
            .collect();
        let text = self.spell.dictionary(&own_entries);
        self.word(&text);
        for (word, name) in [("ins", "inputs"), ("outs", "outputs")] {
            let values = operation.operands(name);
            if !values.is_empty() {
                let text = format!(
                    "{word}({} : {})",
                    self.values(values),
                    self.types_of(values)
                );
                self.word(&text);
            }
        }
        let rest = self.dictionary(operation, &own);
        if !rest.is_empty() {
            self.word(&format!("attrs = {rest}"));
        }
        self.space();
        self.region(
            operation.data().regions[0],
            operation.data().definition,
            true,
        );
        let results = operation.results("results");
        if !results.is_empty() {
            let text = format!("-> {}", self.spell.results(&operation.result_types()));
            self.word(&text);
        }
    }

    fn side_form(&mut self, operation: Operation<'_>, identity: &str, place: usize) {
        match operation.attribute(identity) {
            Some(_) => self.word("identity"),
            None => {
                self.space();
                self.region(
                    operation.data().regions[place],
                    operation.data().definition,
                    true,
                );
            }
        }
    }

    /// The arguments of a region's block.
    fn arguments(&self, region: Region) -> Vec<Value> {
        let block = self.module.regions[region].block;
        block
            .map(|block| self.module.blocks[block].arguments.clone())
            .unwrap_or_default()
    }

    /// `(%a = %x, …)`
    fn bindings(&self, names: &[Value], values: &[Value]) -> String {
        let one = |(name, value): (&Value, &Value)| {
            format!("{} = {}", self.value(*name), self.value(*value))
        };
        let texts: Vec<String> = names.iter().zip(values).map(one).collect();
        format!("({})", texts.join(", "))
    }

    fn for_form(&mut self, operation: Operation<'_>) {
        let region = operation.data().regions[0];
        let arguments = self.arguments(region);
        let bound = |name| self.value(operation.operand(name));
        let mut text = format!(
            "{} = {} to {} step {}",
            arguments
                .first()
                .map_or_else(String::new, |value| self.value(*value)),
            bound("lowerBound"),
            bound("upperBound"),
            bound("step")
        );
        let carried = operation.operands("initArgs");
        if !carried.is_empty() {
            let types = self.spell.types(&operation.operand_types("initArgs"));
            let bindings = self.bindings(arguments.get(1..).unwrap_or_default(), carried);
            text += &format!(" iter_args{bindings} -> ({types})");
        }
        let ty = operation.operand_type("lowerBound");
        if *ty != Type::Index {
            text += &format!("  : {}", self.spell.ty(ty));
        }
        self.word(&text);
        self.space();
        self.region(region, operation.data().definition, false);
        self.attributes_behind(operation, &[]);
    }

    fn attributes_behind(&mut self, operation: Operation<'_>, shown: &[&str]) {
        let text = self.dictionary(operation, shown);
        if !text.is_empty() {
            self.word(&text);
        }
    }

    fn if_form(&mut self, operation: Operation<'_>) {
        let text = self.value(operation.operand("condition"));
        self.word(&text);
        let results = operation.result_types();
        if !results.is_empty() {
            let text = format!("-> ({})", self.spell.types(&results));
            self.word(&text);
        }
        let definition = operation.data().definition;
        self.space();
        self.region(operation.data().regions[0], definition, false);
        let otherwise = operation.data().regions[1];
        if self.module.regions[otherwise].block.is_some() {
            self.word("else ");
            self.region(otherwise, definition, false);
        }
        self.attributes_behind(operation, &[]);
    }

    fn while_form(&mut self, operation: Operation<'_>) {
        let [before, after] = operation.data().regions[..] else {
            unreachable!("a loop has two regions")
        };
        let inits = operation.operands("inits");
        if !inits.is_empty() {
            let text = self.bindings(&self.arguments(before), inits);
            self.out.push(' ');
            self.out.push_str(&text);
        }
        let text = format!(
            ": {}",
            self.spell
                .function(&operation.operand_types("inits"), &operation.result_types())
        );
        self.word(&text);
        let definition = operation.data().definition;
        self.space();
        self.region(before, definition, false);
        self.word("do ");
        self.region(after, definition, true);
        let text = self.dictionary(operation, &[]);
        if !text.is_empty() {
            self.word(&format!("attributes {text}"));
        }
    }

    /// The text ` at(%i, _)` of at least so many levels, if one is used, and the number of the first
    /// argument that is no coordinate.
    fn at_coordinates(
        &self,
        operation: Operation<'_>,
        arguments: &[Value],
        (first, n_levels): (usize, usize),
    ) -> (String, usize) {
        let used = match operation.attribute("crdUsedLvls") {
            Some(Attribute::Integer(bits, _)) => *bits as u64,
            _ => 0,
        };
        if used == 0 {
            return (String::new(), first);
        }
        let n_levels = n_levels.max(64 - used.leading_zeros() as usize);
        let mut next = first;
        let mut texts = Vec::new();
        for level in 0..n_levels {
            match (used >> level & 1, arguments.get(next)) {
                (1, Some(value)) => {
                    texts.push(self.value(*value));
                    next += 1;
                }
                _ => texts.push("_".to_owned()),
            }
        }
        (format!(" at({})", texts.join(", ")), next)
    }

    fn iterate_form(&mut self, operation: Operation<'_>) {
        let region = operation.data().regions[0];
        let arguments = self.arguments(region);
        let n_levels = n_levels(operation.operand_type("iterSpace"));
        let (at, next) = self.at_coordinates(operation, &arguments, (1, n_levels));
        let iterator = arguments
            .first()
            .map_or_else(String::new, |value| self.value(*value));
        let mut text = format!(
            "{iterator} in {}{at}",
            self.value(operation.operand("iterSpace"))
        );
        let carried = operation.operands("initArgs");
        if !carried.is_empty() {
            text += &format!(
                " iter_args{}",
                self.bindings(arguments.get(next..).unwrap_or_default(), carried)
            );
        }
        text += &format!(" : {}", self.spell.ty(operation.operand_type("iterSpace")));
        if !carried.is_empty() {
            text += &format!(" -> {}", self.spell.results(&operation.result_types()));
        }
        self.word(&text);
        self.space();
        self.region(region, operation.data().definition, false);
        self.attributes_behind(operation, &["crdUsedLvls"]);
    }

    fn coiterate_form(&mut self, operation: Operation<'_>) {
        let spaces = operation.operands("iterSpaces");
        let regions = &operation.data().regions;
        let first = regions
            .first()
            .map(|region| self.arguments(*region))
            .unwrap_or_default();
        let types = operation.operand_types("iterSpaces");
        let n_levels = types.iter().map(n_levels).max().unwrap_or(0);
        let (at, next) = self.at_coordinates(operation, &first, (0, n_levels));
        let carried = operation.operands("initArgs");
        let mut text = format!("({}){at}", self.values(spaces));
        if !carried.is_empty() {
            text += &format!(
                " iter_args{}",
                self.bindings(first.get(next..).unwrap_or_default(), carried)
            );
        }
        text += &format!(" : ({})", self.types_of(spaces));
        if !carried.is_empty() {
            text += &format!(" -> {}", self.spell.results(&operation.result_types()));
        }
        self.out.push(' ');
        self.out.push_str(&text);
        let cases = operation
            .attribute("cases")
            .and_then(Attribute::integers)
            .unwrap_or_default();
        for (region, case) in regions.iter().zip(cases) {
            let arguments = self.arguments(*region);
            let mut iterators = arguments
                .get(next + carried.len()..)
                .unwrap_or_default()
                .iter();
            let name = |n: usize| match case.checked_shr(n as u32).unwrap_or(0) & 1 {
                1 => iterators
                    .next()
                    .map_or_else(|| "_".to_owned(), |value| self.value(*value)),
                _ => "_".to_owned(),
            };
            let names: Vec<String> = (0..spaces.len()).map(name).collect();
            self.line();
            self.out.push_str(&format!("case {} ", names.join(", ")));
            self.region(*region, operation.data().definition, false);
        }
        self.attributes_behind(operation, &["crdUsedLvls", "cases"]);
    }
}

/// The number of levels of an iteration space, as far as a loop can name coordinates of them.
fn n_levels(space: &Type) -> usize {
    match space {
        Type::Space(space) => space.to.saturating_sub(space.from).min(64) as usize,
        _ => 0,
    }
}
