//! Names of local variables, by scope.
//!
//! The IR tells every variable of a function apart: the `j` of one loop and
//! the `j` of the next are `j` and `j_2`. In C both are `j`, for neither is
//! visible where the other is. A variable gets the number back only inside the
//! scope of another of its name.

use std::collections::{HashMap, HashSet};

use sparsec_loop::{Block, Function, Stmt, Var};

use crate::name::Names;

/// A name for every variable that the body declares. `names` holds those that
/// are visible everywhere, and gets all others, so that what is named later
/// differs from every variable.
pub(crate) fn local_names(function: &Function, names: &mut Names) -> HashMap<Var, String> {
    let mut naming = Naming {
        function,
        known: function
            .vars
            .iter()
            .map(|(_, data)| data.name.as_str())
            .collect(),
        everywhere: names.clone(),
        visible: Vec::new(),
        chosen: HashMap::new(),
    };
    naming.block(&function.body);
    for name in naming.chosen.values() {
        names.take(name);
    }
    naming.chosen
}

struct Naming<'f> {
    function: &'f Function,
    known: HashSet<&'f str>,
    everywhere: Names,
    /// Names of variables declared in the blocks around.
    visible: Vec<String>,
    chosen: HashMap<Var, String>,
}

impl Naming<'_> {
    fn block(&mut self, block: &Block) {
        let outside = self.visible.len();
        for stmt in block {
            match stmt {
                Stmt::Declare { var, .. } => self.declare(*var),
                Stmt::For { var, body, .. } => {
                    let outside = self.visible.len();
                    self.declare(*var);
                    self.block(body);
                    self.visible.truncate(outside);
                }
                Stmt::While { body, .. } => self.block(body),
                Stmt::If {
                    then, otherwise, ..
                } => {
                    self.block(then);
                    self.block(otherwise);
                }
                _ => {}
            }
        }
        self.visible.truncate(outside);
    }

    fn declare(&mut self, var: Var) {
        let name = &self.function.vars[var].name;
        let stem = self.stem(name);
        let mut taken = self.everywhere.clone();
        for name in &self.visible {
            taken.take(name);
        }
        let name = taken.fresh(stem);
        self.visible.push(name.clone());
        self.chosen.insert(var, name);
    }

    /// The name without the number that tells it apart from another variable's.
    fn stem<'n>(&self, name: &'n str) -> &'n str {
        match name.rsplit_once('_') {
            Some((stem, number))
                if number.bytes().all(|b| b.is_ascii_digit()) && self.known.contains(stem) =>
            {
                stem
            }
            _ => name,
        }
    }
}
