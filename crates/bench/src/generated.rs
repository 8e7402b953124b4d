//! The C by hand as TACO would have generated it: to be compiled on its own.
//!
//! Loops are those of the C by hand, compiled with `-ffast-math` beside the flags of
//! both, which is what suits sums best; what they ask for comes from the C library
//! (`kernels/plain.c`). Each call makes its result anew, by appending to arrays that
//! `realloc` doubles, and frees it; so does ours, with the memory of its own:
//!
//! ```text
//! ours   a result of no size ─► launch, which grows it ─► trimmed, dropped
//! TACO   null ─► realloc, 2 realloc, … ─► freed                    one ratio a round
//! ```
//!
//! Where the result is dense its memory is the caller's, and only loops differ.
//!
//! Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017,
//! <https://doi.org/10.1145/3133901>, figures 1 and 9; workspaces and their sorted
//! lists: Kjolstad et al., "Tensor Algebra Compilation with Workspaces", CGO 2019,
//! <https://doi.org/10.1109/CGO.2019.8661185>.

use std::time::Duration;

use sparsec::internals::runtime::{Kernel, OutputTensor};
use sparsec::{Array, Diagnostic, Result, Session, code};

use crate::by_hand;
use crate::clock;
use crate::pair::{Turns, arguments, difference, launch, median};
use crate::variants::{Bar, Measured, Variant, ratio};

/// The name of the launch entry.
const ENTRY: &str = "as_generated";

/// The C by hand with memory of its own.
#[derive(Debug)]
pub(crate) struct Generated {
    kernel: Kernel,
    /// The same, but its result is copied to that of the caller.
    kept: Kernel,
    /// What the result is before anything has grown it; `None` where it is dense.
    fresh: Option<OutputTensor>,
}

impl Generated {
    /// Compiles the C `by_hand` of the kernel `ours`, whose result is `fresh`.
    ///
    /// # Errors
    /// Those of compiling.
    pub(crate) fn new(
        session: &Session,
        by_hand: &str,
        ours: &Kernel,
        fresh: &OutputTensor,
    ) -> Result<Self> {
        let grows = fresh.arrays().len() > 1;
        let sizes: Vec<String> = (fresh.arrays().iter())
            .map(|array| array.element().size().to_string())
            .collect();
        let compile = |keeps: bool| {
            let text = format!(
                "#pragma GCC optimize(\"fast-math\")\n\
                 #define ENTRY_SIZES {{{}}}\n#define ALLOCATES {}\n#define KEEP {}\n{by_hand}\n{}",
                sizes.join(", "),
                i32::from(grows),
                i32::from(keeps),
                include_str!("../kernels/plain.c"),
            );
            by_hand::compile(session, ours.function(), &text, ENTRY)
        };
        Ok(Self {
            kernel: compile(false)?,
            kept: compile(true)?,
            fresh: grows.then(|| fresh.clone()),
        })
    }
}

impl Measured<'_> {
    /// Beside C as TACO generates it; `bar` is what the ratio has to be.
    ///
    /// # Errors
    /// `E0515` if it computes something else.
    pub(crate) fn beside(&mut self, generated: &Generated, bar: Bar) -> Result<Variant> {
        launch(self.ours, self.inputs, self.output, clock::time)?;
        let expected: Vec<Array> = self.output.arrays().to_vec();
        launch(&generated.kept, self.inputs, self.output, clock::time)?;
        for (ours, theirs) in expected.iter().zip(self.output.arrays()) {
            if let Some(note) = difference(ours, theirs) {
                let message = format!("`{}` is not what plain C computes", self.name);
                return Err(Diagnostic::new(code::WRONG_RESULT, message)
                    .note(note)
                    .help("this is a fault of sparsec; please report it"));
            }
        }
        drop(expected);
        let mut turns = Turns::new(self.rounds);
        while turns.goes_on() {
            turns.both(|which| match (which, &generated.fresh) {
                (0, Some(fresh)) => self.anew(fresh),
                (0, None) => launch(self.ours, self.inputs, self.output, clock::time),
                _ => launch(&generated.kernel, self.inputs, self.output, clock::time),
            })?;
        }
        let (ours, theirs) = turns.times();
        Ok(Variant {
            name: "plain C".to_owned(),
            ratio: ratio(&theirs, &ours),
            time: median(theirs, Duration::cmp),
            bar,
            memory: None,
        })
    }

    /// The time of ours with a result made anew.
    fn anew(&self, fresh: &OutputTensor) -> Result<Duration> {
        let (taken, ended) = clock::time(&mut || {
            let mut output = fresh.clone();
            let mut arguments = arguments(self.ours, self.inputs, [&mut output]);
            by_hand::launch(self.ours, &mut arguments)?;
            drop(arguments);
            output.trim();
            Ok(())
        });
        ended.map(|()| taken)
    }
}
