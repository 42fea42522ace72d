//! Templates and expressions: minijinja, strict about names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value, escape_formatter};

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| environment(UndefinedBehavior::Strict));

/// For a trial with no values at all.
static TRIAL: LazyLock<Environment<'static>> = LazyLock::new(|| environment(UndefinedBehavior::Chainable));

/// How many instructions a text may take: loops inside of loops would never end. A list of some hundred thousand lines
/// does with less.
const FUEL: u64 = 10_000_000;

fn environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // As in the flow itself: `true`, not `True`.
    environment.set_formatter(|out, state, value| match value.kind() {
        ValueKind::Bool | ValueKind::None | ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            let json = serde_json::to_string(value);
            let json = json.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
            Ok(out.write_str(&json)?)
        }
        _ => escape_formatter(out, state, value),
    });
    // A syntax that differs from the usual one only in this cannot be refused.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment
}

/// What a text of a flow is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Template,
    Expression,
}

/// The names it uses, with dots: `inputs.area`, `steps.fix.ok`.
pub(crate) fn names(text: &str, language: Language) -> Result<BTreeSet<String>, String> {
    let names = match language {
        Language::Template => ENVIRONMENT.template_from_str(text).map(|one| one.undeclared_variables(true)),
        Language::Expression if text.trim_start().starts_with("{{") => {
            return Err("this is an expression, not a template: write it without the braces".into());
        }
        Language::Expression => {
            ENVIRONMENT.compile_expression(text).map(|one| one.undeclared_variables(true))
        }
    };
    let names = names.map_err(|error| words(&error))?;
    trial(text, language)?;
    let known = |name: &String| ENVIRONMENT.globals().all(|(global, _)| global != name);
    Ok(names.into_iter().filter(known).collect())
}

/// Finds filters, tests and functions that do not exist, as far as a trial without values comes.
fn trial(text: &str, language: Language) -> Result<(), String> {
    let tried = match language {
        Language::Template => TRIAL.render_str(text, ()).map(drop),
        Language::Expression => TRIAL.compile_expression(text).and_then(|one| one.eval(()).map(drop)),
    };
    match tried {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::UnknownFilter | ErrorKind::UnknownTest | ErrorKind::TemplateNotFound
            ) =>
        {
            Err(words(&error))
        }
        _ => Ok(()),
    }
}

/// Fills in a template.
pub(crate) fn render(text: &str, context: &serde_json::Value) -> Result<String, String> {
    ENVIRONMENT.render_str(text, Serde(context)).map_err(|error| words(&error))
}

/// What an expression gives.
pub(crate) fn evaluate(text: &str, context: &serde_json::Value) -> Result<Value, String> {
    let expression = ENVIRONMENT.compile_expression(text).map_err(|error| words(&error))?;
    expression.eval(Serde(context)).map_err(|error| words(&error))
}

/// In one line; templates have no names of their own.
fn words(error: &Error) -> String {
    let detail = match error.kind() {
        ErrorKind::OutOfFuel => "there is too much to do in its loops".to_owned(),
        kind => error.detail().map_or_else(|| kind.to_string(), str::to_owned),
    };
    in_line(detail, error.line().unwrap_or_default())
}

/// What is wrong about a name, with the line it stands in if there are several.
pub(crate) fn about_name(words: String, text: &str, name: &str) -> String {
    let before = text.find(name).map_or("", |at| &text[..at]);
    in_line(words, before.matches('\n').count() + 1)
}

fn in_line(words: String, line: usize) -> String {
    if line > 1 { format!("{words} (line {line} of the text)") } else { words }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_look_as_in_json() {
        let context =
            json!({"yes": true, "nothing": null, "list": [false, "a"], "text": "a\"b", "number": 1.5});
        let text = "{{ yes }} {{ nothing }} {{ list }} {{ text }} {{ number }} {{ 1 == 2 }}";
        assert_eq!(render(text, &context).unwrap(), "true null [false,\"a\"] a\"b 1.5 false");
        assert!(render("{{ none_such }}", &context).unwrap_err().contains("undefined"));
        assert!(render("{{ list.none_such }}", &context).unwrap_err().contains("undefined"));
    }

    #[test]
    fn filters_that_do_not_exist_are_found_before_anything_runs() {
        assert!(
            names("{{ a.b|map('upper')|nonsense }}", Language::Template).unwrap_err().contains("nonsense")
        );
        assert!(names("a is nonsense", Language::Expression).unwrap_err().contains("nonsense"));
        assert!(names("{% include 'other' %}", Language::Template).is_err());
        assert!(names("{{ a.b|length + 1 }} {{ c|join(', ') }}", Language::Template).is_ok());
    }

    #[test]
    fn loops_that_never_end_are_given_up() {
        let text = "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}";
        assert!(names(text, Language::Template).is_ok(), "not for a trial to say");
        assert!(render(text, &json!({})).unwrap_err().contains("too much to do"));
        let lines = render("{% for i in range(100000) %}- {{ i }}\n{% endfor %}", &json!({})).unwrap();
        assert_eq!(lines.lines().count(), 100_000);
    }

    #[test]
    fn a_line_is_named_where_there_are_several() {
        assert_eq!(names("{{ a", Language::Template).unwrap_err().find("line"), None);
        assert!(names("one\n{{ a", Language::Template).unwrap_err().ends_with("(line 2 of the text)"));
        assert_eq!(about_name("x".into(), "one\ntwo {{ a.b }}", "a.b"), "x (line 2 of the text)");
    }
}
