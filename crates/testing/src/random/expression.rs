//! Random expressions: accesses, operators, calls, reductions.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::index::{self, Index};

/// The orders of the operands `A`, `B`, …: a program uses some of them.
pub(crate) const ORDERS: [usize; 6] = [2, 2, 1, 1, 3, 0];
pub(crate) const NAMES: [&str; 6] = ["A", "B", "c", "d", "T", "s"];
/// What statements compute, in order.
pub(crate) const RESULTS: [&str; 3] = ["Z", "Y", "X"];
/// The index variables.
pub(crate) const VARS: [&str; 4] = ["i", "j", "k", "l"];

/// Functions of one argument, casts among them.
const UNARY: [&str; 21] = [
    "abs", "-", "relu", "sign", "conj", "real", "imag", "floor", "round", "trunc", "isstored",
    "popcount", "clz", "ctz", "i8", "i16", "i32", "i64", "u8", "f32", "f64",
];

/// Functions of two arguments; those of three have a third that is known.
const BINARY: [&str; 12] = [
    "max", "min", "gate", "gain", "pow", "bitand", "bitor", "bitxor", "shl", "shr", "copysign",
    "fma",
];

/// What the right side of a statement, or a part of it, is.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Access(usize, Vec<Index>),
    /// The result of an earlier statement at as many of these variables as it has
    /// modes.
    Result(usize, Vec<usize>),
    Literal(i64),
    /// A variable as a number.
    Index(usize),
    Infix(&'static str, Box<Node>, Box<Node>),
    Call(&'static str, Vec<Node>),
    Reduce(&'static str, usize, Box<Node>),
}

impl Node {
    /// Whether operands are read at variables alone, of the extents that they have.
    pub(crate) fn is_plain(&self, extents: &[u64], shapes: &BTreeMap<usize, Vec<u64>>) -> bool {
        let is_plain = |node: &Self| node.is_plain(extents, shapes);
        match self {
            Self::Access(slot, indices) => {
                let here = indices.iter().map(|index| index.extent(extents));
                indices.iter().all(|it| matches!(it, Index::Var(_)))
                    && shapes
                        .get(slot)
                        .is_some_and(|shape| here.eq(shape.iter().copied()))
            }
            Self::Result(..) | Self::Literal(_) | Self::Index(_) => true,
            Self::Infix(_, left, right) => is_plain(left) && is_plain(right),
            Self::Call(_, args) => args.iter().all(is_plain),
            Self::Reduce(_, _, body) => is_plain(body),
        }
    }
}

fn operand() -> impl Strategy<Value = Node> {
    (0..ORDERS.len()).prop_flat_map(|slot| {
        prop::collection::vec(index::any(), ORDERS[slot])
            .prop_map(move |indices| Node::Access(slot, indices))
    })
}

/// An access beside one of its variables as a number.
fn with_index() -> impl Strategy<Value = Node> {
    let symbol = prop::sample::select(vec!["*", "+", "=="]);
    (operand(), symbol).prop_map(|(operand, symbol)| {
        let var = match &operand {
            Node::Access(_, indices) => indices.iter().find_map(|index| match index {
                Index::Var(var) => Some(*var),
                _ => None,
            }),
            _ => None,
        };
        let Some(var) = var.map(Node::Index) else {
            return operand;
        };
        match symbol {
            "==" => {
                let condition = Node::Infix("==", Box::new(var), Box::new(Node::Literal(1)));
                Node::Call("select", vec![condition, operand, Node::Literal(0)])
            }
            _ => Node::Infix(symbol, Box::new(operand), Box::new(var)),
        }
    })
}

/// A sum or a product of several accesses whose indices are computed, as in a
/// stencil.
fn stencil() -> impl Strategy<Value = Node> {
    let access = (0..ORDERS.len() - 1).prop_flat_map(|slot| {
        prop::collection::vec(index::computed(), ORDERS[slot])
            .prop_map(move |indices| Node::Access(slot, indices))
    });
    let terms = prop::collection::vec(access, 2..10);
    (terms, prop::sample::select(vec!["*", "+", "+", "-"])).prop_map(|(terms, symbol)| {
        let join = |left, right| Node::Infix(symbol, Box::new(left), Box::new(right));
        terms.into_iter().reduce(join).expect("two terms or more")
    })
}

/// Operators that reduce, with those that reduce stored entries alone.
const REDUCTIONS: [&str; 19] = [
    "and",
    "or",
    "sum",
    "sum",
    "sum",
    "max",
    "min",
    "prod",
    "modsum",
    "bitand",
    "bitor",
    "bitxor",
    "stored_sum",
    "stored_max",
    "stored_min",
    "stored_prod",
    "stored_modsum",
    "stored_bitxor",
    "stored_max",
];

fn reduced(inner: BoxedStrategy<Node>) -> impl Strategy<Value = Node> {
    let operator = prop::sample::select(REDUCTIONS.to_vec());
    (operator, 0..VARS.len(), inner)
        .prop_map(|(name, var, body)| Node::Reduce(name, var, Box::new(body)))
}

/// A reduction of a reduction, beside and around products.
fn reduced_twice(earlier: usize) -> impl Strategy<Value = Node> {
    let inner = prop_oneof![
        leaf(earlier),
        product(leaf(earlier).boxed(), leaf(earlier).boxed())
    ];
    let inner = reduced(inner.boxed()).boxed();
    let beside = product(inner.clone(), leaf(earlier).boxed());
    reduced(prop_oneof![2 => inner, 1 => beside].boxed())
}

fn product(left: BoxedStrategy<Node>, right: BoxedStrategy<Node>) -> BoxedStrategy<Node> {
    (left, right)
        .prop_map(|(left, right)| Node::Infix("*", Box::new(left), Box::new(right)))
        .boxed()
}

/// An access to the result of one of `earlier` statements.
fn result(earlier: usize) -> impl Strategy<Value = Node> {
    (0..earlier, prop::collection::vec(0..VARS.len(), VARS.len()))
        .prop_map(|(number, vars)| Node::Result(number, vars))
}

/// One operand, result or number.
pub(crate) fn leaf(earlier: usize) -> BoxedStrategy<Node> {
    let operand = prop_oneof![
        24 => operand(),
        2 => (-1i64..4).prop_map(Node::Literal),
        1 => with_index(),
    ];
    match earlier {
        0 => operand.boxed(),
        _ => prop_oneof![1 => result(earlier), 1 => operand].boxed(),
    }
}

/// Any expression of a statement that has so many `earlier` ones.
pub(crate) fn any(earlier: usize) -> BoxedStrategy<Node> {
    prop_oneof![30 => nested(earlier), 1 => stencil(), 2 => reduced_twice(earlier)].boxed()
}

fn nested(earlier: usize) -> BoxedStrategy<Node> {
    leaf(earlier)
        .prop_recursive(4, 12, 3, |inner| {
            let pair = |symbol: &'static str, inner: BoxedStrategy<Node>| {
                (inner.clone(), inner).prop_map(move |(left, right)| {
                    Node::Infix(symbol, Box::new(left), Box::new(right))
                })
            };
            let inner = inner.boxed();
            prop_oneof![
                6 => pair("*", inner.clone()),
                4 => pair("+", inner.clone()),
                2 => pair("-", inner.clone()),
                1 => (prop::sample::select(BINARY.to_vec()), inner.clone(), inner.clone())
                    .prop_map(|(name, left, right)| Node::Call(name, vec![left, right])),
                1 => (prop::sample::select(UNARY.to_vec()), inner.clone())
                    .prop_map(|(name, arg)| Node::Call(name, vec![arg])),
                // What fails where a divisor is 0 or a float has no integer near it.
                1 => inner.clone().prop_map(|arg| Node::Call("i64", vec![arg])),
                1 => (inner.clone(), inner.clone())
                    .prop_map(|(left, right)| Node::Call("//", vec![left, right])),
                1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| {
                    let condition = Node::Infix(">", Box::new(a.clone()), Box::new(b));
                    Node::Call("select", vec![condition, a, c])
                }),
                3 => reduced(inner),
            ]
        })
        .boxed()
}

