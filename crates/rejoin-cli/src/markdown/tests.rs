use super::*;

/// Everything at once, with styles written so that they can be read.
fn shown(text: &str, styled: bool, width: usize) -> String {
    let mut markdown = Markdown::new(styled);
    let mut out = markdown.feed(text, width);
    out.append(&markdown.end());
    readable(out.as_str())
}

fn readable(text: &str) -> String {
    let codes = [
        ("0", "⟩"),
        ("1", "⟨b "),
        ("2", "⟨dim "),
        ("3", "⟨i "),
        ("4", "⟨u "),
        ("9", "⟨s "),
        ("32", "⟨green "),
        ("35", "⟨magenta "),
        ("36", "⟨c "),
    ];
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

#[test]
fn a_table_is_set_in_columns_once_its_last_row_has_come() {
    let mut markdown = Markdown::new(false);
    assert_eq!(markdown.feed("| a | b |\n", 40).as_str(), "| a | b |\n", "without styles all marks stay");
    let mut markdown = Markdown::new(true);
    let rows = "| file | lines |\n|:-----|------:|\n| `a\\|b` | 1,204 |\n| **c** | 7 | more\n";
    assert_eq!(markdown.feed(rows, 40).as_str(), "", "more rows may come");
    assert!(!markdown.holds_nothing());
    let set = readable(markdown.feed("then\n", 40).as_str());
    assert_eq!(
        set,
        "⟨b file⟩⟨dim  │ ⟩⟨b lines⟩\n⟨dim ─────┼──────⟩\n⟨c a|b⟩ ⟨dim  │ ⟩1,204\n⟨b c⟩   ⟨dim  │ ⟩    7\nthen\n"
    );
    assert!(markdown.holds_nothing());
}

#[test]
fn a_table_that_is_none_or_has_no_room_is_shown_as_it_is() {
    let none = "| a | b |\n| c | d |\n";
    assert_eq!(shown(none, true, 40), none);
    let wide = "| a | b | c | d | e |\n|---|---|---|---|---|\n";
    assert_eq!(shown(wide, true, 20), wide);
}

#[test]
fn an_address_is_underlined_up_to_the_end_of_the_sentence() {
    let words = "see https://example.org/a_b_c/x, (http://x.org/a_b) or http and https://.";
    assert_eq!(
        shown(words, true, 100),
        "see ⟨u https://example.org/a_b_c/x⟩, (⟨u http://x.org/a_b⟩) or http and https://.\n"
    );
}

#[test]
fn the_cursor_is_where_the_words_end() {
    let mut markdown = Markdown::new(true);
    markdown.feed("one two thr", 40);
    assert_eq!(markdown.column(), 7, "what is not certain is not printed");
    markdown.feed("ee\n", 40);
    assert_eq!(markdown.column(), 0);
    markdown.feed("- ", 40);
    assert_eq!(markdown.column(), 2);
}
