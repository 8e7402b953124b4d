//! Reading concrete notation.
//!
//! ```text
//! text := { "def" definition } stmt [ "suchthat" "(" clause { "," clause } ")" ]
//! stmt := "forall" NAME ":" stmt
//!       | "where" "(" stmt "," stmt { "," NAME ":" KIND } ")"
//!       | "sequence" "(" stmt { "," stmt } ")"
//!       | access ("=" | "+=" | "min=" | …) expr       as in index notation
//! ```
//!
//! A clause reads as the command of a schedule that made it. A variable that a
//! clause names is the same in all loops; other loops have variables of their
//! own, even where names are the same.
//!
//! A tensor that is assigned and that the program does not have is a
//! workspace; its type is that of what is assigned.

mod tree;

use std::collections::BTreeMap;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, code};
use sparsec_index::concrete::{Clause, Placed};
use sparsec_index::typing::Typer;
use sparsec_index::{
    Access, Concrete, Expr, IndexExpr, IndexVar, IndexVarData, Stmt, TensorData, TensorRole,
    TensorVar, Tensors, Vars, WorkspaceKind,
};
use sparsec_notation::resolve::one_index_a_mode;
use sparsec_notation::{Assignment, Index, NodeKind, Parser, TensorUse, Word, typed};

use self::tree::{Said, Tree, clauses, tree};
use super::Name;

/// Reads a statement over the tensors of a program.
///
/// # Errors
/// `E0101` to `E0103` where the text does not follow the grammar, `E0201`
/// and `E0202` for tensors, `E0204` for an index without a loop, and those
/// of types.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_index::concretize;
/// use sparsec_notation::{Declaration, Declarations, Notation};
/// use sparsec_schedule::parse_concrete;
/// let notation = Notation::parse(&Source::new("expression", "y(i) = A(i,j) * x(j)"))?;
/// let mut declarations = Declarations::new();
/// declarations.declare("A", Declaration::with_order(2));
/// declarations.declare("x", Declaration::with_order(1));
/// let program = notation.resolve(&declarations)?;
/// let text = concretize(&program, 0).to_string();
/// assert_eq!(text, "forall i: forall j: y(i) += A(i,j) * x(j)");
/// let again = parse_concrete(&Source::new("concrete", text.as_str()), &program.tensors)?;
/// assert_eq!(again.to_string(), text);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn parse_concrete(source: &Source, tensors: &Tensors) -> Result<Concrete> {
    let mut parser = Parser::inside(source)?;
    parser.definitions()?;
    let tree = tree(&mut parser)?;
    let clauses = clauses(&mut parser)?;
    parser.tokens.expect_end()?;
    let mut reader = Reader {
        source,
        tensors: tensors.clone(),
        vars: Vars::new(),
        bound: Vec::new(),
        shared: Vec::new(),
        clauses: Vec::new(),
        results: Vec::new(),
        kinds: BTreeMap::new(),
    };
    reader.share(&clauses)?;
    let stmt = reader.stmt(&tree)?;
    let clauses: Result<Vec<Placed>> = clauses
        .iter()
        .map(|(clause, span)| {
            Ok(Placed {
                clause: reader.clause(clause)?,
                source: source.clone(),
                span: *span,
            })
        })
        .collect();
    let [result, beside @ ..] = &reader.results[..] else {
        let error = Diagnostic::new(code::UNKNOWN_TENSOR, "no tensor of the program is assigned");
        return Err(error.at(source, parser.tokens.peek().span, "up to here"));
    };
    Ok(Concrete {
        source: source.clone(),
        tensors: reader.tensors,
        vars: reader.vars,
        result: *result,
        beside: beside.to_vec(),
        kinds: reader.kinds,
        stmt,
        clauses: clauses?,
    })
}

struct Reader<'a> {
    source: &'a Source,
    tensors: Tensors,
    vars: Vars,
    bound: Vec<IndexVar>,
    /// The variables that clauses name.
    shared: Vec<IndexVar>,
    /// The clauses that derive, over them.
    clauses: Vec<Clause<IndexVar, ()>>,
    /// In the order in which they are assigned first.
    results: Vec<TensorVar>,
    kinds: BTreeMap<TensorVar, WorkspaceKind>,
}

