//! A conversation of which every label is hostile, on a terminal: nothing is obeyed, nothing is hidden.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Bench, Call, Screen};

/// A label that would set the clipboard and the title, clear the screen, begin a line, turn the text around and
/// hide the rest; what can be read of it begins and ends with these words.
fn hostile(word: &str) -> String {
    format!(
        "{word}-begins\u{1b}]52;c;eA==\u{7}\u{1b}[2J\u{9b}2J\n✓\r\t\u{202e}\u{200b}\u{7f}\u{1b}]0;{word}-ends"
    )
}

/// The same as a text, which may have lines.
fn lines(word: &str) -> String {
    hostile(word).replace('✓', "•")
}

/// A project in a directory with such a name.
fn place(bench: &Bench) -> PathBuf {
    let dir = bench.outside("places").join(hostile("place").replace('/', "_"));
    fs::create_dir_all(&dir).unwrap();
    dir.canonicalize().unwrap()
}

/// A conversation there with two turns, labelled by somebody who writes journals by hand.
fn conversation(bench: &Bench, dir: &Path) -> String {
    let said = bench.first(&format!("look {} MARK-a", lines("prompt"))).within(dir).done();
    bench.next("TOOL-RUN [echo hi] MARK-b").within(dir).done();
    let journal = bench.journals()[0].clone();
    let text = fs::read_to_string(&journal).unwrap();
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut more = Vec::new();
    let note = |subtype: &str, payload: Value| {
        let mut record = records[0].clone();
        record["uuid"] = json!(uuid::Uuid::new_v4());
        record["subtype"] = json!(subtype);
        record["systemPayload"] = payload;
        record
    };
    more.push(note("title", json!({"name": hostile("name")})));
    more.push(note("tags", json!({"add": [hostile("tag")]})));
    // A third turn, all of it foreign.
    let turn = uuid::Uuid::new_v4();
    let last = records.iter().rfind(|record| record["subtype"] == "receipt").unwrap();
    let message = |uuid: uuid::Uuid, parent: &Value, kind: &str, parts: Value| {
        let role = if kind == "user" { "user" } else { "model" };
        json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": records[0]["sessionId"], "type": kind,
            "timestamp": last["timestamp"], "cwd": dir, "version": hostile("version"),
            "gitBranch": hostile("git"), "model": hostile("model"), "message": {"role": role, "parts": parts},
        })
    };
    let parent = records.iter().rfind(|record| record["type"] == "assistant").unwrap()["uuid"].clone();
    let attachment = json!({"name": hostile("file"), "type": hostile("media"), "size": 1, "sha256": "00"});
    more.push(message(turn, &parent, "user", json!([{"text": lines("words")}, {"attachment": attachment}])));
    let call =
        json!({"functionCall": {"id": "1", "name": hostile("tool"), "args": {"command": lines("args")}}});
    let result =
        json!({"functionResponse": {"id": "1", "name": "x", "response": {"output": lines("output")}}});
    let answer = uuid::Uuid::new_v4();
    more.push(message(answer, &json!(turn), "assistant", json!([{"text": lines("answer")}, call])));
    more.push(message(uuid::Uuid::new_v4(), &json!(answer), "tool_result", json!([result])));
    let mut receipt = last.clone();
    receipt["uuid"] = json!(uuid::Uuid::new_v4());
    receipt["parentUuid"] = json!(turn);
    let body = &mut receipt["systemPayload"];
    body["turn"] = json!(turn);
    body["agent"] = json!(hostile("agent"));
    body["model"] = json!(hostile("model"));
    body["plan"] = json!({"decision": "resume", "session": "\u{1b}]0;\u{7}\n\u{202e}session", "catch_up": 0});
    body["outcome"] = json!("timeout");
    body["error"] = json!(hostile("reason"));
    more.push(receipt);
    more.push(note("head", json!({"to": turn, "branch": hostile("branch")})));
    let mut file = OpenOptions::new().append(true).open(journal).unwrap();
    for record in more {
        writeln!(file, "{record}").unwrap();
    }
    said.conversation()
}

/// `rejoin` on a terminal, in that directory.
fn on_terminal(bench: &Bench, dir: &Path, args: &[&str]) -> String {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{}'", arg.replace('\'', r"'\''"))).collect();
    let command = format!("{} {}", env!("CARGO_BIN_EXE_rejoin"), quoted.join(" "));
    let call = Call::of(bench, "script", &["-qc", &command, "/dev/null"]).env("TERM", "xterm");
    let mut command = call.env("COLUMNS", "400").within(dir).command();
    let mut terminal = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Who types no, and nothing more, stays: `script` would wait two seconds for one who goes.
    terminal.stdin.as_mut().unwrap().write_all(b"n\n\x04").unwrap();
    let mut raw = Vec::new();
    terminal.stdout.take().unwrap().read_to_end(&mut raw).unwrap();
    terminal.wait().unwrap();
    String::from_utf8(raw).unwrap()
}

