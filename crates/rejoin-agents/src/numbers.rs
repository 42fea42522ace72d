//! Numbers that no number here can hold. JSON allows them (`1e999`), and a whole line would be lost for one.

/// The line with each of them replaced by `null`, as JavaScript writes them; `None` if there is none, so it fails for
/// another reason.
pub(crate) fn mended(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let mut mended = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = after_string(bytes, at),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                let end = at + bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                if json.get(at..end)?.parse().is_ok_and(f64::is_infinite) {
                    mended.push_str(json.get(copied..at)?);
                    mended.push_str("null");
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    mended.push_str(json.get(copied..)?);
    (copied > 0).then_some(mended)
}

/// The place after a string that begins here.
fn after_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_too_large_is_replaced() {
        assert_eq!(mended(r#"{"a":1e999,"b":[-2.5E+400]}"#).as_deref(), Some(r#"{"a":null,"b":[null]}"#));
        assert_eq!(
            mended(r#"{"a\"1e999":"é1e999\\","b":1e999}"#).as_deref(),
            Some(r#"{"a\"1e999":"é1e999\\","b":null}"#)
        );
        for sound in [
            r#"{"a":1e308,"b":-0.5,"c":123456789012345678901234567890}"#,
            r#""1e999""#,
            "",
            "\"",
            "\"\\",
            "-",
            "1e",
        ] {
            assert_eq!(mended(sound), None, "{sound}");
        }
    }
}
