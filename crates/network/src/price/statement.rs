//! The price of one statement in loops of a given order.

use std::fmt;

use super::{ENTRY, Pricer, StatementPrice, VALUE, Workspace, WorkspaceKind, workspace_kind};
use crate::estimate::Part;
use crate::network::IndexVar;
use crate::set::Set;
use crate::tree::{Factor, StatementId};

/// How the innermost loops of a statement run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// One multiply-add after another, over the entries of a sparse operand.
    Scalar,
    /// A loop that merges the entries of several sparse operands.
    Merge,
    /// A dense loop in vector lanes.
    Lanes,
    /// A dense product of all loops that only this statement has, in blocks.
    Blocked,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Merge => "merge",
            Self::Lanes => "lanes",
            Self::Blocked => "blocked",
        })
    }
}

/// Everything that the price of a statement depends on, but for the order of its own loops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub(super) statement: StatementId,
    /// The loops that surround other statements too, in their order.
    pub(super) prefix: Vec<IndexVar>,
    /// Its own loops.
    pub(super) own: Set<IndexVar>,
    /// The loops that its consumer shares.
    pub(super) fused: Set<IndexVar>,
    /// By factor, the workspace of an intermediate.
    pub(super) factors: Vec<Option<Workspace>>,
}

/// A factor or the target, as loops of one order see it.
struct View {
    /// `None` for the target.
    factor: Option<Factor>,
    kept: Set<IndexVar>,
    /// The innermost mode in storage.
    last: Option<IndexVar>,
    /// Whether any coordinate is found without a search.
    located: bool,
    /// Whether nearly every place is stored.
    full: bool,
    hashed: bool,
    /// Loops over these reuse one buffer.
    fused: Set<IndexVar>,
    bytes: f64,
}

