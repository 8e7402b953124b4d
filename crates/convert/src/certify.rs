//! The certificate of a conversion: which lemma establishes what, by the form of statements.
//!
//! Lemmas are proposed here by how statements look, and accepted by the checker of
//! `sparsec_certificate` alone, which knows nothing of this synthesis:
//!
//! ```text
//! B_pos1(j + 1) += 1, B_pos1(x + 1) += B_pos1(x)     Scan
//! B_q1(q1) = B_pos1(j) + ordinal(j of N1)            Start
//! B_crd1(B_q1(q1)) = i                               Keys
//! ```
//!
//! An array with statements of another form has no proposal. What the checker does not accept
//! is left without a proof, and the certificate says so.

mod forms;

use sparsec_base::Result;
use sparsec_certificate::{
    Certificate, Lemma, Line, Obligation, Part, Proof, Question, SourcePiece,
};
use sparsec_computation::{Computation, Role, Statement};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Descriptor, Expression, Image, Relation, Rewrite,
};

use self::forms::{Computed, arrays};
use crate::listing::ListArray;
use crate::problem::{Piece, Problem};
use crate::{Conversion, Places};

/// The modes that an image exchanges, and its values.
type Mirror = Option<([usize; 2], Image)>;

/// What a conversion is of.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The pieces: a part, or an image with its modes and values.
    source: Vec<(Descriptor, Mirror)>,
    pub(crate) destination: Vec<Descriptor>,
    places: Places,
    is_unique: bool,
    adds: bool,
    has_mask: bool,
    has_fill: bool,
    triangle: Mirror,
}

impl Origin {
    pub(crate) fn of(source: &[Piece<'_>], destination: &[Descriptor], problem: &Problem) -> Self {
        let pieces = source.iter().map(|piece| {
            let mirror = piece.image.map(|modes| (modes, piece.value));
            (piece.descriptor.clone(), mirror)
        });
        let triangle = problem.triangle.as_ref();
        Self {
            source: pieces.collect(),
            destination: destination.to_vec(),
            places: problem.places,
            is_unique: problem.is_unique,
            adds: problem.adds,
            has_mask: problem.has_padding,
            has_fill: problem.has_fill,
            triangle: triangle.map(|triangle| (triangle.modes, triangle.image)),
        }
    }

    /// What is asked of a computation.
    pub(crate) fn question<'a>(&'a self, computation: &'a Computation) -> Question<'a> {
        let pieces = self.source.iter();
        let pieces = pieces.map(|(descriptor, image)| SourcePiece {
            descriptor,
            image: *image,
        });
        Question {
            is_full: self.places == Places::Full && !self.has_mask,
            is_unique: self.is_unique,
            adds: self.adds,
            has_mask: self.has_mask,
            has_fill: self.has_fill,
            triangle: self.triangle,
            ..Question::new(pieces.collect(), &self.destination, computation)
        }
    }
}

/// The certificate that the forms of statements suggest, which nobody has checked.
///
/// # Errors
/// `E0831` for a conversion of a form that certificates cannot speak of.
pub(crate) fn proposal(conversion: &Conversion, origin: &Origin) -> Result<Certificate> {
    let computation = &conversion.computation;
    let mut obligations = origin.question(computation).obligations()?;
    let n = origin.destination.len();
    let mut parts = Vec::new();
    let of_parts = obligations.split_off(obligations.len() - n);
    let of_triangle = origin.triangle.and_then(|_| obligations.pop());
    for (number, obligations) in obligations.into_iter().enumerate() {
        parts.push(listed(computation, origin, (obligations, number))?);
    }
    if let Some(obligations) = of_triangle {
        parts.push(folded(computation, origin, obligations)?);
    }
    for (number, obligations) in of_parts.into_iter().enumerate() {
        let prefix = match n {
            1 => "B".to_owned(),
            _ => format!("B{}", number + 1),
        };
        // The first part meets all entries, so the count of them is its own.
        let is_own = |name: &str| match number + 1 == n {
            true => {
                !["L", "T"]
                    .iter()
                    .any(|list| name == *list || is_of(name, list))
                    && !(1..n).any(|other| is_of(name, &format!("B{other}")))
                    && (n == 1 || !is_of(name, "A"))
            }
            false => is_of(name, &prefix) || number == 0 && is_of(name, "A"),
        };
        let copy = copy_of(computation, "B", number);
        let lines = lines(computation, origin, (obligations, &[copy]), &is_own);
        let tuple = tuple(conversion, &origin.destination[number], number)?;
        parts.push(Part { tuple, lines });
    }
    Ok(Certificate { parts })
}

/// Whether an array belongs to the part of a destination whose names begin with `prefix`.
fn is_of(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.starts_with('_'))
}

