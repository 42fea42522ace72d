//! A call of a tool, folded: one line that says what was done, and in it what it was given and what came back.

use std::fmt::Write as _;

use rejoin_core::{CallStatus, ToolCall, call_words};
use serde_json::Value;

use super::escape::{escaped, label, without_colours};
use super::{code, margin};

/// Names of arguments whose values are commands of a shell.
const COMMANDS: &[&str] = &["command", "cmd", "script"];

pub(super) fn write(
    (name, args): (&str, &Value),
    known: Option<&ToolCall>,
    output: Option<&str>,
    out: &mut String,
) {
    let note = known.map(|known| &known.call);
    let (sign, class) = match note.and_then(|note| note.status) {
        Some(CallStatus::Success) => ("✓", "good"),
        Some(CallStatus::Error) => ("✗", "bad"),
        Some(CallStatus::Cancelled) => ("cancelled", "bad"),
        None => ("…", ""),
    };
    let words = call_words(args);
    let about = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let _ = write!(
        out,
        "<details class=\"tool\"><summary><b>{}</b> <code>{}</code> <span class=\"end\">",
        label(name),
        label(&about[..about.floor_char_boundary(LONGEST_LINE)]),
    );
    if let Some(took) = note.and_then(|note| note.milliseconds) {
        let _ = write!(out, "{} ", margin::seconds(took));
    }
    let _ = writeln!(out, "<span class=\"{class}\">{sign}</span></span></summary>");
    given(args, out);
    for inner in known.iter().flat_map(|known| &known.inside) {
        let _ = writeln!(out, "<p class=\"inner\">{}</p>", label(&inner.line()));
    }
    match output.map(|output| without_colours(output.trim_end())) {
        Some(text) if !text.is_empty() => {
            let _ = writeln!(out, "<pre class=\"output\">{}</pre>", escaped(&text));
        }
        Some(_) => out.push_str("<p class=\"inner\">no output</p>\n"),
        None => {}
    }
    out.push_str("</details>\n");
}

/// The line that is shown of a folded call is cut by the page; this is only more than any page shows.
const LONGEST_LINE: usize = 400;

/// Arguments by name: commands as such, longer texts as blocks, the rest as JSON.
fn given(args: &Value, out: &mut String) {
    let Some(fields) = args.as_object() else {
        if !args.is_null() {
            code::block("json", &format!("{args:#}"), out);
        }
        return;
    };
    let file = ["file_path", "path", "filename"].iter().find_map(|name| fields.get(*name)?.as_str());
    let language = file.and_then(|file| file.rsplit_once('.')).map_or("", |(_, ending)| ending);
    for (name, value) in fields {
        let text = value.as_str();
        if let Some(command) = text.filter(|_| COMMANDS.contains(&name.as_str())) {
            code::block("sh", command, out);
        } else if let Some(text) = text.filter(|text| text.contains('\n')) {
            let _ = writeln!(out, "<p class=\"argument\">{}</p>", label(name));
            code::block(language, text, out);
        } else if let Some(text) = text {
            let _ = writeln!(out, "<p class=\"argument\">{} <code>{}</code></p>", label(name), label(text));
        } else if value.is_object() || value.is_array() {
            let _ = writeln!(out, "<p class=\"argument\">{}</p>", label(name));
            code::block("json", &format!("{value:#}"), out);
        } else {
            let _ = writeln!(
                out,
                "<p class=\"argument\">{} <code>{}</code></p>",
                label(name),
                label(&value.to_string())
            );
        }
    }
}
