//! Streams of what happens, as a browser or a script sees them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use serde_json::Value;

use super::daemon::{Daemon, EventStream, Told};
use crate::support::{Bench, PATIENCE, eventually};

fn path(conversation: &str) -> String {
    format!("/api/v1/conversations/{conversation}/events")
}

/// What comes up to an event of this type, which is the last of it.
#[track_caller]
fn until(stream: &mut EventStream, kind: &str) -> Vec<Told> {
    let mut heard = Vec::new();
    loop {
        let Some(told) = stream.next_within(PATIENCE) else { panic!("no {kind:?} came: {heard:#?}") };
        if told.kind == "ping" {
            continue;
        }
        heard.push(told);
        if heard.last().is_some_and(|last| last.kind == kind) {
            return heard;
        }
    }
}

/// Those that stand in the journal.
fn durable(told: &[Told]) -> Vec<Told> {
    told.iter().filter(|told| told.data["seq"].is_u64()).cloned().collect()
}

fn types(told: &[Told]) -> Vec<&str> {
    told.iter().map(|told| told.kind.as_str()).collect()
}

fn last_id(told: &[Told]) -> String {
    told.iter().rev().find_map(|told| told.id.clone()).unwrap()
}

/// The texts that a client draws, by the rules of docs/events.md.
fn drawn(told: &[Told]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for Told { kind, data: event, .. } in told {
        if kind == "hello" {
            for (text, sure) in texts.values_mut() {
                text.truncate(*sure);
            }
        }
        if !["text_delta", "message", "partial"].contains(&kind.as_str()) {
            continue;
        }
        let data = &event["data"];
        let (text, sure) = texts.entry(data["message"].as_str().unwrap().to_owned()).or_default();
        let (offset, piece) = (data["offset"].as_u64().unwrap() as usize, data["text"].as_str().unwrap());
        assert!(offset <= text.len(), "a piece is missing: {event}");
        let behind = text.split_off(offset);
        text.push_str(piece);
        let end = text.len();
        if kind == "text_delta" {
            text.push_str(behind.get(piece.len()..).unwrap_or_default());
        }
        if event["seq"].is_u64() {
            *sure = end;
        }
    }
    texts.into_iter().map(|(message, (text, _))| (message, text)).collect()
}

/// All that stands in the journal, told from its beginning.
#[track_caller]
fn whole(daemon: &Daemon<'_>, conversation: &str) -> Vec<Told> {
    until(&mut daemon.ask("GET", &path(conversation)).events(), "ready")
}

#[test]
fn a_turn_at_the_terminal_appears_in_an_open_stream_while_it_happens() {
    let bench = Bench::after_a_turn();
    let daemon = Daemon::start(&bench);
    let id = bench.conversations()[0]["id"].as_str().unwrap().to_owned();
    let mut stream = daemon.ask("GET", &path(&id)).events();
    let mut told = until(&mut stream, "ready");
    assert_eq!(told[0].kind, "hello");
    assert_eq!(told[0].data["data"]["resumed"], false);
    assert_eq!(types(&told)[1..3], ["prompt", "init"]);
    assert_eq!(told[1].data["data"]["text"], "hello MARK-a");
    assert_eq!(told[told.len() - 2].kind, "result");
    assert_eq!(told.last().unwrap().data["data"]["cursor"], last_id(&told));

    let mut turn = bench.next("SLOW 100 MARK-b").start();
    told.extend(until(&mut stream, "text_delta"));
    assert!(turn.is_running(), "it is told while it happens");
    let piece = told.last().unwrap();
    assert_eq!((&piece.data["v"], &piece.data["conversation"]), (&Value::from(1), &Value::from(id.as_str())));
    assert!(piece.data["run"] == piece.data["turn"] && piece.data["time"].is_string(), "{piece:?}");
    told.extend(until(&mut stream, "result"));
    let said = turn.ends(0).result();
    assert_eq!(told.last().unwrap().data["data"]["text"], said["text"]);
    assert!(drawn(&told).values().any(|text| said["text"] == text.as_str()), "{:#?}", drawn(&told));
    bench.rejoin(&["name", &id, "talk"]).done();
    let renamed = stream.hears("changed");
    assert_eq!(
        (&renamed.data["data"]["what"], &renamed.data["data"]["name"]),
        (&"title".into(), &"talk".into())
    );
    assert!(renamed.data["turn"].is_null());
}

