//! Conversions that are derived between formats of either kind.

use sparsec_base::{ElementType, Result, code};
use sparsec_convert::{Conversion, Places, Wanted, convert_parts};
use sparsec_format::{Format, RelationFormat, Storage};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Descriptor, Expression, Set,
};

use super::assembly;
use super::unheld::how_to_state;
use crate::conversion::{
    Stages, assembled, described, fill_of, into, is_added_up, keeps_fill, relation_keeps_fill,
    synthesized, wanted,
};

/// The conversion of tensors of `element`s between formats of either kind, as their descriptions say:
/// a computation that a relation states of its [assembly](super::assembly) is not asked.
///
/// # Errors
/// `E0830` if none is derived.
///
/// ```
/// use sparsec::internals::relational;
/// use sparsec::{ElementType, FormatSpec};
/// let [jagged, columns] = ["jds", "csc"].map(|name| name.parse::<FormatSpec>());
/// let made = relational::derived(&jagged?.storage(2)?, &columns?.storage(2)?, ElementType::F64)?;
/// assert!(made.table().contains("B_crd1"), "{}", made.table());
/// assert_eq!(made.computation.name, "jds_to_csc");
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn derived(from: &Storage, to: &Storage, element: ElementType) -> Result<Conversion> {
    check_fills(from, to, element)?;
    let made = match (from, to) {
        (Storage::Levels(from), Storage::Levels(to)) => {
            synthesized(from, to, element, &Default::default())
        }
        _ => of_descriptors(from, to, element),
    };
    let pair = [from, to].map(Storage::short_name);
    Ok(made?.named(&kernel_name(&pair, from.order(), element)))
}

/// The conversion of tensors of `element`s between formats of either kind: to a relation that states
/// its [assembly](super::assembly), by way of a list of entries which is temporary.
///
/// # Errors
/// `E0830` if none is derived, to the format or to the list; those of the stated computation.
///
/// ```
/// use sparsec::internals::relational;
/// use sparsec::{ElementType, FormatSpec};
/// let [rows, jagged] = ["csr", "jds"].map(|name| name.parse::<FormatSpec>());
/// let made = relational::conversion(&rows?.storage(2)?, &jagged?.storage(2)?, ElementType::F64)?;
/// let text = made.computation(None)?.to_string();
/// assert!(text.contains("S_crd0(q1) = i") && text.contains("B_perm(place(i)) = i"), "{text}");
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn conversion(from: &Storage, to: &Storage, element: ElementType) -> Result<Box<dyn Stages>> {
    check_fills(from, to, element)?;
    let stated = match to {
        Storage::Relation(format) => assembly(format, element)?.map(|stated| (format, stated)),
        Storage::Levels(_) => None,
    };
    let Some((format, assembly)) = stated else {
        return Ok(Box::new(derived(from, to, element)?));
    };
    let is_list = match from {
        Storage::Levels(format) => format.stores_like(&Format::scoo(from.order())),
        Storage::Relation(_) => false,
    };
    let made = of_source(from, element, |source, wanted| {
        assembled(source, format.descriptor(), wanted, (&assembly, is_list))
    })?;
    let pair = [from, to].map(Storage::short_name);
    Ok(Box::new(made.named(&kernel_name(
        &pair,
        from.order(),
        element,
    ))))
}

/// Refuses a destination that does not keep the fill of the source.
fn check_fills(from: &Storage, to: &Storage, element: ElementType) -> Result<()> {
    let fill = match from {
        Storage::Levels(format) => fill_of(format, element),
        Storage::Relation(format) => format.fill(element),
    };
    match to {
        Storage::Levels(format) => keeps_fill(format.fill(), fill),
        Storage::Relation(format) => relation_keeps_fill(format, fill),
    }
}

