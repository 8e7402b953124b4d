//! The program as users call it: exit codes, and what is printed.
//!
//! Every test runs the real binary in a folder of its own, with a cache of its
//! own where it compiles kernels.
//!
//! | module      | holds                                                       |
//! |-------------|-------------------------------------------------------------|
//! | [`answers`] | what each command answers                                   |
//! | [`cache`]   | `doctor`, and a kernel cache that is not trusted            |
//! | [`embed`]     | kernels in C programs                                       |
//! | [`files`]   | `info`, `convert`, completions and the manual page            |
//! | [`memory`]  | where memory ends                                           |
//! | [`pages`]   | the commands that README and docs show                      |
//! | [`random`]  | random programs, answered in JSON                           |
//! | [`mistakes`] | mistakes of beginners, and the calls that messages lead to   |
//! | [`refused`] | what is wrong with a call, a program or its data            |
//! | [`schedules`] | commands of schedules, each in each of its forms            |
//! | [`place`]   | a folder to call the program in                             |

mod answers;
mod cache;
mod compute;
mod described;
mod embed;
mod files;
mod memory;
mod pages;
mod mistakes;
mod place;
mod random;
mod refused;
mod schedules;
