//! Typed expressions over accesses.
//!
//! An expression has one type, every conversion stands in it as a
//! [`Expr::Cast`], and what it is worth where nothing is stored follows from
//! the fills of its tensors ([`Expr::fill`]).

use sparsec_base::{ElementType, Kind, Scalar, Span};

use crate::index_expr::IndexExpr;
use crate::operator::Operator;
use crate::program::{IndexVar, TensorVar, Tensors, Vars};
use crate::stored::unstored;
use crate::text::of_stored;

/// One use of a tensor, such as `A(i,k)`.
#[derive(Clone, Debug)]
pub struct Access {
    /// The tensor.
    pub tensor: TensorVar,
    /// The coordinate along each mode.
    pub indices: Vec<IndexExpr>,
    /// The place in the source; not part of what the access is.
    pub span: Span,
}

/// Two accesses are equal if they read the same entries, wherever they stand.
impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        self.tensor == other.tensor && self.indices == other.indices
    }
}

impl Eq for Access {}

impl std::hash::Hash for Access {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.tensor.hash(state);
        self.indices.hash(state);
    }
}

impl Access {
    /// An access with one index variable for each mode.
    pub fn plain(tensor: TensorVar, vars: &[IndexVar], span: Span) -> Self {
        Self {
            tensor,
            indices: vars.iter().map(|var| IndexExpr::from(*var)).collect(),
            span,
        }
    }

    /// The variable that stands alone at a mode; `None` where anything else
    /// stands there.
    pub fn var(&self, mode: usize) -> Option<IndexVar> {
        self.indices[mode].as_var()
    }

    /// The variables of all modes, if each mode has one and nothing else.
    pub fn plain_vars(&self) -> Option<Vec<IndexVar>> {
        self.indices.iter().map(IndexExpr::as_var).collect()
    }

    /// Every variable of the access, each once, in order of appearance.
    pub fn vars(&self) -> Vec<IndexVar> {
        let mut found = Vec::new();
        for index in &self.indices {
            index.for_each_var(&mut |var| {
                if !found.contains(&var) {
                    found.push(var);
                }
            });
        }
        found
    }

    /// Whether the access depends on `var`.
    pub fn uses(&self, var: IndexVar) -> bool {
        self.indices.iter().any(|index| index.uses(var))
    }

    /// The first mode where `var` stands alone.
    pub fn mode_of(&self, var: IndexVar) -> Option<usize> {
        (0..self.indices.len()).find(|mode| self.var(*mode) == Some(var))
    }

    /// The access with each variable exchanged for another.
    #[must_use]
    pub fn renamed(&self, rename: &dyn Fn(IndexVar) -> IndexVar) -> Self {
        Self {
            indices: self.indices.iter().map(|e| e.renamed(rename)).collect(),
            ..self.clone()
        }
    }
}

/// The most operators that a statement has: passes over expressions recur.
pub const MOST_PARTS: usize = 500;

/// A typed expression. Conversions are explicit: the arguments of an
/// operator have the types that it takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant. It counts as an entry that is not stored: `0 * A(i)` is 0
    /// even where `A(i)` is `NaN`.
    Literal(Scalar),
    /// An entry of a tensor.
    Access(Access),
    /// An index as a number, of type `i64`: `i` of `a(i) = b(i) + i`. It has a value
    /// at every coordinate, as the entries of a dense tensor do.
    Index(IndexExpr),
    /// An operator applied to as many arguments as it takes.
    Apply {
        /// The operator.
        op: Operator,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// The value as another type; see [`Scalar::cast`].
    Cast(ElementType, Box<Expr>),
    /// `body` reduced with `op` over every value of `vars`.
    Reduce {
        /// A reduction operator ([`Operator::identity`] is some).
        op: Operator,
        /// The variables bound here.
        vars: Vec<IndexVar>,
        /// What is reduced; already of the accumulator's type.
        body: Box<Expr>,
    },
}

