//! `sparsec cache path|stat|clear`: the compiled kernels of this user.

use serde_json::json;
use sparsec::Result;
use sparsec::internals::parallel::Bytes;
use sparsec::internals::runtime::{Cache, Environment};

use crate::arguments::CacheCommand;
use crate::screen::Screen;
use crate::table::counted;

/// Shows or empties the cache.
///
/// # Errors
/// `E0503` or `E0505` if the directory cannot be used.
pub(crate) fn cache(screen: &mut Screen, what: CacheCommand) -> Result<u8> {
    // Kernels run without it, from a temporary directory; nobody asks for that one.
    let cache = Cache::open_own(&Environment::of_process())?;
    let path = cache.path()?.display().to_string();
    match what {
        CacheCommand::Path => screen.answer(|| format!("{path}\n"), || json!({ "path": path }))?,
        CacheCommand::Stat => {
            let stat = cache.stat()?;
            screen.answer(
                || {
                    format!(
                        "{}, {} of {} in {path}\n",
                        counted(stat.kernels, "kernel"),
                        Bytes(stat.bytes.into()),
                        Bytes(stat.bound.into())
                    )
                },
                || {
                    json!({
                        "path": path,
                        "kernels": stat.kernels,
                        "bytes": stat.bytes,
                        "bound": stat.bound,
                    })
                },
            )?;
        }
        CacheCommand::Clear => {
            let stat = cache.stat()?;
            cache.clear()?;
            screen.answer(
                || {
                    format!(
                        "removed {}, {}\n",
                        counted(stat.kernels, "kernel"),
                        Bytes(stat.bytes.into())
                    )
                },
                || json!({ "path": path, "kernels": stat.kernels, "bytes": stat.bytes }),
            )?;
        }
    }
    Ok(0)
}
