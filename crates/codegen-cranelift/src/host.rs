//! The processor that code is made for: the one that this program runs on.

use std::sync::OnceLock;

use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use sparsec_base::{Diagnostic, Result, code};

/// What Cranelift knows of this processor; found out once.
///
/// # Errors
/// `E0609` where Cranelift has no code for it.
pub(crate) fn isa() -> Result<&'static dyn TargetIsa> {
    static ISA: OnceLock<std::result::Result<OwnedTargetIsa, String>> = OnceLock::new();
    match ISA.get_or_init(find) {
        Ok(isa) => Ok(&**isa),
        Err(why) => Err(refused("no kernel", why)),
    }
}

/// What a user is told where code cannot be made.
pub(crate) fn refused(what: &str, why: &str) -> Diagnostic {
    Diagnostic::new(
        code::NO_MACHINE_CODE,
        format!("{what} can be made in memory on this machine"),
    )
    .note(why.to_owned())
    .help("use a C compiler with `Backend::C`, or `Backend::Interpreter`")
}

fn find() -> std::result::Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let mut set = |name: &str, value: &str| {
        flags
            .set(name, value)
            .unwrap_or_else(|error| panic!("Cranelift has no setting {name}={value}: {error}"));
    };
    set("opt_level", "speed");
    // What we emit is checked where our own code is.
    let verifies = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    set("enable_verifier", verifies);
    // Code is loaded where it stays and jumps nowhere else.
    set("is_pic", "false");
    set("unwind_info", "false");
    // A function with a frame of more than a page first touches each page of the frame, so
    // it meets the guard page at the end of the stack. Smaller frames cost nothing.
    set("enable_probestack", "true");
    set("probestack_strategy", "inline");
    let isa = cranelift_native::builder()?;
    let isa = isa
        .finish(settings::Flags::new(flags))
        .map_err(|error| error.to_string())?;
    // Rounding and small vectors: older processors would call Cranelift's own
    // functions for these, which do not exist here.
    #[cfg(target_arch = "x86_64")]
    if !std::is_x86_feature_detected!("sse4.1") {
        return Err("the processor has no SSE4.1".to_owned());
    }
    Ok(isa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_other_engines() {
        let error = refused("no kernel", "the processor has no SSE4.1");
        assert_eq!(error.code(), code::NO_MACHINE_CODE);
        let text = error.render(false);
        for part in ["SSE4.1", "Backend::C", "Backend::Interpreter"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
