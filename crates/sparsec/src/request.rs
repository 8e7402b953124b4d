//! What is asked: an expression, and what is known of its tensors.

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code, suggest};
use sparsec_format::FormatSpec;
use sparsec_index::UserFunction;
use sparsec_loop::passes::Division;
use sparsec_notation::TensorName;
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_tensor::Tensor;

/// Tensors by name.
pub type Inputs = BTreeMap<String, Tensor>;

/// Tensors by name, where they are.
pub(crate) type Operands<'a> = BTreeMap<&'a str, &'a Tensor>;

/// An expression, and what is known of its tensors before data is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// One or more statements of index notation.
    pub expression: Source,
    /// Functions that the expression may call, beside those that it defines.
    pub functions: Vec<UserFunction>,
    /// What is known of tensors, by name.
    pub tensors: BTreeMap<String, TensorSpec>,
    /// Extents of index variables, by name.
    pub extents: BTreeMap<String, u64>,
    /// Where a text states these extents, by the names of the variables; may be empty.
    pub extent_places: BTreeMap<String, (Source, Span)>,
    /// Commands to use in place of those that planning would choose; what they
    /// leave open is planned.
    pub schedule: Option<Source>,
    /// Whether floating-point numbers are computed with in the order in which the
    /// expression has them. Where not, a factor that a sum does not depend on may be
    /// multiplied after it: the same up to rounding, but an infinity that the factor
    /// stores gives `inf` where products with zeros or of both signs would give `NaN`.
    pub strict: bool,
    /// How much work, in operations, makes a chunk worth its while where parallel loops
    /// are divided. It changes the order in which chunks of sums are added, and nothing else.
    pub grain: u32,
}

/// What is known of one tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorSpec {
    /// How it is stored; for an input, the input's own format if not given.
    pub format: Option<FormatSpec>,
    /// The type of its entries.
    pub element: Option<ElementType>,
    /// One extent a mode.
    pub extents: Option<Vec<u64>>,
    /// The value of entries that are not stored.
    pub fill: Option<Scalar>,
    /// Where this is known from, in words for diagnostics, such as "read from
    /// `web.mtx`"; may be empty.
    pub origin: String,
    /// Where a text states the extents, one place a mode; may be empty.
    pub places: Vec<(Source, Span)>,
}

impl Request {
    /// An expression of whose tensors nothing is known yet.
    pub fn new(expression: Source) -> Self {
        Self {
            expression,
            functions: Vec::new(),
            tensors: BTreeMap::new(),
            extents: BTreeMap::new(),
            extent_places: BTreeMap::new(),
            schedule: None,
            strict: false,
            grain: Division::default().grain,
        }
    }

    /// What is known of the tensor `name`, to be added to.
    pub fn tensor(&mut self, name: &str) -> &mut TensorSpec {
        self.tensors.entry(name.to_owned()).or_default()
    }

    /// Says how the tensor `name` is stored, as a preset or a map.
    ///
    /// # Errors
    /// The `E01` code of what is wrong with the format's text.
    pub fn set_format(&mut self, name: &str, format: &str) -> Result<()> {
        let source = Source::new(format!("format of {name}"), format);
        self.tensor(name).format = Some(FormatSpec::parse(&source)?);
        Ok(())
    }

    /// The expression as a tree.
    ///
    /// # Errors
    /// The `E01` or `E02` code of what is wrong with its text.
    pub fn notation(&self) -> Result<Notation> {
        Notation::parse_with(&self.expression, &self.functions)
    }

    /// Every tensor that the expression names, in order of appearance.
    ///
    /// # Errors
    /// The `E01` or `E02` code of what is wrong with the expression's text.
    pub fn names(&self) -> Result<Vec<TensorName>> {
        Ok(self.notation()?.tensor_names())
    }

