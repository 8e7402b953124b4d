//! How much memory may be taken: by a launch, by a tensor that is packed.
//!
//! Systems promise more memory than they have and end a process when it is
//! touched. So large requests are compared with what is left before they are
//! made, and refused as an error. What is left is the least of
//!
//! | bound                        | is read from                                   |
//! |------------------------------|------------------------------------------------|
//! | the machine                  | `MemAvailable` in `/proc/meminfo`              |
//! | each control group around us | `memory.max` less what is used and cannot be dropped |
//! | the address space            | `ulimit -v` less what is mapped                |
//!
//! unless the caller says how much there is to be.
//!
//! A tensor that is stored in another format has a limit beside that ([`MemoryLimit::growing_from`]),
//! which is the same on every machine: diagonals of a matrix whose entries are scattered may take
//! thousands of times the bytes of the entries, and long before memory is out nobody wants them.

use std::path::Path;

use crate::error::AllocError;

/// Requests for this many bytes and more are compared.
const LOOK_FROM: u64 = 64 << 20;

/// How many times the bytes of its entries an array may take that stores them in another way: as
/// blocks of 4 x 4 do that hold one entry each.
const MOST_TIMES: u64 = 16;

/// So many bytes are never too many for an array: most machines have several times as much.
const LEAST_MOST: u64 = 1 << 30;

/// How much memory results and workspaces of one launch may take, or an array of a
/// tensor that is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryLimit {
    /// As much as the system can give without ending a program for it.
    #[default]
    Available,
    /// As much, less this many bytes that are promised to others and not yet taken.
    Beside(u64),
    /// This many bytes in all, whatever the system says.
    Bytes(u64),
    /// As `Available`, and no more than this many bytes in one array.
    Array(u64),
}

impl MemoryLimit {
    /// How many bytes that is now; no limit where the system does not tell.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Available => bytes_left(),
            Self::Beside(promised) => bytes_left().saturating_sub(promised),
            Self::Bytes(bytes) => bytes,
            Self::Array(most) => bytes_left().min(most),
        }
    }

    /// The limit of a tensor that stores entries of this many bytes. Where the caller says nothing,
    /// an array may take 16 times as many, and one GiB in any case.
    ///
    /// ```
    /// use sparsec_parallel::MemoryLimit;
    /// let limit = |bytes| MemoryLimit::Available.growing_from(bytes);
    /// assert_eq!(limit(1000), MemoryLimit::Array(1 << 30));
    /// assert_eq!(limit(1 << 30), MemoryLimit::Array(16 << 30));
    /// assert_eq!(MemoryLimit::Bytes(7).growing_from(1000), MemoryLimit::Bytes(7));
    /// ```
    #[must_use]
    pub fn growing_from(self, bytes: u64) -> Self {
        match self {
            Self::Available => Self::Array(bytes.saturating_mul(MOST_TIMES).max(LEAST_MOST)),
            limit => limit,
        }
    }

    /// Whether an array of so many bytes is too large whatever the system has.
    pub fn forbids(self, bytes: u64) -> bool {
        matches!(self, Self::Array(most) if bytes > most)
    }

    /// How to get more, for the help of a diagnostic.
    pub fn more(self) -> &'static str {
        match self {
            Self::Available | Self::Beside(_) => "run it where more memory is free",
            Self::Bytes(_) | Self::Array(_) => "allow more with `Options::memory`",
        }
    }

    /// Refuses `bytes` bytes that there are not.
    ///
    /// # Errors
    /// With how many they are.
    pub fn ask(self, bytes: u64) -> Result<(), AllocError> {
        match self.can_give(0, bytes) {
            true => Ok(()),
            false => Err(AllocError { bytes }),
        }
    }

    /// Whether there are `more` bytes, of a limit in bytes beside those that are `taken`.
    pub fn can_give(self, taken: u64, more: u64) -> bool {
        match self {
            Self::Available => more < LOOK_FROM || more <= bytes_left(),
            Self::Beside(_) => more <= self.bytes(),
            Self::Bytes(bytes) => taken.saturating_add(more) <= bytes,
            Self::Array(most) => more <= most && Self::Available.can_give(taken, more),
        }
    }
}

fn bytes_left() -> u64 {
    let machine = read("/proc/meminfo").and_then(|text| available(&text));
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let groups = groups.lines().filter_map(group_left);
    groups
        .chain(machine)
        .chain(addresses_left())
        .min()
        .unwrap_or(u64::MAX)
}

/// The addresses that `ulimit -v` leaves, if there is such a limit.
fn addresses_left() -> Option<u64> {
    let limits = read("/proc/self/limits")?;
    // The soft limit stands first; `unlimited` is none.
    let limit = field(&limits, "Max address space")?;
    let mapped = field(&read("/proc/self/status")?, "VmSize:")?;
    Some(limit.saturating_sub(mapped.saturating_mul(1024)))
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The line `MemAvailable:  123 kB`, in bytes.
fn available(text: &str) -> Option<u64> {
    Some(field(text, "MemAvailable:")?.saturating_mul(1024))
}

/// The number behind a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What a line of `/proc/self/cgroup`, `0::/a/b` or `4:memory:/a/b`, leaves.
fn group_left(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (root, limit, used) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
        _ if controllers.split(',').any(|name| name == "memory") => (
            "/sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
        ),
        _ => return None,
    };
    // A container may see its own group as the root.
    let folders = Path::new(path.trim_start_matches('/')).ancestors();
    let left = folders.filter_map(|folder| {
        let folder = Path::new(root).join(folder);
        let number = |name: &str| read(folder.join(name))?.trim().parse::<u64>().ok();
        let dropped = read(folder.join("memory.stat"));
        let dropped = dropped.and_then(|text| field(&text, "inactive_file "));
        let used = number(used)?.saturating_sub(dropped.unwrap_or(0));
        // A group without a limit says `max`, or a number beyond all memory.
        Some(number(limit)?.saturating_sub(used))
    });
    left.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_line() {
        let text = "MemTotal:  9 kB\nMemAvailable:   7 kB\n";
        assert_eq!(available(text), Some(7 * 1024));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        let limits = "Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(field(limits, "Max address space"), None);
        let limits = limits.replacen("unlimited", "4096", 1);
        assert_eq!(field(&limits, "Max address space"), Some(4096));
        assert_eq!(
            field("cache 1\ninactive_file 12\n", "inactive_file "),
            Some(12)
        );
    }

    #[test]
    fn groups_of_other_controllers_say_nothing() {
        assert_eq!(group_left("3:cpuset:/"), None);
        assert_eq!(group_left("nonsense"), None);
        assert_eq!(
            group_left("0::/no/such/group/at/all:/x"),
            group_left("0::/")
        );
    }

    #[test]
    fn requests_are_compared() {
        let system = MemoryLimit::default();
        assert!(system.can_give(1 << 62, 0) && !system.can_give(0, 1 << 62));
        let rest = MemoryLimit::Beside(1 << 62);
        assert!(rest.can_give(0, 0) && !rest.can_give(0, 1));
        assert_eq!(rest.more(), system.more());
        let nine = MemoryLimit::Bytes(9);
        assert!(nine.can_give(0, 9) && nine.can_give(5, 4) && !nine.can_give(5, 5));
        assert!(MemoryLimit::Bytes(u64::MAX).can_give(0, 1 << 62));
        let array = MemoryLimit::Array(9);
        assert!(array.can_give(5, 9) && !array.can_give(0, 10) && array.forbids(10));
        assert!(!MemoryLimit::Array(u64::MAX).can_give(0, 1 << 62));
    }
}
