//! A statement on its way to a plan: commands applied one after the other.
//!
//! Every choice is stated as the text of a command, parsed and applied, so a
//! plan that was found is one that replays. What the commands add (copies in
//! other formats, workspaces) gets its format here.

mod nests;
mod rows;
mod workspaces;

pub(crate) use nests::nests;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, FormatSpec, Way, Widths};
use sparsec_graph::{Formats, NotLowerable, lowerable, path, workspace_format, workspace_kind};
use sparsec_index::concrete::{Stmt, for_each_nested};
use sparsec_index::{Access, Concrete, IndexVar, TensorData, TensorRole, TensorVar};
use sparsec_machine::Machine;
use sparsec_schedule::{Command, Name, Schedule};

use crate::account::Account;
use crate::copies::arranged;
use crate::cost::Cost;
use crate::estimate::{Converting, Estimate};
use crate::search::{Conversion, Facts, Plan, Size, View};
use crate::unplanned::{self, Unplanned};

/// The most cases of a kernel that is [`Size::Small`].
const SMALL_CASES: usize = 48;

/// A statement being planned.
#[derive(Clone)]
pub(crate) struct Draft<'a> {
    given: &'a Formats,
    facts: Facts<'a>,
    size: Size,
    schedule: Schedule,
    pub(crate) concrete: Concrete,
    /// The formats of all tensors but workspaces.
    pub(crate) formats: Formats,
    conversions: Vec<Conversion>,
    /// What conversions cost.
    pub(crate) converted: Cost,
    converts_result: Option<Format>,
    levels_of_result: Option<Format>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(concrete: Concrete, given: &'a Formats, facts: Facts<'a>) -> Self {
        Self {
            given,
            facts,
            size: Size::Any,
            converted: Cost::default(),
            schedule: Schedule::default(),
            concrete,
            formats: given.clone(),
            conversions: Vec::new(),
            converts_result: None,
            levels_of_result: None,
        }
    }

    /// The draft of a plan whose kernel is no longer than that.
    pub(crate) fn no_longer_than(self, size: Size) -> Self {
        Self { size, ..self }
    }

    /// Whether the plan has to be of a short kernel, and may be of parts of the statement.
    pub(crate) fn is_small(&self) -> bool {
        self.size == Size::Small
    }

    /// One nest of a statement as a statement of its own.
    pub(crate) fn nest(&self, stmt: Stmt) -> Self {
        let mut nest = self.clone();
        let mut results = nest.concrete.beside.drain(..);
        let computes = |result: &TensorVar| stmt.temporaries().contains(result);
        if let Some(other) = results.find(computes) {
            nest.concrete.result = other;
        }
        drop(results);
        nest.concrete.stmt = stmt;
        nest
    }

    /// The commands that have been said.
    pub(crate) fn said(&self) -> &[Command] {
        &self.schedule.0
    }

    /// What choices are made by.
    pub(crate) fn facts(&self) -> Facts<'a> {
        self.facts
    }

    /// Applies commands one after the other.
    pub(crate) fn commands(&mut self, commands: &[Command]) -> Result<()> {
        commands
            .iter()
            .try_for_each(|command| self.command(command.clone()))
    }

    /// Applies a command and remembers it.
    pub(crate) fn command(&mut self, command: Command) -> Result<()> {
        let (before, result) = (self.concrete.tensors.len(), self.concrete.result);
        self.concrete = command.apply(&self.concrete)?;
        if self.concrete.result != result {
            return self.remember_result(command, result);
        }
        if let Command::Convert { tensor, format, .. } = &command {
            let from = self
                .concrete
                .tensor(&tensor.word.text)
                .expect("applied to a tensor");
            if self.is_view(from) {
                let message =
                    format!("`{tensor}` is another tensor, seen by its levels or a piece");
                return Err(Diagnostic::new(code::ILLEGAL_COMMAND, message)
                    .at(&tensor.source, tensor.word.span, "converted here")
                    .help("convert the tensor itself, and leave out `levels` and `pieces`"));
            }
            for to in self.concrete.tensors.ids_from(before) {
                let format = format.resolve(self.concrete.tensors[to].order())?;
                self.formats.set(to, format.clone());
                self.conversions.push(Conversion {
                    from,
                    to,
                    format,
                    view: None,
                });
            }
        }
        for (to, format, view) in self.views(&command, before)? {
            let (Command::Levels { tensor, .. } | Command::Pieces { tensor, .. }) = &command else {
                unreachable!("other commands make no views");
            };
            let of = self.concrete.tensor(&tensor.word.text);
            self.formats.set(to, format.clone());
            self.conversions.push(Conversion {
                from: of.expect("applied to a tensor"),
                to,
                format,
                view: Some(view),
            });
        }
        self.schedule.0.push(command);
        Ok(())
    }

    /// The tensors that a command has made of the arrays of another one: those from
    /// number `before` on.
    fn views(&self, command: &Command, before: usize) -> Result<Vec<(TensorVar, Format, View)>> {
        let mut made = self.concrete.tensors.ids_from(before);
        let of = |name: &Name| {
            let of = self.concrete.tensor(&name.word.text);
            of.expect("applied to a tensor")
        };
        Ok(match command {
            Command::Levels { tensor, format } => {
                let format = self.level_space(tensor, format, of(tensor), Format::read_by)?;
                // Behind it come the workspaces of nests that were taken apart.
                made.take(1)
                    .map(|to| (to, format.clone(), View::Levels))
                    .collect()
            }
            Command::Pieces { tensor, format } => {
                let stored = self.stored(tensor, format, of(tensor))?;
                let pieces = stored
                    .pieces()
                    .expect("applied to a tensor that has pieces");
                let pieces = pieces.into_iter().map(|piece| {
                    let to = made.next().expect("each piece is a tensor");
                    (to, piece.format, View::Part(piece.part))
                });
                pieces.collect()
            }
            _ => Vec::new(),
        })
    }

    /// Whether a tensor has the arrays of another one.
    pub(crate) fn is_view(&self, tensor: TensorVar) -> bool {
        let mut views = self.conversions.iter().filter(|it| it.view.is_some());
        views.any(|it| it.to == tensor)
    }

    /// The tensors that are others, seen by their levels.
    pub(crate) fn of_levels(&self) -> impl Iterator<Item = TensorVar> {
        let conversions = self.conversions.iter();
        let views = conversions.filter(|it| it.view == Some(View::Levels));
        views.map(|it| it.to)
    }

    /// Whether a tensor is what a command has made of another one.
    pub(crate) fn is_converted(&self, tensor: TensorVar) -> bool {
        self.conversions.iter().any(|it| it.to == tensor)
    }

    /// Takes in a command that has the result computed in another tensor.
    fn remember_result(&mut self, command: Command, result: TensorVar) -> Result<()> {
        let computed = self.concrete.result;
        if let Command::Convert { format, .. } = &command {
            let format = format.resolve(self.concrete.tensors[computed].order())?;
            // Widths are chosen with those of the result.
            let known = self.given.assembled(result);
            let known = known.filter(|known| known.arranges_like(&format));
            self.converts_result = self.format(result).cloned();
            let format = known.cloned().unwrap_or(format);
            self.formats.set(computed, format);
        }
        if let Command::Levels { tensor, format } = &command {
            self.levels_of_result = self.format(result).cloned();
            let levels = self.level_space(tensor, format, result, Format::written_by)?;
            // As wide as what would be assembled in its place.
            let widths = self.given.assembled(result).map(Format::widths);
            let widths = widths.filter(|_| levels.widths() == Widths::default());
            let widths = widths.unwrap_or(levels.widths());
            self.formats.set(computed, levels.with_widths(widths));
        }
        self.schedule.0.push(command);
        Ok(())
    }

    /// The format of a tensor, which a command says to be stored so.
    fn stored(&self, said: &Name, stored: &FormatSpec, tensor: TensorVar) -> Result<&Format> {
        let format = self.format(tensor).expect("every tensor has a format");
        if format.arranges_like(&stored.resolve(format.order())?) {
            return Ok(format);
        }
        let message = format!("`{said}` is stored in another format");
        let is = format.arrangement();
        // `levels` and `pieces` take neither plain formats nor formats of one piece.
        let is_seen = format.level_space().is_some() || format.pieces().is_some();
        Err(Diagnostic::new(code::NO_LEVEL_COORDINATES, message)
            .at(&said.source, said.word.span, "not stored so")
            .help(match is_seen {
                true => format!("name the one that it is stored in: `{is}`"),
                false => format!("it is stored as `{is}`, which loops walk: leave the command out"),
            }))
    }

    /// The format of the levels of a tensor, which a command says to be stored so.
    fn level_space(
        &self,
        said: &Name,
        stored: &FormatSpec,
        tensor: TensorVar,
        way: fn(&Format) -> Way,
    ) -> Result<Format> {
        let format = self.stored(said, stored, tensor)?;
        let levels = format.level_space();
        let Some(levels) = levels.filter(|_| way(format) == Way::Levels) else {
            let message = format!("kernels do not walk the levels of `{said}`");
            return Err(Diagnostic::new(code::NO_LEVEL_COORDINATES, message)
                .at(&said.source, said.word.span, "seen by its levels here")
                .note(format!("the format is `{format}`"))
                .help(format!("convert it: `convert({said}, csf)`")));
        };
        Ok(levels)
    }

    /// Converts what kernels cannot read or write as it is, unless commands before
    /// have done so.
    pub(crate) fn convert_foreign(&mut self) -> Result<()> {
        let mut reads: Vec<(TensorVar, Access)> = Vec::new();
        self.concrete.stmt.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let format = self.format(access.tensor);
                let is_foreign = format.is_some_and(|format| !format.is_native());
                let is_known = reads.iter().any(|(known, _)| *known == access.tensor);
                if is_foreign && !is_known {
                    reads.push((access.tensor, access.clone()));
                }
            });
        });
        for (tensor, access) in reads {
            let nearest = self.nearest(tensor, Formats::walked);
            self.converted += self.converting(&access, &nearest);
            let name = &self.concrete.tensors[tensor].name;
            self.command(Command::convert(name, nearest))?;
        }
        self.convert_foreign_result()
    }

    /// As [`convert_foreign`](Self::convert_foreign), for the result alone.
    pub(crate) fn convert_foreign_result(&mut self) -> Result<()> {
        let result = self.concrete.result;
        if self
            .format(result)
            .is_some_and(|format| !format.is_assembled())
        {
            let nearest = self.nearest(result, Formats::assembled);
            let format = self.format(result).expect("just looked at");
            self.converted += self.converting_result(&nearest, format, self.computed_entries());
            let name = &self.concrete.tensors[result].name;
            self.command(Command::convert(name, nearest))?;
        }
        Ok(())
    }

    /// Whether loops assemble the result in its own format, so far.
    pub(crate) fn is_result_as_stored(&self) -> bool {
        self.converts_result.is_none() && self.levels_of_result.is_none()
    }

    /// Whether loops in this order come to the entries of the result in another order
    /// than it is stored in.
    pub(crate) fn turns_result(&self, order: &[IndexVar]) -> bool {
        let place = |var: IndexVar| order.iter().position(|known| *known == var);
        let format = self.given.assembled(self.concrete.result);
        let (Some(lhs), Some(format)) = (self.lhs(), format) else {
            return false;
        };
        let mut edges = path::edges(&lhs, format).into_iter();
        edges.any(|edge| place(edge.before) > place(edge.after))
    }

    /// Has loops in this order assemble the result in the order in which they come to
    /// its entries, from where it is converted.
    pub(crate) fn turn_result(&mut self, order: &[IndexVar]) -> Result<()> {
        let result = self.concrete.result;
        let format = self.given.assembled(result);
        let (Some(lhs), Some(format)) = (self.lhs(), format) else {
            return Ok(());
        };
        let entries = self.computed_entries();
        let TensorData { name, extents, .. } = &self.concrete.tensors[result];
        let turned = arranged(format, &lhs, extents, order)?;
        self.converted += self.converting_result(&turned, format, entries);
        self.command(Command::convert(name, turned))
    }

    /// Where the result is assigned, if that is at one place.
    fn lhs(&self) -> Option<Access> {
        let mut found: Vec<Access> = Vec::new();
        self.concrete.stmt.for_each_assign(&mut |lhs, _, _| {
            if lhs.tensor == self.concrete.result {
                found.push(lhs.clone());
            }
        });
        let mut found = found.into_iter();
        found.next().filter(|_| found.next().is_none())
    }

    /// How many entries the result gets, at most.
    fn computed_entries(&self) -> f64 {
        let mut entries = 0.0;
        for_each_nested(&self.concrete.stmt, &mut |nested| {
            if nested.lhs.tensor == self.concrete.result {
                entries += self.estimate().written(nested);
            }
        });
        entries
    }

    /// What kernels use in place of the format of a tensor.
    fn nearest(
        &self,
        tensor: TensorVar,
        given: fn(&Formats, TensorVar) -> Option<&Format>,
    ) -> Format {
        match (given(self.given, tensor), self.format(tensor)) {
            (Some(chosen), _) => chosen.clone(),
            (None, Some(added)) => added.nearest(),
            (None, None) => unreachable!("every tensor but workspaces has a format"),
        }
    }

    /// Has loops read a copy of an operand; by its levels, where these store expressions.
    pub(crate) fn convert(&mut self, access: &Access, format: Format) -> Result<()> {
        self.converted += self.converting(access, &format);
        let command = Command::convert_access(&self.concrete, access, format.clone())?;
        self.command(command)?;
        if format.is_plain() {
            return Ok(());
        }
        let copy = self.conversions.last().expect("there is this one").to;
        let name = &self.concrete.tensors[copy].name;
        let format = format.with_widths(Widths::default());
        self.command(Command::levels(name, format))
    }

    /// The cost of converting an operand, for each run.
    fn converting(&self, access: &Access, to: &Format) -> Cost {
        let estimate = self.estimate();
        let once = self.cost_of(&Converting {
            from: self.format(access.tensor).unwrap_or(to),
            to,
            extents: &estimate.extents(access),
            n_stored: estimate.n_stored(access),
        });
        once.shared_by(self.facts.runs)
    }

    /// What converting a result of so many entries costs.
    fn converting_result(&self, from: &Format, to: &Format, n_stored: f64) -> Cost {
        let extents = &self.concrete.tensors[self.concrete.result].extents;
        self.cost_of(&Converting {
            from,
            to,
            extents,
            n_stored,
        })
    }

    fn cost_of(&self, conversion: &Converting<'_>) -> Cost {
        let machine = Machine::MIDDLING;
        let moved = (self.facts.conversion)(conversion);
        Cost {
            conversions: moved * machine.byte,
            launches: machine.launch,
            ..Cost::default()
        }
    }

    /// Estimates of the statement as it stands.
    pub(crate) fn estimate(&self) -> Estimate<'_> {
        Estimate {
            concrete: &self.concrete,
            formats: &self.formats,
            counts: self.facts.counts,
            assumed: self.facts.assumed,
            extents: self.facts.extents,
            segment: self.facts.segment,
            squares: self.facts.squares,
            conversions: &self.conversions,
        }
    }

    pub(crate) fn name(&self, var: IndexVar) -> &str {
        &self.concrete.vars[var].name
    }

    pub(crate) fn format(&self, tensor: TensorVar) -> Option<&Format> {
        self.formats.get(tensor)
    }

    /// The plan, if it can be lowered.
    pub(crate) fn finish(self) -> unplanned::Result<Plan> {
        let formats = with_workspaces(&self.concrete, &self.formats);
        let refusal = match lowerable(&self.concrete, &formats) {
            Ok(n_cases) if self.size == Size::Small && n_cases > SMALL_CASES => {
                Some(NotLowerable::LongerThanAsked { n_cases })
            }
            Ok(_) => None,
            Err(refusal) => Some(refusal),
        };
        if let Some(refusal) = refusal {
            return Err(Unplanned::not_lowerable(refusal, self.concrete));
        }
        Ok(Plan {
            schedule: self.schedule,
            concrete: self.concrete,
            formats,
            conversions: self.conversions,
            converts_result: self.converts_result,
            levels_of_result: self.levels_of_result,
            network: None,
            account: Account::default(),
            computed_with: None,
        })
    }
}

/// The formats with those that loops see workspaces in.
pub(crate) fn with_workspaces(concrete: &Concrete, formats: &Formats) -> Formats {
    let mut formats = formats.clone();
    for tensor in concrete.used_tensors() {
        let data = &concrete.tensors[tensor];
        if data.role == TensorRole::Workspace {
            let kind = workspace_kind(concrete, &formats, tensor);
            formats.set(tensor, workspace_format(kind, data.order()));
        }
    }
    formats
}

/// The format in which kernels read an access.
pub(crate) fn walked<'f>(formats: &'f Formats, access: &Access) -> &'f Format {
    let format = formats.walked(access.tensor);
    format.expect("every operand of a statement has a format")
}
