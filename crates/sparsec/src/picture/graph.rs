//! Iteration graphs: variables in the order of their loops, and arcs for the orders
//! that tensors ask for.
//!
//! ```text
//!        A         B
//!     ╭──────╮  ╭──────╮
//!    (i)     (k)      (j)        arcs above agree with the loops,
//!     ╰───────────────╯          the plan works around arcs below
//!            C
//! ```

use sparsec_graph::IterationGraph;
use sparsec_index::{Concrete, IndexVar};

use super::{Anchor, COLOURS, LINE, MARGIN, Sheet, text_width};

/// The radius of a variable.
const RADIUS: f64 = 22.0;
/// From one variable to the next.
const STEP: f64 = 130.0;
/// How much higher an arc is for each variable that it passes.
const RISE: f64 = 46.0;

/// Draws the graph of a statement below the elements that the sheet has; `order` has the
/// variables of the planned loops, outermost first.
pub(crate) fn graph(
    sheet: &mut Sheet,
    title: &str,
    graph: &IterationGraph,
    concrete: &Concrete,
    order: &[IndexVar],
) {
    let top = sheet.below();
    sheet.text(MARGIN, top + LINE / 2.0, Anchor::Start, "#000000", title);
    let mut vars: Vec<IndexVar> = graph.vars.clone();
    let place = |var: &IndexVar| order.iter().position(|it| it == var).unwrap_or(order.len());
    vars.sort_by_key(place);
    let arcs = arcs(graph, concrete, &vars);
    let reach = |above: bool| {
        let rises = arcs.iter().filter(|arc| arc.is_above() == above);
        rises.map(|arc| arc.rise + LINE).fold(0.0, f64::max)
    };
    let middle = top + LINE + MARGIN + RADIUS + reach(true);
    let x = |number: usize| MARGIN + RADIUS + STEP * number as f64;
    for arc in &arcs {
        let colour = COLOURS[arc.colour % COLOURS.len()];
        let side = if arc.is_above() { -1.0 } else { 1.0 };
        let ends = [x(arc.from), x(arc.to)];
        let bend = [
            (ends[0] + ends[1]) / 2.0,
            middle + side * (RADIUS + 2.0 * arc.rise),
        ];
        let (start, end) = (middle + side * RADIUS, middle + side * (RADIUS + 2.0));
        sheet.arrow([ends[0], start], bend, [ends[1], end], colour);
        let label = middle + side * (RADIUS + arc.rise + LINE / 3.0);
        sheet.text(bend[0], label, Anchor::Middle, colour, arc.tensor);
    }
    for (number, var) in vars.iter().enumerate() {
        let name = &concrete.vars[*var].name;
        let radius = RADIUS.max(text_width(name) / 2.0 + 6.0);
        let corner = [
            x(number) - radius,
            middle - RADIUS,
            2.0 * radius,
            2.0 * RADIUS,
        ];
        sheet.rectangle(corner, "#000000", "#f4f4f4");
        sheet.text(x(number), middle, Anchor::Middle, "#000000", name);
    }
    sheet.covers(0.0, middle + RADIUS + reach(false));
}

/// The order of two variables that a tensor asks for.
struct Arc<'a> {
    from: usize,
    to: usize,
    tensor: &'a str,
    /// The number of the tensor among those with arcs.
    colour: usize,
    /// How far it leaves the row of variables.
    rise: f64,
}

impl Arc<'_> {
    /// Whether the loops are in the order that the tensor asks for.
    fn is_above(&self) -> bool {
        self.from < self.to
    }
}

/// The arcs of a graph; those between the same two variables lie one above another.
fn arcs<'a>(graph: &IterationGraph, concrete: &'a Concrete, vars: &[IndexVar]) -> Vec<Arc<'a>> {
    let at = |var: IndexVar| vars.iter().position(|it| *it == var);
    let mut tensors: Vec<&str> = Vec::new();
    let mut arcs: Vec<Arc<'a>> = Vec::new();
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (at(edge.before), at(edge.after)) else {
            continue;
        };
        let tensor = concrete.tensors[edge.access.tensor].name.as_str();
        let known = tensors.iter().position(|it| *it == tensor);
        let colour = known.unwrap_or_else(|| {
            tensors.push(tensor);
            tensors.len() - 1
        });
        let beside = arcs.iter().filter(|arc| (arc.from, arc.to) == (from, to));
        let rise = from.abs_diff(to) as f64 * RISE + beside.count() as f64 * LINE;
        arcs.push(Arc {
            from,
            to,
            tensor,
            colour,
            rise,
        });
    }
    arcs
}
