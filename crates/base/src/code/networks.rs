//! `E09..`: contraction networks, their trees and plans.

use super::codes;

codes! {
    NETWORK_RESULT = "E0901", "an index variable of the result that no operand has",
    "The result of a contraction network has index variables of its operands. Nothing says how far
another one would run, or what would depend on it.

    y(i,z) = A(i,j) * x(j)
        ^ no operand has `z`

Remove it from the result, or multiply by an operand that has it.";
    NETWORK_TREE = "E0902", "a contraction tree that does not compute its network",
    "A contraction tree uses each operand of the network once and each intermediate once, after the
statement that computes it. An intermediate keeps exactly the index variables that the result or later
statements need, and the last statement computes the result.

    E(i,l) = A(i,j) * B(j,k) * C(k,l)
    t0(i,k) = A(i,j) * B(j,k)
    E(i,l) = t0(i,k) * B(k,l)
                       ^ no operand left that is `B(k,l)`

Use `C(k,l)` here.

A tree that is asked for with `--keep-tree` may also have no kernel: an intermediate that sums nothing,
or a sparse result whose entries such loops do not reach in order. Statements of their own compute any
tree: `t(i,k) = A(i,j) * B(j,k); R(i,l) = t(i,k) * C(k,l)`.";
    NETWORK_SIZE = "E0903", "a contraction network that is too large",
    "Sets of operands and of index variables are searched as bits of one word, so a network has from 1 to
128 operands and at most 128 index variables.

Contract a part of the network first, in a statement of its own.";
    NETWORK_FACT = "E0904", "a fact that a tensor of a network cannot have",
    "Each tensor is declared once. It has at most as many entries as places; its layout lists each of its
modes once, from the outermost level to the innermost; projections and matches name modes that it has.

    tensor A[9, 9] entries 100
                           ^^^ at most 81 fit

Correct the fact, or leave it out: facts guide the plan and are not needed for it.";
    NETWORK_REPEATED = "E0905", "an index variable twice in one reference of a network",
    "Each reference in a contraction network has distinct index variables. A diagonal is a tensor of
lower order.

    s = A(i,i) * B(i,j)
            ^ `i` again

Copy the diagonal first (`d(i) = A(i,i)`), and use `d(i)`.";
    NETWORK_PLAN = "E0906", "a fused plan that does not compute its contraction tree",
    "A fused plan holds each statement of its tree once, producers before consumers, inside one loop for
each index variable of the statement. A reference lists the modes that are stored, in the order of the
loops around it; loops around both the producer and the consumer of an intermediate are not among its modes.

    for i {
      t0[i] += A[i,j] * x[j]
      ^ no loop over `j` is around this statement

Print the plan that the planner made, and change that.";
    NETWORK_MODEL = "E0907", "text that is no model of a constraint system",
    "A solver answers `sat` and a model with an integer for each variable of the system:

    sat
    (model (define-fun ap_0 () Int 0) (define-fun lp_0_i () Int 2))

A model that lacks a variable of the system, names another one, or gives something else than an integer
is refused. Ask for the model with `(get-model)`, as the printed system does.";
    NETWORK_MEMORY = "E0908", "a contraction network whose plans do not fit in memory",
    "Every plan that the planner found needs more memory for its workspaces and copies of operands than
the limit allows. The message states the least that one of them needs.

Raise the limit, fuse more (give the layouts of operands free, so that loops can be shared), or state
another tree.";
    NETWORK_ORDER = "E0909", "intermediates that cannot have so low an order",
    "Fused loops reduce the order of intermediates: a loop around both the producer and the consumer of an
intermediate is not among its modes. How far this goes depends on the tree, and on the layouts that loops
have to follow.

    --objective order --max-order 0

Allow the least order that the message states, leave layouts open, or state another tree.";
    NETWORK_SOLVER = "E0910", "a solver that is not installed or does not answer",
    "With `--planner z3` the loops of a contraction network are those that the solver z3 finds. sparsec runs
the executable `z3` on the path.

    sparsec plan 'E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)' --planner z3

Install z3 (Debian: `apt install z3`), or leave the option out: the search finds the same order without.";
}
