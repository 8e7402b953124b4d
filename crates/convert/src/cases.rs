//! The cases of a conversion: how each unknown of the destination was found.
//!
//! ```text
//! q0       follows from coordinates   q0 = j
//! q1       listed                     q1 = B_q1(q1)
//! B_pos1   segments                   B_pos1(j + 1) += 1
//!                                     B_pos1(x + 1) += B_pos1(x)
//! B_crd1   keys of a list             B_crd1(B_q1(q1)) = i
//! ```

use std::fmt::{self, Display};

use sparsec_computation::Computation;
use sparsec_relation::{Expression, Variable};

use crate::entries::Entries;
use crate::named::Named;

/// How an unknown is found. Source: Popoola et al., CGO 2023, Table 1, generalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseKind {
    /// An element that coordinates, and elements before it, determine.
    Determined,
    /// An element with keys: its number among the elements of a list.
    Listed,
    /// An element of consecutive ones.
    InRun,
    /// An element of neighbouring coordinates that have one value.
    InValueRun,
    /// An element of which each parent has as many as an array says.
    Counted,
    /// An element that only keeps entries apart.
    Free,
    /// An array that says where the elements of each parent begin.
    Segments,
    /// An array that holds a coordinate of each element of a list.
    Keys,
    /// An array that says where runs begin, or which value they begin with.
    Runs,
    /// An array with one value for each element that coordinates determine.
    Stored,
    /// An array of the triangle, which is compared with the mirror images.
    Mirrored,
    /// How many elements there are.
    Count,
    /// The format states it in its assembly.
    Stated,
}

impl Display for CaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Determined => "follows from coordinates",
            Self::Listed => "listed",
            Self::InRun => "in a run",
            Self::InValueRun => "in a run of one value",
            Self::Counted => "counted",
            Self::Free => "keeps entries apart",
            Self::Segments => "segments",
            Self::Keys => "keys of a list",
            Self::Runs => "runs",
            Self::Stored => "stored",
            Self::Mirrored => "mirror images",
            Self::Count => "count",
            Self::Stated => "stated by the format",
        })
    }
}

/// How one unknown is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// An element of the destination's tuple, an array or a constant.
    pub unknown: String,
    /// The number of the part of the destination that it belongs to, or 0.
    pub part: usize,
    /// How it is found.
    pub kind: CaseKind,
    /// Its value at an entry; the assignments that compute an array or a constant.
    pub found: Vec<String>,
}

impl Case {
    /// The case of an element with this value at an entry.
    pub(crate) fn element(
        (destination, part): (&Named, usize),
        entries: &Entries,
        (element, kind): (Variable, CaseKind),
        value: &Expression,
    ) -> Self {
        let unknown = destination.map.name(element).to_owned();
        let value = entries.space.parts()[0].text_of(value);
        Self {
            found: vec![format!("{unknown} = {value}")],
            unknown,
            part,
            kind,
        }
    }

    /// The case of what statements compute.
    pub(crate) fn array(computation: &Computation, name: &str, kind: CaseKind) -> Self {
        let statements = computation.statements.iter();
        let writers = statements.filter(|statement| statement.target.space == name);
        Self {
            unknown: name.to_owned(),
            part: 0,
            kind,
            found: writers.map(|it| it.assignment().to_string()).collect(),
        }
    }
}

/// Cases as a table: a line for each assignment.
pub(crate) fn table(cases: &[Case]) -> String {
    let width = |column: &dyn Fn(&Case) -> usize| cases.iter().map(column).max().unwrap_or(0);
    let names = width(&|case| case.unknown.len());
    let kinds = width(&|case| case.kind.to_string().len());
    let mut text = String::new();
    for case in cases {
        let mut head = format!("{:names$}   {:kinds$}", case.unknown, case.kind);
        for found in &case.found {
            text += &format!("{head}   {found}\n");
            head = " ".repeat(names + 3 + kinds);
        }
    }
    text
}
