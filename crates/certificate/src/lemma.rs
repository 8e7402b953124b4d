//! The lemmas: a table with one row, and one function, for each. The function checks the side
//! conditions of its lemma and records the facts that the lemma establishes. The crate's page
//! explains them.

use sparsec_computation::Statement;

use crate::check::Outcome;
use crate::lemmas::{block, changes, each, number, run, scalar, scan, spread, store, table};
use crate::pieces;
use crate::state::State;
use crate::triangle;

/// Applies a lemma to the statements that write an array.
type Check = fn(&mut State<'_>, &str, &[&Statement]) -> Outcome;

macro_rules! lemmas {
    ($($(#[$doc:meta])* $name:ident = $words:literal, $check:expr;)*) => {
        /// How an obligation is established.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Lemma {
            $($(#[$doc])* $name,)*
        }

        impl Lemma {
            /// All lemmas.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];

            /// The lemma in words.
            pub fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)* }
            }

            /// The function of a lemma about the statements of an array; `None` for other lemmas.
            pub(crate) fn of_arrays(self) -> Option<Check> {
                match self { $(Self::$name => $check,)* }
            }
        }
    };
}

lemmas! {
    /// `T(p) = rank(k of n)`, `dense_rank` or `ordinal`.
    Numbered = "ranks and ordinals number entries by keys, then by visits", Some(number::window);
    /// `T(p) = pos(k) + ordinal(k of n)`.
    Start = "start + ordinal within counted groups is a bijection onto 0..n", Some(number::start);
    /// `T(p) = pos(k) + s`.
    Places = "entries have numbers of their own, by what arrays hold", Some(number::places);
    /// `n = places`, `size(0) = n`.
    Count = "a number that is assigned once has that value", Some(scalar::assigned);
    /// `n max= T(p) + 1`.
    Greatest = "numbers from 0 on are as many as the greatest and one", Some(scalar::greatest);
    /// `n += 1` at each entry.
    Counted = "what is counted at each entry is the number of entries", Some(scalar::counted);
    /// `n += 1` where a condition fails, `assume n = 0`.
    Tally = "what is counted is what is assumed", Some(scalar::tally);
    /// `pos(k + 1) += 1`, `pos(x + 1) += pos(x)`.
    Scan = "a scan of counts is nondecreasing", Some(scan::counts);
    /// `pos(k + 1) max= T(p) + 1`, `pos(x + 1) max= pos(x)`.
    RunningMaximum = "a running maximum is nondecreasing, and bounds each segment", Some(scan::running_maximum);
    /// `crd(T(p)) = k`.
    Keys = "numbers leave nothing out, and entries of one number agree", Some(store::keys);
    /// `T(x) = e(x)`.
    Each = "each entry is computed from others at its index", Some(each::valued);
    /// `crd(x) = mark`, `crd(at) = k`.
    Marked = "entries that share a place agree, and other places hold the mark or 0", Some(store::marked);
    /// `stored(p) = 1`.
    Taken = "the part takes the marked entries, and leaves the others", Some(store::taken);
    /// `first(x) = mark`, `first(at) min= k`.
    Least = "a running minimum from a mark is at most each value", Some(run::least);
    /// `behind(at) max= k + 1`.
    Behind = "a running maximum is behind each value", Some(run::behind);
    /// `pos(x + 1) = pos(x) + (changes(x) + 1)`.
    RunStarts = "each parent has one run more than changes of its values", Some(changes::starts);
    /// `bounds(run(x) + p) = k`, where a run begins.
    RunBounds = "each run begins at a change, and coordinates of one run have one value", Some(changes::bounds);
    /// `T(p) = before + ordinal()`.
    Placed = "ordinals behind the entries of the pieces before are no numbers of other pieces", Some(pieces::placed);
    /// `n += end - from`, at each place.
    CountedRuns = "the lengths of all runs add up to the number of entries", Some(spread::counted);
    /// `len(p) = max(0, end - from)`.
    RunLengths = "each place has the length of its run", Some(spread::lengths);
    /// `T(0) = before`, `T(x + 1) = T(x) + len(x)`.
    Spread = "sums of the lengths of runs, and offsets in runs, are a bijection onto the numbers of entries", Some(spread::starts);
    /// `crd(T(p)) = k`, for each piece.
    Listed = "each piece writes at its own numbers", Some(pieces::listed);
    /// `n += differs(T(p), T_image(p))`, `assume n = 0`.
    Mirrored = "what is counted differs from its mirror image", Some(triangle::mirrored);
    /// `count(k) += 1`.
    Sizes = "what is counted at each entry of a group is the size of the group", Some(table::sizes);
    /// `T(p) = slot(c of n, pos(k), pos(k + 1))`.
    Slot = "a table with room gives each entry a slot of its own", Some(table::slot);
    /// `pos(x + 1) = pos(x) + length(x)`.
    Summed = "sums of lengths are nondecreasing, and bound what has these lengths", Some(scan::sums);
    /// `T(p) = K * k + min(o + (K - count(k)), c)`.
    InBlocks = "entries stand behind as many free places as their block has, or less than their coordinates", Some(block::in_blocks);
    /// `crd(K * x + s) = s`, `crd(T(p)) = c`.
    FilledUp = "free places hold their own numbers, so coordinates increase in each block", Some(block::filled_up);
    /// A proof by linear arithmetic from proved facts about arrays.
    Arithmetic = "it follows from what arrays hold", None;
    /// A proof about two points from the order of their numbers.
    ByNumbers = "it follows from the order of numbers", None;
    /// A proof from the contract of slots, and from the mark of free ones.
    Search = "a key takes the first free slot from where its search begins, and keeps it", None;
    /// A proof from the schedule of the statements.
    Schedule = "sweeps follow one another", None;
    /// A proof from the iteration space of the statements.
    Space = "they run over the entries of the source", None;
    /// A fact about the source, given by the question.
    Source = "the source says so", None;
    /// A proof that only one statement writes values.
    Untouched = "no two tuples share a place, and nothing else is written", None;
}
