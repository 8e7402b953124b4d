//! Iteration graphs, iteration algebra and merge lattices.
