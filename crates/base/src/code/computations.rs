//! `E08..`: computations over relations and their transformations.

use super::codes;

codes! {
    COMPUTATION_UNKNOWN = "E0801", "a name that a computation does not declare",
    "Every name in a computation is a parameter, a data space, or a variable of the statement's
iteration space. Index arrays are data spaces too: `function` says what is known of one.

    s0: y(i) = 2 * X(i)
                   ^ did you mean `x`?

Declare it: `parameters N`, `given x : f64[N]`.";
    COMPUTATION_NAME = "E0802", "a name that means two things in a computation",
    "Parameters, data spaces, statements and variables have names of their own, other than the words
of the language.

    given y : f64[N]
    s0: y(i) = 0  over {[y, i] : 0 <= i < N}
                         ^ data already

Rename one of them.";
    COMPUTATION_NOT_INTEGER = "E0803", "data in a set or an index that are not integers",
    "Iteration spaces, schedules, extents and indices are integers. What they call as a function is an
array of integers (`i8` to `i64`, `u8` to `u32`); what they name as a constant, a parameter or an
integer without extents.

    given A : f64[N]
    s0: y(A(i)) = 1  over {[i] : 0 <= i < N}
          ^ an array of `f64`

Keep coordinates in an array of integers.";
    COMPUTATION_TYPES = "E0804", "values whose types do not fit",
    "Both sides of an operation have one type, and so have a target and its value. Integers of all
widths are one type, a literal takes the type that is asked for, and `f32(…)` and `f64(…)` convert. Types
other than integers, `f32` and `f64` are only copied.

    given A : f64[N], B : f32[N]
    s0: y(i) = A(i) * B(i)
                      ^^^^ `f32` here, and `f64` before

Write `A(i) * f64(B(i))`.";
    COMPUTATION_GIVEN = "E0805", "given data that a statement writes",
    "What is `given` keeps its entries. Data that are given and changed are `inout`.

    given y : f64[N]
    s0: y(i) += 1
        ^^^^ given

Declare it `inout`, or write to other data.";
    COMPUTATION_UNSETTLED = "E0806", "loops over an index array that is not written yet",
    "Which points a statement has, and when they run, may depend on index arrays. Where the computation
writes one, all of that has to run before the statement that depends on it, and it has to be clear from the
schedules that it does.

    s0: y(p) = 0        over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
    s1: pos(i) = 2 * i  over {[i] : 0 <= i <= N}
                        the points of `s0` depend on `pos`

Schedule the statement that writes first: `s1` `at [0, i]` and `s0` `at [1, i, p]`.";
    DEPENDENCE_BROKEN = "E0807", "a transformation that would break a dependence",
    "Points that touch the same entry, one of them to write it, have to run in the order in which
they did. It has to be proved that they still do, for all values of parameters and index arrays that are as
declared. Updates by the same operator, such as `+=`, may change places.

    s0: x(i) = x(i - 1)  over {[i] : 1 <= i < N}  at [i]
    reverse it: `x(1)` would be read before it is written

Leave the order as it is. Where the dependence cannot be, declare why: `assume`, `injective`, `nondecreasing`.";
    COMPUTATION_ENTRY = "E0808", "a point of a computation that cannot be evaluated",
    "When a computation is evaluated on given data, each index has to lie within the extents, each
integer has to fit the type of the entry that it is stored to, and all that is given needs values.

    given x : f64[N]
    s0: y(i) = x(i + 1)  over {[i] : 0 <= i < N}
               ^^^^^^^^ outside of `x` at the point [N - 1]

Restrict the iteration space to points where all entries are there: `0 <= i < N - 1`.";
    TRANSFORMATION = "E0809", "a transformation that does not apply",
    "A transformation asks for something: to fuse two statements, the elements of their schedules have
to be numbers at the same places; a statement is removed only if it is proved to be without effect, and a mode
of temporary data only if every read is proved to find what it found before. A relation that gives statements
new times gives each point one, and data are substituted only where each read is proved to find what one
statement wrote. A call passes each parameter and data once, with room for all entries. A note says if a
budget of the proof ran out.

    fuse(s0, s1, 2)   with  s0 at [0, i]  and  s1 at [1, 0, i]

Here `interchange(s1, 1, 2)` first gives both the same form.";
    NO_WALK = "E0820", "an expression that cannot be computed through relations",
    "An operand whose format is a relation is read tuple by tuple, where a statement is a sum of terms, each
of them nothing where such an operand stores nothing, and its other operands are dense. Other expressions
are run on copies of such operands, and have no computation of their own to transform:

    sparsec relations 'C(i,j) = max(A(i,j), 0)' -f A=jds.fmt --script auto
                              ^^^ no sum: run it without a script

A relation says how entries are found, not how its index arrays are built, so a result has no such format:
compute it dense, or in a format of levels with `sparsec run`. An operand has as many indices as its format
has extents.";
    NO_CONVERSION = "E0830", "a conversion that cannot be synthesized",
    "A conversion follows from what two formats say of themselves: the source says which coordinates each of
its tuples has, and each element of a tuple of the destination has to follow from the coordinates, from
elements before it, or from a list of keys that an array of the destination keeps.

    map {[n, k] -> [i, j] : 0 <= n < NZ && row(n) = i && col(n) = j && 0 <= k < 3}
             ^ nothing says which `k` an entry has

State what determines the element, or convert to a format of levels first.";
    CERTIFICATE = "E0831", "a certificate that does not prove its conversion",
    "A certificate lists what the destination of a conversion asks of its arrays, and for each of these
obligations a lemma and the statements that establish it. The checker derives the obligations anew from the
descriptor, and accepts a line only if the side conditions of its lemma hold of the statements, for all sizes:

    B_pos1 is nondecreasing, since a scan of counts is nondecreasing (s1, s2)
           ^ refused if s2 does not reach the last segment, or follows a statement that it should precede

The message names the obligation and the statement. Print the computation with `--emit computation`.";
    CERTIFICATE_TEXT = "E0832", "text that is no certificate",
    "A certificate begins with the tuple of the destination that each entry has, and has one obligation in each line:

    certificate {[i, q1, j] -> [q0, t] : q0 = j && t = B_q1(q1)}
      each entry is visited once, since the statement runs over the entries (s5)
      the place of each entry holds its value: not proved

`sparsec convert --from F --to G --emit certificate` prints one.";
}
