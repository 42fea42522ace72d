//! Half characters. JavaScript counts texts in UTF-16, cuts them anywhere, and writes half of a
//! pair as `\ud83d`; no JSON reader with real texts accepts that, and a whole line would be lost.

/// The line with every half of a pair replaced; `None` if there is none, so it fails for another
/// reason.
pub(crate) fn mended(json: &str) -> Option<String> {
    const REPLACEMENT: &str = r"\ufffd";
    let bytes = json.as_bytes();
    let mut mended = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        at += found;
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str(json.get(copied..at)?);
                mended.push_str(REPLACEMENT);
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
        if at >= bytes.len() {
            break;
        }
    }
    mended.push_str(json.get(copied..)?);
    (copied > 0).then_some(mended)
}

/// The UTF-16 unit that an escape at this place stands for.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_pairs_kept() {
        assert_eq!(mended(r#""a\ud83db""#).as_deref(), Some(r#""a\ufffdb""#));
        assert_eq!(mended(r#""\ude00\ud83d\ude00\ud83d""#).as_deref(), Some(r#""\ufffd\ud83d\ude00\ufffd""#));
        assert_eq!(mended(r#""\ud83d\n""#).as_deref(), Some(r#""\ufffd\n""#));
        for sound in [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\u00e9é""#, "", "\\", r"\u", r"\ud8"] {
            assert_eq!(mended(sound), None, "{sound}");
        }
    }
}
