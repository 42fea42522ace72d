//! What there is: agents, projects, words, figures.

use serde_json::{Value, json};

use super::auth::new_token;
use super::daemon::Daemon;
use crate::support::Bench;

#[test]
fn agents_and_their_check_ups_are_told_as_the_command_prints_them() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let printed = bench.rejoin(&["agents", "--json"]).done().json();
    assert_eq!(daemon.get("/api/v1/agents").is(200)["agents"], printed);
    // It exits as the agents on this machine are.
    let printed = bench.rejoin(&["doctor", "--json"]).command().output().unwrap().stdout;
    let mut printed: Vec<Value> = serde_json::from_slice(&printed).unwrap();
    // Behind the agents it says how the home is.
    assert!(printed.pop().unwrap()["home"].is_string());
    assert_eq!(daemon.get("/api/v1/agents/doctor").is(200)["checkups"], json!(printed));
    let one = daemon.get("/api/v1/agents/doctor?agent=demo2").is(200);
    assert_eq!(one["checkups"].as_array().unwrap().len(), 1);
    assert_eq!(one["checkups"][0]["agent"], "demo2");
    let problem = daemon.get("/api/v1/agents/doctor?agent=claud").is(404);
    assert!(problem["detail"].as_str().unwrap().contains("claude"), "{problem}");
}

