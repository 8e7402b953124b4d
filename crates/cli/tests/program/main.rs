//! The program as users call it: exit codes, and what is printed.
//!
//! Every test runs the real binary in a folder of its own, with a cache of its
//! own where it compiles kernels.
//!
//! | module      | holds                                                       |
//! |-------------|-------------------------------------------------------------|
//! | [`answers`] | what each command answers                                   |
//! | [`cache`]   | `doctor`, and a kernel cache that is not trusted            |
//! | [`compile`] | what `compile` shows                                        |
//! | [`described`] | formats, described                                        |
//! | [`embed`]   | kernels in C programs                                       |
//! | [`files`]   | `info`, `convert`, completions and the manual page          |
//! | [`memory`]  | where memory ends                                           |
//! | [`mistakes`] | mistakes of beginners, and the calls that messages lead to |
//! | [`notes`]   | what costs and was not asked for                            |
//! | [`pages`]   | the commands that README and docs show                      |
//! | [`printed`] | what `run` prints of results, and where it goes             |
//! | [`random`]  | random programs, answered in JSON                           |
//! | [`refused`] | what is wrong with a call, a program or its data            |
//! | [`relations`] | computations over relations                               |
//! | [`schedules`] | commands of schedules, each in each of its forms          |
//! | [`signals`] | signals that end the program                                |
//! | [`place`]   | a folder to call the program in                             |

mod answers;
mod cache;
mod compile;
mod conversions;
mod described;
mod embed;
mod emitted;
mod files;
mod memory;
mod mistakes;
mod notes;
mod pages;
mod place;
mod printed;
mod random;
mod refused;
mod relations;
mod schedules;
mod signals;
