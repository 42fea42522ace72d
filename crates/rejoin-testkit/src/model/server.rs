//! The server: accepts connections, hands each request to its protocol, keeps the log.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::cache::{PrefixCache, Tokens};
use super::http::{Incoming, Reply};
use super::log::{Request, telling_headers};
use super::protocol::{self, Answer, Part, Protocol};
use super::script::{Manner, Script, ToolCall, marks, seen};

/// A scripted model listening on loopback until it is dropped. See the module for what it answers.
pub struct ScriptedModel {
    port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
    stop: StopFlag,
}

#[derive(Default)]
struct State {
    log: Vec<Request>,
    failed_once: HashSet<String>,
    cache: PrefixCache,
    open: HashMap<usize, TcpStream>,
}

impl ScriptedModel {
    /// Starts on any free port of 127.0.0.1.
    pub fn start() -> Self {
        Self::start_on(0)
    }

    /// Starts on this port of 127.0.0.1, to come back where an earlier one stood.
    #[expect(clippy::panic, reason = "a test without its model cannot go on, and has no error to handle")]
    pub fn start_on(port: u16) -> Self {
        match Self::listen(port) {
            Ok(model) => model,
            Err(error) => panic!("the scripted model cannot listen on 127.0.0.1:{port}: {error}"),
        }
    }

    fn listen(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let server = Arc::clone(&shared);
        let accepting = thread::Builder::new()
            .name("scripted-model".to_owned())
            .spawn(move || accept_until_stopped(&listener, &server))?;
        Ok(Self { port, shared, accepting: Some(accepting) })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `http://127.0.0.1:<port>`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every request since the start or the last `clear()`.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().log.clone()
    }

    /// The requests that asked for an answer to a user; see [`Request::is_call`].
    pub fn calls(&self) -> Vec<Request> {
        self.shared.lock().log.iter().filter(|request| request.is_call()).cloned().collect()
    }

    /// Waits until this many calls were logged; `false` when the time is over before that.
    pub fn wait_for_calls(&self, count: usize, limit: Duration) -> bool {
        let too_few =
            |state: &mut State| state.log.iter().filter(|request| request.is_call()).count() < count;
        let waited = self.shared.arrived.wait_timeout_while(self.shared.lock(), limit, too_few);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Forgets the log; what `ONCE500` and the token cache remember stays.
    pub fn clear(&self) {
        self.shared.lock().log.clear();
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.stop.set();
        // Wakes the accepting thread, which then ends every connection before it ends itself.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.accepting.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, mut request: Request, verdict: String) {
        let mut state = self.lock();
        request.seq = state.log.len() + 1;
        request.verdict = verdict;
        state.log.push(request);
        drop(state);
        self.arrived.notify_all();
    }
}

/// Says to everything that waits that the server is going away.
#[derive(Default)]
pub(super) struct StopFlag {
    set: Mutex<bool>,
    changed: Condvar,
}

impl StopFlag {
    fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits this long or until the server stops; `true` if it does.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        *self.changed.wait_timeout_while(set, time, |set| !*set).unwrap_or_else(PoisonError::into_inner).0
    }
}

