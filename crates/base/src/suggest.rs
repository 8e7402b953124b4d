//! "Did you mean …?": the candidate that a mistyped word is closest to.
//!
//! Distance counts single-character insertions, deletions and replacements and
//! swaps of two neighbours (optimal string alignment), ignoring case. A
//! candidate is offered only where at most a third of the longer word is wrong
//! and the two have something in common; a wild guess is worse than none.
//!
//! ```
//! use sparsec_base::suggest::closest;
//! let kinds = ["dense", "compressed", "singleton"];
//! assert_eq!(closest("compresed", kinds), Some("compressed"));
//! assert_eq!(closest("comp", kinds), Some("compressed"));
//! assert_eq!(closest("rand", ["band", "random"]), Some("random"));
//! assert_eq!(closest("wavelet", kinds), None);
//! ```

/// The shortest word that counts as an abbreviation of a longer one.
const ABBREVIATION: usize = 3;

/// The candidate closest to `word`, or `None` where none is close.
///
/// A candidate that `word` abbreviates (three letters or more) comes first, if there is
/// only one. Of equally close candidates the first wins. Time `O(|word| · total length of the candidates)`.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = letters(word);
    let mut best: Option<(usize, &str)> = None;
    let mut abbreviated = Vec::new();
    for candidate in candidates {
        let other = letters(candidate);
        let longer = word.len().max(other.len());
        let limit = (longer / 3).max(1);
        // A longer difference in length alone rules the candidate out.
        if word.len().abs_diff(other.len()) <= limit {
            let d = distance(&word, &other);
            if d <= limit && d < longer && best.is_none_or(|(least, _)| d < least) {
                best = Some((d, candidate));
            }
        }
        if word.len() >= ABBREVIATION && other.starts_with(&word) {
            abbreviated.push(candidate);
        }
    }
    match (best, abbreviated.as_slice()) {
        // The same word but for capital letters.
        (Some((0, candidate)), _) => Some(candidate),
        (_, [only]) => Some(only),
        (best, _) => best.map(|(_, candidate)| candidate),
    }
}

fn letters(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).collect()
}

/// Optimal string alignment distance, three rows of the table at a time.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expect: Option<&str>) {
        let candidates = ["csr", "csc", "coo", "dense", "compressed", "nonunique", "i"];
        assert_eq!(closest(word, candidates), expect, "for `{word}`");
    }

    #[test]
    fn one_slip_is_found() {
        check("dnse", Some("dense"));
        check("ednse", Some("dense"));
        check("densee", Some("dense"));
        check("DENSE", Some("dense"));
        check("compresssed", Some("compressed"));
        check("nonuniqe", Some("nonunique"));
    }

    #[test]
    fn the_first_of_equals_wins() {
        check("csx", Some("csr"));
    }

    #[test]
    fn an_abbreviation_is_found() {
        check("comp", Some("compressed"));
        check("nonu", Some("nonunique"));
        // One letter away from another word.
        assert_eq!(closest("rand", ["band", "random"]), Some("random"));
    }

    #[test]
    fn strangers_are_not_offered() {
        check("x", None);
        check("", None);
        check("hyperbolic", None);
    }

    #[test]
    fn distances_are_symmetric() {
        let words = ["", "a", "ab", "ba", "abc", "acb", "kitten", "sitting"];
        for a in words {
            for b in words {
                let (a, b) = (letters(a), letters(b));
                assert_eq!(distance(&a, &b), distance(&b, &a));
            }
        }
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(distance(&letters("acb"), &letters("abc")), 1);
    }
}
