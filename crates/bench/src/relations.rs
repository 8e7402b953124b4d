//! Products with matrices that are described by relations, and the relations.
//!
//! | row     | ours                                | beside                            |
//! |---------|-------------------------------------|-----------------------------------|
//! | `csr`   | loops scanned from the descriptor   | C by hand                         |
//! | `level` | the same                            | the kernel of `y(i) = A(i,j) * x(j)` |
//! | `dia`, `jds` | loops scanned from the descriptor | C by hand                       |
//! | `pairs csr` | parse, compose, invert, simplify: the slowest pair of its descriptor with another | 2 ms |

use std::time::Duration;

use serde_json::{Value, json};
use sparsec::internals::compute::{Given, Prepared, compile_computation};
use sparsec::internals::runtime::{Kernel, KernelArgument, OutputTensor};
use sparsec::internals::{Inputs, Request, codegen_c, compile};
use sparsec::{Diagnostic, Format, Result, Scalar, Session, Source, Tensor, TensorRef, code};

use crate::by_hand;
use crate::case::{CASES, Pattern, Sizes};
use crate::clock;
use crate::data::Data;
use crate::pair::median;

mod pairs;

/// One product, or the slowest pair of a descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationRow {
    /// What was measured.
    pub name: String,
    /// Our time.
    pub ours: Duration,
    /// What it is compared with, or may be.
    pub beside: Duration,
    /// How many times as long as that ours takes: the median of the rounds.
    pub ratio: f64,
    /// The most that it may be.
    pub bar: f64,
}

impl RelationRow {
    /// How to read the columns, and the line above the rows.
    pub fn heading() -> String {
        format!(
            "\nbeside: C by hand, the kernel of levels, or 2 ms for operations on descriptors\n\
             ratio: ours / beside, below 1 ours is faster; bar: the largest ratio that is good enough\n\
             {:<14}{:>12}{:>12}{:>8}{:>8}\n",
            "relations", "ours", "beside", "ratio", "bar"
        )
    }

    /// The row as text.
    pub fn line(&self) -> String {
        format!(
            "{:<14}{:>12}{:>12}{:>8.2}{:>8.2}\n",
            self.name,
            format!("{:.1?}", self.ours),
            format!("{:.1?}", self.beside),
            self.ratio,
            self.bar
        )
    }

    /// The row as JSON.
    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "ours_seconds": self.ours.as_secs_f64(),
            "beside_seconds": self.beside.as_secs_f64(),
            "ratio": self.ratio,
            "bar": self.bar,
        })
    }

    /// Whether it is no slower than it may be.
    pub fn keeps_bar(&self) -> bool {
        self.ratio <= self.bar
    }
}

const CSR: &str = "computation csr {
  parameters N, M, NZ
  function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
  function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
  given pos : i32[N + 1], crd : i32[NZ], A : f64[NZ], x : f64[M]
  out y : f64[N]
  s0: y(i) = 0 over {[i] : 0 <= i < N} at [i, 0]
  s1: y(i) += A(p) * x(j)
    over {[i, p, j] : 0 <= i < N && pos(i) <= p < pos(i + 1) && j = crd(p)} at [i, 1, p]
}";

const DIA: &str = "computation dia {
  parameters N, M, ND
  function off : {[d] : 0 <= d < ND} -> {[o] : -N < o < M} increasing
  given off : i32[ND], A : f64[ND, N], x : f64[M]
  out y : f64[N]
  s0: y(i) += A(d, i) * x(j)
    over {[d, i, j] : 0 <= d < ND && 0 <= i < N && j = i + off(d) && 0 <= j < M} at [d, i]
}";

const JDS: &str = "computation jds {
  parameters N, M, NJD, NZ
  function ptr : {[s] : 0 <= s <= NJD} -> {[k] : 0 <= k <= NZ} nondecreasing
  function perm : {[t] : 0 <= t < N} -> {[i] : 0 <= i < N} injective
  function crd : {[k] : 0 <= k < NZ} -> {[j] : 0 <= j < M}
  forall s : 0 <= s < NJD => ptr(s + 1) - ptr(s) <= N
  given ptr : i32[NJD + 1], perm : i32[N], crd : i32[NZ], A : f64[NZ], x : f64[M]
  out y : f64[N]
  s0: y(i) += A(k) * x(j)
    over {[s, k, i, j] : 0 <= s < NJD && ptr(s) <= k < ptr(s + 1)
      && i = perm(k - ptr(s)) && j = crd(k)}
}";