#[test]
fn whoever_comes_again_with_any_id_is_told_exactly_the_rest() {
    let bench = Bench::after_a_turn();
    bench.next("THINK TOOL-RUN [echo hi] SLOW 5").done();
    let daemon = Daemon::start(&bench);
    let id = bench.conversations()[0]["id"].as_str().unwrap().to_owned();
    let all = whole(&daemon, &id);
    let ids: Vec<(usize, &String)> =
        all.iter().enumerate().filter_map(|(at, told)| Some((at, told.id.as_ref()?))).collect();
    assert!(ids.len() > 10);
    for (at, cursor) in &ids {
        let asked = if at % 2 == 0 {
            daemon.ask("GET", &path(&id)).header("Last-Event-ID", cursor)
        } else {
            daemon.ask("GET", &format!("{}?after={cursor}", path(&id)))
        };
        let again = until(&mut asked.events(), "ready");
        assert_eq!(again[0].data["data"]["resumed"], true);
        assert_eq!(durable(&again), durable(&all[at + 1..]), "behind {:?}", all[*at]);
    }
    // Both given: the header knows better.
    let (first, last) = (ids[0].1, ids[ids.len() - 1].1);
    let asked = daemon.ask("GET", &format!("{}?after={first}", path(&id))).header("Last-Event-ID", last);
    assert_eq!(types(&until(&mut asked.events(), "ready")), ["hello", "ready"]);
}

#[test]
fn over_a_kill_of_the_daemon_a_torn_tail_and_other_writers_every_record_comes_once() {
    let bench = Bench::after_a_turn();
    let mut daemon = Daemon::start(&bench);
    let id = bench.conversations()[0]["id"].as_str().unwrap().to_owned();
    let mut stream = daemon.ask("GET", &path(&id)).events();
    let mut told = until(&mut stream, "ready");
    let turn = bench.next("SLOW 150 MARK-b").start();
    told.extend(until(&mut stream, "text_delta"));
    bench.rejoin(&["name", &id, "meanwhile"]).done();
    for _ in 0..2 {
        told.extend(until(&mut stream, "text_delta"));
        daemon.kill();
        daemon = Daemon::start(&bench);
        let again = daemon.ask("GET", &path(&id)).header("Last-Event-ID", &last_id(&told));
        stream = again.events();
    }
    told.extend(until(&mut stream, "result"));
    turn.ends(0);
    // A line that was cut, by somebody who was killed while he wrote it.
    let mut journal = fs::OpenOptions::new().append(true).open(&bench.journals()[0]).unwrap();
    journal.write_all(b"{\"uuid\":\"half a rec").unwrap();
    bench.next("and on MARK-c").done();
    told.extend(until(&mut stream, "result"));
    let all = whole(&daemon, &id);
    assert_eq!(durable(&told), durable(&all));
    assert_eq!(drawn(&told), drawn(&all));
    assert_eq!(types(&durable(&all)).iter().filter(|kind| **kind == "changed").count(), 1);
}

