//! Every stage between an expression and its kernel, as text.

pub(crate) mod converters;

use std::fmt::Write;

use sparsec_base::{Diagnostic, Result, code, suggest};
use sparsec_format::Format;
use sparsec_gradient::{Places, gradient};
use sparsec_graph::{Formats, IterationGraph, Lattice, Operand, Operands, Scope, space};
use sparsec_index::concrete::Stmt;
use sparsec_index::{IndexVar, Program, TensorRole, concretize, gather};
use sparsec_loop::{Function, passes};
use sparsec_plan::default_result_format;
use sparsec_schedule::ProgramSchedule;

use crate::compiled::{Compiled, CompiledStatement};
use crate::extents;
use crate::picture::{self, Sheet};

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Index notation, with statements split where planning did.
    Index,
    /// Concrete notation with every command applied.
    Concrete,
    /// The program that computes the derivatives by an operand of this name: at the entries
    /// that it stores, if its format is sparse.
    Gradient(String),
    /// Naive concrete notation, blind to formats.
    Naive,
    /// The commands that planning chose.
    Schedule,
    /// What else planning considered, and what each was thought to cost.
    Explain,
    /// The product of several tensors that a statement sums, with what is known of them.
    Network,
    /// The contraction tree of such a product, with estimates.
    Tree,
    /// The loops and workspaces that compute the tree.
    Fused,
    /// The constraint system of the tree for solvers.
    Smt2,
    /// Which loops have to be inside which.
    Graph,
    /// For each loop the coordinates it visits and its merge lattice.
    Lattice,
    /// The loop IR after all passes.
    Loop,
    /// The loop IR after one pass, or as lowered after `lower`.
    LoopAfter(String),
    /// C.
    C,
    /// The loops of kernels as C, without the functions around them.
    CBody,
    /// A stage drawn as SVG.
    Drawn(Drawing),
    /// A module of MLIR: `memref` and `scf`.
    Mlir,
    /// A module of MLIR: `linalg.generic` over encodings, whose loops MLIR chooses.
    Linalg,
    /// Declarations of kernels for C programs; see [`Compiled::keep`].
    Header,
    /// What Cranelift makes machine code from.
    Clif,
    /// The machine code that is made in memory, of this processor.
    Assembly,
}

/// A stage that can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// [`Stage::Graph`].
    Graph,
    /// [`Stage::Lattice`].
    Lattice,
    /// [`Stage::Concrete`].
    Concrete,
}

impl Stage {
    /// Every stage with what it shows, as `--emit` takes it.
    pub const NAMES: [(&'static str, &'static str); 24] = [
        (
            "index",
            "index notation, statements split where planning did",
        ),
        (
            "gradient=TENSOR",
            "the program that computes derivatives by an operand",
        ),
        ("naive", "concrete notation, blind to formats"),
        ("schedule", "the commands that planning chose"),
        (
            "explain",
            "why these commands: what else there was, and what each would cost",
        ),
        (
            "network",
            "a product of several tensors, with what is known of them",
        ),
        ("tree", "the contractions that compute it, with estimates"),
        ("plan", "their fused loops, workspaces and copies"),
        ("smt2", "the constraint system of the tree, for solvers"),
        ("concrete", "concrete notation with the commands applied"),
        ("concrete=svg", "the same, drawn"),
        ("graph", "which loops have to be inside which"),
        ("graph=svg", "the same, drawn"),
        ("lattice", "what each loop visits and its merge lattice"),
        ("lattice=svg", "the same, drawn"),
        ("loop", "the loop IR after all passes"),
        (
            "loop-after=PASS",
            "the loop IR after one pass, or after `lower`",
        ),
        ("c", "C; with `header` too, a file that needs nothing else"),
        ("c=body", "the loops alone, as C"),
        (
            "mlir",
            "a module of MLIR: `func`, `scf`, `memref` and `arith`",
        ),
        (
            "linalg",
            "a module of MLIR that leaves the loops to it: `linalg.generic` over encodings",
        ),
        (
            "header",
            "declarations of `assemble_y`, `compute_y` and `evaluate_y`",
        ),
        ("clif", "what Cranelift makes machine code from"),
        ("asm", "the machine code made in memory, of this processor"),
    ];

