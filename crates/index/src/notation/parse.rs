//! wip
use super::Notation;
use sparsec_base::{Result, Source, lex::Tokens};
pub(crate) struct Parser {
    pub(crate) tokens: Tokens,
    depth: usize,
}
impl Notation {
    /// Reads a program.
    pub fn parse(source: &Source) -> Result<Self> {
        let _ = source;
        unimplemented!()
    }
}
