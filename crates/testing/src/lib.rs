//! Filetests and random programs: what the tests of sparsec are made of.
