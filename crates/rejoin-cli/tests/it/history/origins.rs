//! Where a conversation came from decides what of its settings counts.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Bench, Said, fake_claude};

/// A journal as somebody else could have made it, outside of the home.
struct Foreign {
    /// What it begins with, byte for byte, and how many lines that is.
    beginning: (String, usize),
    lines: Vec<Value>,
}

impl Foreign {
    /// That of the only conversation on the bench, which is then removed.
    fn taken_from(bench: &Bench) -> Self {
        let lines = bench.records();
        bench.rejoin(&["rm", "@", "--yes"]).done();
        Self { beginning: (String::new(), 0), lines }
    }

    /// One that begins like the only conversation on the bench.
    fn longer_than(bench: &Bench) -> Self {
        let lines = bench.records();
        Self { beginning: (fs::read_to_string(&bench.journals()[0]).unwrap(), lines.len()), lines }
    }

    fn lives_in(mut self, dir: &str) -> Self {
        self.lines[0]["systemPayload"]["dir"] = dir.into();
        self
    }

    /// Adds a record of rejoin's own about the last turn.
    fn note(mut self, subtype: &str, payload: Value) -> Self {
        let mut record = self.lines.last().unwrap().clone();
        record["uuid"] = uuid::Uuid::new_v4().to_string().into();
        record["subtype"] = subtype.into();
        record["systemPayload"] = payload;
        self.lines.push(record);
        self
    }

    fn level(self, level: &str) -> Self {
        self.note("permissions", json!({ "ceiling": level }))
    }

    fn bytes(&self) -> String {
        let (beginning, count) = &self.beginning;
        let lines = self.lines.iter().skip(*count).map(|line| format!("{line}\n"));
        beginning.clone() + &lines.collect::<String>()
    }

    fn id(&self) -> &str {
        self.lines[0]["sessionId"].as_str().unwrap()
    }

    fn import(&self, bench: &Bench) -> Said {
        let file = bench.outside("in").join("foreign.jsonl");
        fs::write(&file, self.bytes()).unwrap();
        bench.rejoin(&["import", file.to_str().unwrap()]).done()
    }
}

fn plan(bench: &Bench, args: &[&str]) -> Value {
    bench.rejoin(&["run", "-c", "--dry-run", "-o", "json", "on"]).with(args).done().json()
}

fn has(plan: &Value, arg: &str) -> bool {
    plan["argv"].as_array().unwrap().iter().any(|word| word == arg)
}

fn warnings(plan: &Value) -> String {
    plan["warnings"].to_string()
}

#[test]
fn an_import_widens_and_moves_nothing() {
    let bench = Bench::after_a_turn();
    let foreign = Foreign::taken_from(&bench).lives_in("/etc").level("full");
    let intent = json!({ "agent": "demo", "run": 1, "plan": {"decision": "fresh", "reason": "first_turn", "replayed": 0}, "model": "dear", "session_dir": "/etc", "bytes": 1 });
    foreign.note("intent", intent).import(&bench);
    let plan_of = plan(&bench, &[]);
    let project = bench.project();
    assert_eq!(Path::new(plan_of["cwd"].as_str().unwrap()), project);
    assert!(!has(&plan_of, "--permissions=full") && !has(&plan_of, "--model=dear"), "{plan_of}");
    assert!(!plan_of["env"].to_string().contains("AGENT"), "{plan_of}");
    for word in
        ["/etc", "level full", "dear", "another home", "--cwd", "--permissions", "--model", "--session-dir"]
    {
        assert!(warnings(&plan_of).contains(word), "{word}: {plan_of}");
    }
    let shown = bench.rejoin(&["show"]).done();
    assert!(shown.stdout().contains("level full") && shown.stdout().contains("/etc"), "{}", shown.stdout());
    bench.rejoin(&["why"]).done().tells(&["not count here", "level full"]);

    let run = bench.next("on MARK-b").done();
    assert_eq!(Path::new(&run.events_of("init")[0]["cwd"].as_str().unwrap()), &project);
    assert!(run.warned("from_elsewhere").contains("level full"));
    // From here on it lives where its first turn here ran, and nobody is told again.
    let next = bench.next("on MARK-c").within(bench.subdir("deep")).done();
    assert_eq!(Path::new(&next.events_of("init")[0]["cwd"].as_str().unwrap()), &project);
    next.calm().resumed(&run.session(), 0);
}

