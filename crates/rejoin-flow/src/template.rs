//! Templates and expressions: minijinja, strict about names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    // A syntax that differs from the usual one only in this cannot be refused.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        environment.set_syntax(syntax);
    }
    environment
});

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
        Language::Expression => {
            ENVIRONMENT.compile_expression(text).map(|one| one.undeclared_variables(true))
        }
    };
    let known = |name: &String| ENVIRONMENT.globals().all(|(global, _)| global != name);
    names.map(|names| names.into_iter().filter(known).collect()).map_err(|error| words(&error))
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
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    match error.line().filter(|line| *line > 1) {
        Some(line) => format!("{detail} (line {line} of the text)"),
        None => detail,
    }
}
