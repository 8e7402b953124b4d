//! The descriptor of a format: its relation, and what is known of its arrays,
//! composed from what the kinds of its levels declare.
//!
//! ```text
//! csr:  format csr
//!       extents N0, N1
//!       map {[q0, q1] -> [i, j] : q0 = i && 0 <= i < N0 && …}     the relation face
//!       data {[q0, q1] -> [q1]}                                   the last position
//!       values {[q] : 0 <= q < pos1(N0)}                          as many as it has
//!       function pos1 : …, function crd1 : …                      of `compressed`
//!       forall p, q1, q2 : … => crd1(q1) < crd1(q2)               ordered, and unique
//! ```
//!
//! Coordinates of an entry that share a position (a nonunique level and the
//! singletons below it) are compared as one tuple; where the format is sorted
//! along a curve, their keys on it are.

use sparsec_base::arena::Id;
use sparsec_relation::{
    Clauses, Comparison, Conjunction, Constraint, Declarations, Descriptor, Expression, Mirror,
    Relation, Rewrite, Set, Values, Variable,
};

use crate::face::Place;
use crate::format::{Format, Level};
use crate::level::LevelKind;

impl Format {
    /// The descriptors of the format's parts, in order: one, except of a union.
    ///
    /// The relations are those of the entries stored; a clause says which mirror images they have.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// let csr = Format::csr().descriptors("csr").remove(0);
    /// let order = "forall p, q1, q2 : 0 <= p < N0 && pos1(p) <= q1 < q2 < pos1(p + 1) \
    ///              => crd1(q1) < crd1(q2)";
    /// assert!(csr.to_string().contains(order), "{csr}");
    /// ```
    pub fn descriptors(&self, name: &str) -> Vec<Descriptor> {
        let parts = self.parts();
        let name_of = |number: usize| match parts.len() {
            1 => name.to_owned(),
            _ => format!("{name}_{}", number + 1),
        };
        let numbered = parts.iter().enumerate();
        numbered
            .map(|(number, part)| part.descriptor(name_of(number)))
            .collect()
    }

    fn descriptor(&self, name: String) -> Descriptor {
        let (map, places, n_values) = self.composed();
        let map = self.with_numbers(&map, &places);
        let extents: Vec<String> = (0..self.order()).map(|mode| format!("N{mode}")).collect();
        let [part] = map.parts() else {
            panic!("the relation of one part is one conjunction");
        };
        let tuple = part.inputs().map(|v| part.name(v).to_owned());
        let mut data = Conjunction::new(tuple.collect::<Vec<_>>(), ["q".to_owned()]);
        let last = data.inputs().take(places.len()).last();
        let place = data.outputs().next().expect("one element");
        data.add(Expression::Variable(place).equals(match last {
            Some(last) => Expression::Variable(last),
            None => Expression::Integer(0),
        }));
        let data = Relation::new(vec![data]).expect("it calls nothing");

        let mut values = Conjunction::new(["q"], []);
        let q = Expression::Variable(Variable::from_index(0));
        values.add(Constraint {
            first: Expression::Integer(0),
            rest: vec![
                (Comparison::LessEqual, q),
                (Comparison::Less, n_values.clone()),
            ],
        });
        let values = Relation::new(vec![values])
            .expect("it has no names in two roles")
            .simplified()
            .domain();
        let declarations = self.declarations(&places);
        Descriptor::composed(name, extents, map, data, values, declarations).with(self.clauses())
    }

    /// What its levels, its mirror images and its fill say of values and keys.
    fn clauses(&self) -> Clauses {
        let coordinates = |is_meant: &dyn Fn(LevelKind) -> bool| {
            let levels = self.levels().iter().enumerate();
            let levels = levels.filter(|(_, level)| is_meant(level.kind));
            levels.map(|(number, _)| format!("crd{number}")).collect()
        };
        Clauses {
            is_unique: self.is_unique(),
            has_padding: self.levels().last().is_none_or(Level::may_pad),
            fill: self.fill,
            mirror: self.mirror.map(|mirror| {
                let [a, b] = mirror.modes;
                Mirror {
                    modes: [a.min(b), a.max(b)],
                    image: mirror.of.image(),
                }
            }),
            tables: coordinates(&|kind| kind == LevelKind::Hashed),
            blocks: coordinates(&|kind| matches!(kind, LevelKind::Structured { .. })),
        }
    }

    /// The map with further elements of the tuple: for each level of which a position
    /// stands for several coordinates, which of them is meant; for each level of ranks, the rank.
    fn with_numbers(&self, map: &Relation, places: &[Place]) -> Relation {
        let [part] = map.parts() else {
            panic!("the relation of one part is one conjunction");
        };
        let is_run = |place: &&Place| {
            let can = place.kind.capabilities();
            can.full && !can.locate
        };
        let runs: Vec<&Place> = places.iter().filter(is_run).collect();
        let names = |of: &mut dyn Iterator<Item = Variable>| -> Vec<String> {
            of.map(|v| part.name(v).to_owned()).collect()
        };
        let within = runs.iter().map(|place| format!("r{}", place.level));
        let inputs = names(&mut part.inputs()).into_iter().chain(within);
        let inputs = inputs.chain(names(&mut part.exists()));
        let mut whole = Conjunction::new(inputs, names(&mut part.outputs()));
        let moved: Vec<Expression> = (whole.inputs().take(places.len()))
            .chain(whole.outputs())
            .chain(whole.inputs().skip(places.len() + runs.len()))
            .map(Expression::Variable)
            .collect();
        let moved = Values(&moved);
        whole.conjoin(part, &moved);
        for (element, place) in whole.inputs().skip(places.len()).zip(runs) {
            let coordinate = place.tuple[1].rewritten(&moved);
            whole.add(Expression::Variable(element).equals(coordinate));
        }
        Relation::new(vec![whole]).expect("it has the names that it had")
    }

