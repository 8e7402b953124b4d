//! Stored sparse tensors: arrays, checks, pack and unpack.
