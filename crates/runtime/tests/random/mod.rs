//! Random kernels: one random value of every type for each entry of operands of every type.

use sparsec_base::{Complex, ElementType, Kind, Scalar};
use sparsec_loop::{
    Access, Argument, BinaryOp, Buffer, Builder, Expr, Function, Intrinsic, Role, UnaryOp, Var,
    verify,
};

/// How deep expressions are.
const DEPTH: u32 = 5;

/// A linear congruence; its high bits are random enough here.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A value that reaches corners more often than chance would.
    pub(crate) fn scalar(&mut self, ty: ElementType) -> Scalar {
        let small = self.below(9) as i64 - 4;
        let value = match ty.kind() {
            Kind::Bool => Scalar::Bool(small > 0),
            // Wrapped, these are the corners of the narrower types too.
            Kind::Signed | Kind::Unsigned => Scalar::I64(match self.below(10) {
                0 => i64::MIN,
                1 => i64::MAX,
                2 => 1_i64 << (8 * ty.size() - 1),
                3 => i64::MAX >> (64 - 8 * ty.size()),
                _ => small,
            }),
            Kind::Float => self.float(small),
            Kind::Complex => {
                let im = self.below(9) as i64 - 4;
                let (re, im) = (self.float(small), self.float(im));
                Scalar::C128(Complex::new(re.to_f64(), im.to_f64()))
            }
        };
        value.cast(ty).expect("of the same kind")
    }

    fn float(&mut self, small: i64) -> Scalar {
        Scalar::F64(match self.below(12) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => -0.0,
            3 => 2147483648.0,
            4 => 1e19,
            // Subnormal as a half, and between two halves.
            5 => small as f64 * 3e-8,
            6 => 1.0 + 2f64.powi(-11) + small as f64 * 2f64.powi(-40),
            _ => small as f64 * 0.375,
        })
    }
}

/// What expressions may name.
struct Names {
    vars: Vec<(ElementType, Var)>,
    /// Operands by compute type.
    buffers: Vec<(ElementType, Buffer)>,
    i: Var,
}

fn expr(random: &mut Random, names: &Names, ty: ElementType, depth: u32) -> Expr {
    if depth == 0 || random.below(8) == 0 {
        return leaf(random, names, ty);
    }
    let part = |random: &mut Random, ty| Box::new(expr(random, names, ty, depth - 1));
    let complex_of = |part| match part {
        ElementType::F32 => ElementType::C64,
        _ => ElementType::C128,
    };
    match random.below(10) {
        1 => Expr::Select {
            condition: part(random, ElementType::Bool),
            then: part(random, ty),
            otherwise: part(random, ty),
        },
        choice if choice == 0 || ty != ty.computed() => {
            let from = random.pick(&ElementType::ALL);
            let from = match from.is_complex() && !ty.is_complex() && ty != ElementType::Bool {
                true => from.part(),
                false => from,
            };
            Expr::Cast(ty, part(random, from))
        }
        2 if ty == ElementType::Bool => Expr::Unary(UnaryOp::Not, part(random, ty)),
        2 if ty.is_complex() => {
            let op = random.pick(&[UnaryOp::Neg, UnaryOp::Conj]);
            Expr::Unary(op, part(random, ty))
        }
        2 => {
            let op = match ty.is_integer() {
                true => random.pick(&UnaryOp::OF_INTEGERS),
                false => random.pick(&[UnaryOp::Neg, UnaryOp::Abs]),
            };
            Expr::Unary(op, part(random, ty))
        }
        3 if ty.is_float() => {
            let function = random.pick(&Intrinsic::ALL);
            let arguments = (0..function.arity()).map(|_| *part(random, ty));
            Expr::Call(function, arguments.collect())
        }
        3 if ty.is_complex() => {
            use Intrinsic::{Exp, Log, Pow, Sqrt};
            let function = random.pick(&[Sqrt, Exp, Log, Pow]);
            let arguments = (0..function.arity()).map(|_| *part(random, ty));
            Expr::Call(function, arguments.collect())
        }
        4 if ty.is_float() => {
            let op = random.pick(&[UnaryOp::Real, UnaryOp::Imag, UnaryOp::Abs]);
            Expr::Unary(op, part(random, complex_of(ty)))
        }
        _ if ty == ElementType::Bool => {
            use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Max, Min, Ne, Or};
            let op = random.pick(&[And, Or, And, Or, Min, Max, Eq, Ne, Lt, Le, Gt, Ge]);
            let of = match op {
                Eq | Ne => random.pick(&ElementType::ALL).computed(),
                _ if op.is_comparison() => random.pick(&ElementType::ALL).computed().part(),
                _ => ty,
            };
            Expr::Binary(op, part(random, of), part(random, of))
        }
        _ => {
            use BinaryOp::{
                Add, BitAnd, BitOr, BitXor, Div, FloorDiv, Max, Min, Mod, Mul, ShiftLeft,
                ShiftRight, Sub,
            };
            let op = match ty.kind() {
                Kind::Complex => random.pick(&[Add, Sub, Mul, Div]),
                Kind::Float => random.pick(&[Add, Sub, Mul, Min, Max, FloorDiv, Mod, Div]),
                _ if random.pick(&[false, false, true]) => random.pick(&[ShiftLeft, ShiftRight]),
                _ => random.pick(&[
                    Add, Sub, Mul, Min, Max, FloorDiv, Mod, BitAnd, BitOr, BitXor,
                ]),
            };
            Expr::Binary(op, part(random, ty), part(random, ty))
        }
    }
}

