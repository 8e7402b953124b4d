//! The descriptor of a Binsparse file: read from JSON, and written.
//!
//! ```text
//! {"binsparse": {
//!    "version": "0.1.0",                          "0.1" is read too
//!    "format": "CSC",                             or "custom", with a level tree
//!    "shape": [4, 5],
//!    "number_of_stored_values": 3,
//!    "fill": true,                                optional: there is a `fill_value`
//!    "structure": "symmetric_lower",              optional: half of a matrix
//!    "data_types": {"pointers_to_1": "int32", "indices_1": "int32", "values": "float64"}},
//!  "author": "…"}                                 anything else is the user's
//! ```
//!
//! [`Descriptor::parse`] checks everything that can be checked without the
//! arrays; what it returns is consistent: the tree takes as many modes as the
//! shape has, and `transpose` is a permutation.

use serde_json::{Map, Value, json};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, MAX_ORDER, Result, code};

use super::json::{Node, Object};
use super::levels::{Kind, Tree, TreeLevel, names};
use super::types::DataType;
use crate::content::Structure;
use crate::input::Input;

/// The version that is written: the one that every reader takes.
const VERSION: &str = "0.1.0";

/// Which half of a matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half {
    /// What the other half follows from.
    pub(super) structure: Structure,
    /// Whether the entries lie below the diagonal, rather than above.
    pub(super) lower: bool,
}

const HALVES: [(&str, Half); 6] = {
    const fn half(structure: Structure, lower: bool) -> Half {
        Half { structure, lower }
    }
    [
        ("symmetric_lower", half(Structure::Symmetric, true)),
        ("symmetric_upper", half(Structure::Symmetric, false)),
        ("hermitian_lower", half(Structure::Hermitian, true)),
        ("hermitian_upper", half(Structure::Hermitian, false)),
        ("skew_symmetric_lower", half(Structure::SkewSymmetric, true)),
        (
            "skew_symmetric_upper",
            half(Structure::SkewSymmetric, false),
        ),
    ]
};

/// What a descriptor says.
#[derive(Debug)]
pub(super) struct Descriptor<'a> {
    /// The levels of the format.
    pub(super) tree: Tree,
    /// One extent a mode.
    pub(super) shape: Vec<u64>,
    /// How many values there are, those of `iso` arrays counted as if they were stored.
    pub(super) n_stored: u64,
    /// Whether there is a `fill_value`.
    pub(super) has_fill: bool,
    /// The half that is stored, if not all is.
    pub(super) half: Option<Half>,
    types: Object<'a>,
    root: Object<'a>,
}

impl<'a> Descriptor<'a> {
    /// The descriptor in a JSON text.
    ///
    /// # Errors
    /// `E0461` for what is no descriptor, `E0462` for names without a meaning.
    pub(super) fn parse(text: &'a Input) -> Result<Self> {
        let all = Node::parse(text)?.object("the whole")?;
        let root = all.need("binsparse")?.object("binsparse")?;
        check_version(root.need("version")?)?;
        let tree = tree(&root)?;
        let shape = root.need("shape")?;
        let extents = shape.list("shape")?;
        if extents.len() != tree.order() {
            let message = format!(
                "the shape has {} extents, the format {} modes",
                extents.len(),
                tree.order()
            );
            return Err(shape.fault(code::BAD_DESCRIPTOR, message, "one extent a mode"));
        }
        let extents = extents.into_iter().map(|extent| extent.count("shape"));
        let has_fill = match optional(&root, "fill") {
            Some(node) => node.truth("fill")?,
            None => false,
        };
        let descriptor = Self {
            tree,
            shape: extents.collect::<Result<_>>()?,
            n_stored: root
                .need("number_of_stored_values")?
                .count("number_of_stored_values")?,
            has_fill,
            half: half(&root)?,
            types: root.need("data_types")?.object("data_types")?,
            root,
        };
        descriptor.check_square()?;
        Ok(descriptor)
    }

    fn check_square(&self) -> Result<()> {
        let is_square = matches!(self.shape[..], [rows, columns] if rows == columns);
        match self.root.get("structure") {
            Some(structure) if self.half.is_some() && !is_square => Err(structure.fault(
                code::BAD_DESCRIPTOR,
                "only square matrices have a structure",
                format!("the shape is {:?}", self.shape),
            )),
            _ => Ok(()),
        }
    }

    /// The type that the array called `name` is said to have.
    pub(super) fn data_type(&self, name: &str) -> Result<DataType> {
        let node = self.types.need(name)?;
        let text = node.text(name)?;
        DataType::parse(&text).ok_or_else(|| {
            let message = format!("`{text}` is no Binsparse type");
            node.fault(code::UNSUPPORTED_BINSPARSE, message, "unknown type")
                .help("types are `int8` to `int64`, `uint8` to `uint64`, `float32`, `float64`, `bint8`, and these in `complex[ ]` and `iso[ ]`")
        })
    }

    /// A fault of the member called `key`, which the descriptor has.
    pub(super) fn fault(&self, key: &str, message: String, label: &str) -> Diagnostic {
        match self.root.get(key) {
            Some(node) => node.fault(code::BINSPARSE_ARRAY, message, label),
            None => Diagnostic::new(code::BINSPARSE_ARRAY, message),
        }
    }
}

/// A member that may be missing or `null`.
fn optional<'a>(object: &Object<'a>, key: &str) -> Option<Node<'a>> {
    object.get(key).filter(|node| !node.is_null())
}

