//! The texts of presets that store tensors of several orders, for one order.
//!
//! `fcoo(1)` of order 3 has the descriptor
//!
//! ```text
//! map {[n] -> [i0, i1, i2] : 0 <= n < NNZ && i1 = slice(ps(n)) && i0 = crd0(n) && i2 = crd2(n)}
//! ```
//!
//! and `bcsf(128)` of order 3
//!
//! ```text
//! map {[p0, p1, p2] -> [i0, i1, i2] : 0 <= p0 < NP0 && i0 = idx0(p0)
//!      && ptr1(p0) <= p1 < ptr1(p0 + 1) && i1 = idx1(p1) && ptr2(p1) <= p2 < ptr2(p1 + 1) && i2 = idx2(p2)}
//! ```
//!
//! Sources: Liu et al., "Unified sparse formats for tensor algebra on GPUs", CLUSTER 2017;
//! Nisa et al., "Load-balanced sparse MTTKRP on GPUs", IPDPS 2019.

/// The texts for each number, joined.
fn each(
    numbers: impl IntoIterator<Item = usize>,
    by: &str,
    text: impl Fn(usize) -> String,
) -> String {
    let all: Vec<String> = numbers.into_iter().map(text).collect();
    all.join(by)
}

/// The beginning of assemblies of all orders: the given list of entries.
fn given(order: usize) -> String {
    let modes = || 0..order;
    format!(
        "  parameters {}, NZ\n  given {}, A : f64[NZ]\n",
        each(modes(), ", ", |m| format!("N{m}")),
        each(modes(), ", ", |m| format!("A_crd{m} : i64[NZ]")),
    )
}

/// Entries by the first number, a mode. A bit says where a new slice of that mode begins, and the
/// running sum of bits counts slices.
pub(super) fn fcoo(order: usize, numbers: &[u64]) -> String {
    let mode = usize::try_from(numbers[0]).expect("a mode");
    let others = || (0..order).filter(|m| *m != mode);
    let modes = || 0..order;
    let key = |n: &str| {
        format!(
            "ps({n}){}",
            each(others(), "", |m| format!(", crd{m}({n})"))
        )
    };
    let descriptor = format!(
        "; F-COO: entries by mode {mode}. A bit says where a new slice of that mode begins, and
; the running sum of bits counts slices.
format fcoo
extents {extents}
map {{[n] -> [{coordinates}] : 0 <= n < NNZ && i{mode} = slice(ps(n)){listed}}}
data {{[n] -> [n]}}
values {{[n] : 0 <= n < NNZ}}
unique
function bf : {{[n] : 0 <= n < NNZ}} -> {{[b] : 0 <= b <= 1}}
function ps : {{[n] : 0 <= n < NNZ}} -> {{[s] : 0 <= s < NS}} nondecreasing
function slice : {{[s] : 0 <= s < NS}} -> {{[i] : 0 <= i < E{mode}}} increasing
{arrays}forall n : 1 <= n < NNZ => ps(n) = ps(n - 1) + bf(n)
forall n, m : 0 <= n < m < NNZ => LEX({first}) < LEX({second})
",
        extents = each(modes(), ", ", |m| format!("E{m}")),
        coordinates = each(modes(), ", ", |m| format!("i{m}")),
        listed = each(others(), "", |m| format!(" && i{m} = crd{m}(n)")),
        first = key("n"),
        second = key("m"),
        arrays = each(others(), "", |m| format!(
            "function crd{m} : {{[n] : 0 <= n < NNZ}} -> {{[i] : 0 <= i < E{m}}}\n"
        )),
    );
    let all = "{[n] : 0 <= n < NZ}";
    let assembly = format!(
        "computation assemble {{
{given}  assume 0 <= B_NS
{arrays}  function to : {all} -> {{[q] : 0 <= q < NZ}}
  function group : {all} -> {{[s] : 0 <= s < B_NS}}
  function B_ps : {all} -> {{[s] : 0 <= s < B_NS}} nondecreasing
  temporary to : i64[NZ], group : i64[NZ], B_NS : i64, B_NNZ : i64
  out B_bf : i64[NZ], B_ps : i64[NZ], B_slice : i64[B_NS], {out}B : f64[NZ]

  entries: B_NNZ = NZ over {{[]}}
  sorted: to(n) = rank(A_crd{mode}(n) of N{mode}) over {all}
  slices: group(n) = dense_rank(A_crd{mode}(n) of N{mode}) over {all}
  total: B_NS max= group(n) + 1 over {all}
  heads: B_slice(group(n)) = A_crd{mode}(n) over {all}
  running: B_ps(to(n)) = group(n) over {all}
  starts: B_bf(n) = B_ps(n) - B_ps(n - 1) over {{[n] : 1 <= n < NZ}}
{listed}  values: B(to(n)) = A(n) over {all}
}}
",
        given = given(order),
        arrays = each(modes(), "", |m| format!(
            "  function A_crd{m} : {all} -> {{[i] : 0 <= i < N{m}}}\n"
        )),
        out = each(others(), "", |m| format!("B_crd{m} : i64[NZ], ")),
        listed = each(others(), "", |m| format!(
            "  mode{m}: B_crd{m}(to(n)) = A_crd{m}(n) over {all}\n"
        )),
    );
    format!("{descriptor}\n{assembly}")
}

