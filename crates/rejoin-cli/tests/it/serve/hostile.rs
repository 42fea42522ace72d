//! Clients that mean harm, or are broken: whatever they send, they get a problem, and the others an answer.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::daemon::{Daemon, Reply};
use super::runs::{over, text, wanted};
use crate::support::{Bench, signal};

/// How long anybody else may wait for an answer meanwhile.
const AT_ONCE: Duration = Duration::from_secs(5);
/// When who says nothing, or too little, must have been let go: the daemon gives them 10 s.
const LET_GO: Duration = Duration::from_secs(12);

/// A problem of this kind, as one is sent.
#[track_caller]
fn is_problem(reply: Reply, status: u16, code: &str) -> Value {
    assert_eq!(reply.header("content-type"), Some("application/problem+json"), "{}", reply.text());
    let problem = reply.is(status);
    assert_eq!(problem["code"], code, "{problem}");
    assert_eq!(problem["type"], format!("urn:rejoin:problem:{code}"));
    assert_eq!(problem["status"], status);
    problem
}

/// That the daemon answers, and soon.
#[track_caller]
fn answers(daemon: &Daemon<'_>) {
    let asked = Instant::now();
    daemon.get("/api/v1").is(200);
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
}

/// A connection on which this was said.
fn say(daemon: &Daemon<'_>, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

/// The head of a request that tells of a body.
fn head(daemon: &Daemon<'_>, method: &str, path: &str, about_the_body: &str) -> Vec<u8> {
    let (host, token) = (&daemon.address, &daemon.token);
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
    format!("{head}Content-Type: application/json\r\n{about_the_body}\r\n\r\n").into_bytes()
}

/// All that comes until the daemon closes the connection.
#[track_caller]
fn until_closed(stream: &mut TcpStream, deadline: Instant) -> String {
    let mut told = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "still open: {}", String::from_utf8_lossy(&told));
        stream.set_read_timeout(Some(left)).unwrap();
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => told.extend_from_slice(&piece[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            // Closed while bytes of ours were under way.
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&told).into_owned()
}

#[test]
fn a_parameter_that_does_not_exist_is_refused_on_every_route() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let document = daemon.get("/api/v1/openapi.json").is(200);
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.replace('{', "7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111").replace('}', "");
        for method in item.as_object().unwrap().keys() {
            let reply = daemon.ask(&method.to_uppercase(), &format!("{path}?limt=1")).send();
            assert_eq!(reply.status, 400, "{method} {path}: {}", reply.text());
            assert_eq!(reply.is(400)["code"], "unknown_field", "{method} {path}");
            asked += 1;
        }
    }
    assert!(asked > 40, "{asked}");
    daemon.ask("GET", "/api/v1/openapi.json?x=1").send().is(400);
    let near = daemon.get("/api/v1/runs?limt=1").is(400);
    assert!(near["detail"].as_str().unwrap().contains("did you mean \"limit\""), "{near}");
    daemon.get("/api/v1/runs?limit=1").is(200);
    daemon.ask("HEAD", "/api/v1/runs?limit=1").send();
    assert_eq!(daemon.get("/?utm=1").status, 200, "the page takes what it is given");

    let run = "/api/v1/runs/7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111";
    for (path, wrong, right) in [("cancel", "forse", "force"), ("retry", "interactiv", "interactive")] {
        let refused = daemon.post(&format!("{run}/{path}"), &json!({ wrong: true })).is(400);
        assert_eq!(refused["code"], "unknown_field", "{refused}");
        assert!(refused["detail"].as_str().unwrap().contains(right), "{refused}");
    }
}

#[test]
fn who_says_nothing_or_sends_a_body_byte_by_byte_is_let_go_and_nobody_waits_for_him() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let begun = Instant::now();
    let runs = |about: &str| head(&daemon, "POST", "/api/v1/runs", about);
    let mut silent = say(&daemon, b"");
    let mut half_a_head = say(&daemon, b"GET /api/v1 HTTP/1.1\r\nHost: x");
    let mut half_a_body = say(&daemon, &[&runs("Content-Length: 100")[..], b"{\"prompt\":"].concat());
    let mut half_a_chunk = say(&daemon, &[&runs("Transfer-Encoding: chunked")[..], b"64\r\n{"].concat());
    let mut drop_by_drop = say(&daemon, &runs("Content-Length: 100"));
    // Who goes away in the middle of it is forgotten.
    drop(say(&daemon, &runs("Content-Length: 100")));
    while begun.elapsed() < Duration::from_secs(9) {
        answers(&daemon);
        drop_by_drop.write_all(b" ").unwrap();
        std::thread::sleep(Duration::from_secs(1));
    }
    let deadline = begun + LET_GO;
    assert_eq!(until_closed(&mut silent, deadline), "");
    until_closed(&mut half_a_head, deadline);
    for slow in [&mut half_a_body, &mut drop_by_drop] {
        let told = until_closed(slow, deadline);
        assert!(told.starts_with("HTTP/1.1 400 "), "{told}");
        assert!(told.contains("application/problem+json") && told.contains("not whole after 10 s"), "{told}");
    }
    // One that does not tell its length may be a long one; it is let go later.
    half_a_chunk.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(half_a_chunk.read(&mut [0; 1]).is_err());
    answers(&daemon);
    assert!(bench.journals().is_empty(), "nothing of it was taken for a prompt");
}

