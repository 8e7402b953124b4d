//! Index notation and concrete index notation.
