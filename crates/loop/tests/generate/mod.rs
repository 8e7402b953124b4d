//! Random valid functions, made from a tape of random numbers.
//!
//! The tape decides every choice, and 0 is the simplest one, so a shorter tape with
//! smaller numbers is a simpler function. Indices are taken modulo what they index, result
//! arrays are filled first, and loops end, so a run has no fault; it may still fail.

mod arguments;
mod numbers;

use sparsec_base::{Complex, ElementType, Kind, Scalar};
use sparsec_loop::{
    Access, Argument, BinaryOp, Buffer, Builder, Expr, Failure, Function, Intrinsic, Mark, Role,
    Stmt, UnaryOp, Var,
};

pub(crate) use arguments::arguments;

/// How many entries every array has.
const LEN: i64 = 4;

/// A function from a tape.
pub(crate) fn function(tape: &[u32]) -> Function {
    let mut builder = Builder::new("f");
    let n = builder.fixed("n", ElementType::I64);
    let mut buffer =
        |name: &str, storage, compute, access| builder.buffer(name, storage, compute, access);
    use ElementType::{F32, F64, I32, I64, U8, U16};
    let results = vec![
        buffer("y1.pos", I64, I64, Access::Write),
        buffer("y1.crd", I32, I64, Access::Grow),
        buffer("y.vals", F64, F64, Access::Grow),
    ];
    let mut operands = vec![
        buffer("a1.pos", I32, I64, Access::Read),
        buffer("a1.crd", U8, I64, Access::Read),
        buffer("a2.crd", U16, I64, Access::Read),
        buffer("a.s", F32, F64, Access::Read),
    ];
    for ty in ElementType::ALL {
        operands.push(buffer(&format!("a.{}", ty.name()), ty, ty, Access::Read));
    }
    let workspace = buffer("w", F64, F64, Access::Workspace);
    let keyed = ["k", "e"].map(|name| buffer(name, I64, I64, Access::Workspace));
    let single = builder.buffer("one", I64, I64, Access::Workspace);
    builder.argument(Argument {
        name: "y".into(),
        role: Role::Out,
        doc: "(i) -> (i : compressed)".into(),
        extents: vec![n],
        buffers: results.clone(),
    });
    builder.argument(Argument {
        name: "a".into(),
        role: Role::In,
        doc: "(i) -> (i : dense)".into(),
        extents: vec![],
        buffers: operands.clone(),
    });
    let readable = [operands, vec![workspace, results[2], keyed[0], keyed[1]]].concat();
    let mut generator = Generator {
        tape,
        builder,
        visible: vec![(n, false)],
        readable,
        writable: vec![results[0], results[1], results[2], workspace, keyed[0]],
        sortable: vec![results[0], results[1]],
        keyed,
        single,
        n_statements: 0,
    };
    let builder = &mut generator.builder;
    builder.push(Stmt::Alloc {
        buffer: single,
        len: Expr::int(1),
    });
    for buffer in [workspace, keyed[0], keyed[1]] {
        builder.push(Stmt::Alloc {
            buffer,
            len: Expr::int(LEN),
        });
    }
    for &buffer in &results {
        let compute = builder.function().buffers[buffer].compute;
        if buffer != results[0] {
            builder.push(Stmt::Resize {
                buffer,
                len: Expr::int(LEN),
            });
        }
        builder.push(Stmt::Fill {
            buffer,
            lo: Expr::int(0),
            hi: Expr::int(LEN),
            value: compute.zero().into(),
        });
    }
    generator.statements(3);
    generator.builder.finish()
}

struct Generator<'t> {
    tape: &'t [u32],
    builder: Builder,
    /// Variables in scope, and whether they may be assigned.
    visible: Vec<(Var, bool)>,
    readable: Vec<Buffer>,
    writable: Vec<Buffer>,
    sortable: Vec<Buffer>,
    /// A workspace of one entry.
    single: Buffer,
    /// Workspaces of which the second is moved as the first is sorted.
    keyed: [Buffer; 2],
    n_statements: usize,
}