#[test]
fn five_hundred_idle_connections_keep_nobody_from_being_answered() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let idle: Vec<TcpStream> = (0..500).map(|_| TcpStream::connect(&daemon.address).unwrap()).collect();
    answers(&daemon);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "hello MARK-a")).is(202);
    assert_eq!(over(&daemon, &taken["run"])["status"], "completed");
    drop(idle);
    answers(&daemon);
}

#[test]
fn a_body_that_is_too_large_is_refused_by_what_it_says_of_itself_and_by_what_comes() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let deadline = || Instant::now() + AT_ONCE;
    // Nothing of it is sent: the daemon must not wait for it.
    let mut told = say(&daemon, &head(&daemon, "POST", "/api/v1/runs", "Content-Length: 99999999999"));
    let answer = until_closed(&mut told, deadline());
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("\"too_large\""), "{answer}");
    // It does not say how long it is.
    let large = vec![b' '; (16 << 20) + 1];
    let mut chunked = head(&daemon, "POST", "/api/v1/runs", "Transfer-Encoding: chunked");
    chunked.extend_from_slice(format!("{:x}\r\n", large.len()).as_bytes());
    chunked.extend_from_slice(&large);
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    let mut reader = stream.try_clone().unwrap();
    let reading = std::thread::spawn(move || until_closed(&mut reader, Instant::now() + LET_GO));
    // It may be refused before all of it was sent.
    let _ = stream.write_all(&chunked);
    let answer = reading.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("\"too_large\""), "{answer}");
    for path in ["/api/v1/conversations/import", "/api/v1/uploads"] {
        let ask = daemon.ask("POST", path).header("Content-Type", "application/vnd.rejoin.bundle");
        is_problem(ask.body(vec![b'x'; (20 << 20) + 1]).send(), 413, "too_large");
    }
    answers(&daemon);
}

fn until_closed_after(stream: &mut TcpStream, last: &[u8], deadline: Instant) -> String {
    stream.write_all(last).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    until_closed(stream, deadline)
}

#[test]
fn a_body_that_makes_no_sense_is_a_problem_whatever_it_is_sent_to() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let id = "4f1c2a9e-0000-4000-8000-000000000000";
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{{\"prompt\":{}}}", "{\"a\":".repeat(50_000));
    let bodies: [&[u8]; 12] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\"text\"",
        b"{} {}",
        b"{\"prompt\":\"\\ud800\"}",
        b"{\"prompt\":\"\xff\xfe\"}",
        b"{\"prompt\":\"a\0b\"}",
        b"{\"prompt\": 1, \"project\": [], \"options\": 7, \"turns\": \"x\", \"name\": {}}",
        deep.as_bytes(),
        nested.as_bytes(),
    ];
    let routes = [
        ("POST", "/api/v1/runs".to_owned()),
        ("PATCH", format!("/api/v1/conversations/{id}")),
        ("PATCH", format!("/api/v1/conversations/{id}/queue")),
        ("POST", format!("/api/v1/conversations/{id}/branch")),
        ("POST", format!("/api/v1/conversations/{id}/edit")),
        ("POST", format!("/api/v1/questions/{id}/answer")),
        ("POST", format!("/api/v1/runs/{id}/tool-result")),
        ("POST", "/api/v1/tokens".to_owned()),
        ("POST", "/api/v1/login".to_owned()),
        ("POST", "/api/v1/flows/runs".to_owned()),
        ("POST", "/api/v1/flows/validate".to_owned()),
    ];
    for (method, path) in &routes {
        for body in bodies {
            let ask = daemon.ask(method, path).header("Content-Type", "application/json").body(body);
            let reply = ask.send();
            let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
            assert!((400..500).contains(&reply.status), "{method} {path} {shown}: {}", reply.text());
            let kind = reply.header("content-type");
            assert_eq!(kind, Some("application/problem+json"), "{method} {path} {shown}: {}", reply.text());
        }
    }
    let with = |more: Value| {
        let mut body = wanted(&bench, "x");
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        daemon.post("/api/v1/runs", &body)
    };
    is_problem(with(json!({ "prompt": ["x"] })), 400, "bad_request");
    is_problem(with(json!({ "timeout": {} })), 400, "bad_request");
    is_problem(with(json!({ "attachments": [1] })), 400, "bad_request");
    is_problem(with(json!({ "promt": "x" })), 400, "unknown_field");
    for project in ["/\0", "relative", "", "/no/such/place"] {
        let reply = with(json!({ "project": project }));
        assert!((400..500).contains(&reply.status), "{project:?}: {}", reply.text());
    }
    assert!(bench.journals().is_empty(), "nothing of it was taken for a prompt");
    answers(&daemon);
}

