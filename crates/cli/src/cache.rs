//! `sparsec cache path|stat|clear`: the compiled kernels of this user.

use serde_json::json;
use sparsec::Result;
use sparsec::runtime::{Cache, Environment};

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
                        bytes(stat.bytes),
                        bytes(stat.bound)
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
                        bytes(stat.bytes)
                    )
                },
                || json!({ "path": path, "kernels": stat.kernels, "bytes": stat.bytes }),
            )?;
        }
    }
    Ok(0)
}

/// A number of bytes with a unit: `1.5 MB`.
pub(crate) fn bytes(n: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let mut value = n as f64;
    if n < 1000 {
        return counted(n, "byte");
    }
    for unit in units {
        value /= 1000.0;
        if value < 999.95 {
            return format!("{value:.1} {unit}");
        }
    }
    format!("{value:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        let check = |n, expect| assert_eq!(bytes(n), expect);
        check(1, "1 byte");
        check(999, "999 bytes");
        check(1_500, "1.5 kB");
        check(999_960, "1.0 MB");
        check(2_000_000_000_000_000, "2000.0 TB");
    }
}
