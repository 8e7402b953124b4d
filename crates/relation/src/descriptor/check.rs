//! Whether a descriptor is complete.

use sparsec_base::lex::Tokens;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use super::Descriptor;
use super::bounds::unbounded;
use super::parse::Places;
use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::{Comparison, Constraint, Expression, Values, calls};
use crate::key;
use crate::parse::{Parser, SYMBOLS};
use crate::relation::Relation;
use crate::set::Set;
use crate::solve::Answer;

impl Descriptor {
    pub(super) fn check(&self, parser: &Parser, places: &Places) -> Result<()> {
        let source = parser.tokens.source();
        self.check_shapes(source, places)?;
        self.check_functions(parser, places)?;
        self.check_tuples(source, places)?;
        self.check_map(source, places)?;
        self.check_data(source, places)
    }

    /// Tuples of the right lengths.
    fn check_shapes(&self, source: &Source, places: &Places) -> Result<()> {
        let arity = |message: String, place| {
            Diagnostic::new(code::RELATION_ARITY, message).at(source, place, "here")
        };
        let (n, order) = (self.map.n_outputs(), self.order());
        if n != order {
            let message = format!("{n} coordinates for {order} extents");
            return Err(arity(message, places.map)
                .also(source, places.extents, "the modes")
                .help("give each mode an extent, and each tuple a coordinate in each mode"));
        }
        let lengths = (self.data.n_inputs(), self.map.n_inputs());
        if lengths.0 != lengths.1 || self.data.n_outputs() != 1 || self.values.n_elements() != 1 {
            let message = "a place of values that is no integer for each tuple".to_owned();
            return Err(arity(message, places.data)
                .also(source, places.map, "the tuples")
                .help("begin `data` with the tuple of the map, as in `{[q, i] -> [q]}`, and make `values` a set of integers, as in `{[p] : 0 <= p < NNZ}`"));
        }
        Ok(())
    }

