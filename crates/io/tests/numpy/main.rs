//! NumPy's files: what is written reads back, what others write is read, what
//! is damaged is refused.

mod foreign;
mod refused;
mod round_trips;
mod support;
