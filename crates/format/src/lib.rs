//! The format language of sparsec: levels, presets, relation face.