#[test]
fn an_address_that_makes_no_sense_is_a_problem() {
    let bench = Bench::after_a_turn();
    let daemon = Daemon::start(&bench);
    let odd =
        ["%00", "a%00b", "%ff%fe", "%", "%zz", "..%2f..%2fetc%2fpasswd", "%c0%ae", "%f0%9f%92%a9", "%0d%0a"];
    let long = "x".repeat(20_000);
    for odd in odd.into_iter().chain([long.as_str()]) {
        for path in [
            format!("/api/v1/runs/{odd}"),
            format!("/api/v1/conversations/{odd}"),
            format!("/api/v1/conversations/{odd}/turns/{odd}"),
            format!("/api/v1/conversations/{odd}/events"),
            format!("/api/v1/flows/runs/{odd}"),
            format!("/api/v1/runs?cursor={odd}"),
            format!("/api/v1/runs?limit={odd}"),
            format!("/api/v1/conversations?cursor={odd}"),
            format!("/api/v1/stream?sub={odd}"),
            format!("/api/v1/stats?project={odd}"),
            format!("/api/v1/{odd}={odd}"),
            format!("/api/v1?{odd}"),
        ] {
            let reply = daemon.get(&path);
            let shown = &path[..path.len().min(80)];
            // `GET /api/v1` takes no parameters, and looks at none.
            if path.starts_with("/api/v1?") && reply.status == 200 {
                continue;
            }
            assert!((400..500).contains(&reply.status), "{shown}: {} {}", reply.status, reply.text());
            let kind = reply.header("content-type");
            assert_eq!(kind, Some("application/problem+json"), "{shown}: {}", reply.text());
        }
    }
    is_problem(daemon.get("/api/v1/runs/%ff"), 400, "bad_request");
    // What is no HTTP at all is refused before anything looks at it.
    for raw in [
        &b"GET /api/v1/\0 HTTP/1.1\r\n\r\n"[..],
        b"GET /api/v1/\xff HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\0",
        b"\r\nHELLO\r\n\r\n",
    ] {
        let answer = until_closed_after(&mut say(&daemon, b""), raw, Instant::now() + AT_ONCE);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{raw:?}: {answer}");
    }
    answers(&daemon);
}

#[test]
fn methods_that_a_route_does_not_take_are_said_so() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "CONNECT"] {
        let reply = daemon.ask(method, "/api/v1/runs").send();
        let problem = is_problem(reply, 405, "method_not_allowed");
        assert!(text(&problem["detail"]).contains(method), "{problem}");
    }
    let reply = daemon.ask("POST", "/api/v1/agents").json(&json!({})).send();
    assert!(reply.header("allow").is_some_and(|allowed| allowed.contains("GET")), "{reply:?}");
    is_problem(reply, 405, "method_not_allowed");
    answers(&daemon);
}

#[test]
fn what_a_ceiling_forbids_and_a_change_without_a_tag_are_told_by_their_codes() {
    let bench = Bench::after_a_turn();
    let daemon = Daemon::start(&bench);
    let args = ["token", "new", "phone", "--scope", "read,prompt", "--ceiling", "edit"];
    let phone = bench.rejoin(&args).done().stdout().trim().to_owned();
    let mut body = wanted(&bench, "x");
    body["permissions"] = json!("full");
    let ask = daemon.ask("POST", "/api/v1/runs").header("Authorization", &format!("Bearer {phone}"));
    is_problem(ask.json(&body).send(), 403, "ceiling_exceeded");

    let id = text(&bench.show()["id"]).to_owned();
    let reply = daemon.post(&format!("/api/v1/conversations/{id}/rewind"), &json!({ "turns": 1 }));
    let problem = is_problem(reply, 428, "match_required");
    assert!(problem["etag"].is_string(), "{problem}");
}

#[test]
fn a_disk_that_fails_is_told_as_our_failure_and_the_rest_goes_on() {
    let bench = Bench::after_a_turn();
    let daemon = Daemon::start(&bench);
    fs::create_dir_all(bench.home().join("read-marks.json/in-the-way")).unwrap();
    let path = format!("/api/v1/conversations/{}", text(&bench.show()["id"]));
    let marked = daemon.ask("PATCH", &path).json(&json!({ "read": true })).send();
    let problem = is_problem(marked, 500, "internal");
    assert_eq!(problem["retryable"], true, "{problem}");
    daemon.get(&path).is(200);
    answers(&daemon);
}

#[test]
fn a_daemon_that_is_about_to_end_takes_nothing_new_and_says_so() {
    let bench = Bench::new();
    let daemon = Daemon::start_with(&bench, &["--drain", "60s"]);
    daemon.post("/api/v1/runs", &wanted(&bench, "MARK-a SLOW 100000")).is(202);
    signal(daemon.pid(), Signal::TERM);
    let problem = crate::support::eventually("that it ends", || {
        let reply = daemon.post("/api/v1/runs", &wanted(&bench, "MARK-b SLOW 100000"));
        (reply.status != 202).then_some(reply)
    });
    assert_eq!(is_problem(problem, 503, "stopping")["retryable"], true);
    answers(&daemon);
}