fn check_version(node: Node<'_>) -> Result<()> {
    let version = node.text("version")?;
    let known = |version: &str| {
        let numbers: Vec<&str> = version.split(['.', '-', '+']).collect();
        numbers.starts_with(&["0", "1"])
    };
    if known(&version) {
        return Ok(());
    }
    let message = format!("version `{version}` of Binsparse is not known");
    Err(node
        .fault(code::UNSUPPORTED_BINSPARSE, message, "unknown version")
        .help("write the file as version `0.1`"))
}

fn half(root: &Object<'_>) -> Result<Option<Half>> {
    let Some(node) = optional(root, "structure") else {
        return Ok(None);
    };
    let name = node.text("structure")?;
    // Some writers say so where there is none.
    if name == "general" {
        return Ok(None);
    }
    match HALVES.iter().find(|(known, _)| *known == name) {
        Some(&(_, half)) => Ok(Some(half)),
        None => Err(unknown(
            node,
            "structure",
            &name,
            HALVES.iter().map(|half| half.0),
        )),
    }
}

fn unknown<'n>(
    node: Node<'_>,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Diagnostic {
    let message = format!("`{name}` is no Binsparse {what}");
    let error = node.fault(
        code::UNSUPPORTED_BINSPARSE,
        message,
        format!("unknown {what}"),
    );
    match closest(name, known.clone()) {
        Some(close) => error.help(format!("did you mean `{close}`?")),
        None => error.help(format!(
            "use one of {}",
            known.collect::<Vec<_>>().join(" ")
        )),
    }
}

/// The level tree that the format stands for.
fn tree(root: &Object<'_>) -> Result<Tree> {
    let node = root.need("format")?;
    let name = node.text("format")?;
    if name != "custom" {
        let known = names().collect::<Vec<_>>();
        return Tree::predefined(&name)
            .ok_or_else(|| unknown(node, "format", &name, known.into_iter().chain(["custom"])));
    }
    let custom = root.need("custom")?.object("custom")?;
    let levels = levels(custom.need("level")?)?;
    let mut tree = Tree {
        levels,
        transpose: None,
    };
    if let Some(node) = optional(&custom, "transpose") {
        let modes = node.list("transpose")?.into_iter();
        let modes = modes.map(|mode| mode.count("transpose"));
        let modes: Vec<u64> = modes.collect::<Result<_>>()?;
        let mut sorted = modes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..tree.order() as u64) {
            let label = format!("each of 0 to {} once", tree.order().saturating_sub(1));
            let message = "`transpose` is no permutation of the modes";
            return Err(node.fault(code::BAD_DESCRIPTOR, message, label));
        }
        let is_identity = modes.iter().copied().eq(0..modes.len() as u64);
        tree.transpose = (!is_identity).then(|| modes.iter().map(|&mode| mode as usize).collect());
    }
    Ok(tree)
}

/// The levels from `node` down to the elements.
fn levels(mut node: Node<'_>) -> Result<Vec<TreeLevel>> {
    let mut levels = Vec::new();
    let mut order = 0;
    loop {
        let level = node.object("level")?;
        let named = level.need("level_desc")?;
        let name = named.text("level_desc")?;
        let kind = match name.as_str() {
            "element" => return Ok(levels),
            "dense" => Kind::Dense,
            "sparse" => Kind::Sparse,
            _ => {
                let known = ["element", "dense", "sparse"].into_iter();
                return Err(unknown(named, "level", &name, known));
            }
        };
        let counted = level.need("rank")?;
        let rank = counted.count("rank")?;
        if rank == 0 {
            let message = "a level takes at least one mode";
            return Err(counted.fault(code::BAD_DESCRIPTOR, message, "expected 1 or more"));
        }
        order = rank.saturating_add(order);
        if order > MAX_ORDER as u64 {
            let message = format!("the levels take more than {MAX_ORDER} modes");
            return Err(counted.fault(code::BAD_DESCRIPTOR, message, "one too many from here"));
        }
        let rank = rank as usize;
        levels.push(TreeLevel { kind, rank });
        node = level.need("level")?;
    }
}

/// What is written of a tensor: everything but the arrays.
#[derive(Debug)]
pub(super) struct Written<'a> {
    /// The levels of the format.
    pub(super) tree: &'a Tree,
    /// One extent a mode.
    pub(super) shape: &'a [u64],
    /// How many values there are.
    pub(super) n_stored: usize,
    /// Whether there is a `fill_value`.
    pub(super) has_fill: bool,
    /// What the half that is not stored follows from; the lower one is.
    pub(super) structure: Structure,
    /// The arrays and their types.
    pub(super) types: &'a [(String, DataType)],
}

impl Written<'_> {
    /// The descriptor as JSON.
    pub(super) fn to_json(&self) -> String {
        let (format, custom) = self.tree.describe();
        let types: Map<String, Value> = self
            .types
            .iter()
            .map(|(name, ty)| (name.clone(), ty.name().into()))
            .collect();
        let mut all = json!({
            "version": VERSION,
            "format": format,
            "shape": self.shape,
            "number_of_stored_values": self.n_stored,
            "data_types": types,
        });
        if let Some(custom) = custom {
            all["custom"] = custom;
        }
        if self.has_fill {
            all["fill"] = true.into();
        }
        let half = HALVES
            .iter()
            .find(|(_, half)| half.structure == self.structure && half.lower);
        if let Some((name, _)) = half {
            all["structure"] = (*name).into();
        }
        format!("{:#}", json!({ "binsparse": all }))
    }
}