/// Measures all rows.
///
/// # Errors
/// `E0515` where results differ; those of compiling and launching.
pub fn measure(session: &Session, sizes: &Sizes, rounds: usize) -> Result<Vec<RelationRow>> {
    let inputs = CASES[0].inputs(&Data::generated(sizes, Pattern::Band))?;
    let (matrix, x) = (&inputs["A"], &inputs["x"]);
    let (n, m) = (matrix.extents()[0] as usize, matrix.extents()[1] as usize);
    let (pos, crd) = (matrix.level(1).pos(), matrix.level(1).crd());
    let vals = matrix.values::<f64>().expect("cases are of doubles");
    let nz = vals.len();
    let narrow = |n: usize| n as i32;
    let index = |at: &dyn Fn(usize) -> i64, n: usize| -> Result<Tensor> {
        vector((0..n).map(|k| at(k) as i32).collect::<Vec<i32>>())
    };
    let mut rows = Vec::new();

    let csr = [
        ("pos", index(&|k| pos.get(k), n + 1)?),
        ("crd", index(&|k| crd.get(k), nz)?),
        ("A", vector(vals.to_vec())?),
    ];
    let parameters = [("N", n), ("M", m), ("NZ", nz)];
    let mut ours = prepared(session, CSR, &parameters, &csr, x)?;
    let hand = include_str!("../kernels/csr_data.c");
    rows.push(beside_hand("csr", &mut ours, hand, session, rounds, 1.1)?);
    rows.push(beside_level(
        ours.kernel(),
        &parameters,
        session,
        &inputs,
        rounds,
    )?);

    let entries: Vec<Vec<(usize, f64)>> = (0..n)
        .map(|i| {
            let row = pos.get(i) as usize..pos.get(i + 1) as usize;
            row.map(|p| (crd.get(p) as usize, vals[p])).collect()
        })
        .collect();
    let mut offsets: Vec<i64> = Vec::new();
    for (i, row) in entries.iter().enumerate() {
        for (j, _) in row {
            let offset = *j as i64 - i as i64;
            if let Err(at) = offsets.binary_search(&offset) {
                offsets.insert(at, offset);
            }
        }
    }
    let mut diagonals = vec![0.0; offsets.len() * n];
    for (i, row) in entries.iter().enumerate() {
        for (j, value) in row {
            let at = offsets
                .binary_search(&(*j as i64 - i as i64))
                .expect("listed above");
            diagonals[at * n + i] = *value;
        }
    }
    let n_diagonals = offsets.len();
    let stored = Tensor::dense(&[n_diagonals as u64, n as u64], diagonals)?;
    let dia = [("off", index(&|k| offsets[k], n_diagonals)?), ("A", stored)];
    let parameters = [("N", n), ("M", m), ("ND", n_diagonals)];
    let mut ours = prepared(session, DIA, &parameters, &dia, x)?;
    let hand = include_str!("../kernels/dia_data.c");
    rows.push(beside_hand("dia", &mut ours, hand, session, rounds, 1.1)?);

    let mut perm: Vec<usize> = (0..n).collect();
    perm.sort_by_key(|&i| std::cmp::Reverse(entries[i].len()));
    let longest = perm.first().map_or(0, |&i| entries[i].len());
    let (mut ptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for s in 0..longest {
        for &i in perm.iter().take_while(|&&i| entries[i].len() > s) {
            columns.push(narrow(entries[i][s].0));
            values.push(entries[i][s].1);
        }
        ptr.push(narrow(columns.len()));
    }
    let jds = [
        ("ptr", vector(ptr)?),
        (
            "perm",
            vector(perm.into_iter().map(narrow).collect::<Vec<i32>>())?,
        ),
        ("crd", vector(columns)?),
        ("A", vector(values)?),
    ];
    let parameters = [("N", n), ("M", m), ("NJD", longest), ("NZ", nz)];
    let mut ours = prepared(session, JDS, &parameters, &jds, x)?;
    let hand = include_str!("../kernels/jds_data.c");
    rows.push(beside_hand("jds", &mut ours, hand, session, rounds, 1.1)?);

    let descriptors = pairs::descriptors()?;
    let beside = Duration::from_millis(2);
    for source in &descriptors {
        let mut ours = Duration::ZERO;
        for target in &descriptors {
            ours = ours.max(pairs::time(source, target, rounds)?);
        }
        rows.push(RelationRow {
            name: format!("pairs {}", source.name()),
            ours,
            beside,
            ratio: ours.as_secs_f64() / beside.as_secs_f64(),
            bar: 1.0,
        });
    }
    Ok(rows)
}

fn vector<T: sparsec::Element>(values: Vec<T>) -> Result<Tensor> {
    Tensor::dense(&[values.len() as u64], values)
}

fn prepared<'a>(
    session: &Session,
    text: &str,
    parameters: &[(&str, usize)],
    data: &'a [(&str, Tensor)],
    x: &'a Tensor,
) -> Result<Prepared<'a>> {
    let compiled = compile_computation(&text.parse()?)?;
    let mut given = Given::new().data("x", x);
    for (name, value) in parameters {
        given = given.parameter(*name, *value as i64);
    }
    for (name, tensor) in data {
        given = given.data(*name, tensor);
    }
    session.prepare(&compiled, &given)
}