/// The triangle that is combined from the list of all entries.
fn folded(
    computation: &Computation,
    origin: &Origin,
    obligations: Vec<Obligation>,
) -> Result<Part> {
    let missing = || crate::refused("nothing fills the triangle".to_owned());
    let copies = ["T", "T_image"].map(|values| copy_of(computation, values, 0));
    let is_own = |name: &str| name == "L_first" || is_of(name, "T") && name != "T_image";
    let lines = lines(computation, origin, (obligations, &copies), &is_own);
    let tuple = listed_tuple(copies[0].ok_or_else(missing)?).ok_or_else(missing)??;
    Ok(Part { tuple, lines })
}

/// The tuple of each entry in a list: the place at which a statement copies the value.
fn listed_tuple(copy: &Statement) -> Option<Result<Relation>> {
    let number = copy.target.indices.first()?;
    let space = &copy.space.parts()[0];
    let inputs: Vec<&str> = space.inputs().map(|v| space.name(v)).collect();
    let number = space.text_of(number);
    let tuple = format!("{{[{}] -> [n_] : n_ = {number}}}", inputs.join(", "));
    Some(tuple.parse())
}

/// The obligations of one part, with lemmas for the arrays that are its own.
fn lines(
    computation: &Computation,
    origin: &Origin,
    (obligations, copies): (Vec<Obligation>, &[Option<&Statement>]),
    is_own: &dyn Fn(&str) -> bool,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |obligation: Obligation, lemma: Option<Lemma>, statements: Vec<String>| {
        let proof = lemma.map(|lemma| Proof { lemma, statements });
        lines.push(Line { obligation, proof });
    };
    let (first, others): (Vec<_>, Vec<_>) = obligations
        .into_iter()
        .filter(|it| !matches!(it, Obligation::Values(_)))
        .partition(|it| matches!(it, Obligation::Settled | Obligation::Apart));
    for obligation in first {
        let lemma = match obligation {
            Obligation::Settled => Lemma::Schedule,
            _ if origin.is_unique => Lemma::Source,
            _ => Lemma::Arithmetic,
        };
        add(obligation, Some(lemma), Vec::new());
    }
    // Entries are counted before their number is relied on, if nothing else has to be known.
    let is_first = |(name, _, statements): &Computed| {
        let statements = statements.iter().filter_map(|name| computation.find(name));
        let mut spaces = statements.flat_map(|id| computation.statement(id).space.parts());
        name.ends_with("_entries") && !spaces.any(|space| reads_computed(computation, space))
    };
    let (counts, arrays): (Vec<Computed>, Vec<Computed>) = arrays(computation)
        .into_iter()
        .filter(|(name, ..)| is_own(name))
        .partition(is_first);
    for (name, lemma, statements) in counts {
        add(Obligation::Values(name), lemma, statements);
    }
    let copies: Vec<&Statement> = copies.iter().flatten().copied().collect();
    if copies
        .iter()
        .any(|copy| numbers_by_place(computation, copy, is_own))
    {
        add(Obligation::Ascending, Some(Lemma::Arithmetic), Vec::new());
    }
    for (name, lemma, statements) in arrays.clone() {
        add(Obligation::Values(name), lemma, statements);
    }
    let has_runs = arrays.iter().any(|it| it.1 == Some(Lemma::RunBounds));
    for obligation in others {
        let obligation = match obligation {
            Obligation::OwnPlace if has_runs => Obligation::Alike,
            other => other,
        };
        let (lemma, statements) = proposed(&obligation, &arrays, &copies);
        add(obligation, Some(lemma), statements);
    }
    lines
}