/// What of a terminal's input would be obeyed, besides line ends and our own sequences.
fn obeyed(raw: &str) -> Option<String> {
    let mut rest = raw.replace("\r\n", "\n");
    while let Some(at) = rest.find("\u{1b}[") {
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| c.is_ascii_alphabetic())?;
        let numbers = &sequence[..end];
        let ours = match sequence.as_bytes()[end] {
            b'm' => numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'),
            b'A'..=b'D' | b'G' => numbers.bytes().all(|byte| byte.is_ascii_digit()),
            b'J' | b'K' => ["", "0"].contains(&numbers),
            b'h' | b'l' => ["?25", "?2004", "?2026"].contains(&numbers),
            _ => false,
        };
        if !ours {
            return Some(format!("the sequence {numbers:?} in {rest:?}"));
        }
        rest.replace_range(at..=at + 2 + end, "");
    }
    // The line editor goes back to the beginning of its line.
    let rest = rest.replace('\r', "");
    let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{200b}".contains(c);
    let found = rest.find(bad).map(|at| format!("a character in {:?}", &rest[at..]));
    found.or_else(|| rest.contains("\n✓␍").then(|| format!("a label that begins a line in {rest}")))
}

/// The first of these labels that is hidden, or cut without a mark. Those that may be cut end with `…`.
fn hidden(raw: &str, words: &[&str]) -> Option<String> {
    words.iter().find_map(|word| {
        let end = if word.ends_with('…') { "…".to_owned() } else { format!("{word}-ends") };
        let begin = format!("{}-begins", word.trim_end_matches('…'));
        let shown = raw.find(&begin).is_some_and(|at| raw[at..].contains(&end));
        (!shown).then(|| format!("{word} in {raw}"))
    })
}

#[track_caller]
fn harmless(what: &str, raw: &str) {
    assert_eq!(obeyed(raw), None, "{what}");
}