impl Reader<'_> {
    fn stmt(&mut self, tree: &Tree) -> Result<Stmt> {
        match tree {
            Tree::Assign(assignment) => self.assign(assignment),
            Tree::Forall(..) => {
                let (words, body) = tree.nest();
                let vars = self.loop_vars(&words, body);
                let n_bound = self.bound.len();
                for var in &vars {
                    self.bound.push(*var);
                    let derived = self.derived();
                    self.bound.extend(derived);
                }
                let body = self.stmt(body)?;
                self.bound.truncate(n_bound);
                Ok(body.in_loops(&vars))
            }
            Tree::Where(consumer, producer, kinds) => {
                // The producer says what the workspaces are.
                let producer = Box::new(self.stmt(producer)?);
                for (word, kind) in kinds {
                    let named = producer
                        .temporaries()
                        .into_iter()
                        .find(|tensor| self.tensors[*tensor].name == word.text);
                    let Some(tensor) = named else {
                        let message = format!("no workspace `{}` is computed here", word.text);
                        let error = Diagnostic::new(code::UNKNOWN_TENSOR, message);
                        return Err(error.at(self.source, word.span, "not computed here"));
                    };
                    self.kinds.insert(tensor, *kind);
                }
                let consumer = Box::new(self.stmt(consumer)?);
                Ok(Stmt::Where { consumer, producer })
            }
            Tree::Sequence(parts) => {
                let parts: Result<Vec<Stmt>> = parts.iter().map(|part| self.stmt(part)).collect();
                Ok(Stmt::Sequence(parts?))
            }
        }
    }

    /// Makes the variables that clauses name.
    fn share(&mut self, clauses: &[Said]) -> Result<()> {
        for (clause, _) in clauses {
            let shared = clause.try_map(
                &mut |name: &Name| -> Result<IndexVar> {
                    let known = self.shared(&name.word.text);
                    Ok(known.unwrap_or_else(|| {
                        let var = self.vars.push(IndexVarData {
                            name: name.word.text.clone(),
                            extent: None,
                        });
                        self.shared.push(var);
                        var
                    }))
                },
                &mut |_| Ok(()),
            )?;
            self.clauses.push(shared);
        }
        Ok(())
    }

    fn shared(&self, name: &str) -> Option<IndexVar> {
        let mut shared = self.shared.iter();
        shared.find(|var| self.vars[**var].name == name).copied()
    }

    /// The variables of loops directly inside one another. They are made in the order in
    /// which the body names them, as those of a statement are: sums of indices print in the
    /// order of their variables, and read back as they were.
    fn loop_vars(&mut self, words: &[&Word], body: &Tree) -> Vec<IndexVar> {
        let mut named: Vec<&str> = Vec::new();
        body.for_each_var(&mut |word| named.push(&word.text));
        let place = |at: &usize| named.iter().position(|name| *name == words[*at].text);
        let mut in_order: Vec<usize> = (0..words.len()).collect();
        in_order.sort_by_key(|at| place(at).unwrap_or(named.len()));
        let made = in_order.into_iter();
        let mut made: Vec<(usize, IndexVar)> = made
            .map(|at| (at, self.loop_var(&words[at].text)))
            .collect();
        made.sort_by_key(|(at, _)| *at);
        made.into_iter().map(|(_, var)| var).collect()
    }

    /// The variable of a loop: one that a clause names and none derives from,
    /// else a new one.
    fn loop_var(&mut self, name: &str) -> IndexVar {
        let is_derived_from = |var: &IndexVar| {
            let mut derived = self.clauses.iter().filter_map(Clause::derives);
            derived.any(|(from, _)| from.contains(&var))
        };
        let shared = self.shared(name).filter(|var| !is_derived_from(var));
        shared.unwrap_or_else(|| {
            self.vars.push(IndexVarData {
                name: name.to_owned(),
                extent: None,
            })
        })
    }

    /// The variables that are bound with those that are, and are not among them.
    fn derived(&self) -> Vec<IndexVar> {
        let mut found: Vec<IndexVar> = Vec::new();
        loop {
            let before = found.len();
            for clause in self.clauses.iter().rev() {
                let Some((from, _)) = clause.derives() else {
                    continue;
                };
                let is_bound = |var: &&IndexVar| self.bound.contains(var) || found.contains(var);
                if clause.computed_from().iter().all(is_bound) {
                    let new = from.into_iter().filter(|var| !is_bound(var)).copied();
                    found.extend(new.collect::<Vec<_>>());
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// A clause over the variables that it was found to name.
    fn clause(&self, clause: &Clause<Name, Name>) -> Result<Clause> {
        clause.try_map(
            &mut |name| {
                let var = self.shared(&name.word.text);
                Ok(var.expect("every variable of a clause was made"))
            },
            &mut |name| {
                let tensor = self.tensors.named(&name.word.text);
                tensor.ok_or_else(|| self.unknown_tensor(&name.word))
            },
        )
    }

    fn assign(&mut self, assignment: &Assignment) -> Result<Stmt> {
        let mut accesses = Vec::new();
        assignment
            .rhs
            .for_each_access(&mut |tensor| accesses.push(tensor));
        accesses.retain(|tensor| !self.is_index_value(tensor));
        for tensor in accesses {
            let access = self.access(tensor)?;
            self.learn(&access);
        }
        let typer = Typer {
            source: self.source,
            tensors: &self.tensors,
        };
        let mut rhs = typed(&typer, &assignment.rhs, &|leaf| self.leaf(leaf))?;
        let name = &assignment.lhs.name;
        match self.tensors.named(&name.text) {
            Some(known) => rhs = typer.convert(rhs, self.tensors[known].element)?,
            None => {
                // A workspace is no storage: it has the type that is computed with.
                let element = rhs.element.computed();
                rhs = typer.convert(rhs, element)?;
                self.tensors.push(TensorData {
                    name: name.text.clone(),
                    earlier_of: None,
                    element,
                    extents: vec![None; assignment.lhs.indices.len()],
                    fill: element.zero(),
                    role: TensorRole::Workspace,
                    span: name.span,
                    levels_of: None,
                });
            }
        }
        let lhs = self.access(&assignment.lhs)?;
        self.learn(&lhs);
        let is_workspace = self.tensors[lhs.tensor].role == TensorRole::Workspace;
        if !is_workspace && !self.results.contains(&lhs.tensor) {
            self.results.push(lhs.tensor);
        }
        Ok(Stmt::Assign {
            lhs,
            reduce: assignment.op.clone(),
            rhs: rhs.expr,
        })
    }

    /// An access, or an index as a number.
    fn leaf(&self, leaf: &NodeKind) -> Result<Expr> {
        let index = |index: &Index| {
            let index = index.expr(self.source, &|word| self.var(word))?;
            Ok(Expr::Index(index))
        };
        match leaf {
            NodeKind::Index(written) => index(written),
            NodeKind::Access(tensor) if self.is_index_value(tensor) => {
                index(&tensor.name.clone().into())
            }
            NodeKind::Access(tensor) => self.access(tensor).map(Expr::Access),
            _ => unreachable!("other parts of expressions are no leaves"),
        }
    }

    /// Whether a name alone is that of an index variable, and of no tensor.
    fn is_index_value(&self, tensor: &TensorUse) -> bool {
        let name = &tensor.name.text;
        tensor.indices.is_empty()
            && self.tensors.named(name).is_none()
            && self.bound.iter().any(|var| self.vars[*var].name == *name)
    }

    fn access(&self, tensor: &TensorUse) -> Result<Access> {
        let name = &tensor.name.text;
        let Some(id) = self.tensors.named(name) else {
            return Err(self.unknown_tensor(&tensor.name));
        };
        let (order, used) = (self.tensors[id].order(), tensor.indices.len());
        if order != used {
            let message = format!("`{name}` has order {order}, but is used with {used} indices");
            let error = Diagnostic::new(code::WRONG_ORDER, message);
            return Err(error
                .at(self.source, tensor.span, format!("{used} indices"))
                .help(one_index_a_mode(name, order)));
        }
        let indices = tensor.indices.iter();
        let indices: Result<Vec<IndexExpr>> = indices
            .map(|index| index.expr(self.source, &|word| self.var(word)))
            .collect();
        Ok(Access {
            tensor: id,
            indices: indices?,
            span: tensor.span,
        })
    }

    fn unknown_tensor(&self, word: &Word) -> Diagnostic {
        let message = format!("unknown tensor `{}`", word.text);
        let error = Diagnostic::new(code::UNKNOWN_TENSOR, message);
        let error = error.at(self.source, word.span, "no tensor has this name");
        let known = self.tensors.iter().map(|(_, data)| data.name.as_str());
        match closest(&word.text, known) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error,
        }
    }

    fn var(&self, word: &Word) -> Result<IndexVar> {
        let mut inner_first = self.bound.iter().rev();
        let found = inner_first.find(|var| self.vars[**var].name == word.text);
        found.copied().ok_or_else(|| {
            let message = format!("nothing says how far `{}` runs", word.text);
            Diagnostic::new(code::UNBOUND_INDEX, message)
                .at(self.source, word.span, "no loop around this is over it")
                .help(format!("put `forall {}:` around it", word.text))
        })
    }

    /// Takes the extents of variables from tensors, and of workspaces from
    /// variables.
    fn learn(&mut self, access: &Access) {
        for (mode, index) in access.indices.iter().enumerate() {
            let Some(var) = index.as_var() else {
                continue;
            };
            let of_mode = &mut self.tensors[access.tensor].extents[mode];
            let of_var = &mut self.vars[var].extent;
            *of_var = of_var.or(*of_mode);
            *of_mode = of_mode.or(*of_var);
        }
    }
}