/// The certificate of a conversion, with the proofs that the checker accepts.
///
/// # Errors
/// As [`proposal`].
pub(crate) fn certificate(conversion: &Conversion, origin: &Origin) -> Result<Certificate> {
    let certificate = proposal(conversion, origin)?;
    let question = origin.question(&conversion.computation);
    Ok(question.examine(&certificate)?.0)
}

/// The list of entries for one piece of the source.
fn listed(
    computation: &Computation,
    origin: &Origin,
    (obligations, piece): (Vec<Obligation>, usize),
) -> Result<Part> {
    let missing = || crate::refused("nothing lists the entries of a piece".to_owned());
    let is_of_list = |name: &str, array| ListArray::of(name) == Some(array);
    let copy = copy_of(computation, "L", piece).ok_or_else(missing)?;
    let tuple = listed_tuple(copy).ok_or_else(missing)??;
    let lengths = ListArray::Lengths.name(piece);
    let is_shared = computation.space(&lengths).is_some();
    let needed = match is_shared {
        true => Obligation::Values(lengths),
        false => Obligation::Apart,
    };
    // The lemmas about numbers rely on this obligation, so it comes right after the counts.
    let mut obligations = obligations;
    let after = obligations.iter().position(
        |it| matches!(it, Obligation::Values(name) if is_of_list(name, ListArray::Numbers)),
    );
    let at = match is_shared {
        true => after.unwrap_or(0),
        false => 0,
    };
    obligations.insert(at, needed);
    let proofs = obligations.into_iter().map(|obligation| {
        let writers = |name: &str| -> Vec<String> {
            let writers = computation.writers(name);
            let writers = writers.map(|id| computation.statement(id).name.clone());
            writers.collect()
        };
        let (lemma, statements) = match &obligation {
            Obligation::Settled => (Lemma::Schedule, Vec::new()),
            Obligation::Apart if origin.is_unique => (Lemma::Source, Vec::new()),
            Obligation::Visited => (Lemma::Space, vec![copy.name.clone()]),
            Obligation::Values(name) if name == "L_NZ" => (Lemma::Count, writers(name)),
            Obligation::Values(name) if is_of_list(name, ListArray::Count) => match is_shared {
                true => (Lemma::CountedRuns, writers(name)),
                false => (Lemma::Counted, writers(name)),
            },
            Obligation::Values(name) if is_of_list(name, ListArray::Lengths) => {
                (Lemma::RunLengths, writers(name))
            }
            Obligation::Values(name) if is_of_list(name, ListArray::Numbers) => match is_shared {
                true => (Lemma::Spread, writers(name)),
                false => (Lemma::Placed, writers(name)),
            },
            Obligation::Values(name) => {
                let own = computation.writers(name);
                let own = own.map(|id| computation.statement(id));
                let own = own.filter(|it| {
                    it.target.indices == copy.target.indices && it.space == copy.space
                });
                (
                    Lemma::Listed,
                    own.take(1).map(|it| it.name.clone()).collect(),
                )
            }
            Obligation::Holds => (Lemma::Arithmetic, vec![copy.name.clone()]),
            Obligation::Declared(said) if said.starts_with("forall") => {
                (Lemma::ByNumbers, Vec::new())
            }
            _ => (Lemma::Arithmetic, Vec::new()),
        };
        let proof = Some(Proof { lemma, statements });
        Line { obligation, proof }
    });
    let lines = proofs.collect();
    Ok(Part { tuple, lines })
}