#[test]
fn projects_come_page_by_page_the_one_used_last_first() {
    let bench = Bench::after_a_turn();
    let other = bench.outside("other");
    bench.rejoin(&["run", "-a", "demo", "second MARK-b"]).within(&other).done();
    bench.rejoin(&["run", "-a", "demo", "third MARK-c"]).within(&other).done();
    let daemon = Daemon::start(&bench);
    let page = daemon.get("/api/v1/projects?limit=1").is(200);
    let first = &page["projects"][0];
    assert_eq!(first["path"], other.canonicalize().unwrap().to_str().unwrap());
    assert_eq!((&first["name"], &first["conversations"]), (&json!("other"), &json!(2)));
    assert_eq!(first["running"], 0);
    assert!(first["last_used_ms"].as_u64().unwrap() > 1_000_000_000_000);
    let cursor = page["cursor"].as_str().unwrap();
    let page = daemon.get(&format!("/api/v1/projects?limit=1&cursor={cursor}")).is(200);
    assert_eq!(page["projects"].as_array().unwrap().len(), 1);
    assert_eq!(page["projects"][0]["path"], bench.project().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(page["cursor"], Value::Null);
    assert_eq!(daemon.get("/api/v1/projects?limit=0").is(400)["code"], "bad_request");
    assert_eq!(daemon.get("/api/v1/projects?cursor=x").is(400)["code"], "bad_request");
    let problem = daemon.get("/api/v1/projects?limt=1").is(400);
    assert_eq!(problem["code"], "unknown_field");
    assert!(problem["detail"].as_str().unwrap().contains("limit"), "{problem}");
}

#[test]
fn words_are_found_as_the_command_finds_them_and_page_by_page() {
    let bench = Bench::after_a_turn();
    for word in ["one", "two", "three"] {
        bench.next(&format!("walrus {word}")).done();
    }
    let daemon = Daemon::start(&bench);
    let all = daemon.get("/api/v1/search?q=walrus").is(200);
    let printed = bench.rejoin(&["search", "walrus", "--json"]).done().json();
    assert_eq!(all["hits"], printed);
    assert_eq!(all["more"], false);
    let mut paged = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = daemon.get(&format!("/api/v1/search?q=walrus&limit=1{cursor}")).is(200);
        paged.extend(page["hits"].as_array().unwrap().iter().cloned());
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(Value::from(paged), printed);
    let phrase = daemon.get("/api/v1/search?q=%22walrus+two%22").is(200);
    assert!(
        phrase["hits"].as_array().unwrap().iter().all(|hit| hit["snippet"].as_str().unwrap().contains("two"))
    );
    assert!(!phrase["hits"].as_array().unwrap().is_empty());
    assert_eq!(daemon.get("/api/v1/search?q=walrus&agent=demo2").is(200)["hits"], json!([]));
    assert_eq!(daemon.get("/api/v1/search?q=walrus&agent=nobody").is(422)["code"], "refused");
    assert_eq!(daemon.get("/api/v1/search?q=...").is(400)["code"], "bad_request");
}

#[test]
fn turns_are_counted_as_the_command_counts_them() {
    let bench = Bench::after_a_turn();
    bench.next("more MARK-b").done();
    let daemon = Daemon::start(&bench);
    let printed = bench.rejoin(&["stats", "--by", "agent", "--json"]).done().json();
    let project = bench.project();
    let counted = daemon.get(&format!("/api/v1/stats?project={}&by=agent", project.display())).is(200);
    assert_eq!(counted, printed);
    assert_eq!(counted["all"]["turns"], 2);
    assert_eq!(daemon.get("/api/v1/stats?since=3d").is(200)["all"]["turns"], 2);
    assert_eq!(daemon.get("/api/v1/stats?since=3x").is(400)["code"], "bad_request");
    assert_eq!(daemon.get("/api/v1/stats?project=app").is(400)["code"], "bad_request");
    assert_eq!(daemon.get("/api/v1/stats?project=/no/where").is(404)["code"], "not_found");
}

#[test]
fn turns_of_a_day_are_counted_by_agent_with_what_replays_would_have_sent() {
    let bench = Bench::after_a_turn();
    bench.next("more MARK-b").done();
    bench.rejoin(&["run", "-c", "-a", "demo2", "and you? MARK-c"]).done();
    let daemon = Daemon::start(&bench);
    let counted = daemon.get("/api/v1/stats?by=day&then=agent").is(200);
    let days = counted["by"].as_object().unwrap();
    // Over midnight there are two.
    let of = |agent: &str, field: &str| -> u64 {
        days.values().filter_map(|day| day["by"][agent][field].as_u64()).sum()
    };
    assert_eq!([of("demo", "turns"), of("demo2", "turns")], [2, 1]);
    assert_eq!([of("demo", "resumed"), of("demo2", "resumed")], [1, 0]);
    assert_eq!(days.values().map(|day| day["turns"].as_u64().unwrap()).sum::<u64>(), 3);
    let turns = bench.show()["turns"].as_array().unwrap().clone();
    let resumed = &turns[1]["receipt"];
    let (sent, replay) = (resumed["bytes"].as_u64().unwrap(), resumed["replay_bytes"].as_u64().unwrap());
    assert!(replay > sent, "{resumed}");
    assert_eq!(of("demo", "bytes_saved"), replay - sent);
    assert_eq!(turns[0]["receipt"].get("replay_bytes"), None, "a fresh one replays");
    let took: u64 = turns.iter().map(|turn| turn["receipt"]["milliseconds"].as_u64().unwrap()).sum();
    assert_eq!(counted["all"]["milliseconds"], took);
    assert_eq!(daemon.get("/api/v1/stats?then=agent").is(400)["code"], "bad_request");
}

#[test]
fn health_needs_no_token_and_figures_are_told_as_prometheus_reads_them() {
    let bench = Bench::after_a_turn();
    let kept =
        new_token(&bench, "kept", &["--scope", "read", "--project", bench.project().to_str().unwrap()]);
    let daemon = Daemon::start(&bench);
    let health = daemon.ask_bare("GET", "/api/v1/health").send().is(200);
    assert_eq!(health, json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }));
    daemon.get("/api/v1/nothing").is(404);
    let reply = daemon.get("/api/v1/metrics");
    assert_eq!(reply.status, 200);
    let refused = daemon.ask_with(&kept, "GET", "/api/v1/metrics").send().is(403);
    assert_eq!(refused["code"], "not_allowed", "they are of all projects");
    assert!(reply.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let text = reply.text();
    let value = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}:\n{text}")).parse().unwrap()
    };
    assert_eq!(value("rejoin_conversations"), 1);
    assert_eq!(value("rejoin_http_responses_total{status=\"4xx\"}"), 1);
    assert!(value("rejoin_http_responses_total{status=\"2xx\"}") >= 1);
    if cfg!(target_os = "linux") {
        assert!(value("process_resident_memory_bytes") > 1_000_000);
        assert!(value("process_threads") >= 2);
    }
}