/// What an expression is printed for.
pub(crate) struct Scope<'a> {
    /// The extents of the variables.
    pub(crate) extents: &'a [u64],
    /// The left sides of the statements before.
    pub(crate) earlier: &'a [&'a [usize]],
}

impl Scope<'_> {
    /// An expression as it is written.
    pub(crate) fn text(&self, node: &Node) -> String {
        let text = |node: &Node| self.text(node);
        match node {
            Node::Access(slot, indices) => {
                let indices = indices.iter().map(|it| it.text(self.extents));
                access(NAMES[*slot], indices)
            }
            Node::Result(number, vars) => {
                let vars = &vars[..self.earlier[*number].len()];
                access(RESULTS[*number], vars.iter().map(|var| VARS[*var]))
            }
            Node::Literal(value) => value.to_string(),
            Node::Index(var) => VARS[*var].to_owned(),
            Node::Infix(symbol, left, right) => {
                format!("({} {symbol} {})", text(left), text(right))
            }
            Node::Call("-", args) => format!("(-({}))", text(&args[0])),
            // Truth values have no signs.
            Node::Call("isstored", args) => format!("i64(isstored({}))", text(&args[0])),
            // A divisor that is not stored is mostly not zero.
            Node::Call("//", args) => {
                format!("(i64({}) // (i64({}) + 3))", text(&args[0]), text(&args[1]))
            }
            // Integers, whose powers are exact.
            Node::Call("pow", args) => {
                format!("pow(i64({}), i64({}) % 4)", text(&args[0]), text(&args[1]))
            }
            Node::Call(
                name @ ("popcount" | "clz" | "ctz" | "bitand" | "bitor" | "bitxor" | "shl"),
                args,
            ) => {
                let args: Vec<String> = args
                    .iter()
                    .map(|arg| format!("i64({})", text(arg)))
                    .collect();
                format!("{name}({})", args.join(", "))
            }
            // Of another width, with and without a sign.
            Node::Call("shr", args) => {
                format!(
                    "(shr(i16(i64({0})), i16(i64({1}))) + i16(shr(u8(i64({0})), u8(i64({1})))))",
                    text(&args[0]),
                    text(&args[1])
                )
            }
            Node::Call("copysign", args) => {
                format!("copysign(f64({}), f64({}))", text(&args[0]), text(&args[1]))
            }
            // Whole numbers, whose products are exact.
            Node::Call("fma", args) => {
                format!("fma(f64({}), f64({}), 2)", text(&args[0]), text(&args[1]))
            }
            Node::Call(name, args) => {
                let args: Vec<String> = args.iter().map(text).collect();
                format!("{name}({})", args.join(", "))
            }
            Node::Reduce(name @ ("bitand" | "bitor" | "bitxor" | "stored_bitxor"), var, body) => {
                format!("{name}{{{}}}(i64({}))", VARS[*var], text(body))
            }
            // Remainders of sums that wrap would depend on the order.
            Node::Reduce(name @ ("modsum" | "stored_modsum"), var, body) => {
                format!("{name}{{{}}}(i64({}))", VARS[*var], text(body))
            }
            Node::Reduce(name @ ("and" | "or"), var, body) => {
                format!("i64({name}{{{}}}({} > 0))", VARS[*var], text(body))
            }
            Node::Reduce(name, var, body) => format!("{name}{{{}}}({})", VARS[*var], text(body)),
        }
    }
}