    /// What is known of extents and of the arrays of all levels.
    fn declarations(&self, places: &[Place]) -> Declarations {
        let extents = (0..self.order()).map(|mode| format!("assume 0 <= N{mode}\n"));
        let mut all: Declarations = extents
            .collect::<String>()
            .parse()
            .expect("they are well formed");
        if let Some(mirror) = &self.mirror {
            let [a, b] = mirror
                .modes
                .map(|mode| Expression::Constant(format!("N{mode}")));
            all.assume(a.equals(b));
        }
        for place in places {
            let level = &self.levels()[place.level];
            let extent = match level.has_size() {
                true => format!(
                    "function size{} : {{[x] : 0 <= x < 1}} -> {{[w] : 0 <= w}}",
                    place.level
                ),
                false => String::new(),
            };
            let extent: Declarations = extent.parse().expect("it is well formed");
            all.extend(extent);
            if let Some((premises, holds)) = level.coordinate.extent_holds(place.level) {
                match premises.constraints() {
                    [] => all.assume(holds),
                    _ => all.forall(premises, vec![holds]),
                }
            }
            let own: Declarations = place
                .kind
                .spec()
                .declarations
                .parse()
                .expect("the declarations of a kind are well formed");
            let own = own.rewritten(&Names(place));
            all.extend(own.expect("a kind names each of its arrays once"));
            if self.chain_start(place.level) == place.level {
                self.add_order(place, &mut all);
            }
        }
        all
    }

    /// How the coordinates of the chain that begins here follow one another.
    fn add_order(&self, place: &Place, all: &mut Declarations) {
        let siblings = place.kind.spec().siblings;
        if siblings.is_empty() {
            return;
        }
        let siblings: Set = format!("{{[p, q1, q2] : {siblings}}}")
            .parse()
            .expect("the siblings of a kind are a set");
        let [part] = siblings.parts() else {
            panic!("the siblings of a kind are one conjunction");
        };
        let mut premises = Conjunction::new(["p", "q1", "q2"], []);
        for constraint in part.constraints() {
            premises.add(constraint.rewritten(&Names(place)));
        }
        let [q1, q2] = [1, 2].map(|at| Expression::Variable(Variable::from_index(at)));

        let chain = place.level..=self.chain_end(place.level);
        let is_unique = self.levels()[*chain.end()].unique;
        let crd =
            |level: usize, q: &Expression| Expression::Call(format!("crd{level}"), vec![q.clone()]);
        let key = |until: usize, q: &Expression| {
            let coordinates: Vec<Expression> =
                (place.level..=until).map(|level| crd(level, q)).collect();
            match <[Expression; 1]>::try_from(coordinates) {
                Ok([only]) => only,
                Err(several) => Expression::Call("LEX".to_owned(), several),
            }
        };
        if let Some(curve) = self.order_key() {
            let along = |q: &Expression| {
                let mode = |mode| crd(self.level_of_mode(mode), q);
                let modes: Vec<Expression> = (0..self.order()).map(mode).collect();
                curve.expression(&modes)
            };
            let comparison = match is_unique {
                true => Comparison::Less,
                false => Comparison::LessEqual,
            };
            all.forall(
                premises,
                vec![Constraint::new(along(&q1), comparison, along(&q2))],
            );
            return;
        }
        let ordered = chain
            .clone()
            .take_while(|&level| self.levels()[level].is_ordered());
        let Some(ordered) = ordered.last() else {
            if is_unique {
                let [q1, q2] = [&q1, &q2].map(|q| key(*chain.end(), q));
                all.forall(
                    premises,
                    vec![Constraint::new(q1, Comparison::NotEqual, q2)],
                );
            }
            return;
        };
        let is_whole = ordered == *chain.end();
        let comparison = match is_whole && is_unique {
            true => Comparison::Less,
            false => Comparison::LessEqual,
        };
        let mut conclusions = vec![Constraint::new(
            key(ordered, &q1),
            comparison,
            key(ordered, &q2),
        )];
        if is_unique && !is_whole {
            let [q1, q2] = [&q1, &q2].map(|q| key(*chain.end(), q));
            conclusions.push(Constraint::new(q1, Comparison::NotEqual, q2));
        }
        all.forall(premises, conclusions);
    }
}

/// The names of a kind at a level; variables are those of the declaration.
struct Names<'a>(&'a Place);

impl Rewrite for Names<'_> {
    fn constant(&self, name: &str) -> Expression {
        self.0.constant(name)
    }

    fn function(&self, name: &str) -> String {
        self.0.function(name)
    }
}