fn accept_until_stopped(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads = Vec::new();
    for (id, stream) in listener.incoming().enumerate() {
        if shared.stop.wait(Duration::ZERO) {
            break;
        }
        let Ok(stream) = stream else { continue };
        let Ok(second) = stream.try_clone() else { continue };
        shared.lock().open.insert(id, second);
        let shared = Arc::clone(shared);
        threads.push(thread::spawn(move || {
            // A client that goes away in the middle is a normal end here: agents are killed by tests.
            let _ = serve_connection(stream, &shared);
            shared.lock().open.remove(&id);
        }));
    }
    for stream in shared.lock().open.values() {
        let _ = stream.shutdown(Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

fn serve_connection(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    while let Some(request) = Incoming::read(&mut input, &mut stream)? {
        let reply = Reply { stream: &mut stream, stop: &shared.stop, head_only: request.method == "HEAD" };
        if !serve_request(&request, reply, shared)? {
            break;
        }
    }
    stream.shutdown(Shutdown::Both)
}

/// Answers one request; `false` when the connection ends with it.
fn serve_request(incoming: &Incoming, reply: Reply<'_>, shared: &Shared) -> io::Result<bool> {
    let body = incoming.json();
    let request = Request {
        seq: 0,
        method: incoming.method.clone(),
        path: incoming.path.clone(),
        headers: telling_headers(&incoming.headers),
        body,
        model: String::new(),
        marks: Vec::new(),
        user_messages: Vec::new(),
        protocol: None,
        verdict: String::new(),
        tokens: Tokens::default(),
    };
    if let Some(encoding) = incoming.header("content-encoding").filter(|e| *e != "identity") {
        let why = format!("the scripted model cannot read a body in {encoding}");
        shared.note(request, why.clone());
        reply.json(415, &json!({"error": {"message": why, "type": "invalid_request_error"}}), None)?;
        return Ok(true);
    }
    let path = incoming.path.as_str();
    match incoming.method.as_str() {
        "POST" => {
            if let Some(protocol) = protocol::all().into_iter().find(|p| p.serves(path)) {
                return converse(protocol, request, reply, shared);
            }
            let aside = protocol::all().into_iter().find_map(|p| p.aside(path, &request.body));
            let verdict = if aside.is_some() { "aside" } else { "ignored" };
            shared.note(request, verdict.to_owned());
            reply.json(200, &aside.unwrap_or_else(|| json!({})), None)?;
        }
        "GET" if path.ends_with("/models") => {
            shared.note(request, "models".to_owned());
            let model = json!({"id": "mock-model", "object": "model", "created": 0, "owned_by": "scripted"});
            reply.json(200, &json!({"object": "list", "data": [model], "models": []}), None)?;
        }
        "GET" => {
            shared.note(request, "not found".to_owned());
            let error = json!({"message": "the scripted model has no such page", "type": "not_found_error"});
            reply.json(404, &json!({"error": error}), None)?;
        }
        _ => {
            shared.note(request, "ignored".to_owned());
            reply.json(200, &json!({}), None)?;
        }
    }
    Ok(true)
}

fn converse(
    protocol: &dyn Protocol,
    mut request: Request,
    reply: Reply<'_>,
    shared: &Shared,
) -> io::Result<bool> {
    let conversation = protocol.read(&request.path, &request.body);
    request.model.clone_from(&conversation.model);
    request.marks = marks(&conversation.items);
    request.user_messages.clone_from(&conversation.users);
    let (parts, manner) = if let Some(part) = conversation.errand {
        (vec![part], Manner::Plain)
    } else {
        request.protocol = Some(protocol.name());
        let script = Script::of(&conversation.prompt);
        let due = !script.once || shared.lock().failed_once.insert(conversation.prompt.clone());
        if let Some(failure) = script.failure_in(protocol.name()).filter(|_| due) {
            let (status, body) = protocol.fail(failure);
            shared.note(request, format!("http {status}"));
            // Another time than a client would choose by itself the first time.
            let longer = u32::from(script.once);
            let mut headers = protocol.headers(failure);
            let retry_after = protocol.retry_after(failure).map(|seconds| seconds + longer);
            headers.extend(retry_after.map(|seconds| ("retry-after", seconds.to_string())));
            reply.failure(status, &body, &headers)?;
            return Ok(true);
        }
        let called = script.tool.as_ref().and_then(|tool| protocol.call(tool, &conversation.offered));
        let parts = called.unwrap_or_else(|| {
            let mut text = seen(&conversation.items, &conversation.users);
            if script.tool.as_ref().and_then(ToolCall::command).is_some() {
                let names: Vec<&str> = conversation.offered.iter().map(|tool| tool.name.as_str()).collect();
                let _ = write!(text, " no-such-tool-offered:{}", names.join(","));
            }
            if script.news {
                let _ = write!(text, " news={}", fresh_news());
            }
            if let Some(result) = &conversation.tool_result {
                let _ = write!(text, " tool={}", result.replace('\n', "\\n"));
            }
            vec![Part::Text(text)]
        });
        (parts, script.manner)
    };
    let tokens = shared.lock().cache.count(&conversation.items, &parts);
    request.tokens = tokens;
    shared.note(request, parts.iter().map(told).collect::<Vec<_>>().join("; "));
    let without_usage = conversation.without_usage;
    let answer = Answer { model: conversation.model, parts, manner, tokens, without_usage };
    if conversation.streaming {
        let mut events = reply.events(protocol.chunked())?;
        protocol.stream(&answer, &mut events)?;
        events.end()?;
        return Ok(false);
    }
    reply.json(200, &protocol.whole(&answer), None)?;
    Ok(true)
}

/// Digits that are in no prompt, and no mark.
fn fresh_news() -> String {
    uuid::Uuid::new_v4().as_u128().to_string()
}

fn told(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Call { tool, input } => format!("{tool} {}", compact(input)),
    }
}

fn compact(input: &Value) -> String {
    input.to_string().chars().take(200).collect()
}
