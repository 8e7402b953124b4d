//! The longer texts of help: stages, environment, and the examples at the end of each command.

pub(crate) const RELATIONS_EXAMPLES: &str = "\
Examples:
  sparsec relations samples/spmv.spf
  sparsec relations samples/spmv.spf --script auto --emit script --emit computation
  sparsec relations samples/spmv.spf --script 'interchange(s1, 1, 2)'
  sparsec relations samples/spmv.spf --emit svg > spmv.svg
  sparsec relations samples/spmv.spf --emit loop
  sparsec relations spmv.spf --run -i pos=pos.npy -i crd=crd.npy -i A=a.npy -i x=x.npy -o y=y.npy
  sparsec relations 'y(i) = A(i,j) * x(j)' -f A=samples/jds.fmt";

pub(crate) const MLIR_EXAMPLES: &str = "\
Examples:
  sparsec mlir samples/spmv.mlir
  sparsec mlir samples/spmv.mlir --emit encodings
  sparsec mlir samples/spmv.mlir --emit concrete
  TENSOR0=matrix.mtx sparsec mlir program.mlir --run main
  sparsec mlir old.mlir --to-dialect 19
  sparsec mlir diagonals.mlir --dialect sparsec --emit generic";

pub(crate) const FORMATS_EXAMPLES: &str = "\
Examples:
  sparsec formats
  sparsec formats csr
  sparsec formats csf --order 3 --emit drawing
  sparsec formats '(i, j) -> (i + j : dense, j : compressed)' --emit relation
  sparsec formats 'sell(8, 32)'
  sparsec formats mine.fmt";

pub(crate) const INFO_EXAMPLES: &str = "\
Examples:
  sparsec info web.mtx
  sparsec info web.mtx.gz --plot web.svg
  sparsec info facts.tns --json
  sparsec info - < web.mtx";

pub(crate) const CONVERT_EXAMPLES: &str = "\
Examples:
  sparsec convert web.mtx web.npz
  sparsec convert web.mtx.gz web.mtx --structure keep
  sparsec convert web.npz web.tns -t f32
  sparsec convert web.npz - | head
  sparsec convert web.mtx web.npz --to 'bsr(4, 4)'
  sparsec convert web.mtx web.npz --to mine.fmt
  sparsec convert --from csr --to csc --emit cases --emit computation";

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  sparsec completions bash > ~/.local/share/bash-completion/completions/sparsec
  sparsec completions zsh > ~/.zfunc/_sparsec
  sparsec completions fish > ~/.config/fish/completions/sparsec.fish";

pub(crate) const RUN_EXAMPLES: &str = "\
Examples:
  sparsec run 'y(i) = A(i,j) * x(j)' -f A=csr -i A=web.mtx -g x=dense:ones -o y=y.tns
  sparsec run 's = A(i,j) * A(i,j)' -i A=web.mtx.gz --time
  sparsec run 'C(i,j) = A(i,k) * B(k,j)' -f C=csr -i A=a.mtx -i B=b.mtx -o C=c.mtx --check
  sparsec run 'C(i,j) = 2 * A(i,j)' -i A=a.mtx -o - | sparsec run 's = C(i,j)' -i C=-

Results without a file are printed: scalars as values, dense tensors as NumPy prints
arrays, of more than 1000 values the edges; other tensors entry by entry, of more than
50 the first and last five, coordinates counted from 0. Lines are as wide as the
terminal, or 80 characters. With --json a result has its values, up to 10000 of them.";

pub(crate) const COMPILE_EXAMPLES: &str = "\
Examples:
  sparsec compile 'y(i) = A(i,j) * x(j)' -f A=csr
  sparsec compile 'A(i,j) = B(i,k) * C(k,j)' -f A=csr -f B=csr -f C=csr --emit schedule --emit loop
  sparsec compile 'y(i) = A(i,j) * x(j)' -i A=web.mtx -g x=dense:ones

Every option of `run` is taken, so that one word turns a call that runs a kernel into one
that shows it. Operands that are given are read, as plans and index widths follow from
them. Options about results (-o, --check, --time, …) have no effect.";

pub(crate) const PLAN_EXAMPLES: &str = "\
Examples:
  sparsec plan 'E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)' -d K=700 -d a=300 -d b=300 -d i=100 -d m=100 -n I=21470400 -n C=7032
  sparsec plan 'E(K,i,m) = (I(K,a,b) * C(a,i)) * P(b,m)' --keep-tree --emit tree
  sparsec plan 'Kab,ai,bm->Kim' --objective order --emit plan --emit smt2
  sparsec plan 'M(i,r) = T(i,j,k) * B(j,r) * C(k,r)' -i T=facts.tns -g B=dense:ones -g C=dense:ones -d r=50

It takes every option of `compile`. Tensors that are given are read, and the entries of each
mode are counted; of others, -n and -d state counts and extents.";

/// The stages that `--emit` takes, as the library lists them.
pub(crate) fn emit_help() -> String {
    let mut help = "What to print; may be given several times; c if not given, of `plan` tree, \
                    plan and schedule:\n"
        .to_owned();
    for (name, shows) in sparsec::Stage::NAMES {
        help.push_str(&format!("\n  {name:16} {shows}"));
    }
    help
}

pub(crate) fn relations_emit_help() -> String {
    let mut help =
        "What to print; may be given several times; computation if not given:\n".to_owned();
    for (_, name, shows) in sparsec::internals::compute::ComputeStage::ALL {
        help.push_str(&format!("\n  {name:16} {shows}"));
    }
    help
}

pub(crate) const ENVIRONMENT: &str = "\
Environment:
  SPARSEC_CC          the C compiler to try, and no other; else CC, cc, gcc and clang
  SPARSEC_CACHE_DIR   where compiled kernels are kept; else XDG_CACHE_HOME/sparsec, ~/.cache/sparsec
  SPARSEC_CACHE_SIZE  how much may be kept, as in 200M
  SPARSEC_PYTHON      the Python whose libraries `bench` compares with
  NO_COLOR            no colours in messages";
