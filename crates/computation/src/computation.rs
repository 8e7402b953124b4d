//! Computations as data.

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Result, define_id};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Function, Set, Variable,
};

use crate::value::{Access, Update, Value};

define_id!(
    /// A statement of a computation, by its place in the text.
    pub struct StatementId, "s"
);

/// Statements over data; see the crate's page.
#[derive(Clone, Debug, PartialEq)]
pub struct Computation {
    /// Its name.
    pub name: String,
    /// Symbolic constants, whose values are given.
    pub parameters: Vec<String>,
    /// What is known of parameters and of the entries of integer data.
    pub declarations: Declarations,
    /// The data.
    pub spaces: Vec<DataSpace>,
    /// The statements. Where schedules say nothing, earlier ones run first.
    pub statements: Vec<Statement>,
}

/// An array that statements read and write.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSpace {
    /// The name in accesses; in sets, that of a function or symbolic constant.
    pub name: String,
    /// The type of its entries.
    pub element: ElementType,
    /// How many entries there are along each mode: expressions of parameters
    /// and of integer data without extents.
    pub extents: Vec<Expression>,
    /// Where its entries come from and whether they are wanted.
    pub role: Role,
}

/// Where the entries of data come from, and whether they are wanted afterwards.
/// Data that are not given are zero at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Given, and never written.
    Given,
    /// Neither given nor wanted.
    Temporary,
    /// Wanted: live out.
    Out,
    /// Given, and wanted afterwards.
    InOut,
}

/// One assignment at every point of an iteration space.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its name.
    pub name: String,
    /// The iteration space. The variables of schedule and assignment are those
    /// of its tuples, by place; the names are those of its first part.
    pub space: Set,
    /// When each point runs: a tuple, compared lexicographically. Shorter
    /// tuples end in zeros.
    pub schedule: Vec<Expression>,
    /// What is written.
    pub target: Access,
    /// How the value is combined with what the target holds.
    pub update: Update,
    /// The value.
    pub value: Value,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Given, Self::Temporary, Self::Out, Self::InOut];

    /// The word in text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Temporary => "temporary",
            Self::Out => "out",
            Self::InOut => "inout",
        }
    }

    /// Whether the entries are there before the first statement runs.
    pub fn is_given(self) -> bool {
        matches!(self, Self::Given | Self::InOut)
    }

    /// Whether the entries are wanted after the last statement.
    pub fn is_live_out(self) -> bool {
        matches!(self, Self::Out | Self::InOut)
    }
}

impl DataSpace {
    /// Whether sets may speak of its entries: as a function, or, where it has no
    /// extents, as a symbolic constant.
    pub fn is_index_array(&self) -> bool {
        self.element.is_integer() && self.element != ElementType::U64
    }
}

impl Statement {
    /// The variables of the iteration space.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = Variable> + use<> {
        self.space.parts()[0].inputs()
    }

    /// The part whose names the schedule and the assignment are written with.
    pub fn names(&self) -> &Conjunction {
        &self.space.parts()[0]
    }

    /// When each point runs, in full: the schedule, filled up with zeros to
    /// `length`, then the statement's place in the text, then the point. No two
    /// points of a computation have the same, and those of one statement have
    /// tuples of one length.
    pub fn time(&self, id: StatementId, length: usize) -> Vec<Expression> {
        let zeros = length.saturating_sub(self.schedule.len());
        let place = i64::try_from(id.index()).expect("few statements");
        let mut time = self.schedule.clone();
        time.extend(std::iter::repeat_n(Expression::Integer(0), zeros));
        time.push(Expression::Integer(place));
        time.extend(self.variables().map(Expression::Variable));
        time
    }
}

impl Computation {
    /// Checks what was put together by a program, by printing and reading it.
    ///
    /// # Errors
    /// As [`Computation::parse`], at places of the text that it prints.
    pub fn checked(self) -> Result<Self> {
        self.to_string().parse()
    }

    /// The data of a name.
    pub fn space(&self, name: &str) -> Option<&DataSpace> {
        self.spaces.iter().find(|space| space.name == name)
    }

    /// The ids of the statements, in the order of the text.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = StatementId> + use<> {
        (0..self.statements.len()).map(StatementId::from_index)
    }

    /// The statement of an id.
    pub fn statement(&self, id: StatementId) -> &Statement {
        &self.statements[id.index()]
    }

    /// The statement of a name.
    pub fn find(&self, name: &str) -> Option<StatementId> {
        self.ids().find(|id| self.statement(*id).name == name)
    }

    /// The length of the longest schedule.
    pub fn schedule_length(&self) -> usize {
        let lengths = self.statements.iter().map(|s| s.schedule.len());
        lengths.max().unwrap_or(0)
    }

    /// The statements that write a data space.
    pub fn writers<'a>(&'a self, space: &'a str) -> impl Iterator<Item = StatementId> + 'a {
        self.ids()
            .filter(move |id| self.statement(*id).target.space == space)
    }

    /// All that is known of names in sets: what is declared, that arrays have
    /// entries only within their extents, and that extents and parameters are not negative.
    pub fn known(&self) -> Declarations {
        let mut known = self.declarations.clone();
        for parameter in &self.parameters {
            known.assume(Constraint::new(
                Expression::Integer(0),
                Comparison::LessEqual,
                Expression::Constant(parameter.clone()),
            ));
        }
        for space in &self.spaces {
            for extent in &space.extents {
                known.assume(Constraint::new(
                    Expression::Integer(0),
                    Comparison::LessEqual,
                    extent.clone(),
                ));
            }
            let undeclared = known.function(&space.name).is_none();
            if space.is_index_array() && !space.extents.is_empty() && undeclared {
                known.declare(Function {
                    name: space.name.clone(),
                    domain: within(&space.extents),
                    range: Set::new(vec![Conjunction::new(["value"], [])])
                        .expect("a set without constraints"),
                    injective: false,
                    monotone: None,
                });
            }
        }
        known
    }
}

/// The tuples of indices within extents.
fn within(extents: &[Expression]) -> Set {
    let names = (0..extents.len()).map(|mode| format!("at{mode}"));
    let mut part = Conjunction::new(names, []);
    for (variable, extent) in part.inputs().zip(extents) {
        part.add(Constraint {
            first: Expression::Integer(0),
            rest: vec![
                (Comparison::LessEqual, Expression::Variable(variable)),
                (Comparison::Less, extent.clone()),
            ],
        });
    }
    Set::new(vec![part]).expect("extents are expressions of constants")
}
