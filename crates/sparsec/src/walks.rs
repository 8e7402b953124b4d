//! Expressions over operands whose formats are relations.

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, Result, Source, code, suggest};
use sparsec_computation::Computation;
use sparsec_index::Program;
use sparsec_notation::{Declaration, Declarations, Notation};
use sparsec_tensor::{Array, Coords, Entries, PackOptions, Tensor};

pub use sparsec_walk::{Copied, CopiedPart, Operands, Types};

use crate::compile::default_input_format;
use crate::compute::{Given, compile_computation};
use crate::request::{Request, TensorSpec};
use crate::session::Session;

/// The computation of an expression whose operands of these names are stored as
/// their descriptors say, and all other tensors dense, row by row.
///
/// Its index arrays have names such as `A_ptr` for `ptr` of the format of `A`; the
/// extent of `i` is `Ni`. `types` are of tensors and of index arrays: else entries
/// are `f64`, and index arrays `i32`.
///
/// # Errors
/// Those of the expression, `E0207` for an operand that it does not have and a type
/// of neither, `E0820` where it is no sum of products.
///
/// ```
/// use sparsec::internals::walk::{Operands, Types, walk};
/// use sparsec::Source;
/// let diagonals = "
///     format dia
///     extents NR, NC
///     map {[d, r] -> [i, j] : 0 <= d < ND && 0 <= r < NR && i = r && j = r + off(d) && 0 <= j < NC}
///     data {[d, r] -> [NR * d + r]}
///     values {[p] : 0 <= p < ND * NR}
///     function off : {[d] : 0 <= d < ND} -> {[k] : 0 - NR < k < NC} increasing
/// ".parse()?;
/// let expression = Source::new("expression", "y(i) = A(i,j) * x(j)");
/// let spmv = walk(
///     &expression,
///     &Operands::from([("A".to_owned(), diagonals)]),
///     &Types::from([("A_off".to_owned(), sparsec::ElementType::I64)]),
/// )?;
/// assert!(spmv.to_string().contains("y(i) += A(d * Ni + r) * x(j)"));
/// assert!(spmv.to_string().contains("given A_off : i64[A_ND]"));
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn walk(expression: &Source, operands: &Operands, types: &Types) -> Result<Computation> {
    let program = resolved(expression, operands, types)?;
    let made = sparsec_walk::walk(&program, operands, types)?;
    check_types(types, &program, [&made])?;
    Ok(made)
}

/// How the operands of an expression are copied, of which [`walk`] makes no
/// computation: one computation for each of them, which says where each value belongs.
///
/// # Errors
/// As [`walk`]; `E0820` only where an operand does not fit its descriptor.
pub fn copies(expression: &Source, operands: &Operands, types: &Types) -> Result<Vec<Copied>> {
    let program = resolved(expression, operands, types)?;
    let copies = sparsec_walk::copies(&program, operands, types)?;
    check_types(types, &program, copies.iter().map(|copy| &copy.computation))?;
    Ok(copies)
}

