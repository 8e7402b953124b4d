//! The kernel that makes room for all of its results.

use super::check_after;
use crate::ir::{Access, Buffer, Expr, Function, Role, Stmt};

/// The same kernel for a caller who does not know how long its results are:
/// result arrays that the caller would allocate are resized first of all.
///
/// `length` says how many entries such an array has, in terms of the extents of
/// the kernel's arguments.
///
/// ```text
/// fn f(out y { extent n, write y.vals })      fn f(out y { extent n, grow y.vals })
///   for i in 0..n { y.vals[i] = 1.0 }    ──►    resize y.vals, n
///                                               for i in 0..n { y.vals[i] = 1.0 }
/// ```
#[must_use]
pub fn own_results(function: &Function, length: impl Fn(Buffer) -> Expr) -> Function {
    let mut owning = function.clone();
    let results = function
        .arguments
        .iter()
        .filter(|argument| argument.role == Role::Out);
    let mut body = Vec::new();
    for &buffer in results.flat_map(|argument| &argument.buffers) {
        let access = &mut owning.buffers[buffer].access;
        if *access != Access::Write {
            continue;
        }
        *access = Access::Grow;
        body.push(Stmt::Resize {
            buffer,
            len: length(buffer),
        });
    }
    body.append(&mut owning.body);
    owning.body = body;
    check_after("own_results", &owning);
    owning
}