impl Generator<'_> {
    /// A number below `n`; 0 once the tape has ended.
    fn below(&mut self, n: usize) -> usize {
        let Some((&first, rest)) = self.tape.split_first() else {
            return 0;
        };
        self.tape = rest;
        first as usize % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn element(&mut self) -> ElementType {
        use ElementType::{
            Bf16, Bool, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64,
        };
        self.pick(&[
            I64, F64, F64, I64, Bool, I32, F32, U8, U64, I8, C128, F16, U32, C64, Bf16, I16, U16,
        ])
    }

    fn block(&mut self, depth: usize, more: &mut dyn FnMut(&mut Self)) -> Vec<Stmt> {
        let n_visible = self.visible.len();
        self.builder.begin_block();
        self.statements(depth);
        more(self);
        self.visible.truncate(n_visible);
        self.builder.end_block()
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..self.below(9) {
            self.n_statements += 1;
            if self.n_statements < 40 {
                self.statement(depth);
            }
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.below(if depth > 0 { 15 } else { 11 }) {
            0 | 1 => self.store(),
            2 | 3 => {
                let element = self.element();
                let value = match self.below(3) {
                    0 => self.variable(element),
                    depth => self.expr(element, depth),
                };
                let mutable = self.below(2) == 1;
                let var = if mutable {
                    self.builder.var_("t", value)
                } else {
                    self.builder.let_("t", value)
                };
                self.visible.push((var, mutable));
            }
            4 | 5 => self.assign(),
            6 => {
                let text = self.pick(&["", "one remark", "  two; \"remarks\""]);
                self.builder.comment(text);
            }
            7 => {
                let buffer = self.pick(&self.writable.clone());
                let value = self.expr(self.builder.function().buffers[buffer].compute, 2);
                let (lo, hi) = (self.index(), self.index());
                self.builder.push(Stmt::Fill {
                    buffer,
                    lo,
                    hi,
                    value,
                });
            }
            8 => {
                let (buffer, along) = match self.below(3) {
                    2 => (self.keyed[0], Some(self.keyed[1])),
                    n => (self.sortable[n], None),
                };
                let (lo, hi) = (self.index(), self.index());
                if along.is_some() {
                    let len = Expr::int(LEN + self.below(3) as i64);
                    let grown = self.pick(&self.keyed.clone());
                    self.builder.push(Stmt::Grow { buffer: grown, len });
                }
                self.builder.push(Stmt::Sort {
                    buffer,
                    along,
                    lo,
                    hi,
                });
            }
            9 => {
                let (buffer, lo, hi) = (self.readable[0], Expr::int(0), self.index());
                if !self.builder.function().can_fail(&hi) {
                    self.builder.push(Stmt::Prefetch { buffer, lo, hi });
                }
            }
            10 => self.kept_or_narrow(),
            11 | 12 => {
                let condition = self.expr(ElementType::Bool, 3);
                let fails = self.below(12) == 1;
                let then = self.block(depth - 1, &mut |g| {
                    if fails {
                        let failure = g.pick(&Failure::ALL);
                        g.builder.fail(failure);
                    }
                });
                let otherwise = if self.below(2) == 1 {
                    self.block(depth - 1, &mut |_| {})
                } else {
                    Vec::new()
                };
                self.builder.push(Stmt::If {
                    condition,
                    then,
                    otherwise,
                });
            }
            13 => self.for_loop(depth),
            _ => self.while_loop(depth),
        }
    }

    fn store(&mut self) {
        let buffer = self.pick(&self.writable.clone());
        let compute = self.builder.function().buffers[buffer].compute;
        let depth = self.below(4);
        let (index, value) = (self.index(), self.expr(compute, depth));
        let op = self.arithmetic(compute);
        // Structure of results is not read back, which a reduction would.
        let reduces = !self.sortable.contains(&buffer) && self.below(2) == 1;
        self.builder
            .store_reduce(buffer, index, value, reduces.then_some(op));
    }

    fn assign(&mut self) {
        let mutable: Vec<Var> = self
            .visible
            .iter()
            .filter_map(|&(var, mutable)| mutable.then_some(var))
            .collect();
        if mutable.is_empty() {
            return self.store();
        }
        let var = self.pick(&mutable);
        let element = self.builder.function().vars[var].element;
        let mut value = self.expr(element, 3);
        if self.below(2) == 1 && element == element.computed() {
            let op = self.arithmetic(element);
            value = Expr::from(var).binary(op, value);
        }
        self.builder.assign(var, value);
    }

    fn for_loop(&mut self, depth: usize) {
        let lo = Expr::int(self.below(3) as i64);
        let i = self.builder.fixed("i", ElementType::I64);
        let n_visible = self.visible.len();
        let (lo, hi) = match self.below(3) {
            0 => (lo, Expr::int(3)),
            1 => (lo, self.index()),
            _ => match self
                .visible
                .iter()
                .find(|(var, _)| self.builder.function().vars[*var].name.starts_with('i'))
            {
                Some(&(outer, _)) => (outer.into(), Expr::from(outer).add(1)),
                None => (lo.clone(), lo),
            },
        };
        self.visible.push((i, false));
        let outer = self.visible.first().map(|(var, _)| *var);
        let body = self.block(depth - 1, &mut |g| {
            if g.below(2) == 1 {
                g.number_is_tried(i, outer);
            }
        });
        self.visible.truncate(n_visible);
        self.builder.push(Stmt::For {
            var: i,
            lo,
            hi,
            mark: Mark::default(),
            body,
        });
    }

    fn while_loop(&mut self, depth: usize) {
        let k = self.builder.var_("k", 0);
        self.visible.push((k, false));
        let more = self.expr(ElementType::Bool, 2);
        let condition = if self.below(2) == 1 {
            Expr::from(k).less(3).and(more)
        } else {
            let end = Expr::load(self.readable[0], self.below(4) as i64);
            Expr::from(k).less(end)
        };
        let body = self.block(depth - 1, &mut |g| {
            g.builder.assign(k, Expr::from(k).add(1));
        });
        self.builder.push(Stmt::While { condition, body });
    }

    /// An index into any array.
    fn index(&mut self) -> Expr {
        let value = self.expr(ElementType::I64, 2);
        value.binary(BinaryOp::Mod, LEN)
    }

    fn arithmetic(&mut self, element: ElementType) -> BinaryOp {
        use BinaryOp::{
            Add, And, BitAnd, BitOr, BitXor, Div, FloorDiv, Max, Min, Mod, Mul, Or, ShiftLeft,
            ShiftRight, Sub,
        };
        match element {
            ElementType::Bool => self.pick(&[And, Or, Min, Max]),
            _ if element.is_complex() => self.pick(&[Add, Mul, Sub, Div]),
            _ if element.is_float() => self.pick(&[Add, Mul, Sub, Div, Min, Max, FloorDiv, Mod]),
            _ => self.pick(&[
                Add, Mul, Sub, BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight, Min, Max, FloorDiv,
                Mod,
            ]),
        }
    }

    fn expr(&mut self, element: ElementType, depth: usize) -> Expr {
        let choice = self.below(if depth > 0 { 16 } else { 6 });
        let computes = element == element.computed();
        match choice {
            0 => self.constant(element),
            1..=3 => self.variable(element),
            4 | 5 => self.load(element),
            // Halves are only chosen and converted.
            8 if !computes => self.select(element, depth),
            6.. if !computes => {
                let from = self.pick(&[ElementType::F32, ElementType::F64, ElementType::I64]);
                Expr::Cast(element, Box::new(self.expr(from, depth - 1)))
            }
            6 if element.is_complex() => {
                use Intrinsic::{Exp, Log, Pow, Sqrt};
                let function = self.pick(&[Sqrt, Exp, Log, Pow]);
                let arguments = (0..function.arity())
                    .map(|_| self.expr(element, depth - 1))
                    .collect();
                Expr::Call(function, arguments)
            }
            7 if element.is_float() && self.below(2) == 1 => {
                let of = match element {
                    ElementType::F32 => ElementType::C64,
                    _ => ElementType::C128,
                };
                let op = self.pick(&[UnaryOp::Real, UnaryOp::Imag, UnaryOp::Abs]);
                Expr::Unary(op, Box::new(self.expr(of, depth - 1)))
            }
            6 if element.is_float() => {
                let function = self.pick(&Intrinsic::ALL);
                let arguments = (0..function.arity())
                    .map(|_| self.expr(element, depth - 1))
                    .collect();
                Expr::Call(function, arguments)
            }
            6 | 7 => {
                let ops: &[UnaryOp] = match element {
                    ElementType::Bool => &[UnaryOp::Not],
                    _ if element.is_complex() => &[UnaryOp::Neg, UnaryOp::Conj],
                    _ if element.is_float() => &[UnaryOp::Neg, UnaryOp::Abs],
                    _ => &UnaryOp::OF_INTEGERS,
                };
                let op = self.pick(ops);
                Expr::Unary(op, Box::new(self.expr(element, depth - 1)))
            }
            8 => self.select(element, depth),
            9 => {
                let from = self.element();
                let real = from.is_complex() && !element.is_complex();
                let from = match from {
                    _ if real && element != ElementType::Bool => from.part(),
                    from => from,
                };
                Expr::Cast(element, Box::new(self.expr(from, depth - 1)))
            }
            10..=12 if element == ElementType::Bool => {
                use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
                let of = self.element().computed();
                let op = match of.is_complex() {
                    true => self.pick(&[Eq, Ne]),
                    false => self.pick(&[Eq, Ne, Lt, Le, Gt, Ge]),
                };
                let left = self.expr(of, depth - 1);
                let right = match self.below(2) {
                    0 => left.clone(),
                    _ => self.expr(of, depth - 1),
                };
                left.binary(op, right)
            }
            // The same operand twice, or a constant, which rules look for.
            10 => {
                let (value, op) = (self.expr(element, depth - 1), self.arithmetic(element));
                value.clone().binary(op, value)
            }
            11 => {
                let (value, op) = (self.expr(element, depth - 1), self.arithmetic(element));
                value.binary(op, self.constant(element))
            }
            12 => {
                let (value, op) = (self.expr(element, depth - 1), self.arithmetic(element));
                self.constant(element).binary(op, value)
            }
            _ => {
                let op = self.arithmetic(element);
                self.expr(element, depth - 1)
                    .binary(op, self.expr(element, depth - 1))
            }
        }
    }

    fn select(&mut self, element: ElementType, depth: usize) -> Expr {
        Expr::Select {
            condition: Box::new(self.expr(ElementType::Bool, depth - 1)),
            then: Box::new(self.expr(element, depth - 1)),
            otherwise: Box::new(self.expr(element, depth - 1)),
        }
    }

    fn constant(&mut self, element: ElementType) -> Expr {
        let float = [0.0, 1.0, -0.0, 2.5, -1.0, f64::INFINITY, f64::NAN];
        let integer = [0, 1, 2, -1, 3, i64::MAX, i64::MIN];
        let n = self.below(7);
        let value = match element.kind() {
            Kind::Bool => Scalar::Bool(n % 2 == 1),
            Kind::Float => Scalar::F64(float[n]),
            Kind::Complex => Scalar::C128(Complex::new(float[n], float[self.below(7)])),
            _ => Scalar::I64(integer[n]),
        };
        Expr::Const(value.cast(element).expect("of the same kind"))
    }

    fn variable(&mut self, element: ElementType) -> Expr {
        let fitting: Vec<Var> = self
            .visible
            .iter()
            .map(|&(var, _)| var)
            .filter(|&var| self.builder.function().vars[var].element == element)
            .collect();
        if fitting.is_empty() {
            return self.constant(element);
        }
        self.pick(&fitting).into()
    }

    fn load(&mut self, element: ElementType) -> Expr {
        let fitting: Vec<Buffer> = self
            .readable
            .iter()
            .copied()
            .filter(|&buffer| self.builder.function().buffers[buffer].compute == element)
            .collect();
        if fitting.is_empty() {
            return self.constant(element);
        }
        let index = match self.below(2) {
            0 => Expr::int(self.below(4) as i64),
            _ => self.variable(ElementType::I64).binary(BinaryOp::Mod, LEN),
        };
        Expr::load(self.pick(&fitting), index)
    }
}