#[test]
fn what_does_not_fit_is_said_and_what_is_deleted_ends() {
    let bench = Bench::after_a_turn();
    bench.first("another").done();
    let daemon = Daemon::start(&bench);
    let listed = bench.conversations();
    let [one, other] = [0, 1].map(|at| listed[at]["id"].as_str().unwrap().to_owned());
    let foreign = last_id(&whole(&daemon, &other));
    let mut stream = daemon.ask("GET", &path(&one)).header("Last-Event-ID", &foreign).events();
    let told = until(&mut stream, "ready");
    assert_eq!(told[0].data["data"]["resumed"], false);
    assert!(told[0].data["data"]["reset"].is_string(), "{told:#?}");
    assert_eq!(durable(&told), durable(&whole(&daemon, &one)), "from the beginning");

    let problem = daemon.ask("GET", &path(&one)).header("Last-Event-ID", "what").send().is(400);
    assert_eq!(problem["code"], "bad_request");
    assert_eq!(daemon.get(&format!("{}?afer=1-0", path(&one))).is(400)["code"], "unknown_field");
    for nobody in ["0b3f3f5e-0000-4000-8000-000000000000", "nobody"] {
        assert_eq!(daemon.get(&path(nobody)).is(404)["code"], "not_found");
    }

    bench.rejoin(&["rm", "--yes", &one]).done();
    assert_eq!(types(&until(&mut stream, "gone")), ["gone"]);
    assert_eq!(stream.next_within(PATIENCE), None, "the stream ends");
    assert_eq!(daemon.get(&path(&one)).is(404)["code"], "not_found");
}

#[test]
fn a_run_is_told_from_its_prompt_to_its_result() {
    let bench = Bench::after_a_turn();
    let second = bench.next("more MARK-b").done();
    bench.next("and more MARK-c").done();
    let daemon = Daemon::start(&bench);
    let (id, run) = (second.conversation(), second.turn());
    let path = format!("/api/v1/runs/{run}/events?conversation={id}");
    let mut stream = daemon.ask("GET", &path).events();
    let told = until(&mut stream, "result");
    assert_eq!(types(&told)[..3], ["hello", "prompt", "init"]);
    assert!(durable(&told).iter().all(|told| told.data["run"] == run.as_str()), "{told:#?}");
    assert_eq!(stream.next_within(PATIENCE), None, "the stream ends");
    let middle = told[told.len() / 2].id.clone().or(told[told.len() / 2 + 1].id.clone()).unwrap();
    let again = until(&mut daemon.ask("GET", &path).header("Last-Event-ID", &middle).events(), "result");
    assert_eq!(again.last(), told.last());
    let over = daemon.ask("GET", &path).header("Last-Event-ID", &last_id(&told)).send();
    assert_eq!(over.status, 204, "a browser need not ask again");
    assert_eq!(
        daemon.get("/api/v1/runs/0b3f3f5e-0000-4000-8000-000000000000/events").is(404)["code"],
        "not_found"
    );
}

#[test]
fn one_stream_tells_of_many_conversations_and_that_others_changed() {
    let bench = Bench::after_a_turn();
    bench.first("another").done();
    let daemon = Daemon::start(&bench);
    let listed = bench.conversations();
    let [one, other] = [0, 1].map(|at| listed[at]["id"].as_str().unwrap().to_owned());
    let seen = last_id(&whole(&daemon, &other));
    let mut stream = daemon.ask("GET", &format!("/api/v1/stream?sub={one}&sub={other}@{seen}")).events();
    let mut told = until(&mut stream, "ready");
    told.extend(until(&mut stream, "ready"));
    let hellos: BTreeMap<&str, bool> = told
        .iter()
        .filter(|told| told.kind == "hello")
        .map(|told| (told.data["conversation"].as_str().unwrap(), told.data["data"]["resumed"] == true))
        .collect();
    assert_eq!(hellos, BTreeMap::from([(one.as_str(), false), (other.as_str(), true)]));
    for told in durable(&told) {
        assert_eq!(told.data["conversation"], one.as_str());
        assert!(told.id.is_none_or(|id| id.starts_with(&format!("{one}@1-"))));
    }

    let third = bench.first("a third one").done().conversation();
    let mut heard = stream.hears("change");
    assert_eq!(heard.data["conversation"], third.as_str());
    assert_eq!(heard.data["data"]["what"][0], "new");
    while !heard.data["data"]["what"].as_array().unwrap().contains(&"idle".into()) {
        heard = stream.hears("change");
    }
    bench.rejoin(&["name", &third, "third"]).done();
    heard = stream.hears("change");
    assert_eq!(heard.data["data"], serde_json::json!({ "what": ["renamed"], "name": "third" }));
    bench.rejoin(&["name", &other, "second"]).done();
    assert_eq!(stream.hears("changed").data["conversation"], other.as_str(), "it is subscribed");
    bench.rejoin(&["rm", "--yes", &third]).done();
    assert_eq!(stream.hears("change").data["data"]["what"][0], "removed");

    let many =
        (0..201).map(|at| format!("sub=0b3f3f5e-0000-4000-8000-{at:012}")).collect::<Vec<_>>().join("&");
    assert_eq!(daemon.get(&format!("/api/v1/stream?{many}")).is(429)["code"], "too_many");
    assert_eq!(daemon.get("/api/v1/stream?sub=what").is(400)["code"], "bad_request");
    assert_eq!(daemon.get("/api/v1/stream?subs=what").is(400)["code"], "unknown_field");
}

