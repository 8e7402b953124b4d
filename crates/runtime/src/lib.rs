//! Compiling, caching, loading and launching kernels.