    /// Functions that are called are declared, and the other way round.
    fn check_functions(&self, parser: &Parser, places: &Places) -> Result<()> {
        let source = parser.tokens.source();
        let declared = |name: &str| self.declarations.function(name).is_some();
        let mut called: Vec<(String, Span)> = Vec::new();
        let functions = parser
            .free_names()
            .filter(|(_, arguments, _)| arguments.is_some());
        for (name, _, place) in functions {
            let whole = name.strip_suffix(".inverse").unwrap_or(name);
            if declared(whole)
                || key::is_variadic(name)
                || self.declarations.orders().any(|order| order == name)
                || self
                    .declarations
                    .keys()
                    .iter()
                    .any(|key| key.name() == name)
            {
                continue;
            }
            called.push((name.to_owned(), place));
        }
        called.sort_by_key(|(_, place)| place.range().start);
        if let Some((name, place)) = called.first() {
            let known = self
                .declarations
                .functions()
                .iter()
                .map(|f| f.name.as_str());
            let help = match closest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "declare where it has values, and which: `function {name} : {{[p] : 0 <= p < M}} -> {{[i] : 0 <= i < N}}`"
                ),
            };
            let message = format!("nothing is known of the function `{name}`");
            return Err(Diagnostic::new(code::DESCRIPTOR_FUNCTION, message)
                .at(source, *place, "called here, and not declared")
                .help(help));
        }
        for function in self.declarations.functions() {
            let place = || {
                place_of(
                    source,
                    &function.name,
                    places.values.range().end..usize::MAX,
                )
            };
            if !self.mentions(&function.name) {
                let message = format!("the function `{}` has no part in the format", function.name);
                return Err(Diagnostic::new(code::DESCRIPTOR_FUNCTION, message)
                    .at(
                        source,
                        place(),
                        "declared, and not called in `map` or `data`",
                    )
                    .help("leave it out, or call it in the map"));
            }
            for part in function.domain.parts() {
                if let Some(element) = unbounded(part, &self.declarations) {
                    let element = part.name(element);
                    let message = format!(
                        "the domain of `{}` has no bounds: it cannot be an array",
                        function.name
                    );
                    return Err(Diagnostic::new(code::DESCRIPTOR_UNBOUNDED, message)
                        .at(source, place(), format!("`{element}` may be anything"))
                        .help(format!(
                            "bound the domain, as in `{{[{element}] : 0 <= {element} < M}}`"
                        )));
                }
            }
        }
        Ok(())
    }

    /// Whether the map, the data or the values call a function, directly or through declarations.
    fn mentions(&self, name: &str) -> bool {
        let mut reached = vec![];
        for relation in [&self.map, &self.data, self.values.as_relation()] {
            let constraints = relation.parts().iter().flat_map(Conjunction::constraints);
            reached.extend(calls(constraints));
        }
        let mut done = 0;
        while done < reached.len() {
            let from = reached[done].clone();
            done += 1;
            for tied in self.declarations.tied_to(&from) {
                if !reached.contains(&tied) {
                    reached.push(tied);
                }
            }
        }
        reached.iter().any(|it| it == name)
    }

    /// Some tensor has a tuple of each part, as far as that is known.
    fn check_tuples(&self, source: &Source, places: &Places) -> Result<()> {
        let is_empty = |part: &&Conjunction| {
            Relation::of_parts(vec![(*part).clone()]).is_refuted(&self.declarations)
        };
        let Some(part) = self.map.parts().iter().find(is_empty) else {
            return Ok(());
        };
        let message = "no tuple of the sparse space meets all constraints and declarations";
        let error = Diagnostic::new(code::DESCRIPTOR_EMPTY, message).at(
            source,
            places.map,
            "contradicts itself or the declarations",
        );
        // Constraints that contradict the declarations alone, or what stands before them.
        let links: Vec<Constraint> = (part.constraints().iter())
            .flat_map(Constraint::split)
            .collect();
        let fails = |n: &usize| {
            let part = part.saying(links[..*n].to_vec());
            Relation::of_parts(vec![part]).is_refuted(&self.declarations)
        };
        let first = (0..=links.len()).find(fails);
        let error = match first {
            Some(0) => error.note("the declarations contradict each other"),
            Some(n) => {
                let [left, right] = [&links[n - 1].first, &links[n - 1].rest[0].1];
                let comparison = links[n - 1].rest[0].0.symbol();
                let [left, right] = [left, right].map(|e| part.text_of(e));
                error.note(format!(
                    "`{left} {comparison} {right}` contradicts the others"
                ))
            }
            None => error,
        };
        Err(error.help("remove one of the contradicting constraints or declarations"))
    }

    /// Each tuple of a space with bounds has one coordinate inside of each extent.
    fn check_map(&self, source: &Source, places: &Places) -> Result<()> {
        for part in self.map.parts() {
            if let Some(variable) = unbounded(part, &self.declarations) {
                let name = part.name(variable);
                let message = format!("the sparse space has no bounds: `{name}` may be anything");
                return Err(Diagnostic::new(code::DESCRIPTOR_UNBOUNDED, message)
                    .at(
                        source,
                        place_of(source, name, places.map.range()),
                        "between what?",
                    )
                    .help(format!(
                        "bound it, as in `0 <= {name} < N` or `pos(i) <= {name} < pos(i + 1)`"
                    )));
            }
        }
        self.check_function(&self.map, source, places.map, "coordinate")?;
        for (mode, extent) in self.extents.iter().enumerate() {
            let extent = Expression::Constant(extent.clone());
            for part in self.map.parts() {
                let output = part.outputs().nth(mode).expect("one for each mode");
                let coordinate = Expression::Variable(output);
                let within = [
                    Constraint::new(
                        Expression::Integer(0),
                        Comparison::LessEqual,
                        coordinate.clone(),
                    ),
                    Constraint::new(coordinate, Comparison::Less, extent.clone()),
                ];
                if within.iter().all(|c| follows(part, c, &self.declarations)) {
                    continue;
                }
                let name = part.name(output);
                let message = format!("the coordinate `{name}` may lie outside of its extent");
                return Err(Diagnostic::new(code::DESCRIPTOR_OUTSIDE, message)
                    .at(
                        source,
                        place_of(source, name, places.map.range()),
                        "not known to lie inside",
                    )
                    .also(source, places.extents, "the extents")
                    .help(format!(
                        "add the bounds to the map: `0 <= {name} < {}`",
                        self.extents[mode]
                    )));
            }
        }
        Ok(())
    }

    /// Each tuple has one place, and there is a value.
    fn check_data(&self, source: &Source, places: &Places) -> Result<()> {
        let whole = self.data.restricted_to(&self.map.domain())?;
        self.check_function(&whole, source, places.data, "place")?;
        let without = self
            .map
            .domain()
            .minus(&self.data.domain(), &self.declarations);
        let is_sure = match &without {
            Ok(without) => without.is_empty(&self.declarations) == Answer::Yes,
            Err(_) => false,
        };
        if !is_sure {
            let message = "a tuple of the sparse space may have no place".to_owned();
            let error = Diagnostic::new(code::DESCRIPTOR_NO_FUNCTION, message)
                .at(source, places.data, "not known to have all tuples")
                .also(source, places.map, "the tuples");
            let error = match &without {
                Ok(without) => {
                    let without = without.simplified_under(&self.declarations);
                    error.note(format!("not known to be none: {without}"))
                }
                Err(why) => error.note(why.message().to_owned()),
            };
            return Err(error.help("give each tuple a place, or leave it out of the map"));
        }
        for part in self.values.parts() {
            if let Some(variable) = unbounded(part, &self.declarations) {
                let name = part.name(variable);
                let message =
                    format!("the places of values have no bounds: `{name}` may be anything");
                return Err(Diagnostic::new(code::DESCRIPTOR_UNBOUNDED, message)
                    .at(source, places.values, "how many?")
                    .help(format!(
                        "state how many values there are, as in `{{[{name}] : 0 <= {name} < NNZ}}`"
                    )));
            }
        }
        if !lie_in(&whole, &self.values, &self.declarations) {
            let message = "a value may lie outside of the places of values";
            return Err(Diagnostic::new(code::DESCRIPTOR_OUTSIDE, message)
                .at(source, places.data, "not known to lie inside")
                .also(source, places.values, "the places of values")
                .help(match multiplies_elements(&self.data) {
                    true => "let an array hold the product: `tri(r) + c` with `function tri : {[r] : 0 <= r <= N} -> {[p] : 0 <= p} nondecreasing`, `assume tri(0) = 0` and `forall r : 0 <= r < N => tri(r + 1) = tri(r) + r + 1` is a packed triangle, for `values {[p] : 0 <= p < tri(N)}`",
                    false => "declare the ranges of the functions in it, or `assume` what holds of constants",
                }));
        }
        Ok(())
    }

    fn check_function(
        &self,
        relation: &Relation,
        source: &Source,
        place: Span,
        what: &str,
    ) -> Result<()> {
        let answer = relation.is_function(&self.declarations);
        let (message, label) = match answer {
            Answer::Yes => return Ok(()),
            Answer::No => (
                format!("a tuple of the sparse space has more than one {what}"),
                "not a function",
            ),
            Answer::Unknown | Answer::GaveUp(_) => (
                format!("a tuple of the sparse space may have more than one {what}"),
                "not known to be a function",
            ),
        };
        let error = Diagnostic::new(code::DESCRIPTOR_NO_FUNCTION, message).at(source, place, label);
        let why = relation.solve(&self.declarations).err();
        let error = match &why {
            Some(why) => error.note(why.message().to_owned()),
            None => error,
        };
        let error = match answer.budget() {
            Some(budget) => error.note(budget.note()),
            None => error,
        };
        Err(error.help("determine it by an equation with elements of the tuple, or by an array, as in `i = row(n)`"))
    }
}