/// `name(i, j)`, or `name` if there are no indices.
pub(crate) fn access<T: ToString>(name: &str, indices: impl Iterator<Item = T>) -> String {
    let indices: Vec<String> = indices.map(|index| index.to_string()).collect();
    match indices.is_empty() {
        true => name.to_owned(),
        false => format!("{name}({})", indices.join(", ")),
    }
}

/// At how many points an evaluator looks that goes through every reduction.
pub(crate) fn cost(node: &Node, extents: &[u64]) -> u64 {
    let of = |node: &Node| cost(node, extents);
    match node {
        Node::Access(..) | Node::Result(..) | Node::Literal(_) | Node::Index(_) => 1,
        Node::Infix(_, left, right) => of(left).saturating_add(of(right)),
        Node::Call(_, args) => args.iter().map(of).fold(1, u64::saturating_add),
        Node::Reduce(_, var, body) => extents[*var].saturating_mul(of(body)),
    }
}

/// Raises extents of variables to those of the operands that they index. An operand has one shape
/// wherever it is used.
pub(crate) fn raise(node: &Node, shapes: &BTreeMap<usize, Vec<u64>>, extents: &mut [u64]) {
    match node {
        Node::Literal(_) | Node::Index(_) | Node::Result(..) => {}
        Node::Access(slot, indices) => {
            for (index, extent) in indices.iter().zip(&shapes[slot]) {
                if let Index::Var(var) = index {
                    extents[*var] = extents[*var].max(*extent);
                }
            }
        }
        Node::Infix(_, left, right) => {
            raise(left, shapes, extents);
            raise(right, shapes, extents);
        }
        Node::Call(_, args) => args.iter().for_each(|arg| raise(arg, shapes, extents)),
        Node::Reduce(_, _, body) => raise(body, shapes, extents),
    }
}

/// The extents of every operand, from where it is first used.
pub(crate) fn shapes(node: &Node, extents: &[u64], shapes: &mut BTreeMap<usize, Vec<u64>>) {
    match node {
        Node::Literal(_) | Node::Index(_) | Node::Result(..) => {}
        Node::Access(slot, indices) => {
            let extents = || indices.iter().map(|index| index.extent(extents));
            shapes.entry(*slot).or_insert_with(|| extents().collect());
        }
        Node::Infix(_, left, right) => {
            self::shapes(left, extents, shapes);
            self::shapes(right, extents, shapes);
        }
        Node::Call(_, args) => args
            .iter()
            .for_each(|arg| self::shapes(arg, extents, shapes)),
        Node::Reduce(_, _, body) => self::shapes(body, extents, shapes),
    }
}
