//! The dataflow graph: which statements read and write which data.
//!
//! ```text
//!    A : f64[NZ]    x : f64[M]         data, one layer above what reads them
//!           \        /
//!     s1: y(i) += A(p) * x(crd(p))     statements
//!               │
//!          y : f64[N]                  data, one layer below what writes them first
//! ```
//!
//! As text for Graphviz ([`Computation::dot`]) or drawn in layers
//! ([`Computation::svg`]). Statements come in the order of the text; a statement
//! is below the data it reads, as far as earlier statements write them, so that
//! most arrows point down. An entry that is updated has one line with two heads.
//!
//! Layers are those of Sugiyama, Tagawa and Toda, "Methods for visual
//! understanding of hierarchical system structures", IEEE SMC 1981: lines over
//! several layers get a place in each, and places are sorted by the mean of
//! their neighbours' places above.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sparsec_base::arena::Id;

use crate::accesses::Effect;
use crate::computation::{Computation, Role};

/// A statement or data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Space(usize),
    Statement(usize),
}

/// What flows between data and a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flow {
    reads: bool,
    writes: bool,
}

/// Height of a layer with the gap below it, and of a node; in pixels.
const LAYER: usize = 80;
const HEIGHT: usize = 32;
/// Width of a letter, and of the margins of a node; in pixels.
const LETTER: usize = 8;
const MARGIN: usize = 24;
/// Width of a line's place in a layer that it passes, and of gaps; in pixels.
const PASSAGE: usize = 16;
const GAP: usize = 24;

impl Computation {
    /// The dataflow graph in the language of Graphviz.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let copy: Computation = "computation copy {
    ///   given x : f64
    ///   out y : f64
    ///   s0: y = x over {[]}
    /// }".parse()?;
    /// assert!(copy.dot().contains("\"x\" -> \"s0\"\n  \"s0\" -> \"y\"\n"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn dot(&self) -> String {
        let mut out = format!("digraph \"{}\" {{\n", self.name);
        for space in &self.spaces {
            let style = match space.role {
                Role::Temporary => "dashed",
                _ => "solid",
            };
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "  \"{}\" [shape=ellipse, style={style}, label=\"{}\"]",
                space.name,
                self.label(space.name.as_str())
            );
        }
        for statement in &self.statements {
            let label = self.label(&statement.name);
            let _ = writeln!(
                out,
                "  \"{}\" [shape=box, label=\"{label}\"]",
                statement.name
            );
        }
        for ((space, statement), flow) in self.flows() {
            let (space, statement) = (&self.spaces[space].name, &self.statements[statement].name);
            let _ = match (flow.reads, flow.writes) {
                (true, true) => writeln!(out, "  \"{statement}\" -> \"{space}\" [dir=both]"),
                (true, false) => writeln!(out, "  \"{space}\" -> \"{statement}\""),
                _ => writeln!(out, "  \"{statement}\" -> \"{space}\""),
            };
        }
        out.push_str("}\n");
        out
    }

    /// The dataflow graph, drawn.
    pub fn svg(&self) -> String {
        let drawing = Drawing::of(self);
        let (width, height) = (drawing.width, drawing.layers.len() * LAYER + HEIGHT);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13\" text-anchor=\"middle\">\n\
             <title>{}</title>\n<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" \
             markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\">\
             <path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
            self.name
        );
        for ((space, statement), flow) in self.flows() {
            let (space, statement) = (Node::Space(space), Node::Statement(statement));
            let mut line = drawing.line(space, statement);
            let mut heads = (flow.writes, flow.reads);
            if drawing.layer(space) > drawing.layer(statement) {
                line = drawing.line(statement, space);
                heads = (flow.reads, flow.writes);
            }
            let head = |wanted: bool, end: &str| match wanted {
                true => format!(" marker-{end}=\"url(#head)\""),
                false => String::new(),
            };
            let points: Vec<String> = line.iter().map(|(x, y)| format!("{x},{y}")).collect();
            let _ = writeln!(
                out,
                "<polyline fill=\"none\" stroke=\"#555\" points=\"{}\"{}{}/>",
                points.join(" "),
                head(heads.0, "start"),
                head(heads.1, "end"),
            );
        }
        for (node, place) in &drawing.places {
            let (width, x, y) = (place.width, place.centre, place.layer * LAYER + HEIGHT);
            let (left, top) = (x - width / 2, y - HEIGHT / 2);
            let (name, radius, fill, dashes) = match node {
                Node::Statement(n) => (&self.statements[*n].name, 2, "#fff", ""),
                Node::Space(n) => match self.spaces[*n].role {
                    Role::Temporary => {
                        (&self.spaces[*n].name, 16, "#eee", " stroke-dasharray=\"4\"")
                    }
                    Role::Given => (&self.spaces[*n].name, 16, "#eee", ""),
                    Role::Out | Role::InOut => (&self.spaces[*n].name, 16, "#ccc", ""),
                },
            };
            let _ = writeln!(
                out,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{HEIGHT}\" \
                 rx=\"{radius}\" fill=\"{fill}\" stroke=\"#000\"{dashes}/>\
                 <text x=\"{x}\" y=\"{}\">{}</text>",
                y + 5,
                self.label(name),
            );
        }
        out.push_str("</svg>\n");
        out
    }

    /// What a node says: letters that neither of the two languages gives a
    /// meaning.
    fn label(&self, name: &str) -> String {
        match self.find(name) {
            Some(id) => format!("{name}: {}", self.statement(id).assignment()),
            None => self.space(name).map_or(String::new(), ToString::to_string),
        }
    }

    /// What flows between data and statements.
    fn flows(&self) -> BTreeMap<(usize, usize), Flow> {
        let mut flows = BTreeMap::new();
        for id in self.ids() {
            for reference in self.references(id) {
                let at = self.spaces.iter().position(|s| s.name == reference.space);
                let at = at.expect("references are to data of the computation");
                let flow = flows.entry((at, id.index())).or_insert(Flow {
                    reads: false,
                    writes: false,
                });
                flow.reads |= reference.effect != Effect::Write;
                flow.writes |= reference.effect.is_write();
            }
        }
        flows
    }
}

