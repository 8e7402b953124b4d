//! The search, the checker and z3 say the same of the paper's example and of random trees.
//!
//! Without a `z3` on the path the tests compare nothing and say so.
#![allow(clippy::print_stderr, reason = "a test says that it was skipped")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use sparsec_base::arena::Id;
use sparsec_network::fusion::{Precedence, least_order, stated_layouts};
use sparsec_network::{
    Answer, Factor, Named, Network, Set, Solution, StatementId, System, SystemOptions, Tensor,
    Tree, judge,
};

/// The answer of z3 to a system; `None` if z3 is not installed.
fn solve(system: &System) -> Option<Answer> {
    let mut child = Command::new("z3")
        .args(["-smt2", "-in", "-T:60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().expect("a pipe");
    let text = system.smt2();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends");
    writer.join().expect("no panic").expect("z3 reads all");
    let text = String::from_utf8(output.stdout).expect("ASCII");
    Some(Answer::parse(system, &text).expect("an answer"))
}

/// Asks z3 for orders up to the least one that the search finds.
fn compare(network: &Network, tree: &Tree) {
    let layouts = stated_layouts(network);
    let precedence = Precedence::of(network, tree, &layouts, Set::EMPTY);
    let least = least_order(tree, &precedence);
    let text = format!("{network}{}", tree.print(network));
    let highest = tree.statements().map(|(_, statement)| statement.kept.len());
    let highest = highest.max().unwrap_or(0);
    for limit in 0..=least.unwrap_or(highest) {
        let options = SystemOptions {
            limit,
            layouts: layouts.clone(),
            ..SystemOptions::default()
        };
        let system = System::new(network, tree, &options);
        match solve(&system) {
            None => {
                eprintln!("z3 is not installed: nothing was solved");
                return;
            }
            Some(Answer::Sat(model)) => {
                assert_eq!(Some(limit), least, "{text}");
                assert_eq!(system.violated(&model), None, "{text}");
                let solution = Solution::of_model(network, tree, &model);
                judge(network, tree, &options, &solution)
                    .unwrap_or_else(|fault| panic!("{text}{fault}"));
            }
            Some(Answer::Unsat) => assert!(least.is_none_or(|least| limit < least), "{text}"),
            Some(Answer::Unknown) => panic!("z3 gave up:\n{text}"),
        }
    }
}

fn parse(network: &str, tree: &str) -> (Network, Tree) {
    let network = Network::parse(network).expect("a network");
    let tree = Tree::parse(&network, tree).expect("a tree");
    (network, tree)
}

#[test]
fn the_paper_example() {
    let (network, tree) = parse(
        "tensor A[9,9,9]\n tensor B[9,9,9]\n tensor C[9,9,9]\n tensor D[9,9,9]
        R(i,j,k) = A(i,p,q) * B(j,p,r) * C(k,q,r) * D(j,k,r)",
        "X(i,j,q,r) = A(i,p,q) * B(j,p,r)\n Y(i,j,k,r) = X(i,j,q,r) * C(k,q,r)
        R(i,j,k) = Y(i,j,k,r) * D(j,k,r)",
    );
    compare(&network, &tree);
}

#[test]
fn restricted_integrals() {
    let (network, tree) = parse(
        "tensor I[9,9,9] entries 99 layout 0, 1, 2\n tensor C[9,9] entries 9\n tensor P[9,9]
        tensor L[9,9] entries 9 layout 1, 0
        E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)",
        "T(K,a,i) = C(a,i) * L(K,i)\n X(K,b,i) = I(K,a,b) * T(K,a,i)
        E(K,i,m) = X(K,b,i) * P(b,m)",
    );
    compare(&network, &tree);
}

/// Numbers from a linear congruence, the upper bits of each.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn random_trees() {
    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let mut random = Random(42);
    for case in 0..24 {
        let n = 2 + case % 4;
        let mut tensors = Vec::new();
        let mut operands = Vec::new();
        for t in 0..=n {
            let mut modes = Vec::new();
            for _ in 0..=random.below(3) {
                let name = NAMES[random.below(NAMES.len())];
                if !modes.contains(&name) {
                    modes.push(name);
                }
            }
            let mut tensor = Tensor::sparse(format!("T{t}"), &vec![9; modes.len()], 3);
            if random.below(2) == 0 {
                let mut layout: Vec<usize> = (0..modes.len()).collect();
                layout.rotate_left(random.below(modes.len()));
                tensor.layout = Some(layout);
            }
            tensors.push(tensor);
            operands.push(Named::new(&format!("T{t}"), &modes));
        }
        let used = |name: &&str| {
            operands
                .iter()
                .any(|op| op.indices.iter().any(|own| own == name))
        };
        let result: Vec<&str> = NAMES
            .into_iter()
            .filter(used)
            .filter(|_| random.below(2) == 0)
            .collect();
        let network = Network::new(tensors, &Named::new("R", &result), &operands).expect("fits");
        let mut open: Vec<Factor> = network
            .operands()
            .map(|(id, _)| Factor::Operand(id))
            .collect();
        let mut products = Vec::new();
        while open.len() > 1 {
            let pair = [0, 1].map(|_| open.swap_remove(random.below(open.len())));
            open.push(Factor::Statement(StatementId::from_index(products.len())));
            products.push(pair.to_vec());
        }
        compare(&network, &Tree::new(&network, products).expect("a tree"));
    }
}
