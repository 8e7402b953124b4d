//! The encodings of a module, each in the spelling of every release.

use std::sync::Arc;

use crate::attribute::Attribute;
use crate::module::{Module, Op};
use crate::release::Dialect;
use crate::spell::{Aliases, Spell};
use crate::types::Type;

use super::Encoding;

/// The releases that introduced another spelling.
const SHOWN: [u8; 4] = [14, 16, 17, 19];

impl Module {
    /// Every encoding of the module: its spelling in each release, its format, and the arrays of a
    /// tensor in this format.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_mlir::Module;
    /// let text = "#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
    /// func.func private @f(tensor<8xf64, #SV>)";
    /// let module = Module::parse(&Source::new("text", text), None)?;
    /// assert!(module.encodings_text().contains("format  (d0) -> (d0 : compressed)"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn encodings_text(&self) -> String {
        let mut out = String::new();
        for (n, (name, encoding)) in self.encodings().into_iter().enumerate() {
            if n > 0 {
                out.push('\n');
            }
            out.push_str(&format!("{name}\n"));
            for release in SHOWN {
                let dialect = Dialect::Release(release);
                let text = match encoding.refusal(dialect) {
                    Some(why) => why,
                    None => spelled(&encoding, dialect),
                };
                out.push_str(&format!("  {release:<7} {text}\n"));
            }
            if encoding.refusal(Dialect::Release(Dialect::USUAL)).is_some() {
                out.push_str(&format!(
                    "  sparsec {}\n",
                    spelled(&encoding, Dialect::Sparsec)
                ));
            }
            let format = match encoding.to_format() {
                Ok(format) => format.to_string(),
                Err(refusal) => refusal.message().to_owned(),
            };
            out.push_str(&format!(
                "  format  {format}\n  arrays  {}\n",
                encoding.arrays().join(", ")
            ));
        }
        out
    }

    /// The encodings with their names: first those with aliases, then those that types spell out.
    pub fn encodings(&self) -> Vec<(String, Arc<Encoding>)> {
        let mut found: Vec<(String, Arc<Encoding>)> = Vec::new();
        for (name, value) in &self.aliases.attributes {
            if let Attribute::Encoding(encoding) = value {
                found.push((name.clone(), encoding.clone()));
            }
        }
        let mut others = Vec::new();
        for (_, ty) in &self.aliases.types {
            visit(ty, &mut |encoding| others.push(encoding.clone()));
        }
        others.extend(self.walk().into_iter().flat_map(|op| self.encodings_of(op)));
        for encoding in others {
            if !found.iter().any(|(_, known)| *known == encoding) {
                found.push((format!("encoding {}", found.len()), encoding));
            }
        }
        found
    }

    /// The encodings in the types and attributes of an operation and of its block arguments.
    pub(crate) fn encodings_of(&self, op: Op) -> Vec<Arc<Encoding>> {
        let data = &self.ops[op];
        let mut found = Vec::new();
        let mut look = |ty: &Type| visit(ty, &mut |encoding| found.push(encoding.clone()));
        let operands = data.operands.iter().map(|value| self.ty(*value));
        operands.chain(self.types_of(op)).for_each(&mut look);
        for (_, value) in &data.attributes {
            if let Attribute::Encoding(encoding) = value {
                found.push(encoding.clone());
            }
        }
        found
    }

    /// The types of the results of an operation, of its block arguments, and in its attributes.
    pub(crate) fn types_of(&self, op: Op) -> impl Iterator<Item = &Type> {
        let data = &self.ops[op];
        let blocks = data
            .regions
            .iter()
            .filter_map(|region| self.regions[*region].block);
        let arguments = blocks.flat_map(|block| &self.blocks[block].arguments);
        let values = data.results.iter().chain(arguments);
        let in_attributes = data.attributes.iter().filter_map(|(_, value)| match value {
            Attribute::Type(ty) => Some(ty),
            _ => None,
        });
        values.map(|value| self.ty(*value)).chain(in_attributes)
    }
}

/// Whether a type has an encoding.
pub(crate) fn has(ty: &Type, encoding: &Encoding) -> bool {
    let mut is_found = false;
    visit(ty, &mut |other| is_found |= **other == *encoding);
    is_found
}

/// Calls `found` with the encodings in a type.
pub(crate) fn visit(ty: &Type, found: &mut impl FnMut(&Arc<Encoding>)) {
    for part in ty.parts() {
        match part {
            Type::Tensor(tensor) => tensor.encoding.iter().for_each(&mut *found),
            Type::Specifier(encoding) => found(encoding),
            Type::Space(levels) | Type::Iterator(levels) => found(&levels.encoding),
            _ => {}
        }
    }
}

fn spelled(encoding: &Encoding, dialect: Dialect) -> String {
    let aliases = Aliases::default();
    encoding.text(&Spell {
        dialect,
        aliases: &aliases,
    })
}
