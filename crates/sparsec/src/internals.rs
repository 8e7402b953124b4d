//! The steps of the pipeline and the crates behind it, for the tools of this repository. All of
//! it may change without notice.

pub use sparsec_base::{cancel, suggest};
pub use sparsec_codegen_c as codegen_c;
pub use sparsec_codegen_scf as codegen_scf;
pub use sparsec_computation as computation;
pub use sparsec_computation::Computation;
pub use sparsec_format::{choice, level, statistics};
pub use sparsec_index as index;
pub use sparsec_loop::Function;
pub use sparsec_loop::passes::PIPELINE as PASSES;
pub use sparsec_mlir as mlir;
pub use sparsec_mlir_run as mlir_run;
pub use sparsec_network as network;
pub use sparsec_notation as notation;
pub use sparsec_notation::Notation;
pub use sparsec_parallel as parallel;
pub use sparsec_plan::account;
pub use sparsec_plan::networks::{Objective, Planner, Wanted};
pub use sparsec_reference as reference;
pub use sparsec_relation as relation;
pub use sparsec_runtime as runtime;
pub use sparsec_schedule as schedule;
pub use sparsec_tensor::{generate, generate_with, generated_entries};

pub use crate::compile::{Policy, compile, compile_program};
pub use crate::compiled::{Compiled, CompiledStatement};
pub use crate::compute::{CompiledComputation, Given, compile_computation};
pub use crate::facts::{Facts, TensorFacts};
pub use crate::keep::KeptC;
pub use crate::memory::{Smaller, grows, least_bytes, smaller_format};
pub use crate::networks::Intermediate;
pub use crate::request::{Inputs, Request, TensorSpec};
pub use crate::session::{Outcome, Repeats, Timings};
pub use crate::stage::converters::KernelConversion;

/// Computations over relations: their stages, and running them.
pub mod compute {
    pub use crate::compute::*;
}

/// Conversions between formats, derived.
pub mod conversion {
    pub use crate::conversion::*;
}

/// Expressions over operands whose formats are relations.
pub mod walk {
    pub use crate::walks::*;
}

/// Facts about data.
pub mod facts {
    pub use crate::facts::*;
}

/// Programs of MLIR, run in a session.
pub mod mlir_host {
    pub use crate::mlir_host::*;
}

/// Tensors whose formats are relations.
pub mod relational {
    pub use crate::relational::*;
}
