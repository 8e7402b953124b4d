//! Planning all statements of a program, and splitting those that no schedule
//! makes lowerable ([`split`](crate::split)).

mod fitting;
mod planned;
mod product;
mod sharing;
mod together;

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, Result};
use sparsec_format::{Format, Widths};
use sparsec_graph::Formats;
use sparsec_index::{Expr, Program, Statement, TensorData, TensorRole, TensorVar, concretize};
use sparsec_machine::Machine;
use sparsec_schedule::{ProgramSchedule, Schedule, Section};

use crate::contractions;
use crate::cost::Cost;
use crate::draft::Draft;
use crate::estimate::Estimate;
use crate::estimate::skew::Squares;
use crate::fills::Fills;
use crate::formats::default_result_format;
use crate::joined::joined;
use crate::lanes::lanes;
use crate::merges::{gallop, select};
use crate::prefetch::prefetch;
use crate::refused;
use crate::search::{Facts, Plan, Size, plan};
use crate::split::split;
use crate::threads::parallelize;
use crate::unplanned::Unplanned;
use crate::unroll::unroll;
use crate::ways::Ways;
use crate::wishes::Wishes;
use fitting::{fitting, may_split};
use sharing::{share_named, with_part_shared};

pub use planned::ProgramPlan;

/// A statement whose plan takes more than so many steps for each entry that is read or
/// written is planned in parts as well: entries that meet take one or two.
const MOST: f64 = 4.0;

/// What is asked of a plan, and what it has to go by.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The commands of the user; what they leave open is planned.
    pub schedule: Option<&'a ProgramSchedule>,
    /// Whether the caller reads the result of this name. Others need not be whole.
    pub reads: &'a dyn Fn(&str) -> bool,
    /// How wide the index arrays of a result are to be.
    pub widths: &'a dyn Fn(&Program, &Statement, &Format) -> Format,
    /// What choices are made by.
    pub facts: Facts<'a>,
}

/// Plans a program whose inputs all have formats. Results without one get
/// that of [`default_result_format`].
///
/// A statement of the user that has to be split keeps the commands that name what
/// is left in it; a part of it gets those that name what went there. Results that the caller
/// does not read are computed where they are read, if that costs less.
///
/// # Errors
/// Why a statement cannot be lowered, for the first that cannot, at the command of the
/// schedule that is the reason; `E0310` and `E0360` for a schedule that does not say for
/// which statements its commands are.
pub fn plan_program(program: Program, formats: Formats, asked: Asked<'_>) -> Result<ProgramPlan> {
    let mut best = planned(program.clone(), formats.clone(), asked);
    let mut chosen = program.clone();
    let mut inside: Vec<(TensorVar, TensorVar)> = Vec::new();
    for number in (0..chosen.statements.len()).rev() {
        let result = &chosen.tensors[chosen.statements[number].lhs.tensor];
        let is_said = |schedule: &ProgramSchedule| schedule.names(&result.name);
        if (asked.reads)(result.source_name())
            || asked.facts.strict
            || asked.schedule.is_some_and(is_said)
        {
            continue;
        }
        let result = chosen.statements[number].lhs.tensor;
        let Some((joined, reader)) = joined(&chosen, &formats, number) else {
            continue;
        };
        let plan = planned(joined.clone(), formats.clone(), asked);
        match (&plan, &best) {
            (Ok(plan), Ok(best)) if !plan.cost().is_less_than(&best.cost()) => continue,
            (Err(_), Ok(_)) => continue,
            (Ok(_), _) => best = plan,
            // A schedule may be for more statements in one.
            (Err(_), Err(_)) => {}
        }
        chosen = joined;
        inside.push((result, reader));
    }
    let mut formats = formats;
    if let Some(schedule) = asked.schedule {
        let is_any = share_named(&mut chosen, &mut formats, asked, schedule);
        if is_any {
            best = planned(chosen.clone(), formats.clone(), asked);
        }
    } else {
        while let Some((plan, shared)) = with_part_shared(&chosen, &formats, asked, &best) {
            (best, chosen, formats) = (Ok(plan), shared.program, shared.formats);
        }
    }
    if let Ok(best) = &mut best {
        best.tell_joined(&inside);
    }
    let Some(schedule) = asked.schedule else {
        return best;
    };
    best.map_err(|error| {
        let loops = program.vars.iter().map(|(_, data)| data.name.as_str());
        let loops: Vec<&str> = loops.collect();
        refused::explained(error, schedule, &loops, &|other| {
            let asked = Asked {
                schedule: Some(other),
                ..asked
            };
            planned(program.clone(), formats.clone(), asked).is_ok()
        })
    })
}

