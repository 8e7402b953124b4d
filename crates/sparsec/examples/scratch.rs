fn main() {
    use sparsec::relation::*;
    let base = "assume 0 <= N0 && A_pos0(0) = 0 && A_pos0(1) = E
  function A_pos0 : {[p] : 0 <= p <= 1} -> {[q] : 0 <= q <= E} nondecreasing
  function A_crd0 : {[q] : 0 <= q < E} -> {[i] : 0 <= i < N0}
  function A_crd1 : {[q] : 0 <= q < E} -> {[i] : 0 <= i < N1}
  forall p, q1, q2 : 0 <= p < 1 && A_pos0(p) <= q1 < q2 < A_pos0(p + 1) => LEX(A_crd0(q1), A_crd1(q1)) < LEX(A_crd0(q2), A_crd1(q2))";
    let known: Declarations = base.parse().unwrap();
    let sp = |s: &str| format!("A_pos0(0) <= q{s} < E && A_crd0(q{s}) = i{s} && 0 <= i{s} < N0 && 0 <= q{s} < E && r{s} = q{s} && A_crd1(r{s}) = j{s} && 0 <= j{s} < N1");
    let sp2 = |s: &str| format!("A_pos0(0) <= q{s} < E && A_crd0(q{s}) = i{s} && 0 <= i{s} < N0 && 0 <= q{s} < E && A_crd1(q{s}) = j{s} && 0 <= j{s} < N1");
    for (what, f) in [("full", &sp as &dyn Fn(&str) -> String), ("no alias", &sp2)] {
    for order in ["qa < qb", "qa = qb && ra < rb", "qa = qb && ra = rb && ia < ib", "qa = qb && ra = rb && ia = ib && ja < jb"] {
    if what == "no alias" && order.contains("ra") { continue }
        for fall in ["ia > ib", "ia = ib && ja > jb"] {
            let s: Set = format!("{{[qa, ra, ia, ja, qb, rb, ib, jb] : {} && {} && {order} && {fall}}}", f("a"), f("b")).parse().unwrap();
            let t = std::time::Instant::now();
            println!("{:?} {what} {order} {fall} {:?}", s.as_relation().is_empty(&known), t.elapsed());
        }
    }}
}
