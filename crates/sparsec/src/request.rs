//! What is asked: an expression, and what is known of its tensors.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code, suggest};
use sparsec_format::FormatSpec;
use sparsec_index::{IndexVar, Program as Resolved, TensorRole, UserFunction};
use sparsec_loop::passes::Division;
use sparsec_notation::{Declaration, Declarations, Notation, TensorName};
use sparsec_plan::Wanted;
use sparsec_schedule::ProgramSchedule;
use sparsec_tensor::Tensor;

use crate::compile::Policy;

/// Tensors by name.
pub type Inputs = BTreeMap<String, Tensor>;

/// Tensors by name, where they are.
pub(crate) type Operands<'a> = BTreeMap<&'a str, &'a Tensor>;

/// An expression, and what is known of its tensors before data is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// One or more statements of index notation. Of a program that was built, the text that
    /// it prints as.
    pub expression: Source,
    /// The program, where it was built and not written.
    pub(crate) built: Option<Built>,
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
    /// How often the program will run on the same operands. Planning weighs a conversion of an
    /// operand, which is made once, against so many runs.
    pub runs: u32,
    /// The results that the caller reads; all of them if not given. Another one need not be
    /// computed as a whole, and an outcome may lack it.
    pub results: Option<BTreeSet<String>>,
    /// How products of several tensors are contracted.
    pub networks: Wanted,
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
    /// How many entries it is planned for, if it is no input at hand.
    pub n_stored: Option<u64>,
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
            built: None,
            functions: Vec::new(),
            tensors: BTreeMap::new(),
            extents: BTreeMap::new(),
            extent_places: BTreeMap::new(),
            schedule: None,
            strict: false,
            grain: Division::default().grain,
            runs: 1,
            results: None,
            networks: Wanted::default(),
        }
    }

    /// A program that was built. Its types, fills and extents are settled; formats may be
    /// said.
    ///
    /// # Errors
    /// What [`Program::verify`](Resolved::verify) says.
    pub fn of_program(program: &Resolved) -> Result<Self> {
        let mut program = program.clone();
        program.settle()?;
        let text = Source::new(program.source.name(), program.to_string());
        Ok(Self {
            built: Some(Built(Arc::new(program))),
            ..Self::new(text)
        })
    }

    /// The program that is asked for, over these inputs, whose extents may be fixed.
    ///
    /// # Errors
    /// Those of [`Notation::parse`] and [`Notation::resolve`] for text; for a program that
    /// was built, `E0021` for what is said otherwise than it has it.
    pub(crate) fn resolve(
        &self,
        inputs: &Operands<'_>,
        extents: Option<&BTreeMap<String, Vec<u64>>>,
    ) -> Result<Front> {
        let (program, schedule) = match &self.built {
            Some(Built(program)) => {
                let schedule = self.schedule_of(&program.functions())?;
                (self.settled(program, inputs, extents)?, schedule)
            }
            None => {
                let notation = self.notation()?;
                let schedule = self.schedule_of(&notation.functions())?;
                let declarations = self.declarations(&notation, inputs, extents);
                (notation.resolve(&declarations)?, schedule)
            }
        };
        Ok(Front {
            policy: Policy {
                schedule,
                strict: self.strict,
                grain: self.grain,
                runs: self.runs,
                results: self.results.clone(),
                networks: self.networks.clone(),
            },
            program,
        })
    }

    fn schedule_of(&self, functions: &[UserFunction]) -> Result<Option<ProgramSchedule>> {
        let schedule = self.schedule.as_ref();
        let schedule = schedule.map(|text| ProgramSchedule::parse_with(text, functions));
        schedule.transpose()
    }

    /// A program that was built, with the extents of its inputs and of index variables.
    fn settled(
        &self,
        program: &Resolved,
        inputs: &Operands<'_>,
        extents: Option<&BTreeMap<String, Vec<u64>>>,
    ) -> Result<Resolved> {
        let mut program = program.clone();
        for (name, spec) in &self.tensors {
            check_built(&program, name, spec)?;
        }
        for (name, extent) in &self.extents {
            let named = |var: &IndexVar| program.vars[*var].name == *name;
            let vars: Vec<IndexVar> = program.vars.ids().filter(named).collect();
            if vars.is_empty() {
                let names = program.vars.iter().map(|(_, data)| data.name.as_str());
                return Err(unused("index variable", name, &program.source, names));
            }
            for var in vars {
                let known = &mut program.vars[var].extent;
                *known = known.or(Some(*extent));
            }
        }
        for tensor in program.tensors.ids() {
            let data = &program.tensors[tensor];
            let name = data.source_name();
            let fixed = || extents.and_then(|extents| extents.get(name).map(Vec::as_slice));
            let given = inputs.get(name).map(|given| given.extents()).or_else(fixed);
            let given =
                given.filter(|given| data.role == TensorRole::Input && given.len() == data.order());
            let Some(given) = given.map(<[u64]>::to_vec) else {
                continue;
            };
            for (known, given) in program.tensors[tensor].extents.iter_mut().zip(given) {
                *known = known.or(Some(given));
            }
        }
        program.settle()?;
        Ok(program)
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

/// A request's program and what it is compiled by.
pub(crate) struct Front {
    pub(crate) program: Resolved,
    pub(crate) policy: Policy,
}

/// A program that was built. Two are equal if they say the same of their tensors and
/// statements; their texts decide their hash.
#[derive(Clone, Debug)]
pub(crate) struct Built(pub(crate) Arc<Resolved>);

impl PartialEq for Built {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.0, &other.0);
        Arc::ptr_eq(a, b)
            || (a.statements == b.statements
                && a.same_extent == b.same_extent
                && a.tensors.iter().eq(b.tensors.iter())
                && a.vars.iter().eq(b.vars.iter()))
    }
}