#[test]
fn claude_is_not_started_without_asking_in_a_directory_of_somebodys_choice() {
    let bench = Bench::after_a_turn();
    let foreign = Foreign::taken_from(&bench).lives_in("/etc").level("full");
    bench.claude_is(&fake_claude(&bench.outside("bin"), "claude"), "");
    foreign.import(&bench);
    let plan = plan(&bench, &["-a", "claude"]);
    assert!(!plan["argv"].to_string().contains("bypassPermissions"), "{plan}");
    assert_eq!(Path::new(plan["cwd"].as_str().unwrap()), bench.project());
}

#[test]
fn what_is_said_here_counts_from_then_on() {
    let bench = Bench::after_a_turn();
    Foreign::taken_from(&bench).lives_in("/etc").level("full").import(&bench);
    let dir = bench.subdir("deep");
    let said = ["--permissions", "full", "--model", "dear", "--cwd", dir.to_str().unwrap()];
    bench.next("on MARK-b").with(&said).done().calm();
    let next = plan(&bench, &[]);
    assert!(has(&next, "--permissions=full") && has(&next, "--model=dear"), "{next}");
    assert_eq!(Path::new(next["cwd"].as_str().unwrap()), dir);
}

#[test]
fn an_imported_level_narrows() {
    let bench = Bench::after_a_turn();
    Foreign::taken_from(&bench).level("read").import(&bench);
    bench.config("[agents.demo]\npermissions = \"full\"\n");
    assert!(has(&plan(&bench, &[]), "--permissions=read"));
    // Neither of the two is narrower than the other.
    let bench = Bench::after_a_turn();
    Foreign::taken_from(&bench).level("edit").import(&bench);
    bench.next("on").ends(5).tells(&["another home", "edit", "--permissions"]);
}

#[test]
fn a_project_that_is_named_for_an_import_is_where_it_lives() {
    let bench = Bench::after_a_turn();
    let foreign = Foreign::taken_from(&bench).lives_in("/etc");
    let file = bench.outside("in").join("foreign.jsonl");
    fs::write(&file, foreign.bytes()).unwrap();
    let (file, dir) = (file.to_str().unwrap(), bench.subdir("deep"));
    bench.rejoin(&["import", file, "--project", "/nowhere"]).ends(4).tells(&["/nowhere"]);
    assert!(bench.journals().is_empty(), "refused before anything is taken in");
    bench.rejoin(&["import", file, "--project", dir.to_str().unwrap()]).done();
    let run = bench.next("on MARK-b").done();
    run.calm();
    assert_eq!(Path::new(run.events_of("init")[0]["cwd"].as_str().unwrap()), dir);
}

#[test]
fn what_is_added_elsewhere_to_a_conversation_of_ours_widens_and_moves_nothing() {
    let bench = Bench::new();
    let dir = bench.subdir("deep");
    let session = bench.first("one MARK-a").with(&["--permissions", "read"]).within(&dir).done().session();
    let moved = json!({ "project": bench.project(), "dir": "/etc" });
    let longer = Foreign::longer_than(&bench).level("full").note("moved", moved);
    longer.import(&bench).tells(&["goes on with what was added"]);
    let next = plan(&bench, &[]);
    assert!(has(&next, "--permissions=read"), "{next}");
    assert_eq!(Path::new(next["cwd"].as_str().unwrap()), dir);
    bench.next("two MARK-b").done().resumed(&session, 0).knows(&["a", "b"]);
}

#[test]
fn what_is_copied_in_by_hand_is_not_ours() {
    let bench = Bench::after_a_turn();
    let foreign = Foreign::taken_from(&bench).lives_in("/etc").level("full");
    bench.first("another one").done();
    let directory = bench.journals()[0].parent().unwrap().to_owned();
    fs::write(directory.join(format!("{}.jsonl", foreign.id())), foreign.bytes()).unwrap();
    let plan = bench.rejoin(&["run", "-r", foreign.id(), "--dry-run", "-o", "json", "on"]).done().json();
    assert!(!has(&plan, "--permissions=full"), "{plan}");
    assert_eq!(Path::new(plan["cwd"].as_str().unwrap()), bench.project());
}

#[test]
fn a_pin_of_ours_in_a_journal_from_elsewhere_is_not_believed() {
    let bench = Bench::new();
    let session = bench.first("one MARK-a").done().session();
    // Whoever got an export knows the name of this home.
    let foreign = Foreign::taken_from(&bench);
    assert!(foreign.bytes().contains(&session));
    foreign.import(&bench);
    bench.next("two MARK-b").done().fresh("store_changed", 1);
}