/// As [`plan_program`], with errors as the statement that cannot be lowered has them.
fn planned(mut program: Program, formats: Formats, asked: Asked<'_>) -> Result<ProgramPlan> {
    let said = asked.schedule.map(|schedule| schedule.deal(&program));
    let wishes = Wishes::new(&program, said.transpose()?);
    let written = program.statements.iter().map(|it| it.lhs.tensor).collect();
    // Those to come, apart: a statement that is split moves none of them.
    let mut to_come = std::mem::take(&mut program.statements).into_iter();
    let mut state = State {
        asked,
        program,
        formats,
        wishes,
        plans: Vec::new(),
        stored: BTreeMap::new(),
        apart: None,
    };
    for next in to_come.by_ref() {
        state.program.statements.push(next);
        state.wishes.begin_next();
        if let Err(error) = state.plan_all_but(0) {
            state.program.statements.extend(to_come);
            return Err(match error {
                Refused::Part(part) => part.unknown(&state.program),
                Refused::Because(error) => *error,
            });
        }
    }
    state.plan_together(&written)?;
    state.wishes.all_fulfilled()?;
    Ok(ProgramPlan {
        program: state.program,
        formats: state.formats,
        plans: state.plans,
    })
}

/// The state of planning: the statements that it has come to, and the plans of those
/// before.
#[derive(Clone)]
struct State<'a> {
    asked: Asked<'a>,
    program: Program,
    formats: Formats,
    wishes: Wishes,
    plans: Vec<Plan>,
    /// How many entries results are thought to store.
    stored: BTreeMap<String, Stored>,
    /// The right side whose sum was taken apart, and of which statement.
    apart: Option<(usize, Expr)>,
}

/// How many entries a result is thought to store.
#[derive(Clone, Copy)]
struct Stored {
    entries: u64,
    /// Whether the operands of its statement are counted.
    is_counted: bool,
}

/// Why planning ends.
enum Refused {
    Because(Box<Diagnostic>),
    /// A schedule names a part that there is none of.
    Part(Section),
}

impl From<Diagnostic> for Refused {
    fn from(error: Diagnostic) -> Self {
        Self::Because(Box::new(error))
    }
}

impl From<Unplanned> for Refused {
    fn from(error: Unplanned) -> Self {
        error.diagnostic().into()
    }
}