#[test]
fn no_command_obeys_a_label_or_hides_what_it_says() {
    let bench = Bench::new();
    let dir = place(&bench);
    let id = conversation(&bench, &dir);
    let missing = hostile("missing");
    let step = "\"a\\e]0;b\\n\": { run: 'true' }";
    fs::write(dir.join("test.flow.yaml"), format!("steps: {{ {step} }}")).unwrap();
    let flow = dir.join("good.flow.yaml");
    fs::write(&flow, "name: \"flow\\e]0;name\"\nsteps: { a: { run: \"printf 'a\\\\033]0;b'\" } }").unwrap();
    let bundle = bench.outside("out").join(hostile("bundle"));
    let bundle = bundle.to_str().unwrap();
    let manual = dir.join("man").to_string_lossy().into_owned();
    let all: &[(&[&str], &[&str])] = &[
        (
            &["show", &id],
            &[
                "name", "tag", "place", "prompt", "words", "answer", "tool…", "file", "media…", "agent",
                "branch",
            ],
        ),
        (&["show", &id, "--tree"], &["name", "tag", "place", "agent", "branch", "reason"]),
        (&["show", &id, "--json"], &["name", "tag", "place", "words", "answer", "tool", "output", "branch"]),
        (&["show", &id, "--raw"], &["name", "tag", "place", "words", "git", "model", "reason", "version"]),
        (&["show", &missing], &["missing"]),
        (&["ls"], &["name"]),
        (&["ls", "--all-projects"], &["name", "place"]),
        (&["ls", "--json"], &["name", "tag", "place", "agent", "git", "branch"]),
        (&["ls", "--tag", &missing], &[]),
        (&["search", "words"], &["name…"]),
        (&["search", "words", "--json"], &["name", "words"]),
        (&["search", &missing], &["missing"]),
        (&["stats", "--by", "agent"], &["agent"]),
        (&["stats", "--by", "model"], &[]),
        (&["stats", "--by", "project"], &["place"]),
        (&["why", &id], &[]),
        (&["why", &id, "-a", "demo"], &["place"]),
        (&["fsck", &id], &[]),
        (&["doctor"], &[]),
        (&["agents"], &[]),
        (&["export", &id, "--format", "md"], &["words", "answer", "tool", "place"]),
        (&["export", &id, "--format", "html"], &["words", "answer", "tool"]),
        (&["export", &id, "--format", "jsonl"], &["words", "name", "agent"]),
        (&["export", &id, "--format", "json"], &["words", "name", "agent"]),
        (&["export", &id, "--format", "bundle"], &["words", "name"]),
        (&["export", &id, "--format", "bundle", "--to", bundle], &["bundle"]),
        (&["import", bundle], &["place"]),
        (&["import", &missing], &["missing"]),
        (&["tag", &id, "+new"], &["tag"]),
        (&["tag", &id, &missing], &["missing"]),
        (&["name", &id, &missing], &["missing"]),
        (&["branch", &id, "--at", &missing], &["missing"]),
        (&["branch", &id, "--at", "@", "--name", &missing], &[]),
        (&["rewind", &id, "--to", &missing], &["missing"]),
        (&["rewind", &id, "0"], &[]),
        (&["run", "-r", &id, "-a", "demo", "--dry-run", "hi"], &["place"]),
        (&["run", "-r", &id, "-a", "demo", "--dry-run", "-o", "json", "hi"], &["place"]),
        (&["run", "-r", &id, "-a", &missing, "hi"], &["missing"]),
        (&["run", &format!("--{missing}")], &[]),
        (&["run", "-r", &id, "-a", "demo", "--cwd", &missing, "hi"], &["missing"]),
        (&["run", "-a", "demo", "-o", "stream-json", &missing], &["place"]),
        (&["run", "-a", "demo", "-f", &missing], &["missing"]),
        (&["flow", "validate", "test.flow.yaml"], &[]),
        (&["flow", "validate", &missing], &["missing"]),
        (&["flow", "graph", "good.flow.yaml"], &[]),
        (&["flow", "run", "good.flow.yaml", "--dry-run"], &[]),
        (&["flow", "run", "good.flow.yaml"], &[]),
        (&["flow", "ls"], &["place"]),
        (&["flow", "show", "@"], &[]),
        (&["completions", &missing], &["missing"]),
        (&["man", "--to", &manual], &["place"]),
        (&["mv", &missing, "."], &["missing"]),
        (&["prune", "--older-than", "0s", "--dry-run"], &["name"]),
        (&["rm", &id], &["name…"]),
        (&["edit", &id, &missing, "-f", "-"], &["missing"]),
        (&["retry", &id, "--at", &missing], &["missing"]),
        (&[&missing], &["missing"]),
    ];
    let mut problems = Vec::new();
    for (args, words) in all {
        let raw = on_terminal(&bench, &dir, args);
        problems.extend(obeyed(&raw).map(|what| format!("{args:?} obeys {what}")));
        problems.extend(hidden(&raw, words).map(|what| format!("{args:?} hides {what}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn a_live_conversation_and_the_picker_obey_no_label() {
    let bench = Bench::new();
    let id = conversation(&bench, &place(&bench));
    let Some(mut screen) = Screen::open(&bench, &format!("chat -r {id} -a demo")) else { return };
    screen.shows("words-begins").shows("words-ends").shows("answer-begins").shows("answer-ends");
    screen.says("demo", "/show --tree").shows("branch-ends").shows("demo › ").types("/branch \t\t");
    // What was typed is taken back.
    screen.shows("words-begins").types("\u{15}on MARK-c\r").shows("✓").says("demo", "/quit");
    // The line editor rings a bell where there is more than one way to go on.
    let raw = screen.raw().replacen('\u{7}', "", 2);
    harmless("chat", &raw);
    screen.ends(0);
    let mut screen = Screen::open(&bench, "ls --all-projects -i").unwrap();
    screen.shows("name-be").types("\r").shows("words-ends");
    let raw = screen.raw();
    harmless("ls -i", &raw);
    screen.ends(0);
}

#[test]
fn a_question_and_its_options_are_shown_and_not_obeyed() {
    let bench = Bench::new();
    let question = json!({"text": lines("question"), "choices": [hostile("one"), hostile("two")]});
    let Some(mut screen) = Screen::open(&bench, &format!("run --plain -a demo 'ASK {question}'")) else {
        return;
    };
    screen.shows("question-begins").shows("question-ends").shows("one-begins").shows("one-ends");
    screen.shows("two-begins").shows("two-ends").types("2\r").shows("You answered “two-begins");
    harmless("a question", &screen.raw());
    screen.ends(0);
}

#[test]
fn shells_are_offered_no_label_that_they_would_show_as_it_is() {
    let bench = Bench::new();
    let dir = place(&bench);
    let id = conversation(&bench, &dir);
    for words in [&["show", ""][..], &["ls", "--tag", ""], &["tag", "@", "+"]] {
        let call = bench.rejoin(&["--", "rejoin"]).with(words).env("_REJOIN_COMPLETE", "fish").within(&dir);
        let offered = call.done();
        harmless(&format!("{words:?}"), &offered.stdout().replace('\t', " "));
        assert!(words[0] != "show" || offered.stdout().contains(&id[..8]), "{}", offered.stdout());
    }
}

#[test]
fn a_program_gets_labels_as_they_are() {
    let bench = Bench::new();
    let dir = place(&bench);
    let id = conversation(&bench, &dir);
    let listed = bench.rejoin(&["ls", "--json"]).within(&dir).done().json();
    assert_eq!(listed[0]["name"], hostile("name"));
    let raw = bench.rejoin(&["show", &id, "--raw"]).done();
    assert_eq!(raw.stdout(), fs::read_to_string(&bench.journals()[0]).unwrap());
    // What is for people is made visible for them wherever it goes.
    harmless("show", bench.rejoin(&["show", &id]).done().stdout());
}
