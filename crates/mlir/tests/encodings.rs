//! Encodings to formats and back, and formats without an encoding.

use sparsec_base::{Source, code};
use sparsec_format::{Format, FormatSpec, presets};
use sparsec_mlir::{Dialect, Encoding, Module};

/// The encoding with these keys.
fn encoding(keys: &str, dialect: Option<Dialect>) -> Encoding {
    let text = format!("#A = #sparse_tensor.encoding<{{ {keys} }}>");
    let module = Module::parse(&Source::new("encoding", text.as_str()), dialect);
    let module = module.unwrap_or_else(|refusal| panic!("{text}\n{refusal}"));
    (*module.encodings()[0].1).clone()
}

#[test]
fn every_spelling_is_the_same_encoding() {
    let rows = encoding("map = (i, j) -> (i : dense, j : compressed)", None);
    for keys in [
        "dimLevelType = [\"dense\", \"compressed\"]",
        "dimLevelType = [\"dense\", \"compressed\"], dimOrdering = affine_map<(i, j) -> (i, j)>",
        "lvlTypes = [\"dense\", \"compressed\"]",
        "map = {r, c}(i = r, j = c) -> (r = i : dense, c = j : compressed), posWidth = 0",
    ] {
        assert_eq!(encoding(keys, None), rows, "{keys}");
    }
    assert_eq!(
        rows.to_format().expect("a format").levels(),
        Format::csr().levels()
    );
}

#[test]
fn presets_are_encodings_and_back() {
    let mut n = 0;
    for preset in presets() {
        for order in 1..4 {
            let spec = preset.text(order).parse::<FormatSpec>();
            let Some(format) = spec.ok().and_then(|spec| spec.resolve(order).ok()) else {
                continue;
            };
            let Ok(encoding) = Encoding::of_format(&format) else {
                continue;
            };
            let again = encoding.to_format().expect("a format of its own encoding");
            assert!(again.stores_like(&format), "{format} became {again}");
            // The printed text of the encoding parses back.
            let text = format!("#A = #sparse_tensor.encoding<{}>", spelled(&encoding));
            let module = Module::parse(&Source::new("text", text.as_str()), Some(Dialect::Sparsec));
            let module = module.unwrap_or_else(|refusal| panic!("{text}\n{refusal}"));
            assert_eq!(*module.encodings()[0].1, encoding);
            n += 1;
        }
    }
    assert!(n > 15, "{n} presets");
}

fn spelled(encoding: &Encoding) -> String {
    let aliases = sparsec_mlir::Aliases::default();
    let spell = sparsec_mlir::Spell {
        dialect: Dialect::Sparsec,
        aliases: &aliases,
    };
    let attribute = sparsec_mlir::Attribute::Encoding(encoding.clone().into());
    let text = spell.attribute(&attribute);
    let inside = text
        .strip_prefix("#sparse_tensor.encoding<")
        .expect("an encoding");
    inside.trim_end_matches('>').to_owned()
}

#[test]
fn clauses_have_no_encoding() {
    for text in ["csr, lower", "csr, fill 1", "csr, symmetric", "hyb(2)"] {
        let spec: FormatSpec = text.parse().expect("a format");
        let format = spec.resolve(2).expect("a format of matrices");
        let refusal = Encoding::of_format(&format).expect_err("no encoding");
        assert_eq!(refusal.code(), code::NO_ENCODING, "{text}");
    }
}