impl Pricer<'_> {
    pub(super) fn statement(&mut self, site: &Site, order: &[IndexVar]) -> StatementPrice {
        let views = self.views(site, order);
        let target = self.target(site, order);
        let (by_loops, kernel) = self.loops(site.statement, &views, &target, order);
        let traffic_of_loops: f64 = views
            .iter()
            .chain([&target])
            .map(|view| self.traffic(site.statement, &views, view, order))
            .sum();
        let clearing = self.clearing(site, &target);
        let looped = StatementPrice {
            kernel,
            steps: by_loops,
            traffic: traffic_of_loops + clearing,
        };
        match self.blocked(site, &views, &target) {
            Some((steps, traffic)) if steps + traffic < by_loops + traffic_of_loops => {
                StatementPrice {
                    kernel: Kernel::Blocked,
                    steps,
                    traffic: traffic + clearing,
                }
            }
            _ => looped,
        }
    }

    fn views(&mut self, site: &Site, order: &[IndexVar]) -> Vec<View> {
        let network = self.estimator.network();
        let factors = self.tree.statement(site.statement).factors.iter();
        let views = factors.zip(&site.factors).map(|(&factor, workspace)| {
            let kept = self.tree.factor_indices(network, factor);
            let by_loops = order
                .iter()
                .rev()
                .copied()
                .find(|&index| kept.contains(index));
            match (factor, workspace) {
                (Factor::Operand(operand), _) => {
                    let dense = self.dense.contains(operand);
                    let stated = network.stated_modes(operand);
                    View {
                        factor: Some(factor),
                        kept,
                        last: match stated {
                            Some(modes) if dense => modes.last().copied(),
                            _ => by_loops,
                        },
                        located: dense,
                        full: dense,
                        hashed: false,
                        fused: Set::EMPTY,
                        bytes: match dense {
                            true => VALUE,
                            false => ENTRY,
                        },
                    }
                }
                (Factor::Statement(producer), workspace) => {
                    let modes: &[IndexVar] = workspace.as_ref().map_or(&[], |space| &space.modes);
                    let stored: Set<IndexVar> = modes.iter().copied().collect();
                    let part = self
                        .estimator
                        .summed(self.tree.statement(producer).operands);
                    let full = part.entries >= self.machine.dense_from() * network.size_of(kept);
                    View {
                        factor: Some(factor),
                        kept,
                        last: modes.last().copied(),
                        located: true,
                        full,
                        hashed: workspace
                            .as_ref()
                            .is_some_and(|space| space.kind == WorkspaceKind::Hashed),
                        fused: kept.without(stored),
                        bytes: VALUE,
                    }
                }
            }
        });
        views.collect()
    }

    fn target(&self, site: &Site, order: &[IndexVar]) -> View {
        let statement = self.tree.statement(site.statement);
        let kept = statement.kept;
        let kind = workspace_kind(
            self.estimator,
            self.machine,
            self.tree,
            site.statement,
            site.fused,
        );
        let is_result = statement.consumer.is_none();
        View {
            factor: None,
            kept,
            last: order
                .iter()
                .rev()
                .copied()
                .find(|&index| kept.contains(index)),
            located: true,
            full: true,
            hashed: !is_result && kind == WorkspaceKind::Hashed,
            fused: site.fused,
            bytes: VALUE,
        }
    }

    /// Tuples of coordinates that a factor has in `onto`.
    fn tuples(&mut self, factor: Factor, onto: Set<IndexVar>) -> f64 {
        let (estimator, tree) = (self.estimator, self.tree);
        *self
            .tuples
            .entry((factor, onto))
            .or_insert_with(|| match factor {
                Factor::Operand(operand) => estimator.tuples(operand, onto),
                Factor::Statement(producer) => {
                    estimator.entries(tree.statement(producer).operands, onto)
                }
            })
    }

    /// How often the body of loops over `opened` runs.
    fn points(&mut self, at: StatementId, views: &[View], opened: Set<IndexVar>) -> f64 {
        if let Some(&known) = self.points.get(&(at, opened)) {
            return known;
        }
        let mut joined: Option<Part> = None;
        for view in views {
            let Some(factor) = view.factor else { continue };
            let kept = view.kept.intersection(opened);
            if kept.is_empty() {
                continue;
            }
            let part = Part {
                operands: match factor {
                    Factor::Operand(operand) => Set::of(operand),
                    Factor::Statement(producer) => self.tree.statement(producer).operands,
                },
                kept,
                entries: self.tuples(factor, kept),
            };
            joined = Some(match joined {
                None => part,
                Some(left) => Part {
                    operands: left.operands.union(part.operands),
                    kept: left.kept.union(part.kept),
                    entries: self.estimator.pair(&left, &part),
                },
            });
        }
        let points = joined.map_or(1.0, |part| part.entries);
        self.points.insert((at, opened), points);
        points
    }

    /// The time of all loops, and how the innermost runs.
    fn loops(
        &mut self,
        at: StatementId,
        views: &[View],
        target: &View,
        order: &[IndexVar],
    ) -> (f64, Kernel) {
        let mut opened = Set::EMPTY;
        let mut time = 0.0;
        let mut kernel = Kernel::Scalar;
        let mut points = 1.0;
        for (depth, &index) in order.iter().enumerate() {
            let mut fans = Vec::new();
            let extent = self.estimator.network().extent(index);
            let mut filtered = extent;
            for view in views.iter().filter(|view| view.kept.contains(index)) {
                let Some(factor) = view.factor else { continue };
                let before = view.kept.intersection(opened);
                let after = before.union(Set::of(index));
                let fan = self.tuples(factor, after) / self.tuples(factor, before).max(1.0);
                match (view.located, view.full) {
                    (false, _) => fans.push(fan),
                    // The touched places of a workspace are listed.
                    (true, false) => filtered = filtered.min(fan),
                    (true, true) => {}
                }
            }
            let (iterations, run) = match fans.as_slice() {
                [] => (filtered, Kernel::Lanes),
                [fan] => (*fan, Kernel::Scalar),
                fans => (fans.iter().sum::<f64>(), Kernel::Merge),
            };
            let is_innermost = depth + 1 == order.len();
            let contiguous = |view: &View| !view.kept.contains(index) || view.last == Some(index);
            let in_lanes = views.iter().chain([target]).all(contiguous) && !target.hashed;
            kernel = match run {
                Kernel::Lanes if !in_lanes => Kernel::Scalar,
                run => run,
            };
            let along = views.iter().filter(|view| view.kept.contains(index));
            let further = along.count().saturating_sub(1) as f64;
            let scattered = match is_innermost && target.kept.contains(index) {
                true => iterations * self.machine.scatter,
                false => 0.0,
            };
            let steps = match (kernel, is_innermost) {
                (Kernel::Merge, _) => self.machine.merged(&fans, extent) + scattered,
                (Kernel::Lanes, true) => {
                    iterations * (self.machine.dense_step + further * self.machine.operand_step)
                }
                _ => iterations * self.machine.step + scattered,
            };
            time += points * (self.machine.loop_entry + steps);
            opened.insert(index);
            points = self.points(at, views, opened).min(points * iterations);
        }
        for view in views.iter().chain([target]).filter(|view| view.hashed) {
            let depth = order
                .iter()
                .rposition(|&index| view.kept.contains(index))
                .map_or(0, |depth| depth + 1);
            let opened = order[..depth].iter().copied().collect();
            time += self.points(at, views, opened) * self.machine.probe;
        }
        (time, kernel)
    }

    /// The time of the accesses to one tensor. The smallest cache that holds their working set
    /// decides how long each access takes.
    fn traffic(&mut self, at: StatementId, views: &[View], view: &View, order: &[IndexVar]) -> f64 {
        let Some(depth) = order.iter().rposition(|&index| view.kept.contains(index)) else {
            return 0.0;
        };
        let opened: Set<IndexVar> = order[..=depth].iter().copied().collect();
        let touches = self.points(at, views, opened);
        // Outside of the outermost loop that repeats accesses, the tensor stands still.
        let reuse = order[..depth]
            .iter()
            .position(|&index| !view.kept.contains(index))
            .unwrap_or(0);
        let fixed: Set<IndexVar> = order[..reuse].iter().copied().collect();
        let fixed = fixed.intersection(view.kept).union(view.fused);
        let places = self.estimator.network().size_of(view.kept.without(fixed));
        let swept = match view.factor {
            Some(factor) => {
                let all = self.tuples(factor, view.kept);
                let outside = self.tuples(factor, fixed).max(1.0);
                match view.located {
                    true => places,
                    false => places.min(all / outside),
                }
            }
            None => places,
        };
        let bytes = swept * view.bytes;
        let streams = view.last == Some(order[depth]) || !view.located;
        let each = match streams {
            true => view.bytes * self.machine.in_stream(bytes),
            false => self.machine.at_random(bytes),
        };
        touches * each
    }

    /// Clearing the touched entries of the workspace that the statement computes.
    fn clearing(&self, site: &Site, target: &View) -> f64 {
        let statement = self.tree.statement(site.statement);
        if statement.consumer.is_none() {
            return 0.0;
        }
        let entries = self.estimator.summed(statement.operands).entries;
        let places = self
            .estimator
            .network()
            .size_of(target.kept.without(target.fused));
        let stream = self.machine.in_stream(places * VALUE);
        entries * (self.machine.dense_step + VALUE * stream)
    }

    /// Steps and traffic of a blocked dense product, if the statement's own loops are one:
    /// two factors with every place stored, and loops that only the left one, only the right
    /// one and both of them have.
    fn blocked(&mut self, site: &Site, views: &[View], target: &View) -> Option<(f64, f64)> {
        let [left, right] = views else {
            return None;
        };
        let own = |view: &View| view.kept.intersection(site.own);
        let kept = site.own.intersection(target.kept);
        let summed = site.own.without(target.kept);
        let is_product = left.full
            && right.full
            && !target.hashed
            && !summed.is_empty()
            && summed.is_subset(left.kept.intersection(right.kept))
            && !own(left).intersection(kept).is_empty()
            && !own(right).intersection(kept).is_empty()
            && !own(left).intersection(own(right)).meets(kept);
        if !is_product {
            return None;
        }
        let network = self.estimator.network();
        let prefix: Set<IndexVar> = site.prefix.iter().copied().collect();
        let runs = self.points(site.statement, views, prefix);
        let steps = runs * network.size_of(site.own) * self.machine.tile_step;
        let each: f64 = [left, right, target]
            .into_iter()
            .map(|view| {
                let bytes = network.size_of(own(view)) * VALUE;
                bytes * self.machine.in_stream(bytes)
            })
            .sum();
        Some((steps + runs * self.machine.loop_entry, runs * each))
    }
}
