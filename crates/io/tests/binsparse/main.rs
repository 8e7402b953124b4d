//! Binsparse: what is written reads back, what others write is read, and what
//! is wrong is refused with its place.

mod containers;
mod damaged;
mod refused;
mod round_trips;