    /// The stage with this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "index" => Self::Index,
            "naive" => Self::Naive,
            "schedule" => Self::Schedule,
            "explain" => Self::Explain,
            "network" => Self::Network,
            "tree" => Self::Tree,
            "plan" => Self::Fused,
            "smt2" => Self::Smt2,
            "concrete" => Self::Concrete,
            "graph" => Self::Graph,
            "lattice" => Self::Lattice,
            "loop" => Self::Loop,
            "c" => Self::C,
            "c=body" => Self::CBody,
            "mlir" => Self::Mlir,
            "linalg" => Self::Linalg,
            "concrete=svg" => Self::Drawn(Drawing::Concrete),
            "graph=svg" => Self::Drawn(Drawing::Graph),
            "lattice=svg" => Self::Drawn(Drawing::Lattice),
            "header" => Self::Header,
            "clif" => Self::Clif,
            "asm" => Self::Assembly,
            _ => match name.strip_prefix("gradient=") {
                Some(operand) => Self::Gradient(operand.to_owned()),
                None => Self::LoopAfter(name.strip_prefix("loop-after=")?.to_owned()),
            },
        })
    }
}

impl Compiled {
    /// A stage of every statement as text. Where there are several statements,
    /// a blank line is between them, and commands are below the name of the result.
    ///
    /// # Errors
    /// `E0315` for a pass that does not exist; `E0609` for machine code where none
    /// can be made.
    pub fn emit(&self, stage: &Stage) -> Result<String> {
        if *stage == Stage::C {
            let functions = self.functions();
            return Ok(sparsec_codegen_c::emit_file(
                &functions,
                &Default::default(),
            ));
        }
        if *stage == Stage::Mlir {
            let conversions = self.kernel_conversions();
            let functions = self.functions().into_iter();
            let made = conversions
                .iter()
                .filter_map(|it| it.function.as_ref().ok());
            let functions: Vec<_> = functions.chain(made).collect();
            return Ok(sparsec_codegen_scf::emit(&functions));
        }
        if *stage == Stage::Linalg {
            return self.linalg();
        }
        if *stage == Stage::Header {
            return Ok(self.keep(None)?.header);
        }
        if let Stage::Drawn(drawing) = stage {
            return Ok(self.draw(*drawing));
        }
        if let Stage::Gradient(operand) = stage {
            return Ok(format!("{}\n", self.gradient(operand)?));
        }
        if *stage == Stage::Schedule && self.statements.len() > 1 {
            let schedule = ProgramSchedule::of_plans(self.schedules());
            return Ok(format!("{schedule}\n"));
        }
        let mut texts = Vec::new();
        // Statements as they are written have loops of their own.
        let numbers: Vec<usize> = match stage {
            Stage::Index | Stage::Naive => (0..self.statements.len()).collect(),
            _ => self.kernels().collect(),
        };
        for number in numbers {
            let mut text = self.emit_kernel(stage, number)?;
            if !text.ends_with('\n') && !text.is_empty() {
                text.push('\n');
            }
            texts.push(text);
        }
        let separator = if *stage == Stage::Index { "" } else { "\n" };
        Ok(texts.join(separator))
    }

    /// The text of the statements that `number` computes.
    fn statements_text(&self, number: usize) -> String {
        let numbers = self.computed_by_loops(number).into_iter();
        let texts: Vec<String> = numbers.map(|it| self.program.statement_text(it)).collect();
        texts.join("\n")
    }

    fn functions(&self) -> Vec<&Function> {
        let numbers = self.kernels();
        numbers.map(|it| &self.statements[it].function).collect()
    }

