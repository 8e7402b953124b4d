//! Cache keys: SHA-256 over named parts.
//!
//! Each part goes in with its name and length, so no two lists of parts give
//! the same bytes.

use std::fmt;

use sha2::{Digest, Sha256};

/// The key of an entry, which prints as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 32]);

/// Collects the parts of a key.
#[derive(Default)]
pub(crate) struct KeyBuilder(Sha256);

impl KeyBuilder {
    /// A key for entries of this kind, made by this version of ours.
    pub(crate) fn new(kind: &str) -> Self {
        Self::default()
            .part("kind", kind.as_bytes())
            .part("version", env!("CARGO_PKG_VERSION").as_bytes())
            .part("abi", &crate::abi::VERSION.to_le_bytes())
    }

    pub(crate) fn part(mut self, name: &str, bytes: &[u8]) -> Self {
        for piece in [name.as_bytes(), bytes] {
            self.0.update((piece.len() as u64).to_le_bytes());
            self.0.update(piece);
        }
        self
    }

    pub(crate) fn finish(self) -> Key {
        Key(self.0.finalize().into())
    }
}

impl Key {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The first bits, which differ between any two keys that one meets.
    pub(crate) fn bits(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(first)
    }
}

/// The checksum of some pieces, one after the other.
pub(crate) fn checksum(pieces: &[&[u8]]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for piece in pieces {
        sum.update(piece);
    }
    sum.finalize().into()
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What this processor can do, for kernels compiled with `-march=native`: one
/// cache directory may serve several machines.
pub(crate) fn cpu_features() -> Vec<u8> {
    let mut features = std::env::consts::ARCH.as_bytes().to_vec();
    features.extend(processor());
    features
}

#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe, unsafe_code)]
fn processor() -> Vec<u8> {
    use std::arch::x86_64::{__cpuid_count, CpuidResult};
    // SAFETY: every x86-64 processor has the instruction; leaves that it does
    // not know are not asked for.
    let leaf = |number, sub| -> CpuidResult { unsafe { __cpuid_count(number, sub) } };
    let vendor = leaf(0, 0);
    let mut words = vec![vendor.ebx, vendor.ecx, vendor.edx];
    let first = leaf(1, 0);
    // `ebx` has the number of the core that happens to ask.
    words.extend([first.eax, first.ecx, first.edx]);
    if vendor.eax >= 7 {
        for sub in 0..=1 {
            let seventh = leaf(7, sub);
            words.extend([seventh.ebx, seventh.ecx, seventh.edx]);
        }
    }
    let extended = leaf(0x8000_0000, 0);
    if extended.eax >= 0x8000_0001 {
        let first = leaf(0x8000_0001, 0);
        words.extend([first.ecx, first.edx]);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> Vec<u8> {
    // The first processor's paragraph names its model and features.
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let key = |parts: &[(&str, &str)]| {
            let builder = KeyBuilder::new("test");
            let builder = parts.iter().fold(builder, |builder, (name, bytes)| {
                builder.part(name, bytes.as_bytes())
            });
            builder.finish()
        };
        assert_eq!(key(&[("a", "bc")]), key(&[("a", "bc")]));
        assert_ne!(key(&[("a", "bc")]), key(&[("ab", "c")]));
        assert_ne!(key(&[("a", "b"), ("c", "d")]), key(&[("a", "bcd")]));
        assert_eq!(key(&[]).to_string().len(), 64);
    }

    #[test]
    fn features_are_the_same_from_every_core() {
        let all: Vec<_> = (0..8)
            .map(|_| std::thread::spawn(cpu_features))
            .map(|thread| thread.join().unwrap())
            .collect();
        assert!(all.iter().all(|features| *features == all[0]));
    }
}
