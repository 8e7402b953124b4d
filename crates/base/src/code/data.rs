//! Codes of this hundred; see the table in [`super`].

use super::codes;

codes! {}