impl Expr {
    /// Whether it has more than [`MOST_PARTS`] operators and reductions. Takes no stack,
    /// however deep they nest.
    pub fn is_too_large(&self) -> bool {
        let (mut open, mut n_parts) = (vec![self], 0);
        while let Some(expr) = open.pop() {
            match expr {
                Self::Literal(_) | Self::Access(_) | Self::Index(_) => continue,
                Self::Apply { args, .. } => open.extend(args),
                Self::Cast(_, body) => {
                    open.push(body);
                    continue;
                }
                Self::Reduce { body, .. } => open.push(body),
            }
            n_parts += 1;
            if n_parts > MOST_PARTS {
                return true;
            }
        }
        false
    }

    /// The type of the value.
    pub fn element(&self, tensors: &Tensors) -> ElementType {
        match self {
            Self::Literal(value) => value.element(),
            Self::Access(access) => tensors[access.tensor].element,
            Self::Index(_) => ElementType::I64,
            Self::Apply { op, args } => {
                let types: Vec<ElementType> = args.iter().map(|arg| arg.element(tensors)).collect();
                op.result_type(&types)
            }
            Self::Cast(element, _) => *element,
            Self::Reduce { body, .. } => body.element(tensors),
        }
    }

    /// The expression where it is stored, and `otherwise` elsewhere:
    /// `select(isstored(e), e, otherwise)`.
    #[must_use]
    pub fn where_stored(self, otherwise: Scalar) -> Self {
        let is_stored = Self::Apply {
            op: Operator::IsStored,
            args: vec![self.clone()],
        };
        Self::Apply {
            op: Operator::Select,
            args: vec![is_stored, self, Self::Literal(otherwise)],
        }
    }

    /// Whether the expression may have no value, as an integer quotient by 0, a negative power of an
    /// integer, and the integer nearest to an infinity.
    pub fn may_fail(&self, tensors: &Tensors) -> bool {
        let any = |args: &[Self]| args.iter().any(|arg| arg.may_fail(tensors));
        let is_whole = |e: &Self| !matches!(e.element(tensors).kind(), Kind::Float | Kind::Complex);
        match self {
            Self::Literal(_) | Self::Access(_) | Self::Index(_) => false,
            Self::Reduce { body, .. } => body.may_fail(tensors),
            Self::Cast(element, body) => {
                let drops_digits = matches!(element.kind(), Kind::Signed | Kind::Unsigned);
                drops_digits && !is_whole(body) || body.may_fail(tensors)
            }
            Self::Apply { op, args } => {
                let fails = match (op, &args[..]) {
                    (Operator::Defined(function), _) => {
                        function.expand(args, tensors).may_fail(tensors)
                    }
                    (Operator::FloorDiv | Operator::Mod, [a, Self::Literal(by)]) => {
                        by.is_zero() && is_whole(a)
                    }
                    (Operator::FloorDiv | Operator::Mod | Operator::Pow, [a, _]) => is_whole(a),
                    _ => false,
                };
                fails || any(args)
            }
        }
    }

    /// Calls `visit` on every access, left to right.
    pub fn for_each_access<'a>(&'a self, visit: &mut dyn FnMut(&'a Access)) {
        match self {
            Self::Literal(_) | Self::Index(_) => {}
            Self::Access(access) => visit(access),
            Self::Apply { args, .. } => args.iter().for_each(|arg| arg.for_each_access(visit)),
            Self::Cast(_, body) | Self::Reduce { body, .. } => body.for_each_access(visit),
        }
    }

    /// Calls `visit` on every index, of accesses and as numbers, left to right.
    pub fn for_each_index<'a>(&'a self, visit: &mut dyn FnMut(&'a IndexExpr)) {
        match self {
            Self::Literal(_) => {}
            Self::Index(index) => visit(index),
            Self::Access(access) => access.indices.iter().for_each(visit),
            Self::Apply { args, .. } => args.iter().for_each(|arg| arg.for_each_index(visit)),
            Self::Cast(_, body) | Self::Reduce { body, .. } => body.for_each_index(visit),
        }
    }

    /// Every index variable that the value depends on, bound ones too, each once in
    /// order of appearance.
    pub fn vars(&self) -> Vec<IndexVar> {
        let mut found = Vec::new();
        self.for_each_index(&mut |index| {
            index.for_each_var(&mut |var| {
                if !found.contains(&var) {
                    found.push(var);
                }
            });
        });
        found
    }

