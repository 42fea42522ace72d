use proptest::prelude::*;

use super::*;

/// What has a colour, as `kind:text`.
fn coloured(fence: &str, code: &str) -> Vec<String> {
    let mut colours = CodeColours::of_fence(fence).expect("a known language");
    let mut parts = Vec::new();
    for line in code.lines() {
        for span in colours.line(line).into_iter().filter(|span| span.kind != CodeKind::Plain) {
            parts.push(format!("{:?}:{}", span.kind, span.text).to_lowercase());
        }
    }
    parts
}

#[test]
fn keywords_can_be_found_in_every_table() {
    for language in LANGUAGES {
        assert!(language.keywords.is_sorted(), "{:?}", language.names);
        assert!(!language.names.is_empty());
    }
}

#[test]
fn a_fence_names_its_language_in_many_ways() {
    for fence in ["rust", "Rust", "rust,no_run", "{.rust}", "rs title=\"x\"", "language-rust", " rust "] {
        let colours = CodeColours::of_fence(fence).unwrap_or_else(|| panic!("{fence}"));
        assert!(colours.language.rust, "{fence}");
    }
    for fence in ["", "text", "no such", "{}"] {
        assert!(CodeColours::of_fence(fence).is_none(), "{fence}");
    }
}

#[test]
fn rust_has_comments_in_comments_lifetimes_and_raw_texts() {
    assert_eq!(
        coloured(
            "rust",
            "/* a /* b */ c */ fn f(x: &'a str, y: &'_ u8) -> Vec<u8> { 'x' == b'\\n' }\nlet s = r#\"a \"\nb\"# + 1.5; // end"
        ),
        [
            "comment:/* a /* b */ c */",
            "keyword:fn",
            "function:f",
            "type:'a",
            "type:'_",
            "type:vec",
            "string:'x'",
            "string:b'\\n'",
            "keyword:let",
            "string:r#\"a \"",
            "string:b\"#",
            "number:1.5",
            "comment:// end",
        ]
    );
}

#[test]
fn what_goes_on_over_lines_is_carried_on() {
    assert_eq!(
        coloured("python", "x = \"\"\"one\ntwo 3\n\"\"\" + f(4)"),
        ["string:\"\"\"one", "string:two 3", "string:\"\"\"", "function:f", "number:4"]
    );
    assert_eq!(
        coloured("ts", "const a = `x ${1}\ny`; /* c\nd */ return /\"`/g.test(s) / 2"),
        [
            "keyword:const",
            "string:`x ${1}",
            "string:y`",
            "comment:/* c",
            "comment:d */",
            "keyword:return",
            "string:/\"`/g",
            "function:test",
            "number:2",
        ]
    );
    assert_eq!(
        coloured("sh", "cat <<'EOF' > $out\nit's 1\nEOF\necho \"a\nb\" # done"),
        [
            "name:eof'",
            "name:$out",
            "string:it's 1",
            "string:eof",
            "keyword:echo",
            "string:\"a",
            "string:b\"",
            "comment:# done",
        ]
    );
}

#[test]
fn keys_are_told_from_values() {
    assert_eq!(
        coloured("json", r#"{"a": "b", "c" : [1, null]}"#),
        ["name:\"a\"", "string:\"b\"", "name:\"c\"", "number:1", "keyword:null"]
    );
    assert_eq!(
        coloured("yaml", "- name: it's # why\n  on: true\n  at: http://x#y"),
        ["name:name", "comment:# why", "name:on", "keyword:true", "name:at"]
    );
    assert_eq!(
        coloured("toml", "[a.b]\nkey-1 = 'x' # c\nn = 1e-5"),
        ["heading:[a.b]", "name:key-1", "string:'x'", "comment:# c", "name:n", "number:1e-5"]
    );
    assert_eq!(
        coloured("css", "a:hover { color: red; margin: 1.5em } /* x */"),
        ["name:color", "name:margin", "number:1.5em", "comment:/* x */"]
    );
}

#[test]
fn markup_queries_diffs_and_markdown_have_colours_too() {
    assert_eq!(
        coloured("html", "<a href=\"x\ny\">it's</a> <!-- n\nm -->"),
        [
            "keyword:<a",
            "name:href",
            "string:\"x",
            "string:y\"",
            "keyword:>",
            "keyword:</a>",
            "comment:<!-- n",
            "comment:m -->",
        ]
    );
    assert_eq!(
        coloured("sql", "SELECT count(*) FROM t -- all\nWHERE a = 'it''s'"),
        [
            "keyword:select",
            "function:count",
            "keyword:from",
            "comment:-- all",
            "keyword:where",
            "string:'it''s'"
        ]
    );
    assert_eq!(
        coloured("diff", "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same"),
        ["heading:--- a", "heading:+++ b", "heading:@@ -1 +1 @@", "removed:-old", "added:+new"]
    );
    assert_eq!(
        coloured("md", "# T\n- see `x`\n````rust\n```\n````\n> q"),
        [
            "heading:# t",
            "keyword:-",
            "string:`x`",
            "comment:````rust",
            "string:```",
            "comment:````",
            "comment:> q",
        ]
    );
    assert_eq!(
        coloured("c", "#include <x.h>\nint main(void) { return '\\''; }"),
        [
            "keyword:#include ",
            "keyword:int",
            "function:main",
            "keyword:void",
            "keyword:return",
            "string:'\\''"
        ]
    );
    assert_eq!(
        coloured("go", "func F() string { return `a\nb` }"),
        ["keyword:func", "type:f", "keyword:string", "keyword:return", "string:`a", "string:b`"]
    );
    assert_eq!(
        coloured("java", "@Override public int f() { return 0x1F; }"),
        ["keyword:@override", "keyword:public", "keyword:int", "function:f", "keyword:return", "number:0x1f"]
    );
}

proptest! {
    #[test]
    fn the_parts_of_any_line_are_the_line(
        which in 0..LANGUAGES.len(),
        lines in proptest::collection::vec(
            proptest::string::string_regex("([-/*#\"'`<>=@$\\\\{}(:\\[+ r]|EOF|\\PC|\\pM|1e|\n){0,40}").expect("an expression"),
            0..12,
        ),
    ) {
        let mut colours = CodeColours { language: &LANGUAGES[which], within: Within::Code };
        for line in &lines {
            let spans = colours.line(line);
            let together: String = spans.iter().map(|span| span.text).collect();
            prop_assert_eq!(&together, line);
            prop_assert!(spans.windows(2).all(|pair| pair[0].kind != pair[1].kind));
            prop_assert!(spans.iter().all(|span| !span.text.is_empty()));
        }
    }
}
