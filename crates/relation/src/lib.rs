//! Relations with uninterpreted functions.