fn leaf(random: &mut Random, names: &Names, ty: ElementType) -> Expr {
    let vars: Vec<Var> = of_type(&names.vars, ty);
    let buffers: Vec<Buffer> = of_type(&names.buffers, ty);
    match random.below(3) {
        0 if !vars.is_empty() => Expr::Var(random.pick(&vars)),
        1 => Expr::Const(random.scalar(ty)),
        _ => Expr::load(random.pick(&buffers), names.i),
    }
}

fn of_type<T: Copy>(list: &[(ElementType, T)], ty: ElementType) -> Vec<T> {
    list.iter()
        .filter(|(of, _)| *of == ty)
        .map(|(_, it)| *it)
        .collect()
}

/// A kernel that writes one random value for each entry of its operands.
pub(crate) fn kernel(random: &mut Random, number: usize) -> Function {
    let mut b = Builder::new(&format!("kernel{number}"));
    let ty = random.pick(&ElementType::ALL);
    let n = b.fixed("y.n0", ElementType::I64);
    let y = b.buffer("y.vals", ty, ty, Access::Write);
    argument(&mut b, "y", Role::Out, n, y);
    let mut buffers = Vec::new();
    for (name, storage, compute) in operands() {
        let extent = b.fixed(&format!("{name}.n0"), ElementType::I64);
        let buffer = b.buffer(&format!("{name}.vals"), storage, compute, Access::Read);
        argument(&mut b, name, Role::In, extent, buffer);
        buffers.push((compute, buffer));
    }
    let i = b.fixed("i", ElementType::I64);
    let mut names = Names {
        vars: vec![(ElementType::I64, i)],
        buffers,
        i,
    };
    b.for_loop(i, 0, n, |b| {
        let of = random.pick(&ElementType::ALL);
        let value = expr(random, &names, of, 3);
        let t = b.var_("t", value);
        names.vars.push((of, t));
        let value = expr(random, &names, of, 3);
        let condition = expr(random, &names, ElementType::Bool, 3);
        b.if_then(condition, |b| b.assign(t, value));
        let value = expr(random, &names, ty, DEPTH);
        b.store(y, i, value);
        let ops: &[BinaryOp] = match ty {
            ElementType::Bool => &[BinaryOp::And, BinaryOp::Or],
            _ if ty != ty.computed() => return,
            _ if ty.is_complex() => &[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Div],
            _ if ty.is_float() => &[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Div],
            _ => &[
                BinaryOp::Sub,
                BinaryOp::FloorDiv,
                BinaryOp::Mod,
                BinaryOp::Max,
                BinaryOp::BitAnd,
            ],
        };
        let value = expr(random, &names, ty, 2);
        b.store_reduce(y, i, value, Some(random.pick(ops)));
    });
    let function = b.finish();
    verify(&function).unwrap_or_else(|error| panic!("{error}\n{function}"));
    function
}

fn argument(b: &mut Builder, name: &str, role: Role, extent: Var, buffer: Buffer) {
    b.argument(Argument {
        name: name.into(),
        role,
        doc: "(i) -> (i : dense)".into(),
        extents: vec![extent],
        buffers: vec![buffer],
    });
}

/// Operands: name, storage type, compute type.
pub(crate) fn operands() -> Vec<(&'static str, ElementType, ElementType)> {
    use ElementType::{F32, F64, I32, I64, U8, U16};
    let mut list = vec![
        ("crd8", U8, I64),
        ("crd16", U16, I64),
        ("crd32", I32, I64),
        ("half", F32, F64),
    ];
    list.extend(ElementType::ALL.map(|ty| (ty.name(), ty, ty)));
    list
}