/// Whether elements of tuples are multiplied by one another, which proofs do not follow.
fn multiplies_elements(relation: &Relation) -> bool {
    let constraints = relation.parts().iter().flat_map(Conjunction::constraints);
    let mut multiplies = false;
    for e in constraints.flat_map(Constraint::expressions) {
        e.visit(&mut |e| {
            let has_element = |e: &Expression| {
                let mut has_one = false;
                e.visit(&mut |e| has_one |= matches!(e, Expression::Variable(_)));
                has_one
            };
            if let Expression::Multiply(a, b) = e {
                multiplies |= has_element(a) && has_element(b);
            }
        });
    }
    multiplies
}

/// Whether the constraints of a conjunction imply a constraint.
pub(super) fn follows(
    part: &Conjunction,
    constraint: &Constraint,
    declarations: &Declarations,
) -> bool {
    let (comparison, right) = &constraint.rest[0];
    let mut against = part.clone();
    against.add(Constraint::new(
        constraint.first.clone(),
        comparison.negated(),
        right.clone(),
    ));
    Relation::of_parts(vec![against]).is_empty(declarations) == Answer::Yes
}

/// Whether the second tuples of a relation, of one element, lie in a set that is
/// one conjunction.
fn lie_in(relation: &Relation, set: &Set, declarations: &Declarations) -> bool {
    let [of_set] = set.parts() else {
        return false;
    };
    relation.parts().iter().all(|part| {
        let output = part.outputs().next().expect("one element");
        let value = [Expression::Variable(output)];
        let constraints = of_set.constraints().iter().flat_map(Constraint::split);
        of_set.exists().len() == 0
            && constraints
                .map(|constraint| constraint.rewritten(&Values(&value)))
                .all(|constraint| follows(part, &constraint, declarations))
    })
}

/// The first place of a name in a part of a text; the part, if it has none.
fn place_of(source: &Source, name: &str, within: std::ops::Range<usize>) -> Span {
    let mut tokens = Tokens::new(source, &SYMBOLS).expect("it was read already");
    while !tokens.at_end() {
        let token = tokens.take();
        if within.contains(&token.span.range().start) && tokens.text(token) == name {
            return token.span;
        }
    }
    Span::new(within.start, within.end.min(source.text().len()))
}