    fn emit_kernel(&self, stage: &Stage, number: usize) -> Result<String> {
        let statement = &self.statements[number];
        let plan = &statement.plan;
        Ok(match stage {
            Stage::Index => self.program.statement_text(number),
            Stage::Naive => concretize(&self.program, number).to_string(),
            Stage::Concrete => plan.concrete.to_string(),
            Stage::Schedule => plan.schedule.to_string(),
            Stage::Explain => {
                format!("{}\n{}", self.statements_text(number), plan.account)
            }
            Stage::Network => self.network_text(number),
            Stage::Tree => self.tree_text(number),
            Stage::Fused => self.fused_text(number),
            Stage::Smt2 => self.system_text(number),
            Stage::Graph => {
                let naive = self.naive(number);
                IterationGraph::of(&naive, &self.formats).text(&naive)
            }
            Stage::Lattice => lattices(statement),
            Stage::Loop => statement.function.to_string(),
            Stage::LoopAfter(pass) if pass == "collapse" => self
                .collapsed(number, &extents::known(&self.program))
                .to_string(),
            Stage::LoopAfter(pass) => loop_after(statement, pass)?,
            Stage::Clif => sparsec_codegen_cranelift::text(&statement.function)?,
            Stage::Assembly => sparsec_codegen_cranelift::assembly(&statement.function)?,
            Stage::CBody => sparsec_codegen_c::emit_loops(&statement.function),
            Stage::C
            | Stage::Mlir
            | Stage::Linalg
            | Stage::Header
            | Stage::Drawn(_)
            | Stage::Gradient(_) => {
                unreachable!("emitted for all statements at once")
            }
        })
    }
}

impl Compiled {
    /// The program that computes the derivatives of the last result by an operand: at the entries
    /// that it stores, if its format is sparse.
    ///
    /// # Errors
    /// As [`gradient`].
    pub fn gradient(&self, operand: &str) -> Result<Program> {
        let tensors = self.resolved.tensors.iter();
        let mut formats = tensors.filter_map(|(_, data)| {
            let is_meant = data.source_name() == operand && data.role == TensorRole::Input;
            is_meant.then(|| self.format(&data.name)).flatten()
        });
        let places = match formats.next().is_some_and(Format::has_sparse) {
            true => Places::Stored,
            false => Places::All,
        };
        gradient(&self.resolved, operand, places)
    }

    /// The C of all statements for people to read: kernels first, then the declarations
    /// that a file has in front of them.
    pub fn c_to_read(&self) -> String {
        let functions = self.functions();
        let parts = sparsec_codegen_c::emit_parts(&functions, &Default::default());
        format!(
            "{}\n/* In a file, all that follows stands first. */\n\n{}",
            parts.kernels, parts.declarations
        )
    }

    /// The program before planning, with the formats of its tensors.
    fn linalg(&self) -> Result<String> {
        let (whole, _) = gather(&self.resolved)?;
        let n_known = whole.tensors.len();
        let program = sparsec_codegen_linalg::apart(&whole);
        let mut formats = Formats::new();
        for tensor in program.tensors.ids().take(n_known) {
            if let Some(format) = self.formats.get(tensor) {
                formats.set(tensor, format.clone());
            }
        }
        for statement in &program.statements {
            let result = statement.lhs.tensor;
            if formats.get(result).is_none() {
                let format = default_result_format(&program, statement, &formats);
                formats.set(result, format);
            }
        }
        let all = program.tensors.ids();
        let all = all.filter_map(|tensor| Some((tensor, formats.get(tensor)?.clone())));
        sparsec_codegen_linalg::emit(&program, &all.collect())
    }

