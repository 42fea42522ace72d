//! Markdown as HTML. The parser only tells what is there; what is written is written here, so nothing of a text can
//! become a tag, an address that runs something, or a picture from elsewhere.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::code;
use super::escape::{escaped, label};

/// Whose words they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A line that ends in a prompt was ended by whoever typed it.
    User,
    Agent,
}

/// A text, rendered.
pub(super) fn render(text: &str, author: Author) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Rendering { author, ..Rendering::default() };
    for event in Parser::new_ext(text, options) {
        page.event(event);
    }
    page.out
}

struct Rendering {
    out: String,
    author: Author,
    /// The block of code that is open: what its fence says, and what is in it so far.
    code: Option<(String, String)>,
    /// What is to be written behind each link that is open.
    links: Vec<String>,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

impl Default for Rendering {
    fn default() -> Self {
        Self {
            out: String::new(),
            author: Author::Agent,
            code: None,
            links: Vec::new(),
            columns: Vec::new(),
            column: 0,
            in_head: false,
        }
    }
}

impl Rendering {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            // Raw HTML is text like any other.
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.out.push_str(&escaped(&text)),
            },
            Event::Code(text) => {
                self.put("<code>");
                self.out.push_str(&label(&text));
                self.put("</code>");
            }
            Event::SoftBreak if self.author == Author::Agent => self.put("\n"),
            Event::SoftBreak | Event::HardBreak => self.put("<br>\n"),
            Event::Rule => self.put("<hr>\n"),
            Event::TaskListMarker(done) => {
                let sign = if done { '☑' } else { '☐' };
                self.put(&format!("<span class=\"task\">{sign}</span> "));
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.push_str(&escaped(&text));
            }
        }
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                // Below those of the page.
                let level = (level as usize + 2).min(6);
                self.put(&format!("<h{level}>"));
            }
            Tag::CodeBlock(kind) => {
                let fence = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((fence, String::new()));
            }
            Tag::List(Some(first)) => self.put(&format!("<ol start=\"{first}\">\n")),
            Tag::Link { link_type, dest_url, .. } => self.link(link_type, &dest_url),
            Tag::Image { dest_url, .. } => {
                self.put("<span class=\"image\">image: ");
                self.links.push(format!(" ({})</span>", label(&dest_url)));
            }
            Tag::Table(columns) => {
                self.columns = columns;
                self.put("<div class=\"wide\"><table>\n");
            }
            Tag::TableHead => {
                (self.in_head, self.column) = (true, 0);
                self.put("<thead><tr>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.put("<tr>");
            }
            Tag::TableCell => {
                let class = match self.columns.get(self.column) {
                    Some(Alignment::Right) => " class=\"right\"",
                    Some(Alignment::Center) => " class=\"center\"",
                    _ => "",
                };
                self.column += 1;
                self.put(&format!("<t{}{class}>", if self.in_head { 'h' } else { 'd' }));
            }
            tag => self.put(simple(tag.to_end()).0),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let level = (level as usize + 2).min(6);
                self.put(&format!("</h{level}>\n"));
            }
            TagEnd::CodeBlock => {
                if let Some((fence, code)) = self.code.take() {
                    code::block(&fence, &code, &mut self.out);
                }
            }
            TagEnd::List(true) => self.put("</ol>\n"),
            TagEnd::Link | TagEnd::Image => {
                let behind = self.links.pop().unwrap_or_default();
                self.put(&behind);
            }
            TagEnd::Table => self.put("</tbody></table></div>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.put("</tr></thead><tbody>\n");
            }
            TagEnd::TableCell => self.put(if self.in_head { "</th>" } else { "</td>" }),
            tag => self.put(simple(tag).1),
        }
    }

    /// One that a browser may follow, or the address in plain sight.
    fn link(&mut self, kind: LinkType, address: &str) {
        let address = if kind == LinkType::Email { format!("mailto:{address}") } else { address.to_owned() };
        if may_be_followed(&address) {
            self.put(&format!("<a href=\"{}\" rel=\"noopener noreferrer nofollow\">", label(&address)));
            self.links.push("</a>".to_owned());
        } else {
            self.links.push(format!(" <span class=\"address\">({})</span>", label(&address)));
        }
    }
}

/// What begins and ends the same each time.
fn simple(tag: TagEnd) -> (&'static str, &'static str) {
    match tag {
        TagEnd::Paragraph => ("<p>", "</p>\n"),
        TagEnd::BlockQuote(_) => ("<blockquote>\n", "</blockquote>\n"),
        TagEnd::List(_) => ("<ul>\n", "</ul>\n"),
        TagEnd::Item => ("<li>", "</li>\n"),
        TagEnd::TableRow => ("<tr>", "</tr>\n"),
        TagEnd::Emphasis => ("<em>", "</em>"),
        TagEnd::Strong => ("<strong>", "</strong>"),
        TagEnd::Strikethrough => ("<del>", "</del>"),
        // A block of HTML keeps its lines.
        TagEnd::HtmlBlock => ("<p class=\"raw\">", "</p>\n"),
        _ => ("", ""),
    }
}

fn may_be_followed(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}
