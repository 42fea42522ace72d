//! Every route, with a request that it understands and what a token needs for it.

use serde_json::{Value, json};

use super::super::auth::new_token;
use super::super::daemon::{Ask, Daemon};
use super::super::runs::{over, text, wanted};
use crate::support::{Bench, eventually};

/// What is needed to be let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    /// Nothing: anybody may ask.
    Nothing,
    /// Any token.
    AnyToken,
    /// This scope.
    Scope(&'static str),
}

pub(super) const SCOPES: [&str; 4] = ["read", "prompt", "answer", "admin"];

use Needs::{AnyToken, Nothing, Scope};

const READ: Needs = Scope("read");
const PROMPT: Needs = Scope("prompt");
const ANSWER: Needs = Scope("answer");
const ADMIN: Needs = Scope("admin");

/// Method, path, query, body, what is needed. Words in capitals are filled in; what removes something comes last.
const TABLE: &[(&str, &str, &str, &str, Needs)] = &[
    ("GET", "", "", "", AnyToken),
    ("GET", "/health", "", "", Nothing),
    ("POST", "/login", "", r#"{"code": "CODE"}"#, Nothing),
    ("POST", "/login/code", "", "", ADMIN),
    ("POST", "/logout", "", "", AnyToken),
    ("GET", "/tokens", "", "", ADMIN),
    ("POST", "/tokens", "", r#"{"name": "new", "scopes": ["admin"], "projects": ["OTHER"]}"#, ADMIN),
    ("GET", "/agents", "", "", READ),
    ("GET", "/agents/doctor", "?agent=demo", "", READ),
    ("GET", "/projects", "", "", READ),
    ("GET", "/search", "?q=MARK", "", READ),
    ("GET", "/stats", "", "", READ),
    ("GET", "/metrics", "", "", READ),
    ("GET", "/stream", "?sub=CONVERSATION", "", READ),
    ("GET", "/questions", "", "", READ),
    ("POST", "/questions/{id}/answer", "", r#"{"options": ["1"]}"#, ANSWER),
    ("POST", "/runs/{id}/tool-result", "", r#"{"question": "QUESTION", "options": ["1"]}"#, ANSWER),
    ("GET", "/runs", "", "", READ),
    ("POST", "/runs", "", r#"{"project": "PROJECT", "agent": "demo", "prompt": "hello"}"#, PROMPT),
    ("GET", "/runs/{id}", "", "", READ),
    ("GET", "/runs/{id}/events", "?conversation=CONVERSATION", "", READ),
    ("POST", "/runs/{id}/cancel", "", "", PROMPT),
    ("POST", "/runs/{id}/retry", "", "", PROMPT),
    ("POST", "/uploads", "?name=a.txt", "a file", PROMPT),
    ("GET", "/flows", "?project=PROJECT", "", READ),
    ("POST", "/flows/validate", "", r#"{"project": "PROJECT", "file": "x.flow.yaml"}"#, READ),
    ("GET", "/flows/runs", "", "", READ),
    ("POST", "/flows/runs", "", r#"{"project": "PROJECT", "file": "x.flow.yaml"}"#, PROMPT),
    ("GET", "/flows/runs/{id}", "", "", READ),
    ("GET", "/flows/runs/{id}/graph", "", "", READ),
    ("GET", "/flows/runs/{id}/events", "", "", READ),
    ("POST", "/flows/runs/{id}/cancel", "", "", PROMPT),
    ("POST", "/flows/runs/{id}/resume", "", "{}", PROMPT),
    ("GET", "/conversations", "", "", READ),
    ("GET", "/conversations", "?text=MARK", "", READ),
    ("POST", "/conversations/import", "?project=PROJECT", "a bundle", PROMPT),
    ("GET", "/conversations/{id}", "", "", READ),
    ("PATCH", "/conversations/{id}", "", r#"{"read": true}"#, READ),
    ("PATCH", "/conversations/{id}", "", r#"{"name": "talk"}"#, PROMPT),
    ("PATCH", "/conversations/{id}", "", r#"{"tags": {"add": ["a"]}}"#, PROMPT),
    ("GET", "/conversations/{id}/events", "", "", READ),
    ("GET", "/conversations/{id}/turns", "", "", READ),
    ("GET", "/conversations/{id}/turns/{turn}", "", "", READ),
    ("GET", "/conversations/{id}/tree", "", "", READ),
    ("GET", "/conversations/{id}/why", "", "", READ),
    ("GET", "/conversations/{id}/export", "", "", READ),
    ("GET", "/conversations/{id}/queue", "", "", READ),
    ("PATCH", "/conversations/{id}/queue", "", r#"{"pause": false}"#, PROMPT),
    ("POST", "/conversations/{id}/branch", "", r#"{"at": "1"}"#, PROMPT),
    ("POST", "/conversations/{id}/rewind", "", r#"{"turns": 1}"#, PROMPT),
    ("POST", "/conversations/{id}/edit", "", r#"{"message": "1", "text": "other"}"#, PROMPT),
    ("DELETE", "/conversations/{id}", "", "", PROMPT),
    ("POST", "/tokens/{id}/login-code", "", "", ADMIN),
    ("DELETE", "/tokens/{id}", "", "", ADMIN),
];

/// A request that can be sent with any token.
pub(super) struct Route {
    pub(super) method: &'static str,
    /// As the OpenAPI document has it.
    pub(super) template: String,
    pub(super) path: String,
    body: String,
    pub(super) needs: Needs,
    /// The answer has no end.
    pub(super) endless: bool,
}

impl Route {
    pub(super) fn ask(&self, daemon: &Daemon<'_>, token: Option<&str>) -> Ask {
        let ask = match token {
            Some(token) => daemon.ask_with(token, self.method, &self.path),
            None => daemon.ask_bare(self.method, &self.path),
        };
        let kind = match self.template.as_str() {
            "/api/v1/uploads" => "application/octet-stream",
            "/api/v1/conversations/import" => "application/vnd.rejoin.bundle",
            _ => "application/json",
        };
        if self.body.is_empty() { ask } else { ask.header("Content-Type", kind).body(self.body.clone()) }
    }

    /// It names something of the project.
    pub(super) fn names(&self, scene: &Scene) -> bool {
        let project = text(&scene.project);
        self.path.contains(text(&scene.conversation))
            || self.template.contains('{') && !self.template.contains("/tokens/")
            || self.path.contains(project)
            || self.body.contains(project)
    }
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.method, self.path, self.body)
    }
}

/// One of everything that routes are about: a conversation, a run that asks, a run of a flow, a token.
pub(super) struct Scene {
    pub(super) project: Value,
    pub(super) conversation: Value,
    pub(super) turn: Value,
    asks: Value,
    question: Value,
    flow: Value,
    token: Value,
    code: Value,
    /// The directory of another project.
    pub(super) other: Value,
}

impl Scene {
    pub(super) fn set(bench: &Bench, daemon: &Daemon<'_>) -> Self {
        let first = daemon.post("/api/v1/runs", &wanted(bench, "hello MARK-a")).is(202);
        over(daemon, &first["run"]);
        let mut body = wanted(bench, "MARK-b ASK");
        body["interactive"] = json!(true);
        let asks = daemon.post("/api/v1/runs", &body).is(202);
        let question = eventually("a question", || {
            let open = daemon.get("/api/v1/questions").is(200);
            open["questions"].as_array().unwrap().first().map(|question| question["id"].clone())
        });
        bench.file("x.flow.yaml", "steps: { a: { run: 'true' } }");
        let flow = json!({ "project": bench.project(), "file": "x.flow.yaml" });
        let flow = daemon.post("/api/v1/flows/runs", &flow).is(202);
        new_token(bench, "victim", &["--scope", "read"]);
        let tokens = daemon.get("/api/v1/tokens").is(200);
        Self {
            project: json!(bench.project()),
            conversation: first["conversation"].clone(),
            turn: first["run"].clone(),
            asks: asks["run"].clone(),
            question,
            flow: flow["run"].clone(),
            token: tokens["tokens"][0]["id"].clone(),
            code: daemon.post("/api/v1/login/code", &json!({})).is(200)["code"].clone(),
            other: json!(bench.outside("other").canonicalize().unwrap()),
        }
    }

    pub(super) fn routes(&self) -> Vec<Route> {
        TABLE.iter().map(|row| self.route(*row)).collect()
    }

    fn route(&self, (method, path, query, body, needs): (&'static str, &str, &str, &str, Needs)) -> Route {
        let id = match path.split('/').nth(1).unwrap_or_default() {
            "conversations" => &self.conversation,
            "questions" => &self.question,
            "tokens" => &self.token,
            "flows" => &self.flow,
            _ if path.ends_with("/tool-result") => &self.asks,
            _ => &self.turn,
        };
        let fill = |from: &str| {
            let words = [
                ("CONVERSATION", &self.conversation),
                ("QUESTION", &self.question),
                ("PROJECT", &self.project),
                ("OTHER", &self.other),
                ("CODE", &self.code),
            ];
            words
                .iter()
                .fold(from.to_owned(), |text_so_far, (word, value)| text_so_far.replace(word, text(value)))
        };
        let there = path.replace("{id}", text(id)).replace("{turn}", text(&self.turn));
        Route {
            method,
            template: format!("/api/v1{path}"),
            path: format!("/api/v1{there}{}", fill(query)),
            body: fill(body),
            needs,
            endless: ["/stream", "/conversations/{id}/events"].contains(&path),
        }
    }
}