/// The statement that copies the values of entries of a part. One before may store the fill.
fn copy_of<'a>(computation: &'a Computation, values: &str, part: usize) -> Option<&'a Statement> {
    let statements = computation.statements.iter();
    let copies = statements.filter(|statement| {
        let reads = statement.value.entries();
        let is_fill = reads.first().is_some_and(|read| read.indices.is_empty());
        statement.target.space == values && !is_fill
    });
    let mut copies: Vec<&Statement> = copies.collect();
    // Names follow the order in which statements were written, part after part.
    copies.sort_by_key(|statement| (statement.name.len(), &statement.name));
    copies.get(part).copied()
}

/// Whether a conjunction has entries of arrays that the computation writes.
fn reads_computed(computation: &Computation, part: &Conjunction) -> bool {
    let mut reads = false;
    for e in part.constraints().iter().flat_map(Constraint::expressions) {
        e.visit(&mut |e| {
            if let Expression::Call(name, _) = e {
                let space = computation.space(name);
                reads |= space.is_some_and(|space| !space.role.is_given());
            }
        });
    }
    reads
}

/// Whether the place of an entry's value is its number in the destination too.
fn numbers_by_place(
    computation: &Computation,
    copy: &Statement,
    is_own: &dyn Fn(&str) -> bool,
) -> bool {
    let n = copy.variables().len();
    let reads = copy.value.entries();
    let Some([place]) = reads.first().map(|read| &read.indices[..]) else {
        return false;
    };
    // Of temporary arrays, those of runs hold what entries have by their numbers.
    let is_temporary = |name: &str| {
        let space = computation.space(name);
        space.is_some_and(|space| space.role == Role::Temporary) && !name.ends_with("_parent")
    };
    let mut statements = computation.statements.iter();
    statements.any(|statement| {
        let target = &statement.target;
        let is_entries = statement.variables().len() == n && is_own(&target.space);
        is_entries && target.indices[..] == [place.clone()] && !is_temporary(&target.space)
    })
}

/// The destination's tuple at an entry, from the cases of its elements.
fn tuple(conversion: &Conversion, destination: &Descriptor, part: usize) -> Result<Relation> {
    let map = &destination.map().parts()[0];
    let elements: Vec<_> = map.inputs().chain(map.exists()).collect();
    let found = |name: &str| {
        let cases = conversion.cases.iter();
        let cases = cases.filter(|case| case.part == part && case.unknown == name);
        let mut found = cases.flat_map(|case| &case.found);
        found.find_map(|text| text.strip_prefix(&format!("{name} = ")).map(str::to_owned))
    };
    let mut values: Vec<Option<String>> = elements.iter().map(|v| found(map.name(*v))).collect();
    // Elements that are always equal have one case.
    let links = map.constraints().iter().flat_map(Constraint::split);
    let links = links.filter_map(|link| link.rewritten(&Number).simplified());
    let equal: Vec<(usize, usize)> = links
        .filter_map(|link| match (&link.first, &link.rest[..]) {
            (Expression::Variable(a), [(Comparison::Equal, Expression::Variable(b))]) => {
                let at = |v| elements.iter().position(|it| it == v);
                at(a).zip(at(b))
            }
            _ => None,
        })
        .collect();
    for _ in &elements {
        for (a, b) in equal.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]) {
            if values[a].is_none() {
                values[a] = values[b].clone();
            }
        }
    }
    let copy = copy_of(&conversion.computation, "B", part);
    let space = copy.map(|copy| &copy.space.parts()[0]);
    let inputs = space
        .into_iter()
        .flat_map(|part| part.inputs().map(|v| part.name(v)));
    let inputs: Vec<&str> = inputs.collect();
    let outputs = elements.iter().map(|v| format!("{}_", map.name(*v)));
    let outputs: Vec<String> = outputs.collect();
    let equal = outputs.iter().zip(&values);
    let equal = equal.filter_map(|(output, value)| Some(format!("{output} = {}", value.as_ref()?)));
    let equal = equal.collect::<Vec<_>>().join(" && ");
    let text = match equal.is_empty() {
        true => format!("{{[{}] -> [{}]}}", inputs.join(", "), outputs.join(", ")),
        false => format!(
            "{{[{}] -> [{}] : {equal}}}",
            inputs.join(", "),
            outputs.join(", ")
        ),
    };
    text.parse()
}

