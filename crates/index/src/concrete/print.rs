//! wip
use super::Concrete;
use std::fmt;
impl fmt::Display for Concrete {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}