/// A tree of fibers. A fiber of more entries than the first number says is several.
pub(super) fn bcsf(order: usize, numbers: &[u64]) -> String {
    let most = numbers[0];
    let (last, fibers) = (order - 1, order - 2);
    // How many nodes a level of the tree has.
    let count = |level: usize| match level == last {
        true => "NNZ".to_owned(),
        false => format!("NP{level}"),
    };
    let below = |level: usize| {
        let (parents, nodes) = (count(level - 1), count(level));
        // The nodes of a fiber that is several have equal coordinates.
        let less = if level == fibers { "<=" } else { "<" };
        [
            format!(
                "function ptr{level} : {{[p] : 0 <= p <= {parents}}} -> {{[q] : 0 <= q <= {nodes}}} increasing\n"
            ),
            format!(
                "function idx{level} : {{[p] : 0 <= p < {nodes}}} -> {{[i] : 0 <= i < E{level}}}\n"
            ),
            format!(
                "forall p, q1, q2 : 0 <= p < {parents} && ptr{level}(p) <= q1 < q2 < ptr{level}(p + 1) => idx{level}(q1) {less} idx{level}(q2)\n"
            ),
        ]
    };
    let modes = || 0..order;
    let first = if fibers == 0 {
        "nondecreasing"
    } else {
        "increasing"
    };
    let descriptor = format!(
        "; B-CSF: a tree of fibers. A fiber of more than {most} entries is several.
format bcsf
extents {extents}
map {{[{tuple}] -> [{coordinates}] : 0 <= p0 < {roots} && i0 = idx0(p0){tree}}}
data {{[{tuple}] -> [p{last}]}}
values {{[p] : 0 <= p < NNZ}}
unique
function idx0 : {{[p] : 0 <= p < {roots}}} -> {{[i] : 0 <= i < E0}} {first}
{arrays}{orders}forall p : 0 <= p < {n_fibers} => ptr{last}(p + 1) - ptr{last}(p) <= {most}
",
        extents = each(modes(), ", ", |m| format!("E{m}")),
        tuple = each(modes(), ", ", |m| format!("p{m}")),
        coordinates = each(modes(), ", ", |m| format!("i{m}")),
        roots = count(0),
        tree = each(1..order, "", |m| {
            let parent = m - 1;
            format!(
                "\n     && ptr{m}(p{parent}) <= p{m} < ptr{m}(p{parent} + 1) && i{m} = idx{m}(p{m})"
            )
        }),
        arrays = each(1..order, "", |m| below(m)[..2].concat()),
        orders = each(1..order, "", |m| below(m)[2].clone()),
        n_fibers = count(fibers),
    );
    let all = "{[n] : 0 <= n < NZ}";
    let keys = |end: usize| each(0..end, ", ", |m| format!("A_crd{m}(n) of N{m}"));
    let node = |level: usize| match level == last {
        true => "n".to_owned(),
        false => format!("node{level}(n)"),
    };
    let rank = |level: usize| {
        let split = match level == fibers {
            true => format!(", nth(n) floordiv {most} of N{last}"),
            false => String::new(),
        };
        let keys = keys(level + 1);
        format!("  nodes{level}: node{level}(n) = dense_rank({keys}{split}) over {all}\n")
    };
    let ordered = match fibers {
        0 => String::new(),
        _ => {
            let key = |n: &str| each(0..last, ", ", |m| format!("A_crd{m}({n})"));
            let [n, m] = ["n", "m"].map(key);
            format!("  forall n, m : 0 <= n < m < NZ => LEX({n}) <= LEX({m})\n")
        }
    };
    let assembly = format!(
        "computation assemble {{
{given}  assume {counts}
{arrays}{ordered}  function nth : {all} -> {{[o] : 0 <= o < N{last}}}
{nodes}  temporary nth : i64[NZ], {temporary}, B_NNZ : i64
  out {out}B : f64[NZ]

  entries: B_NNZ = NZ over {{[]}}
  within: nth(n) = ordinal({fiber}) over {all}
{ranks}{totals}{indices}{pointers}  values: B(n) = A(n) over {all}
}}
",
        given = given(order),
        counts = each(0..last, " && ", |m| format!("0 <= B_NP{m}")),
        arrays = each(modes(), "", |m| {
            let order = if m == 0 { " nondecreasing" } else { "" };
            format!("  function A_crd{m} : {all} -> {{[i] : 0 <= i < N{m}}}{order}\n")
        }),
        nodes = each(0..last, "", |m| format!(
            "  function node{m} : {all} -> {{[p] : 0 <= p < B_NP{m}}}\n"
        )),
        temporary = each(0..last, ", ", |m| format!(
            "node{m} : i64[NZ], B_NP{m} : i64"
        )),
        out = each(modes(), "", |m| {
            let length = if m == last {
                "NZ".to_owned()
            } else {
                format!("B_NP{m}")
            };
            let pointers = match m {
                0 => String::new(),
                _ => format!("B_ptr{m} : i64[B_NP{} + 1], ", m - 1),
            };
            format!("{pointers}B_idx{m} : i64[{length}], ")
        }),
        fiber = keys(last),
        ranks = each(0..last, "", rank),
        totals = each(0..last, "", |m| format!(
            "  total{m}: B_NP{m} max= node{m}(n) + 1 over {all}\n"
        )),
        indices = each(modes(), "", |m| {
            let node = node(m);
            format!("  idx{m}: B_idx{m}({node}) = A_crd{m}(n) over {all}\n")
        }),
        pointers = each(1..order, "", |m| {
            let (parent, node) = (node(m - 1), node(m));
            format!("  ptr{m}: B_ptr{m}({parent} + 1) max= {node} + 1 over {all}\n")
        }),
    );
    format!("{descriptor}\n{assembly}")
}
