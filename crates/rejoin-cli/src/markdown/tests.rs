use super::*;

/// Everything at once, with styles written so that they can be read.
fn shown(text: &str, styled: bool, width: usize) -> String {
    let mut markdown = Markdown::new(styled);
    let mut out = markdown.feed(text, width);
    out.append(&markdown.end());
    readable(out.as_str())
}

fn readable(text: &str) -> String {
    let codes =
        [("0", "⟩"), ("1", "⟨b "), ("2", "⟨dim "), ("3", "⟨i "), ("4", "⟨u "), ("9", "⟨s "), ("36", "⟨c ")];
    let mut text = text.to_owned();
    for (code, sign) in codes {
        text = text.replace(&format!("\u{1b}[{code}m"), sign);
    }
    text
}

const ALL: &str = "# Parser, *fixed*\n\nThe bug was in **`parser.rs`, line 12**: it took `*.rs` for _emphasis_.\n\
    Files named *.rs and *.toml, snake_case_names, 2*3*4 and 2 * 3 stay.\n\n\
    - one [link](https://example.org/a_(b)) and `code with  blanks`\n  - two, nested, and so long that it has to be wrapped somewhere\n\
    1. first\n12) twelfth, ~~struck~~\n\n> quoted **words** that go on and on until the line is full\n> > deeper\n\n\
    ```rust\nfn main() { let x = \"**\"; }\n\n  // `a`\n```\n---\n| a | **b** |\n|---|---|\n\
    日本語のテキスト **太字** まで 🦀 \\*not\\* ***both*** [x] [ ] an `open\nA * star, a **bold that stays open\n\
    \u{1b}[31mred\u{1b}[0m and \u{1b}]0;title\u{7}done\r\n\ttab\u{0}bed";

#[test]
fn the_pieces_in_which_a_text_comes_make_no_difference() {
    for (styled, width) in [(true, 40), (false, 40), (true, 100)] {
        let whole = shown(ALL, styled, width);
        for cut in (0..=ALL.len()).filter(|at| ALL.is_char_boundary(*at)) {
            let mut markdown = Markdown::new(styled);
            let mut out = markdown.feed(&ALL[..cut], width);
            out.append(&markdown.feed(&ALL[cut..], width));
            out.append(&markdown.end());
            assert_eq!(readable(out.as_str()), whole, "cut at {cut}");
        }
        let mut markdown = Markdown::new(styled);
        let mut out = Painted::default();
        for c in ALL.chars() {
            out.append(&markdown.feed(&c.to_string(), width));
        }
        out.append(&markdown.end());
        assert_eq!(readable(out.as_str()), whole, "one by one");
    }
}

#[test]
fn a_text_looks_like_this() {
    insta::assert_snapshot!("styled", shown(ALL, true, 60));
    insta::assert_snapshot!("plain", shown(ALL, false, 60));
}

#[test]
fn marks_that_are_none_are_shown_as_they_are() {
    for text in [
        "2 * 3 * 4",
        "a*b*c",
        "snake_case_name",
        "*.rs, *.toml",
        "**open",
        "`open",
        "[open",
        "[x] done",
        "[a] (b)",
        "[a](b c)",
        "****",
        "~",
        "~x~",
        "#tag",
        "5.5 or 5.",
        "-x",
        "a > b",
        "***",
        "\\d+",
        "C:\\dir",
        "| a",
        "__init__.py",
        "__init__",
        "]",
        "[]()",
    ] {
        let expected = match text {
            "***" | "****" => format!("⟨dim {}⟩", "─".repeat(40)),
            text => text.to_owned(),
        };
        assert_eq!(shown(text, true, 80).trim_end(), expected, "{text:?}");
    }
}

#[test]
fn words_come_as_soon_as_they_are_certain() {
    let mut markdown = Markdown::new(true);
    let mut feed = |piece: &str| readable(markdown.feed(piece, 80).as_str());
    assert_eq!(feed("Hel"), "");
    assert_eq!(feed("lo wor"), "Hello");
    assert_eq!(feed("ld, **im"), " world,");
    assert_eq!(feed("portant thing"), "");
    assert_eq!(feed("** to say\n"), " ⟨b important⟩ ⟨b thing⟩ to say\n");
}

#[test]
fn a_line_that_does_not_end_is_printed_all_the_same() {
    let mut markdown = Markdown::new(true);
    let flood = "*a".repeat(100_000);
    let mut out = markdown.feed(&flood, 80);
    out.append(&markdown.end());
    assert_eq!(out.as_str().replace('\n', ""), flood);
}

#[test]
fn nothing_of_the_text_controls_the_terminal() {
    for text in
        ["a\u{1b}[2Jb", "a\u{1b}]0;t\u{7}b\n", "\u{9b}2Ja", "\u{202e}x", "```\n\u{1b}[2J\n```", "| \u{1b}c |"]
    {
        let out = shown(text, false, 80);
        assert!(!out.contains(|c: char| c.is_control() && c != '\n'), "{out:?}");
        assert!(!out.contains('\u{202e}'), "{out:?}");
        for c in text.chars().filter(char::is_ascii_graphic) {
            assert!(out.contains(c), "{c} of {text:?} is hidden: {out:?}");
        }
    }
}

#[test]
fn a_line_that_is_interrupted_leaves_the_code_block_open() {
    let mut markdown = Markdown::new(true);
    let mut out = markdown.feed("```\nlet a", 80);
    out.append(&markdown.end_line());
    out.append(&markdown.feed("let *b*\n", 80));
    out.append(&markdown.end());
    out.append(&markdown.feed("*c*\n", 80));
    assert_eq!(readable(out.as_str()), "⟨dim ```⟩\n⟨c let a⟩\n⟨c let *b*⟩\n⟨i c⟩\n");
}
