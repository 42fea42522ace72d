//! How a prompt reaches Pi as text.
//!
//! Pi (0.74.2) reads a leading `/` as a command of an extension, a skill or a template of the user's. It has
//! flags against all three, but without its skills and extensions it would be another Pi: only the
//! templates are left out that way, for they do nothing else.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use rejoin_core::Permissions;
use serde_json::Value;

use super::store::is_own_directory;
use crate::{ProcessRequest, jsonc};

/// Leaves out the user's templates.
pub(super) const NO_TEMPLATES: &str = "--no-prompt-templates";
/// Stands before a `/` that would act: nothing to the eye, and nothing Pi cuts off.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// The prompt as it is written to Pi.
pub(super) struct Written<'a> {
    pub(super) text: Cow<'a, str>,
    /// Templates must be left out.
    pub(super) no_templates: bool,
    /// What the user should know.
    pub(super) warning: Option<&'static str>,
}

/// What there is of Pi's that a prompt might set off.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    /// Templates can be left out.
    no_templates: bool,
    /// Extensions may be loaded.
    extensions: bool,
}

impl Guard {
    /// Looks at how Pi is started and what lies around.
    pub(super) fn of(request: &ProcessRequest<'_>) -> Self {
        Self { no_templates: request.capabilities.has(NO_TEMPLATES), extensions: has_extensions(request) }
    }
}

/// Makes a prompt do nothing.
pub(super) fn written(prompt: &str, guard: Guard) -> Written<'_> {
    // Pi cuts white space off before it looks.
    let start = prompt.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if !start.starts_with('/') {
        return Written { text: Cow::Borrowed(prompt), no_templates: false, warning: None };
    }
    let no_templates = guard.no_templates;
    if no_templates && !start.starts_with("/skill:") && !guard.extensions {
        return Written { text: Cow::Borrowed(prompt), no_templates, warning: None };
    }
    let warning = "an invisible character was put before the / at the start of the prompt: pi might have taken it \
                   for a command of an extension, a skill or a template";
    let text = Cow::Owned(format!("{ZERO_WIDTH_SPACE}{start}"));
    Written { text, no_templates: false, warning: Some(warning) }
}

/// What is written to Pi. A session of another directory makes it ask whether to copy it, and take
/// the first line for the answer: an empty one is a no, and is cut off everywhere else.
pub(super) fn input(prompt: &str, resumed: bool) -> Vec<u8> {
    let first = if resumed { "\n" } else { "" };
    format!("{first}{prompt}").into_bytes()
}

/// Whether extensions may be loaded, as far as one can see.
fn has_extensions(request: &ProcessRequest<'_>) -> bool {
    if request.turn.permissions == Permissions::Read {
        return false;
    }
    let named = |names: &[&str]| request.extra_args.iter().any(|arg| names.contains(&arg.as_str()));
    if named(&["--extension", "-e"]) {
        return true;
    }
    if named(&["--no-extensions", "-ne"]) {
        return false;
    }
    let Some(store) = request.store.filter(|store| is_own_directory(store)) else {
        return true;
    };
    [store.to_owned(), request.dir.join(".pi")].iter().any(|place| holds_extensions(place))
}

fn holds_extensions(place: &Path) -> bool {
    let listed = |settings: Value| {
        ["packages", "extensions"]
            .iter()
            .any(|key| settings.get(key).and_then(Value::as_array).is_some_and(|list| !list.is_empty()))
    };
    let there = fs::read_dir(place.join("extensions")).is_ok_and(|mut entries| entries.next().is_some());
    there || jsonc::file(&place.join("settings.json")).is_some_and(listed)
}
