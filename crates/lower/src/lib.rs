//! Concrete index notation to loop IR.