/// A constant in place of calls of constants, so that a product of it with 0 is 0.
struct Number;

impl Rewrite for Number {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let Expression::Call(name, arguments) = e else {
            return None;
        };
        let mut is_constant = true;
        for argument in arguments {
            argument.visit(&mut |e| is_constant &= !matches!(e, Expression::Variable(_)));
        }
        is_constant.then(|| Expression::Constant(name.clone()))
    }
}

/// The lemma of an obligation that is not about the statements of one array, and the
/// statements of those arrays that it speaks of.
fn proposed(
    obligation: &Obligation,
    arrays: &[Computed],
    copies: &[&Statement],
) -> (Lemma, Vec<String>) {
    let of = |is_meant: &dyn Fn(&str) -> bool| -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, _, statements) in arrays {
            if is_meant(name) {
                let new = statements.iter().filter(|it| !names.contains(it));
                let new: Vec<String> = new.cloned().collect();
                names.extend(new);
            }
        }
        names
    };
    let copy: Vec<String> = copies.iter().map(|copy| copy.name.clone()).collect();
    let is_numbering = |lemma: Option<Lemma>| {
        use Lemma::{InBlocks, Numbered, Places, Slot, Start};
        let all = [InBlocks, Numbered, Places, Slot, Start];
        lemma.is_some_and(|lemma| all.contains(&lemma))
    };
    let numbers = |said: &dyn Fn(&str) -> bool| {
        let lemma_of = |name: &str| arrays.iter().find(|it| it.0 == name).and_then(|it| it.1);
        of(&|name| is_numbering(lemma_of(name)) || said(name))
    };
    match obligation {
        Obligation::Monotone(name, _) => {
            let own = arrays.iter().find(|(array, ..)| array == name);
            let scan = [Lemma::Scan, Lemma::RunningMaximum, Lemma::Summed];
            match own {
                Some((_, Some(lemma), statements)) if scan.contains(lemma) => {
                    (*lemma, statements.clone())
                }
                _ => (Lemma::ByNumbers, numbers(&|it| it == name)),
            }
        }
        Obligation::Found(name) => (Lemma::Search, numbers(&|it| it == name)),
        Obligation::Injective(name) => (Lemma::ByNumbers, numbers(&|it| it == name)),
        Obligation::Length(name) if name == "B" => (Lemma::Arithmetic, Vec::new()),
        Obligation::Range(name) | Obligation::Length(name) | Obligation::End(name, _) => {
            (Lemma::Arithmetic, of(&|it| it == name))
        }
        Obligation::Declared(said) if said.starts_with("forall") => {
            let speaks = |name: &str| said.contains(&format!("{name}("));
            (Lemma::ByNumbers, numbers(&speaks))
        }
        Obligation::Visited => (Lemma::Space, copy),
        Obligation::OneTuple => (Lemma::ByNumbers, numbers(&|_| false)),
        Obligation::OwnPlace | Obligation::Shared | Obligation::Alike => {
            (Lemma::ByNumbers, numbers(&|_| false))
        }
        Obligation::Holds | Obligation::Sums => (Lemma::Arithmetic, copy),
        Obligation::Others => (Lemma::Untouched, copy),
        Obligation::Tuple => (Lemma::Arithmetic, of(&|_| true)),
        _ => (Lemma::Arithmetic, Vec::new()),
    }
}
