//! Thread pool, sorting, scans and reserved buffers of sparsec.