    /// The expression with each variable exchanged for another; no reduction binds
    /// one of them.
    #[must_use]
    pub fn renamed(&self, rename: &dyn Fn(IndexVar) -> IndexVar) -> Self {
        self.map_parts(&mut |part| match part {
            Self::Access(access) => Some(Self::Access(access.renamed(rename))),
            Self::Index(index) => Some(Self::Index(index.renamed(rename))),
            _ => None,
        })
    }

    /// Every access, left to right.
    pub fn accesses(&self) -> Vec<&Access> {
        let mut found = Vec::new();
        self.for_each_access(&mut |access| found.push(access));
        found
    }

    /// Every variable that a reduction in the expression binds, once for each reduction.
    pub fn bound_vars(&self) -> Vec<IndexVar> {
        match self {
            Self::Literal(_) | Self::Access(_) | Self::Index(_) => Vec::new(),
            Self::Apply { args, .. } => args.iter().flat_map(Self::bound_vars).collect(),
            Self::Cast(_, body) => body.bound_vars(),
            Self::Reduce { op, vars, body } => {
                let mut found = vars.clone();
                // A reduction of stored entries has its body twice.
                found.extend(of_stored(op, body).unwrap_or(body).bound_vars());
                found
            }
        }
    }

    /// The expression with each access replaced where `replace` gives something.
    #[must_use]
    pub fn map_accesses(&self, replace: &mut dyn FnMut(&Access) -> Option<Expr>) -> Self {
        match self {
            Self::Literal(_) | Self::Index(_) => self.clone(),
            Self::Access(access) => replace(access).unwrap_or_else(|| self.clone()),
            Self::Apply { op, args } => Self::Apply {
                op: op.clone(),
                args: args.iter().map(|arg| arg.map_accesses(replace)).collect(),
            },
            Self::Cast(element, body) => Self::Cast(*element, Box::new(body.map_accesses(replace))),
            Self::Reduce { op, vars, body } => Self::Reduce {
                op: op.clone(),
                vars: vars.clone(),
                body: Box::new(body.map_accesses(replace)),
            },
        }
    }

    /// The expression with each part that `replace` gives something for
    /// replaced, larger parts first.
    #[must_use]
    pub fn map_parts(&self, replace: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Self {
        if let Some(part) = replace(self) {
            return part;
        }
        match self {
            Self::Literal(_) | Self::Access(_) | Self::Index(_) => self.clone(),
            Self::Apply { op, args } => Self::Apply {
                op: op.clone(),
                args: args.iter().map(|arg| arg.map_parts(replace)).collect(),
            },
            Self::Cast(element, body) => Self::Cast(*element, Box::new(body.map_parts(replace))),
            Self::Reduce { op, vars, body } => Self::Reduce {
                op: op.clone(),
                vars: vars.clone(),
                body: Box::new(body.map_parts(replace)),
            },
        }
    }

    /// The value where no tensor stores an entry, as [`stored`](mod@crate::stored) has it. `None`
    /// where an extent matters and is not known, or where a kernel would leave with an error.
    pub fn fill(&self, tensors: &Tensors, vars: &Vars) -> Option<Scalar> {
        unstored(self, tensors, vars, &|access| {
            Some(tensors[access.tensor].fill)
        })
    }

    /// The fill of a temporary for the value: that of the expression, and where it
    /// has none, one that decides nothing of what the temporary is part of.
    ///
    /// ```text
    /// y(i) = c(i) + t, t += c(j) * j      t is stored always, and may be NaN
    /// ```
    pub fn fill_of_temporary(&self, tensors: &Tensors, vars: &Vars) -> Scalar {
        let element = self.element(tensors);
        let none = || match element.kind() {
            Kind::Float | Kind::Complex => Scalar::F64(f64::NAN).cast(element),
            _ => None,
        };
        let fill = self.fill(tensors, vars).or_else(none);
        fill.unwrap_or_else(|| element.zero())
    }
}

/// How many points variables run over; `None` where an extent is not known, or
/// 128 bits do not count them.
pub fn points(vars: &Vars, bound: &[IndexVar]) -> Option<u128> {
    let mut extents = bound.iter().map(|var| vars[*var].extent);
    extents.try_fold(1u128, |n, extent| n.checked_mul(extent?.into()))
}
