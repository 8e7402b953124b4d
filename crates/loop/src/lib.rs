//! The loop IR: text, verifier, interpreter, passes.