    /// All statements in one picture.
    fn draw(&self, drawing: Drawing) -> String {
        let mut sheet = Sheet::default();
        for number in self.kernels() {
            let text = self.statements_text(number);
            let (title, plan) = (text.trim(), &self.statements[number].plan);
            match drawing {
                Drawing::Concrete => picture::concrete(&mut sheet, title, &plan.concrete),
                Drawing::Graph => {
                    let naive = self.naive(number);
                    let graph = IterationGraph::of(&naive, &self.formats);
                    let mut order = Vec::new();
                    for_each_loop(&plan.concrete.stmt, 0, &mut |var, _, _| {
                        order.extend(plan.concrete.originals(var));
                    });
                    picture::graph(&mut sheet, title, &graph, &naive, &order);
                }
                Drawing::Lattice => {
                    let operands = Operands::of(&plan.concrete);
                    let scope = scope(&self.statements[number], &operands);
                    let mut loops = Vec::new();
                    for_each_loop(&plan.concrete.stmt, 0, &mut |var, body, depth| {
                        let space = space(scope, body, var);
                        let called = label(scope, var);
                        let name = &scope.concrete.vars[var].name;
                        loops.push(picture::Loop {
                            depth,
                            title: format!("forall {name}, visits {}", space.text(&called)),
                            lattice: Lattice::of(&space),
                            name: Box::new(called),
                        });
                    });
                    picture::lattices(&mut sheet, title, &loops);
                }
            }
        }
        sheet.finish(self.program.source.text())
    }
}

fn loop_after(statement: &CompiledStatement, pass: &str) -> Result<String> {
    match pass {
        "lower" => return Ok(statement.lowered.to_string()),
        "divide" => {
            let mut function = passes::optimize(statement.lowered.clone(), &mut |_, _| {});
            passes::divide(&mut function, statement.division);
            return Ok(function.to_string());
        }
        "lanes" => return Ok(statement.untiled.to_string()),
        "tile" => return Ok(statement.function.to_string()),
        _ => {}
    }
    let mut found = None;
    let _ = passes::optimize(statement.lowered.clone(), &mut |name, function| {
        if name == pass {
            found = Some(function.to_string());
        }
    });
    found.ok_or_else(|| {
        let names = || {
            passes::PIPELINE
                .iter()
                .map(|pass| pass.name)
                .chain(["lower", "divide", "lanes", "collapse", "tile"])
        };
        let all: Vec<&str> = names().collect();
        let error = Diagnostic::new(code::UNKNOWN_PASS, format!("there is no pass `{pass}`"))
            .note(format!("the passes are {}", all.join(", ")));
        match suggest::closest(pass, names()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// A line for each loop: its variable, what it visits, its lattice.
fn lattices(statement: &CompiledStatement) -> String {
    let operands = Operands::of(&statement.plan.concrete);
    let scope = scope(statement, &operands);
    let mut out = String::new();
    for_each_loop(&statement.plan.concrete.stmt, 0, &mut |var, body, depth| {
        let (space, name) = (space(scope, body, var), label(scope, var));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:indent$}{}: {}   visits {}",
            "",
            scope.concrete.vars[var].name,
            Lattice::of(&space).text(&name),
            space.text(&name),
            indent = 2 * depth,
        );
    });
    out
}

fn scope<'a>(statement: &'a CompiledStatement, operands: &'a Operands) -> Scope<'a> {
    Scope {
        concrete: &statement.plan.concrete,
        formats: &statement.plan.formats,
        operands,
    }
}

/// How operands are called in the loop over a variable.
fn label(scope: Scope<'_>, var: IndexVar) -> impl Fn(Operand) -> String {
    move |operand| {
        let Scope {
            concrete,
            formats,
            operands,
        } = scope;
        operands.label(operand, var, concrete, formats)
    }
}

/// Calls `visit` with the variable, the body and the depth of every loop, outer ones
/// first and producers before consumers.
fn for_each_loop<'a>(
    stmt: &'a Stmt,
    depth: usize,
    visit: &mut dyn FnMut(IndexVar, &'a Stmt, usize),
) {
    match stmt {
        Stmt::Assign { .. } => {}
        Stmt::Forall { var, body } => {
            visit(*var, body, depth);
            for_each_loop(body, depth + 1, visit);
        }
        Stmt::Where { consumer, producer } => {
            for_each_loop(producer, depth, visit);
            for_each_loop(consumer, depth, visit);
        }
        Stmt::Sequence(stmts) => {
            for stmt in stmts {
                for_each_loop(stmt, depth, visit);
            }
        }
    }
}