    /// What the request and the inputs say of tensors and index variables.
    ///
    /// Of a name that statements assign too, the inputs say what it begins with,
    /// and the request what holds of every value.
    pub(crate) fn declarations(
        &self,
        notation: &Notation,
        inputs: &Operands<'_>,
        extents: Option<&BTreeMap<String, Vec<u64>>>,
    ) -> Declarations {
        let mut declarations = Declarations::new();
        for tensor in notation.tensor_names() {
            let name = tensor.name.as_str();
            let (input, spec) = (inputs.get(name), self.tensors.get(name));
            let spec = spec.cloned().unwrap_or_default();
            let mut begins = declaration(&spec, input.copied());
            let extents = extents.and_then(|extents| extents.get(name)).cloned();
            begins.extents = begins.extents.or(extents);
            if !tensor.written {
                if input.is_some() || self.tensors.contains_key(name) || begins.extents.is_some() {
                    declarations.declare(name, begins);
                }
                continue;
            }
            if self.tensors.contains_key(name) {
                declarations.declare(name, declaration(&spec, None));
            }
            if input.is_some() || (tensor.is_input && inputs.is_empty()) {
                begins.order = begins.order.or(Some(tensor.order));
                declarations.give(name, begins);
            }
        }
        // What is said of names that the program does not have is refused there.
        let names = self.tensors.keys().map(String::as_str);
        for name in names.chain(inputs.keys().copied()) {
            let known = declarations.knows(name);
            if !known {
                declarations.declare(name, Declaration::default());
            }
        }
        for (var, extent) in &self.extents {
            declarations.set_extent(var.as_str(), *extent);
            if let Some((source, span)) = self.extent_places.get(var) {
                declarations.place_extent(var.as_str(), source, *span);
            }
        }
        if inputs.is_empty() {
            declare_operands(notation, &mut declarations);
        }
        declarations
    }
}

/// What is said of a tensor, and what an input says where nothing is said.
fn declaration(spec: &TensorSpec, input: Option<&Tensor>) -> Declaration {
    let spec = spec.clone();
    let input_extents = input.map(|tensor| tensor.extents().to_vec());
    Declaration {
        element: spec.element.or(input.map(Tensor::element)),
        extents: spec.extents.or(input_extents),
        fill: spec.fill.or(input.map(Tensor::fill)).or_else(|| {
            let declared = spec.format.as_ref().and_then(FormatSpec::fill);
            declared.map(Scalar::F64)
        }),
        order: spec.format.as_ref().and_then(FormatSpec::order),
        origin: spec.origin,
        places: spec.places,
    }
}

/// Declares the tensors that a program reads and nobody declared: compiled
/// without data, it takes them as arguments.
fn declare_operands(notation: &Notation, declarations: &mut Declarations) {
    for tensor in notation.tensor_names() {
        if tensor.read && !tensor.written && declarations.get(&tensor.name).is_none() {
            declarations.declare(tensor.name, Declaration::with_order(tensor.order));
        }
    }
}

impl TensorSpec {
    /// What is known of tensors that are stored as this one is.
    pub(crate) fn like(tensor: &Tensor) -> Self {
        Self {
            format: Some(tensor.format().into()),
            element: Some(tensor.element()),
            fill: Some(tensor.fill()),
            ..Self::default()
        }
    }
}

/// Refuses a name that is no tensor of the program.
pub(crate) fn check_tensor(notation: &Notation, name: &str) -> Result<()> {
    let known = notation.tensor_names();
    if known.iter().any(|tensor| tensor.name == name) {
        return Ok(());
    }
    let spans = notation.statements.iter().map(|statement| statement.span);
    let error = Diagnostic::new(
        code::UNUSED_NAME,
        format!("the program has no tensor `{name}`"),
    )
    .at(
        &notation.source,
        spans.reduce(Span::to).unwrap_or_default(),
        format!("no `{name}` in here"),
    );
    let names = known.iter().map(|tensor| tensor.name.as_str());
    Err(match suggest::closest(name, names.clone()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => {
            let all: Vec<&str> = names.collect();
            error.help(format!("its tensors are {}", all.join(", ")))
        }
    })
}
