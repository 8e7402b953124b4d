//! How much memory the system can still give.
//!
//! Systems promise more memory than they have and end a process when it is
//! touched. So large requests are compared with what is left before they are
//! made, and refused as an error.

/// Requests for this many bytes and more are compared.
const LOOK_FROM: u64 = 64 << 20;

/// Whether the system can give this many bytes more.
pub(crate) fn can_give(bytes: u64) -> bool {
    bytes < LOOK_FROM || bytes <= bytes_left()
}

/// The bytes that programs can still take without others being ended for it;
/// no limit where the system does not tell.
fn bytes_left() -> u64 {
    std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| parse(&text))
        .unwrap_or(u64::MAX)
}

/// The line `MemAvailable:  123 kB`, in bytes.
fn parse(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_line() {
        let text = "MemTotal:  9 kB\nMemAvailable:   7 kB\n";
        assert_eq!(parse(text), Some(7 * 1024));
        assert_eq!(parse("MemTotal: 9 kB\n"), None);
        assert!(can_give(0) && !can_give(1 << 62));
    }
}