/// Whoever got an export knows all names that pins are told by.
#[test]
fn a_pin_that_is_added_elsewhere_makes_no_other_session_be_resumed() {
    let bench = Bench::new();
    let private = bench.first("private MARK-p").done().session();
    bench.rejoin(&["rm", "@", "--yes"]).done();
    let session = bench.first("one MARK-a").done().session();
    let mut marks = vec!["a"];
    for mark in ["b", "c"] {
        let longer = Foreign::longer_than(&bench);
        let pin =
            longer.lines.iter().rfind(|line| line["subtype"] == "pin").unwrap()["systemPayload"].clone();
        let (mut mine, mut other) = (pin.clone(), pin);
        (mine["state"], mine["why"]) = ("retired".into(), "forged".into());
        other["session"] = private.as_str().into();
        other.as_object_mut().unwrap().remove("witness");
        longer.note("pin", mine).note("pin", other).import(&bench).tells(&["goes on with what was added"]);
        marks.push(mark);
        // The session that was ours before is still known to be.
        bench.next(&format!("on MARK-{mark}")).done().resumed(&session, 0).knows(&marks);
    }
}

/// Where a journal lies below a project that moves is its own word.
#[test]
fn what_goes_along_with_a_project_that_moves_lives_where_the_user_says() {
    for (below, goes_along) in [("../../../../../../../../etc", false), ("link-to-etc", true)] {
        let bench = Bench::after_a_turn();
        let (old, new) = (bench.outside("code").join("old"), bench.outside("code").join("new"));
        let mut foreign = Foreign::taken_from(&bench);
        foreign.lines[0]["systemPayload"]["project"] = old.join(below).to_str().unwrap().into();
        foreign.import(&bench);
        fs::create_dir(&new).unwrap();
        std::os::unix::fs::symlink("/etc", new.join("link-to-etc")).unwrap();
        let moved = bench.rejoin(&["mv", old.to_str().unwrap(), new.to_str().unwrap()]);
        if goes_along {
            moved.done()
        } else {
            moved.ends(4)
        };
        let next = ["run", "-r", foreign.id(), "--dry-run", "-o", "json", "on"];
        let plan = bench.rejoin(&next).within(&new).done().json();
        assert_eq!(Path::new(plan["cwd"].as_str().unwrap()), new, "{below}");
    }
}

/// A home as 0.1 left it.
fn forget_origins(bench: &Bench) {
    fs::remove_dir_all(bench.home().join("origins")).unwrap();
}

#[test]
fn conversations_that_an_older_rejoin_made_here_stay_ours() {
    let bench = Bench::new();
    let dir = bench.subdir("deep");
    let first = bench.first("one MARK-a").with(&["--permissions", "full"]).within(&dir).done();
    forget_origins(&bench);
    let plan_of = |id: &str| bench.rejoin(&["run", "-r", id, "--dry-run", "-o", "json", "on"]).done().json();
    let id = first.conversation();
    for _ in 0..2 {
        let plan = plan_of(&id);
        assert!(has(&plan, "--permissions=full"), "{plan}");
        assert_eq!(Path::new(plan["cwd"].as_str().unwrap()), dir);
        // Now with the inventory.
        bench.first("another one").done();
    }
    bench.rejoin(&["run", "-r", &id, "-o", "stream-json", "two MARK-b"]).done().resumed(&first.session(), 0);
}

#[test]
fn what_an_older_rejoin_took_in_is_not_ours_even_after_a_turn_here() {
    let bench = Bench::after_a_turn();
    let mut foreign = Foreign::taken_from(&bench).lives_in("/etc").level("full");
    foreign.lines.retain(|line| line["subtype"] != "pin");
    // An import makes the file later than its first record.
    foreign.lines[0]["timestamp"] = "2026-01-01T00:00:00Z".into();
    for line in &mut foreign.lines {
        if let Some(intent) = line["systemPayload"].as_object_mut() {
            intent.remove("pin");
        }
    }
    foreign.import(&bench);
    forget_origins(&bench);
    for _ in 0..2 {
        let plan = plan(&bench, &[]);
        assert!(!has(&plan, "--permissions=full"), "{plan}");
        bench.next("on").done();
    }
}

#[test]
fn a_damaged_note_of_what_was_said_lets_nothing_count() {
    let bench = Bench::after_a_turn();
    let foreign = Foreign::taken_from(&bench).level("full");
    foreign.import(&bench);
    bench.next("on").with(&["--permissions", "full"]).done();
    let note = bench.home().join("origins").join(format!("{}.json", foreign.id()));
    for damaged in ["", "{\"permissions\":\"everything\"}", "\u{0}\u{0}"] {
        fs::write(&note, damaged).unwrap();
        assert!(!has(&plan(&bench, &[]), "--permissions=full"));
    }
}