/// Where nodes and lines are.
struct Drawing {
    /// For each layer its nodes and the lines that pass it, from left to right.
    layers: Vec<Vec<Item>>,
    places: BTreeMap<Node, Place>,
    /// The middle of the place that a line has in a layer.
    passages: BTreeMap<(Node, Node, usize), usize>,
    width: usize,
}

/// What has a place in a layer: a node, or a line from a node to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Node(Node),
    Line(Node, Node),
}

struct Place {
    layer: usize,
    centre: usize,
    width: usize,
}

impl Drawing {
    fn of(computation: &Computation) -> Self {
        let layer_of = layers(computation);
        let n_layers = layer_of.values().max().map_or(0, |last| last + 1);
        let mut layers: Vec<Vec<Item>> = vec![Vec::new(); n_layers];
        for (node, layer) in &layer_of {
            layers[*layer].push(Item::Node(*node));
        }
        // Each item with those it is joined to in the layer above.
        let mut above: BTreeMap<Item, BTreeSet<Item>> = BTreeMap::new();
        for (space, statement) in computation.flows().into_keys() {
            let ends = [Node::Space(space), Node::Statement(statement)];
            let (top, bottom) = match layer_of[&ends[0]] < layer_of[&ends[1]] {
                true => (ends[0], ends[1]),
                false => (ends[1], ends[0]),
            };
            let mut from = Item::Node(top);
            for layer in &mut layers[layer_of[&top] + 1..layer_of[&bottom]] {
                let line = Item::Line(top, bottom);
                layer.push(line);
                above.entry(line).or_default().insert(from);
                from = line;
            }
            above.entry(Item::Node(bottom)).or_default().insert(from);
        }
        for at in 1..layers.len() {
            let (before, after) = layers.split_at_mut(at);
            let place = |item: &Item| before[at - 1].iter().position(|it| it == item);
            after[0].sort_by_key(|item| {
                let up = above.get(item).into_iter().flatten();
                let places: Vec<usize> = up.filter_map(place).collect();
                let mean = places.iter().sum::<usize>() * 1000;
                (mean.checked_div(places.len()).unwrap_or(usize::MAX), *item)
            });
        }
        Self::placed(computation, layers)
    }

    fn placed(computation: &Computation, layers: Vec<Vec<Item>>) -> Self {
        let width_of = |item: &Item| match item {
            Item::Line(..) => PASSAGE,
            Item::Node(node) => {
                let name = match node {
                    Node::Space(n) => &computation.spaces[*n].name,
                    Node::Statement(n) => &computation.statements[*n].name,
                };
                computation.label(name).len() * LETTER + MARGIN
            }
        };
        let full = |layer: &Vec<Item>| layer.iter().map(|item| width_of(item) + GAP).sum::<usize>();
        let width = layers.iter().map(full).max().unwrap_or(0) + GAP;
        let mut drawing = Self {
            places: BTreeMap::new(),
            passages: BTreeMap::new(),
            width,
            layers: Vec::new(),
        };
        for (at, layer) in layers.iter().enumerate() {
            let mut left = (width - full(layer) + GAP) / 2;
            for item in layer {
                let width = width_of(item);
                let centre = left + width / 2;
                match *item {
                    Item::Line(top, bottom) => {
                        drawing.passages.insert((top, bottom, at), centre);
                    }
                    Item::Node(node) => {
                        let place = Place {
                            layer: at,
                            centre,
                            width,
                        };
                        drawing.places.insert(node, place);
                    }
                }
                left += width + GAP;
            }
        }
        drawing.layers = layers;
        drawing
    }

    fn layer(&self, node: Node) -> usize {
        self.places[&node].layer
    }

    /// The points of the line from a node down to another one.
    fn line(&self, top: Node, bottom: Node) -> Vec<(usize, usize)> {
        let (first, last) = (&self.places[&top], &self.places[&bottom]);
        let mut points = vec![(first.centre, first.layer * LAYER + HEIGHT + HEIGHT / 2)];
        for layer in first.layer + 1..last.layer {
            let x = self.passages[&(top, bottom, layer)];
            let y = layer * LAYER + HEIGHT;
            points.push((x, y - HEIGHT / 2));
            points.push((x, y + HEIGHT / 2));
        }
        points.push((last.centre, last.layer * LAYER + HEIGHT / 2));
        points
    }
}

/// The layer of each node: data in even layers, statements in odd ones, in the
/// order of the text.
fn layers(computation: &Computation) -> BTreeMap<Node, usize> {
    let flows = computation.flows();
    let mut layers: BTreeMap<Node, usize> = BTreeMap::new();
    for (at, space) in computation.spaces.iter().enumerate() {
        if space.role.is_given() || computation.writers(&space.name).next().is_none() {
            layers.insert(Node::Space(at), 0);
        }
    }
    for id in computation.ids() {
        let touched = flows.iter().filter(|((_, s), _)| *s == id.index());
        let touched: Vec<usize> = touched.map(|((space, _), _)| *space).collect();
        let known = touched.iter().filter_map(|s| layers.get(&Node::Space(*s)));
        let layer = known.max().map_or(1, |layer| layer + 1);
        layers.insert(Node::Statement(id.index()), layer);
        for space in touched {
            layers.entry(Node::Space(space)).or_insert(layer + 1);
        }
    }
    layers
}