impl Eq for Built {}

impl Hash for Built {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.source.text().hash(state);
    }
}

/// Refuses what a program that was built has otherwise.
fn check_built(program: &Resolved, name: &str, spec: &TensorSpec) -> Result<()> {
    let mut tensors = program.tensors.iter();
    let Some((_, data)) = tensors.find(|(_, data)| data.source_name() == name) else {
        let names = program.tensors.iter().map(|(_, data)| data.source_name());
        return Err(unused("tensor", name, &program.source, names));
    };
    let refuse = |what: &str, has: String, said: String| {
        let message = format!("`{name}` has {what} `{has}`, and is said to have `{said}`");
        Err(Diagnostic::new(code::NOT_AS_PLANNED, message)
            .at(&program.source, data.span, "built so")
            .help(format!("build the program with this {what}")))
    };
    if let Some(element) = spec.element.filter(|element| *element != data.element) {
        return refuse("type", data.element.to_string(), element.to_string());
    }
    let is_other = |fill: &Scalar| fill.as_type(data.element) != Some(data.fill);
    if let Some(fill) = spec.fill.filter(is_other) {
        return refuse("fill", data.fill.to_string(), fill.to_string());
    }
    let known = |extents: &Vec<u64>| {
        let same = |(known, said): (&Option<u64>, &u64)| known.is_some_and(|known| known == *said);
        extents.len() == data.order() && data.extents.iter().zip(extents).all(same)
    };
    if let Some(extents) = spec.extents.as_ref().filter(|extents| !known(extents)) {
        return refuse(
            "extents",
            format!("{:?}", data.extents),
            format!("{extents:?}"),
        );
    }
    Ok(())
}

/// That a program has no such name.
fn unused<'a>(
    what: &str,
    name: &str,
    source: &Source,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let error = Diagnostic::new(
        code::UNUSED_NAME,
        format!("the program has no {what} `{name}`"),
    );
    let whole = Span::new(0, source.text().len());
    let error = error.at(source, whole, format!("no `{name}` in here"));
    match suggest::closest(name, known) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("leave out what is said of `{name}`")),
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

/// Refuses a name that is none of the tensors `known` of a program, whose statements are
/// at `place`.
pub(crate) fn check_tensor(
    name: &str,
    (source, place): (&Source, Span),
    known: &[&str],
) -> Result<()> {
    if known.contains(&name) {
        return Ok(());
    }
    let error = Diagnostic::new(
        code::UNUSED_NAME,
        format!("the program has no tensor `{name}`"),
    )
    .at(source, place, format!("no `{name}` in here"));
    Err(match suggest::closest(name, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("its tensors are {}", known.join(", "))),
    })
}
