use super::rendered::{Author, render};
use super::*;

fn agent(text: &str) -> String {
    render(text, Author::Agent)
}

#[test]
fn what_could_run_or_load_something_is_text() {
    let hostile = "<script>alert(1)</script>\n\n<img src=x onerror=y> and <b onclick=z>bold</b>\n\n\
                   [click](javascript:alert(1)) [data](data:text/html,x) ![see](https://x.y/z.png) [up](../a) \
                   <javascript:x> [q](https://a.b/\"onmouseover=\"c)\n\n```\"><script>\n</code></pre><script>\n```\n";
    let page = agent(hostile);
    for tag in [
        "<script",
        "<img",
        "<b ",
        "<b>",
        "src=\"",
        "href=\"javascript",
        "href=\"data",
        "href=\"..",
        "\"onmouse",
    ] {
        assert!(!page.contains(tag), "{tag} in {page}");
    }
    for words in [
        "&lt;script&gt;alert(1)",
        "click <span class=\"address\">(javascript:alert(1))",
        "image: see (https://x.y/z.png)",
    ] {
        assert!(page.contains(words), "{words} not in {page}");
    }
}

#[test]
fn links_people_follow_are_links() {
    let page = agent("[a](https://x.y/?b=1&c=2) <me@x.y> <http://z>");
    for link in ["href=\"https://x.y/?b=1&amp;c=2\"", "href=\"mailto:me@x.y\"", "href=\"http://z\""] {
        assert!(page.contains(link), "{link} not in {page}");
    }
}

#[test]
fn markdown_is_rendered() {
    let page = agent(
        "# Title\n\none\ntwo **b** `c`\n\n3. x\n4. y\n\n- [x] done\n\n| a | n |\n|---|--:|\n| 1 | 2 |\n\n```rust\nfn f() {}\n```\n",
    );
    for tag in [
        "<h3>Title</h3>",
        "<p>one\ntwo <strong>b</strong> <code>c</code></p>",
        "<ol start=\"3\">",
        "<li><span class=\"task\">☑</span> done",
        "<th class=\"right\">n</th>",
        "<td>1</td><td class=\"right\">2</td>",
        "<span class=\"k\">fn</span> <span class=\"f\">f</span>",
    ] {
        assert!(page.contains(tag), "{tag} not in {page}");
    }
    assert!(render("one\ntwo", Author::User).contains("one<br>\ntwo"));
}

#[test]
fn whatever_is_opened_is_closed() {
    for text in [
        "> - 1. a\n>   ```\n>   x",
        "**a [b `c",
        "| a |\n|---|",
        "<div>\n*x",
        "![a [b](c)](d)",
        "- a\n\n  - b\n",
    ] {
        let page = agent(text);
        let count = |sign: &str| page.matches(sign).count();
        let void = count("<br>") + count("<hr>");
        assert_eq!(count("</"), count("<") - count("</") - void, "{text:?} became {page}");
    }
}

#[test]
fn the_policy_names_exactly_what_is_in_the_page() {
    // Of the empty text, as everybody computes it.
    assert_eq!(policy(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    for text in [STYLE, SCRIPT] {
        assert!(!text.contains("</") && !text.contains("http"), "it needs nothing, and does not end early");
    }
}

#[test]
fn colours_of_a_terminal_are_left_out_and_nothing_else() {
    assert_eq!(
        escape::without_colours("\u{1b}[1;31mred\u{1b}[0m \u{1b}[2Kx \u{1b}["),
        "red \u{1b}[2Kx \u{1b}["
    );
}

#[test]
fn times_are_for_people_where_they_are_times() {
    assert_eq!(margin::time("2026-11-18T13:24:56.000Z"), "2026-11-18 13:24 UTC");
    assert_eq!(margin::time("<yesterday>"), "&lt;yesterday&gt;");
    assert_eq!(margin::seconds(40), "40 ms");
    assert_eq!(margin::seconds(2399), "2.4 s");
    assert_eq!(margin::seconds(200_000), "3 min 20 s");
}
