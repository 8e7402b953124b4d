//! Many small inputs in one file, a line each.
//!
//! ```text
//! # how the file is made
//! y(i) = A(i,j) * x(j)
//! y = sum{i}(x(i))\ny = 2 * y
//! \x93NUMPY\x01\x00
//! ```
//!
//! Bytes that cannot be printed are escaped as in Rust, so people can read the texts and
//! compare two versions of a file.

use std::fmt::Write;

/// The file of some inputs.
pub fn pack<'a>(inputs: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut text = String::from("# Written by `cargo xtask fuzz --keep`: an input a line.\n");
    for input in inputs {
        let escaped = input.escape_ascii().to_string();
        // Quotes need no escape here.
        let line = escaped.replace("\\'", "'").replace("\\\"", "\"");
        // A line that begins with `#` would be read as a comment.
        let line = match line.strip_prefix('#') {
            Some(rest) => format!("\\x23{rest}"),
            None => line,
        };
        writeln!(text, "{line}").expect("a string grows");
    }
    text
}

/// The inputs of a file; `None` if it has an unknown escape.
pub fn unpack(text: &str) -> Option<Vec<Vec<u8>>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| unescape(line.as_bytes())).collect()
}

fn unescape(mut line: &[u8]) -> Option<Vec<u8>> {
    let mut input = Vec::with_capacity(line.len());
    while let [first, rest @ ..] = line {
        line = rest;
        if *first != b'\\' {
            input.push(*first);
            continue;
        }
        let (kind, rest) = line.split_first()?;
        line = rest;
        input.push(match kind {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'\\' | b'\'' | b'"' => *kind,
            b'x' => {
                let (digits, rest) = line.split_at_checked(2)?;
                line = rest;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_come_back() {
        let every: Vec<u8> = (0..=255).collect();
        let inputs: [&[u8]; 5] = [b"a\n\\\"b'", b"", b"# no comment", &every, b"\\x23"];
        let text = pack(inputs);
        assert_eq!(text.lines().count(), inputs.len() + 1);
        assert!(text.is_ascii());
        assert_eq!(unpack(&text).unwrap(), inputs);
        assert_eq!(unpack("\\q"), None);
        assert_eq!(unpack("\\x4"), None);
    }
}
