//! Loop IR to C.