/// Times both in turns, once their results agree.
fn in_turns(
    name: &'static str,
    bar: f64,
    rounds: usize,
    mut round: impl FnMut(bool) -> Result<(Duration, Vec<f64>)>,
) -> Result<RelationRow> {
    let (first, second) = (round(true)?.1, round(false)?.1);
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
    if first.len() != second.len() || !first.iter().zip(&second).all(close) {
        let message = format!("the two products of `{name}` differ");
        return Err(Diagnostic::new(code::WRONG_RESULT, message)
            .help("this is a fault of sparsec: please report it"));
    }
    let (mut ours, mut beside) = (Vec::new(), Vec::new());
    for at in 0..rounds.max(1) * 4 {
        let is_first = at % 2 == 0;
        let (a, b) = (round(is_first)?.0, round(!is_first)?.0);
        let (a, b) = if is_first { (a, b) } else { (b, a) };
        ours.push(a);
        beside.push(b);
    }
    let each = ours.iter().zip(&beside);
    let ratios: Vec<f64> = each
        .map(|(a, b)| a.as_secs_f64() / b.as_secs_f64())
        .collect();
    Ok(RelationRow {
        name: name.to_owned(),
        ours: median(ours, Duration::cmp),
        beside: median(beside, Duration::cmp),
        ratio: median(ratios, f64::total_cmp),
        bar,
    })
}

fn beside_hand(
    name: &'static str,
    ours: &mut Prepared<'_>,
    hand: &str,
    session: &Session,
    rounds: usize,
    bar: f64,
) -> Result<RelationRow> {
    let prelude = codegen_c::emit_file(&[], &codegen_c::Options::default());
    let text = format!("{prelude}\n{hand}");
    let hand = by_hand::compile(session, ours.kernel().function(), &text, "by_hand")?;
    in_turns(name, bar, rounds, |is_ours| {
        let (taken, ended) = match is_ours {
            true => clock::time(&mut || ours.launch()),
            false => clock::time(&mut || by_hand::launch_prepared(ours, &hand)),
        };
        ended?;
        Ok((taken, ours.result("y").to_vec()))
    })
}

/// The kernel that the level face gives for the same product, on the same arrays.
fn beside_level(
    ours: &Kernel,
    parameters: &[(&str, usize)],
    session: &Session,
    inputs: &Inputs,
    rounds: usize,
) -> Result<RelationRow> {
    let request = Request::new(Source::new("expression", CASES[0].expression));
    let compiled = sparsec::internals::parallel::with_threads(1, || compile(&request, inputs))?;
    let kernel = session.kernel(&compiled.statements()[0].function)?;
    let function = kernel.function();
    let result = function
        .arguments
        .iter()
        .find(|argument| argument.name == "y");
    let extents = vec![inputs["A"].extents()[0]];
    let result = result.expect("a product has a result");
    let mut output = OutputTensor::new(
        function,
        result,
        Format::dense(1),
        extents,
        Scalar::F64(0.0),
    )?;
    let sizes: Vec<u64> = parameters.iter().map(|(_, n)| *n as u64).collect();
    let arrays = inputs["A"].arrays().iter().map(|array| {
        let (extents, zero) = (vec![array.len() as u64], array.element().zero());
        TensorRef::new(Format::dense(1), extents, zero, vec![array.into()])
    });
    let arrays: Vec<TensorRef<'_>> = arrays.collect::<Result<_>>()?;
    in_turns("level", 1.05, rounds, |is_ours| {
        let mut out = Some(&mut output);
        let mut arrays = arrays.iter();
        let (kernel, arguments) = match is_ours {
            true => (ours, &ours.function().arguments),
            false => (&*kernel, &function.arguments),
        };
        let arguments = arguments
            .iter()
            .map(|argument| match inputs.get(&argument.name) {
                // The values of the matrix are an argument of their own in ours.
                Some(input) if !is_ours || argument.name == "x" => KernelArgument::In(input),
                None if argument.name == "y" => {
                    KernelArgument::Out(out.take().expect("one result"))
                }
                None if argument.buffers.is_empty() => KernelArgument::Numbers(sizes.clone()),
                _ => KernelArgument::In(arrays.next().expect("as many as compressed rows have")),
            });
        let mut arguments: Vec<KernelArgument<'_>> = arguments.collect();
        let (taken, ended) = clock::time(&mut || by_hand::launch(kernel, &mut arguments));
        ended?;
        drop(arguments);
        Ok((taken, output.arrays()[0].slice::<f64>().to_vec()))
    })
}