/// The name of a conversion between two formats, under which C programs call its kernel: the order follows
/// where it is not 2, and the type of entries where it is not `f64`, so that kernels of all link.
///
/// ```
/// use sparsec::ElementType::{F32, F64};
/// use sparsec::internals::relational::kernel_name;
/// let name = |from: &str, to: &str| kernel_name(&[from.to_owned(), to.to_owned()], 2, F64);
/// assert_eq!(name("bsr(4, 4)", "csr"), "bsr_4_4_to_csr");
/// assert_eq!(name("csr", "(i, j) -> (j - i : compressed, i : dense)"), "csr_to_i_j_j_minus_i_compressed_i_dense");
/// assert_eq!(kernel_name(&["alto", "csf"].map(str::to_owned), 3, F32), "alto_to_csf_3d_f32");
/// ```
pub fn kernel_name([from, to]: &[String; 2], order: usize, element: ElementType) -> String {
    let mut words = format!("{from} to {to}").replace("->", " ");
    if order != 2 {
        words += &format!(" {order}d");
    }
    if element != ElementType::F64 {
        words += &format!(" {element}");
    }
    let words = words.replace('-', " minus ").replace('+', " plus ");
    let is_of_word = |c: char| c.is_ascii_alphanumeric();
    let words = words
        .split(|c| !is_of_word(c))
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// A conversion of which one side or both are relations.
fn of_descriptors(from: &Storage, to: &Storage, element: ElementType) -> Result<Conversion> {
    of_source(from, element, |source, wanted| match to {
        Storage::Levels(format) => convert_parts(
            source,
            &described(format, true)?,
            &into(format, wanted.clone()),
        ),
        Storage::Relation(format) => {
            let made = convert_parts(source, std::slice::from_ref(format.descriptor()), wanted);
            made.map_err(|error| match error.help_text() {
                None if error.code() == code::NO_CONVERSION => error.help(how_to_state(format)),
                _ => error,
            })
        }
    })
}

/// Makes a conversion from the parts of a source. If a relation may hold several entries of one
/// coordinate, they are added up.
fn of_source<T>(
    from: &Storage,
    element: ElementType,
    make: impl Fn(&[Descriptor], &Wanted) -> Result<T>,
) -> Result<T> {
    match from {
        Storage::Levels(format) => make(&described(format, false)?, &wanted(format, element)),
        Storage::Relation(format) => {
            let part = std::slice::from_ref(format.descriptor());
            let wanted = wanted_of(format, element);
            let made = make(part, &wanted);
            if made.is_ok() || wanted.is_unique || !is_added_up(element) {
                return made;
            }
            let adds = Wanted {
                adds: true,
                ..wanted
            };
            make(part, &adds).or(made)
        }
    }
}

/// A conversion of `element`s from a format that is a relation: whether it says that no two entries
/// have the same coordinates, and whether places may hold padding or no entry.
///
/// ```
/// use sparsec::internals::relational;
/// use sparsec::{ElementType, FormatSpec};
/// let sell: FormatSpec = "sell(2, 4)".parse()?;
/// let sell = sell.relation(2)?.expect("a relation");
/// let wanted = relational::wanted_of(&sell, ElementType::F64);
/// assert!(wanted.is_unique);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn wanted_of(format: &RelationFormat, element: ElementType) -> Wanted {
    let descriptor = format.descriptor();
    let clauses = descriptor.clauses();
    let is_open = || {
        let mut parts = descriptor.map().parts().iter();
        parts.any(|part| !has_coordinates(part, descriptor.declarations()))
    };
    Wanted {
        is_unique: clauses.is_unique,
        places: match clauses.has_padding || is_open() || !descriptor.has_places() {
            true => Places::Some,
            false => Places::Checked,
        },
        ..Wanted::of(element)
    }
}

/// Whether index arrays hold coordinates alone, and nothing that stands for a missing one: by their
/// declared ranges, bounds of coordinates follow from the rest of a map.
fn has_coordinates(map: &Conjunction, known: &Declarations) -> bool {
    let outputs: Vec<Expression> = map.outputs().map(Expression::Variable).collect();
    let is_bound = |link: &Constraint| {
        let (comparison, right) = &link.rest[0];
        let is_order = matches!(comparison, Comparison::Less | Comparison::LessEqual);
        is_order && [&link.first, right].iter().any(|e| outputs.contains(e))
    };
    let links = map.constraints().iter().flat_map(Constraint::split);
    let (bounds, rest): (Vec<Constraint>, Vec<Constraint>) = links.partition(is_bound);
    let elements = map.inputs().chain(map.outputs()).map(|v| map.name(v));
    let mut space = Conjunction::new(elements.collect::<Vec<_>>(), []);
    for exists in map.exists() {
        space.add_exists(map.name(exists));
    }
    for link in rest {
        space.add(link);
    }
    let space = Set::new(vec![space]);
    space.is_ok_and(|space| bounds.iter().all(|bound| space.implies(bound, known)))
}