/// Memory that the daemon really uses, in KiB, and its threads.
fn costs(daemon: &Daemon<'_>) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    (of("VmRSS:"), of("Threads:"))
}

#[test]
fn many_who_watch_cost_little_each_and_see_the_same() {
    let bench = Bench::after_a_turn();
    let daemon = Daemon::start(&bench);
    let id = bench.conversations()[0]["id"].as_str().unwrap().to_owned();
    until(&mut daemon.ask("GET", &path(&id)).events(), "ready");
    let (before, _) = costs(&daemon);
    let mut streams: Vec<EventStream> = (0..200).map(|_| daemon.ask("GET", &path(&id)).events()).collect();
    for stream in &mut streams {
        until(stream, "ready");
    }
    bench.next("SLOW 20 MARK-b").done();
    let told: Vec<Vec<Told>> = streams.iter_mut().map(|stream| durable(&until(stream, "result"))).collect();
    assert!(told.iter().all(|other| types(other) == types(&told[0])), "all are told the same");
    let (after, threads) = costs(&daemon);
    assert!(after < before + 200 * 100, "{} KiB for 200", after - before);
    assert!(threads < 40, "{threads} threads");
}

#[test]
fn whoever_does_not_read_holds_nobody_up_and_costs_no_memory() {
    let bench = Bench::after_a_turn();
    let daemon = Daemon::start(&bench);
    let id = bench.conversations()[0]["id"].as_str().unwrap().to_owned();
    let mut idle: Vec<EventStream> = (0..4).map(|_| daemon.ask("GET", &path(&id)).events()).collect();
    for stream in &mut idle {
        until(stream, "ready");
    }
    let (before, _) = costs(&daemon);
    let said = bench.next("FLOOD 24m MARK-b").done().result();
    let cursor = eventually("the hub to see the result", || {
        let told = whole(&daemon, &id);
        let last = told.iter().rev().find(|told| told.kind == "result")?.clone();
        (last.data["turn"] == said["turn"]).then(|| last_id(&told))
    });
    let (after, _) = costs(&daemon);
    assert!(after < before + (40 << 10), "{} KiB for a text of 24 MiB", after.saturating_sub(before));
    // It comes back to life, and misses nothing.
    let told = until(&mut idle[0], "result");
    assert_eq!(last_id(&told), cursor);
    let all = whole(&daemon, &id);
    let behind: Vec<_> = durable(&all).into_iter().filter(|one| one.data["turn"] == said["turn"]).collect();
    let told = durable(&told);
    assert_eq!(told.len(), behind.len());
    assert!(told.iter().map(|told| &told.data["seq"]).eq(behind.iter().map(|told| &told.data["seq"])));
}