impl State<'_> {
    /// Plans the statements from the first without a plan on, and leaves out the last `n_later`.
    fn plan_all_but(&mut self, n_later: usize) -> std::result::Result<(), Refused> {
        while self.plans.len() + n_later < self.program.statements.len() {
            self.plan_next()?;
        }
        Ok(())
    }

    /// Plans the next statement, or splits it.
    fn plan_next(&mut self) -> std::result::Result<(), Refused> {
        let number = self.plans.len();
        let plan = self.with_facts(|state, facts| {
            // However the statement is written, the degrees of its operands are the same.
            let squares = state.squares(number, facts);
            let facts = Facts {
                squares: &|name, mode| squares.get(name, mode),
                ..facts
            };
            state.plan_or_split(number, facts)
        })?;
        self.plans.extend(plan);
        Ok(())
    }

    /// What `plan` makes of the state by facts that include those of results.
    fn with_facts<R>(&mut self, plan: impl FnOnce(&mut Self, Facts<'_>) -> R) -> R {
        let given = self.asked.facts;
        self.count_result();
        let stored = self.stored.clone();
        let result = |tensor: &TensorData, is_counted: bool| {
            let stored = stored.get(&tensor.name).copied();
            let stored = stored.filter(|stored| stored.is_counted == is_counted);
            stored.map(|stored| stored.entries)
        };
        let counts = |tensor: &TensorData| match tensor.role {
            TensorRole::Input => (given.counts)(tensor),
            TensorRole::Result => result(tensor, true),
            TensorRole::Workspace => None,
        };
        let assumed = |tensor: &TensorData| match tensor.role {
            TensorRole::Result => result(tensor, false),
            TensorRole::Input | TensorRole::Workspace => None,
        };
        let facts = Facts {
            counts: &counts,
            assumed: &assumed,
            ..given
        };
        plan(self, facts)
    }

    /// The degrees of the operands of a statement that is a network, written as one product.
    fn squares(&self, number: usize, facts: Facts<'_>) -> Squares {
        let rhs = &self.program.statements[number].rhs;
        let mut program = self.program.clone();
        let flat = contractions::flattened(rhs, &program, false);
        program.statements[number].rhs = flat.unwrap_or_else(|| rhs.clone());
        let naive = concretize(&program, number);
        let network = contractions::counted(&Draft::new(naive, &self.formats, facts));
        network.as_deref().map(Squares::of).unwrap_or_default()
    }

    /// Takes in how many entries the last result is thought to store.
    fn count_result(&mut self) {
        let Some(plan) = self.plans.last() else {
            return;
        };
        let result = self.program.statements[self.plans.len() - 1].lhs.tensor;
        let name = self.program.tensors[result].name.clone();
        let stored = Stored {
            entries: plan.account.entries.ceil() as u64,
            is_counted: plan.account.is_counted,
        };
        self.stored.insert(name, stored);
    }

    /// The plan of statement `number`; `None` where it was split.
    fn plan_or_split(
        &mut self,
        number: usize,
        facts: Facts<'_>,
    ) -> std::result::Result<Option<Plan>, Refused> {
        let written = self.program.statements[number].rhs.clone();
        let fills = fills_of(&self.program, &self.formats, facts);
        // Nobody who schedules the statement as a whole has its parts in mind.
        let is_said = self.wishes.commands(number).is_some();
        let names_none = is_said && self.wishes.part(number).is_none();
        let wants_names = !names_none && fills.wants_names(number);
        let taken = fills.taken(&written);
        self.choose_format(number);
        if !wants_names {
            self.program.statements[number].rhs.clone_from(&taken);
        }
        if let Some(part) = self.wishes.part(number) {
            let part = match split(&mut self.program, number, &mut self.formats) {
                Some(()) => self.wishes.split_as_said(&self.program, number),
                None => Err(part.clone()),
            };
            return part.map(|()| None).map_err(Refused::Part);
        }
        if wants_names && split(&mut self.program, number, &mut self.formats).is_some() {
            self.wishes.split(&self.program, number);
            return Ok(None);
        }
        self.program.statements[number].rhs.clone_from(&taken);
        let wished = self
            .wishes
            .commands(number)
            .map(|wish| match wish.is_whole {
                true => (wish.commands.clone(), None),
                false => {
                    let (fitting, used) = fitting(&self.program, number, wish.commands);
                    (fitting, Some(used))
                }
            });
        // If no command for the whole applies to a part, the part is planned without commands.
        let is_planned =
            |(fitting, used): &(Schedule, Option<_>)| used.is_none() || !fitting.0.is_empty();
        if let Some((fitting, used)) = wished.filter(is_planned) {
            let ways = self.ways(number, &taken, &written, facts);
            let planned = ways.plan(&mut self.program, number, &self.formats, &fitting, facts);
            return match planned {
                Ok(plan) => {
                    self.wishes.fulfilled(number, used);
                    let naive = concretize(&self.program, number);
                    Ok(Some(plan.with_estimates(&naive, facts)))
                }
                Err(error) if !may_split(&error) => Err(error.into()),
                Err(error) => {
                    self.program.statements[number].rhs = taken;
                    let error = self.wishes.refused(number, error.diagnostic());
                    self.part(number).ok_or(error)?;
                    Ok(None)
                }
            };
        }
        let Some(planned) = self.whole_or_split(number, facts)? else {
            return Ok(None);
        };
        let ways = self.ways(number, &taken, &written, facts);
        let planned = ways.settled(&mut self.program, number, &self.formats, planned, facts);
        let planned = finished(planned, facts);
        let naive = concretize(&self.program, number);
        Ok(Some(planned.with_estimates(&naive, facts)))
    }

    /// The plan of a statement as a whole; `None` where it was split, since it has none or
    /// since the plans of its parts cost less.
    fn whole_or_split(
        &mut self,
        number: usize,
        facts: Facts<'_>,
    ) -> std::result::Result<Option<Plan>, Refused> {
        let sized = |state: &Self, size| plan(&state.program, number, &state.formats, size, facts);
        let whole = sized(self, Size::Small);
        if let Some((flat, plan)) = self.as_network(number, whole.as_ref().ok(), facts) {
            self.program.statements[number].rhs = flat;
            return Ok(Some(plan));
        }
        match whole {
            Ok(whole) => {
                let parts = self.in_parts(number, &whole, facts);
                let Some(parts) = parts.filter(|it| it.cost(number).is_less_than(&whole.cost()))
                else {
                    return Ok(Some(whole));
                };
                *self = parts;
                Ok(None)
            }
            Err(error) if contractions::is_refusal(&error) => Err(error.into()),
            Err(_) if self.part(number).is_some() => Ok(None),
            Err(_) => Ok(Some(sized(self, Size::Any)?)),
        }
    }

    /// The state in which a statement is split and its parts are planned, where these may
    /// cost less than the whole: that takes more than [`MOST`] times the steps that its
    /// operands and its result have entries.
    fn in_parts(&self, number: usize, whole: &Plan, facts: Facts<'_>) -> Option<Self> {
        let naive = concretize(&self.program, number);
        let machine = Machine::MIDDLING;
        let least = Estimate::of(whole, facts).entries(&naive) * machine.step;
        if whole.cost().nanoseconds() <= machine.launch + MOST * least {
            return None;
        }
        if contractions::is_network(&Draft::new(naive, &self.formats, facts)) {
            return None;
        }
        // Where the statement is a part itself, others come after it.
        let n_later = self.program.statements.len() - (number + 1);
        let mut parts = self.clone();
        parts.part(number)?;
        parts.plan_all_but(n_later).ok()?;
        Some(parts)
    }

    /// What the plans cost from statement `number` on.
    fn cost(&self, number: usize) -> Cost {
        let plans = self.plans[number..].iter();
        plans.fold(Cost::default(), |all, plan| all + plan.cost())
    }

    /// The ways to write statement `number`.
    fn ways(&self, number: usize, taken: &Expr, written: &Expr, facts: Facts<'_>) -> Ways {
        let whole = self.apart.as_ref().filter(|(of, _)| *of == number);
        Ways::of(
            fills_of(&self.program, &self.formats, facts),
            whole.map(|(_, rhs)| rhs),
            taken,
            written,
            self.flattened(number, taken, facts),
        )
    }

    /// Splits a statement, and keeps its right side where only the sum in it is taken apart.
    fn part(&mut self, number: usize) -> Option<()> {
        let n_statements = self.program.statements.len();
        let whole = self.program.statements[number].rhs.clone();
        split(&mut self.program, number, &mut self.formats)?;
        if self.program.statements.len() == n_statements {
            self.apart = Some((number, whole));
        }
        self.wishes.split(&self.program, number);
        Some(())
    }

    /// Gives the result of a statement a format, if it has none, and widths.
    fn choose_format(&mut self, number: usize) {
        let statement = &self.program.statements[number];
        let result = statement.lhs.tensor;
        let widths = |format: &Format| (self.asked.widths)(&self.program, statement, format);
        let format = match self.formats.get(result) {
            Some(format) => format.clone(),
            None => default_result_format(&self.program, statement, &self.formats),
        };
        if format.is_assembled() {
            let format = widths(&format);
            self.formats.set(result, format);
        } else {
            // Widths of what the kernel assembles; the conversion chooses others.
            let nearest = widths(&format.nearest().with_widths(Widths::default()));
            // Later statements may read its arrays as they are.
            let format = match format.is_native() {
                true => widths(&format),
                false => format,
            };
            self.formats.set(result, format);
            self.formats.set_native(result, nearest);
        }
    }
}

/// A plan with the marks of its loops.
fn finished(plan: Plan, facts: Facts<'_>) -> Plan {
    let plan = lanes(parallelize(gallop(plan, facts), facts), facts);
    unroll(prefetch(select(plan, facts), facts), facts)
}

fn fills_of<'a>(program: &'a Program, formats: &'a Formats, facts: Facts<'_>) -> Fills<'a> {
    Fills {
        program,
        formats,
        strict: facts.strict,
    }
}