impl Session {
    /// Computes an expression whose operands of these names are stored as their
    /// descriptors say: through the descriptors where [`walk`] can, else from
    /// copies of the operands.
    ///
    /// `given` has the index arrays and constants under the names that [`walk`]
    /// gives them, and the other operands.
    ///
    /// # Errors
    /// Those of the expression; `E0518` and `E0519` for what is given, `E0520` for an
    /// operand that has to be copied and of which one value is several entries.
    ///
    /// ```
    /// use sparsec::internals::walk::{Operands, Types};
    /// use sparsec::internals::Given;
    /// use sparsec::{Session, Source, Tensor};
    /// let coo = "
    ///     format coo
    ///     extents N
    ///     map {[n] -> [i] : 0 <= n < NZ && i = crd(n)}
    ///     data {[n] -> [n]}
    ///     values {[n] : 0 <= n < NZ}
    ///     function crd : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
    /// ".parse()?;
    /// let (crd, a) = (Tensor::dense(&[2], [2i32, 0])?, Tensor::dense(&[2], [5.0, -7.0])?);
    /// let x = Tensor::dense(&[3], [1.0, 2.0, 3.0])?;
    /// let given = Given::new().parameter("Ni", 3).parameter("A_NZ", 2);
    /// let given = given.data("A_crd", &crd).data("A", &a).data("x", &x);
    /// let results = Session::interpreter().execute(
    ///     &Source::new("expression", "y(i) = max(A(i), x(i))"),
    ///     &Operands::from([("A".to_owned(), coo)]),
    ///     &Types::new(),
    ///     &given,
    /// )?;
    /// assert_eq!(results["y"].values::<f64>(), Some(&[1.0, 2.0, 5.0][..]));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn execute(
        &self,
        expression: &Source,
        operands: &Operands,
        types: &Types,
        given: &Given<'_>,
    ) -> Result<BTreeMap<String, Tensor>> {
        match walk(expression, operands, types) {
            Err(error) if error.code() == code::NO_WALK => {}
            made => return self.compute(&compile_computation(&made?)?, given),
        }
        let copies = copies(expression, operands, types)?;
        let mut request = Request::new(expression.clone());
        let notation = request.notation()?;
        let extents = notation.index_variables().into_iter();
        let extents: Vec<String> = extents.map(|var| format!("N{var}")).collect();
        let names = request.names()?;
        let made = copies.iter().map(|copied| &copied.computation);
        let given_data = made.clone().flat_map(|made| &made.spaces);
        let given_data = given_data.filter(|space| space.role.is_given());
        let inputs = names.iter().filter(|name| name.may_be_input);
        let mut known: Vec<&str> = (made.flat_map(|made| &made.parameters))
            .chain(given_data.map(|space| &space.name))
            .chain(&extents)
            .chain(inputs.map(|name| &name.name))
            .map(String::as_str)
            .collect();
        known.sort_unstable();
        known.dedup();
        if let Some(name) = given.other_than(&known) {
            let message = format!("the expression has no data and no parameter `{name}`");
            return Err(unused(message, name, &known));
        }
        let mut tensors = BTreeMap::new();
        for copied in &copies {
            tensors.insert(copied.operand.clone(), self.copy(copied, given)?);
        }
        for name in names {
            if let Some(tensor) = given.tensor(&name.name).filter(|_| name.may_be_input) {
                let tensor = tensor.try_clone()?;
                tensors.entry(name.name).or_insert(tensor);
            }
        }
        // Copies have those of their modes; of others nothing else may tell.
        let is_copied = |name: &str| copies.iter().any(|it| it.extents.iter().any(|e| e == name));
        for (name, value) in given.parameters().filter(|(name, _)| !is_copied(name)) {
            if let (true, Ok(extent)) = (extents.iter().any(|it| it == name), value.try_into()) {
                request.extents.insert(name["N".len()..].to_owned(), extent);
            }
        }
        for (name, tensor) in &tensors {
            *request.tensor(name) = TensorSpec::like(tensor);
        }
        let kernel = self.plan_request(&request)?;
        let mut binding = kernel.binding();
        for (name, tensor) in &tensors {
            binding = binding.bind(name, tensor)?;
        }
        binding.evaluate_all()
    }

    /// The copy of an operand in the format that an operand has of which nothing is
    /// said.
    ///
    /// # Errors
    /// `E0518` and `E0519` for what is given; `E0520` where a value is at several
    /// coordinates.
    #[doc(hidden)]
    pub fn copy(&self, copied: &Copied, given: &Given<'_>) -> Result<Tensor> {
        let computation = &copied.computation;
        let given = given.for_computation(computation);
        let arrays = self.compute(&compile_computation(computation)?, &given)?;
        let values = given.tensor(&copied.operand);
        let values = values
            .expect("computing has checked that it is given")
            .vals();
        let mut places = Vec::new();
        let mut coordinates: Vec<u64> = Vec::new();
        for part in &copied.parts {
            let counts = arrays[&part.count].vals();
            let crd: Vec<&Array> = part
                .coordinates
                .iter()
                .map(|it| arrays[it].vals())
                .collect();
            for place in 0..values.len() {
                match counts.index(place) {
                    0 => continue,
                    1 => {}
                    n => return Err(shared(copied, place, n)),
                }
                places.push(place);
                coordinates.extend(crd.iter().map(|crd| crd.index(place) as u64));
            }
        }
        let mut kept = Array::zeroed(values.element(), places.len())?;
        for (to, from) in places.into_iter().enumerate() {
            kept.set(to, values.get(from));
        }
        let extents = copied.extents.iter();
        let entries = Entries {
            extents: extents
                .map(|name| given.value(name).expect("checked as well") as u64)
                .collect(),
            coords: Coords::from(coordinates),
            values: kept,
        };
        let format = default_input_format(copied.extents.len());
        Tensor::pack_entries(&format, entries, PackOptions::default())
    }
}

fn shared(copied: &Copied, place: usize, n: i64) -> Diagnostic {
    let name = &copied.operand;
    let message = format!("value {place} of `{name}` is at {n} tuples of its format");
    Diagnostic::new(code::VALUE_SHARED, message)
        .note("this expression needs a copy of its operands, with one value for each entry")
        .help(
            "give each entry a value of its own, or make the others parts of their own, by `union`",
        )
}

/// The program of an expression that has all these operands.
fn resolved(expression: &Source, operands: &Operands, types: &Types) -> Result<Program> {
    let notation = Notation::parse(expression)?;
    let names = notation.tensor_names();
    for operand in operands.keys() {
        if !names.iter().any(|known| known.name == *operand) {
            let message = format!("the expression has no tensor `{operand}`");
            let known: Vec<&str> = names.iter().map(|known| known.name.as_str()).collect();
            return Err(unused(message, operand, &known));
        }
    }
    let mut declarations = Declarations::new();
    for name in names.iter().filter(|name| name.may_be_input) {
        let declaration = Declaration {
            element: types.get(&name.name).copied(),
            ..Declaration::with_order(name.order)
        };
        declarations.declare(name.name.as_str(), declaration);
    }
    notation.resolve(&declarations)
}

/// Whether all types are of something that there is.
fn check_types<'a>(
    types: &Types,
    program: &Program,
    made: impl IntoIterator<Item = &'a Computation>,
) -> Result<()> {
    let spaces = made.into_iter().flat_map(|made| &made.spaces);
    let mut known: Vec<&str> = spaces.map(|space| space.name.as_str()).collect();
    for (_, tensor) in program.tensors.iter() {
        if !known.contains(&tensor.name.as_str()) {
            known.push(&tensor.name);
        }
    }
    match types.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            let message = format!("there is no tensor or index array `{name}`");
            Err(unused(message, name, &known))
        }
        None => Ok(()),
    }
}

fn unused(message: String, name: &str, known: &[&str]) -> Diagnostic {
    let error = Diagnostic::new(code::UNUSED_NAME, message);
    match suggest::closest(name, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("one of {}", known.join(", "))),
    }
}
