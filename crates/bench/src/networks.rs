//! Products of three tensors and more beside C by hand, one row each.
//!
//! ```text
//! integrals/medium    ours 1.4 s   planned in 20 ms   stated 410 MB   peak 402 MB
//!   nest       1045 s     746   bar 1000
//!   merges     29.2 s      21   bar 40
//!   …
//!   best                 0.41   bar 0.90
//! ```
//!
//! | row             | computes                                                    |
//! |-----------------|-------------------------------------------------------------|
//! | `integrals/S`   | `E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)` on the molecule of size `S` |
//! | `restricted/S`  | the same times `L(K,i)`                                     |
//! | `four-index/S`  | `V(i,m,j,n) = E(K,i,m) * D(K,L) * F(L,j,n)`, in blocks where it is large |
//! | `mttkrp/N/0`    | `M(i,r) = T(i,j,k) * B(j,r) * D(k,r)`, `N` entries a fiber, and in other modes |
//! | `ttmc16/N/0`    | `Y(i,q,s) = T(i,j,k) * B(j,q) * D(k,s)`, 16 columns a matrix |
//! | `mttkrp/FILE/0` | the same of the tensor of a file, of order 3 or 4           |
//! | `triangles/whole` | `t = A(i,j) * A(j,k) * A(i,k)` of a graph of skewed degrees; see `graphs` for others |
//! | `together/csr`  | `r(i) = A(i,j) * x(j)` and `c(j) = A(i,j) * y(i)` in one pass; see `together` for others |
//!
//! Each form by hand is launched on the operands as they are stored, its result is compared
//! with ours, and both are timed in turns. A nest that would run for minutes computes some
//! matrices of the result, and its time is scaled. What is timed of ours is computing;
//! copies of operands stand apart, as a program makes them once. Ours is then planned for
//! several threads, and its gain stands beside that of copying an array. `search/NAME` tries
//! the other plans that planning priced, too.

mod cases;
mod factors;
mod four_index;
mod graphs;
mod integrals;
mod measured;
mod ours;
mod plans;
mod row;
mod together;

use sparsec::internals::parallel::Pool;
use sparsec::{Result, Session};

use crate::data::Given;
use crate::variants::Threads;
use cases::chosen;

pub use row::{Beside, NetworkRow, OnThreads, Tried};

/// How large the networks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// For tests.
    Tiny,
    /// Seconds.
    Small,
    /// Minutes.
    Full,
}

/// The settings of a measurement.
pub(crate) struct Setting<'a> {
    pub(crate) session: &'a Session,
    /// One thread.
    pub(crate) pool: &'a Pool,
    /// Several.
    pub(crate) threads: Option<&'a Threads>,
    pub(crate) scale: Scale,
    pub(crate) rounds: usize,
    /// Tensors of files, in place of generated ones.
    pub(crate) given: &'a [Given],
}

/// Measures the networks of a scale, or those that `only` names.
///
/// # Errors
/// `E0004` for a name that there is not, `E0515` if a result differs from that by hand; those
/// of compiling and running.
pub(crate) fn measure(
    setting: &Setting<'_>,
    only: &[&str],
    print: &mut dyn FnMut(String) -> Result<()>,
) -> Result<Vec<NetworkRow>> {
    let mut rows = Vec::new();
    print(NetworkRow::heading().to_owned())?;
    for (listed, tries_plans) in chosen(setting.scale, only, setting.given)? {
        let row = (listed.case)()?.measure(setting, tries_plans)?;
        print(row.text())?;
        rows.push(row);
    }
    Ok(rows)
}
