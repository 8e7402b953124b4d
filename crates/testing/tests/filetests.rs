//! Runs every file in `filetests/`.
fn main() {}
