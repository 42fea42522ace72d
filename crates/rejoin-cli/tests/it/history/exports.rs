//! `export` and `import`: conversations that leave and come back.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Bench, Call};

/// A call in another home on the same bench.
fn elsewhere<'a>(bench: &'a Bench, args: &[&str]) -> Call<'a> {
    bench.rejoin(args).env("REJOIN_HOME", bench.outside("other-home"))
}

fn bundle(bench: &Bench) -> String {
    let file = bench.outside("out").join("talk.rejoin");
    bench.rejoin(&["export", "@", "--format", "bundle", "--to", file.to_str().unwrap()]).done();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_bundle_round_trips_byte_for_byte_and_its_pins_are_only_history() {
    let bench = Bench::after_a_turn();
    bench.next("two MARK-b").done();
    let file = bundle(&bench);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    elsewhere(&bench, &["import", &file]).done().tells(&["is here now"]);
    elsewhere(&bench, &["import", &file]).done().tells(&["here already"]);
    let there = elsewhere(&bench, &["show", "--raw"]).done();
    assert_eq!(there.stdout(), bench.rejoin(&["show", "--raw"]).done().stdout());
    let again = elsewhere(&bench, &["export", "@", "--format", "bundle"]).done();
    assert_eq!(again.stdout(), fs::read_to_string(&file).unwrap());
    let next = elsewhere(&bench, &["run", "-c", "-o", "json", "three MARK-c"]).done();
    let plan = &next.json()["plan"];
    assert_eq!((&plan["reason"], &plan["replayed"]), (&"store_changed".into(), &2.into()));
}

#[test]
fn a_conversation_that_went_on_elsewhere_comes_back_and_resumes_here() {
    let bench = Bench::new();
    let session = bench.first("one MARK-a").done().session();
    let file = bundle(&bench);
    elsewhere(&bench, &["import", &file]).done();
    elsewhere(&bench, &["run", "-c", "-a", "demo2", "two MARK-b"]).done();
    elsewhere(&bench, &["export", "@", "--format", "bundle", "--to", &file]).done();
    bench.rejoin(&["import", &file]).done().tells(&["goes on with what was added"]);
    bench.hand_to("demo", "three MARK-c").done().resumed(&session, 1).knows(&["a", "b", "c"]);
    let refused = elsewhere(&bench, &["run", "-c", "four MARK-d"]).done();
    drop(refused);
    elsewhere(&bench, &["export", "@", "--format", "bundle", "--to", &file]).done();
    bench.rejoin(&["import", &file]).ends(2).tells(&["has gone another way"]);
}

#[test]
fn what_came_from_elsewhere_is_as_old_as_it_was() {
    let bench = Bench::after_a_turn();
    let file = bundle(&bench);
    let newest =
        elsewhere(&bench, &["run", "-a", "demo", "-o", "stream-json", "newer"]).done().conversation();
    elsewhere(&bench, &["import", &file]).done();
    let list = elsewhere(&bench, &["ls", "--json"]).done().json();
    assert_eq!((list[0]["id"].as_str(), list.as_array().unwrap().len()), (Some(newest.as_str()), 2));
    let shown = elsewhere(&bench, &["show", "@", "--json"]).done().json();
    assert_eq!(shown["id"], newest.as_str());
    let next = elsewhere(&bench, &["run", "-c", "-o", "stream-json", "on"]).done();
    assert_eq!(next.conversation(), newest);
}

#[test]
fn a_damaged_bundle_is_refused_whole() {
    let bench = Bench::after_a_turn();
    let file = bundle(&bench);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let newer = [b"{\"rejoin_bundle\":9,", &whole[b"{\"rejoin_bundle\":1,".len()..]].concat();
    for (bytes, word) in [
        (flipped.as_slice(), "hash"),
        (&whole[..whole.len() - 5], "damaged"),
        (&whole[..whole.len() / 2], "damaged"),
        (&newer, "newer rejoin"),
        (b"{\"uuid\":1}\n", "neither a bundle nor a journal"),
        (b"", "neither a bundle nor a journal"),
        (&[0xff, 0xfe], "neither a bundle nor a journal"),
    ] {
        fs::write(&file, bytes).unwrap();
        elsewhere(&bench, &["import", &file]).ends(2).tells(&[word]);
        assert_eq!(elsewhere(&bench, &["ls", "--all-projects", "--json"]).done().stdout().trim(), "[]");
    }
    elsewhere(&bench, &["import", "nowhere.rejoin"]).ends(4).tells(&["cannot read nowhere.rejoin"]);
}

#[test]
fn a_plain_journal_is_taken_in_and_given_a_project() {
    let bench = Bench::after_a_turn();
    let file = bench.outside("out").join("talk.jsonl");
    bench.rejoin(&["export", "@", "--format", "jsonl", "--to", file.to_str().unwrap()]).done();
    let project = bench.outside("checkout");
    let import = ["import", file.to_str().unwrap(), "--project", project.to_str().unwrap()];
    // A record that was cut stays cut, and is not glued to the one that says where it belongs now.
    OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{\"uuid\":").unwrap();
    elsewhere(&bench, &import).done();
    let projects = fs::read_dir(bench.outside("other-home").join("projects")).unwrap();
    assert_eq!(projects.count(), 1, "it was never among those of the project it came from");
    let next = elsewhere(&bench, &["run", "-c", "-o", "json", "two MARK-b"]).within(&project).done();
    assert_eq!(next.json()["plan"]["replayed"], 1);
}

#[test]
fn secrets_and_the_home_directory_can_be_taken_out() {
    let bench = Bench::new();
    let home = bench.lab.home().to_str().unwrap().to_owned();
    let key = "ghp_abcDEF0123456789abcDEF0123456789";
    bench.first(&format!("deploy with {key} from {home}/keys, password=hunter2hunter2")).done();
    for format in ["md", "html", "json", "jsonl", "bundle"] {
        let export = ["export", "@", "--format", format];
        let open = bench.rejoin(&export).done();
        assert!(open.stdout().contains(key), "{format}");
        let said = bench.rejoin(&export).with(&["--redact"]).env("HOME", &home).done();
        for secret in [key, "hunter2", &home] {
            assert!(!said.stdout().contains(secret), "{format}: {}", said.stdout());
        }
        said.tells(&["redacted:", "github token", "password", "home path"]);
        if format == "jsonl" {
            said.events();
        }
        if format == "bundle" {
            let file = bench.outside("out").join("redacted");
            fs::write(&file, said.stdout()).unwrap();
            elsewhere(&bench, &["import", file.to_str().unwrap()]).done();
        }
    }
}

#[test]
fn the_same_secrets_are_told_whatever_the_format() {
    let bench = Bench::new();
    let home = bench.lab.home().to_str().unwrap().to_owned();
    let prompt = format!(
        "token ghp_abcDEF0123456789abcDEF0123456789\n{home}/x, {home}/y, /home/someone-else/z\n\
         Set-Cookie: sid=crumble; Path=/\nAuthorization: Basic dXNlcjpzZXNhbWU=\n\
         password = \"correct horse\"\nhttps://ann:staple@host/?token=battery\n\
         -----BEGIN PRIVATE KEY-----\nMIIEabc\n-----END PRIVATE KEY-----"
    );
    bench.first(&prompt).done();
    bench.next("TOOL-RUN [echo password=hunter2hunter2]").done();
    let told = ["md", "html", "json", "jsonl", "bundle"].map(|format| {
        let export = ["export", "@", "--redact", "--format", format];
        let said = bench.rejoin(&export).env("HOME", &home).done();
        for secret in [
            "ghp_",
            &home,
            "someone-else",
            "crumble",
            "dXNlcj",
            "horse",
            "staple",
            "battery",
            "MIIE",
            "hunter2",
        ] {
            assert!(!said.stdout().contains(secret), "{format} tells {secret}: {}", said.stdout());
        }
        said.stderr().lines().find(|line| line.starts_with("redacted:")).unwrap().to_owned()
    });
    assert!(told.iter().all(|line| *line == told[0]), "{told:#?}");
    for what in ["1 github token", "1 home path", "1 user name", "1 cookie", "2 passwords", "1 private key"] {
        assert!(told[0].contains(what), "{what}: {}", told[0]);
    }
}

#[test]
fn a_secret_that_was_written_in_two_pieces_is_taken_out() {
    let bench = Bench::after_a_turn();
    let journal = bench.journals()[0].clone();
    let mut lines: Vec<String> = fs::read_to_string(&journal).unwrap().lines().map(str::to_owned).collect();
    let at = lines
        .iter()
        .rposition(|line| line.contains("\"type\":\"assistant\"") && line.contains("parts"))
        .unwrap();
    let mut piece: serde_json::Value = serde_json::from_str(&lines[at]).unwrap();
    for (number, text) in [(1, " the key is ghp_abcDEF01234"), (2, "56789abcDEF0123456789, use it")] {
        piece["message"]["parts"] = serde_json::json!([{ "text": text }]);
        lines.insert(at + number, piece.to_string());
    }
    fs::write(&journal, lines.join("\n") + "\n").unwrap();
    for format in ["md", "html", "json", "jsonl", "bundle"] {
        let said = bench.rejoin(&["export", "@", "--redact", "--format", format]).done();
        let found = said.stdout().contains("ghp_") || said.stdout().contains("56789abc");
        assert!(!found, "{format}: {}", said.stdout());
        assert!(said.stdout().contains("the key is [redacted github token], use it"), "{format}");
        if format == "bundle" {
            let file = bench.outside("out").join("redacted");
            fs::write(&file, said.stdout()).unwrap();
            elsewhere(&bench, &["import", file.to_str().unwrap()]).done();
            let shown = elsewhere(&bench, &["show", "@"]).done();
            assert!(
                shown.stdout().contains("the key is [redacted github token], use it"),
                "{}",
                shown.stdout()
            );
        }
    }
}

#[test]
fn a_secret_that_the_description_of_a_call_cuts_is_taken_out() {
    let bench = Bench::new();
    // The description of a call ends right before the `@`.
    let (before, secret) = ("true ", "postgres://app:Zq8vT3nRw7Lk@db/x");
    let pad = "x".repeat(200 - before.len() - 1 - secret.find('@').unwrap());
    bench.first(&format!("TOOL-RUN {before}{pad} {secret}")).done();
    for format in ["md", "html", "json", "jsonl", "bundle"] {
        let export = ["export", "@", "--format", format];
        assert!(bench.rejoin(&export).done().stdout().contains("Zq8vT3"), "{format}");
        let said = bench.rejoin(&export).with(&["--redact"]).done();
        assert!(!said.stdout().contains("Zq8vT3"), "{format}: {}", said.stdout());
        said.tells(&["redacted: 1 address password"]);
        if format == "json" {
            let call = &said.json()["turns"][0]["tool_calls"][0];
            assert!(call["description"].as_str().unwrap().starts_with("true xxx"), "{call}");
        }
    }
}

#[test]
fn what_is_exported_to_be_read() {
    let bench = Bench::new();
    bench.first("is 1 < 2 & \"so\" on?\n\n```\ncode\n```").done();
    bench.next("TOOL-RUN [echo '```']").done();
    let text = bench.rejoin(&["export", "@"]).done();
    for words in ["# is 1 < 2", "## 1 · demo", "> ```\n> code\n> ```\n", "<summary>called ", "````"] {
        assert!(text.stdout().contains(words), "{words:?} is not there:\n{}", text.stdout());
    }
    let page = bench.rejoin(&["export", "@", "--format", "html"]).done();
    for words in [
        "<!doctype html>",
        "is 1 &lt; 2 &amp; &quot;so&quot; on?",
        "<pre><code>code</code></pre>",
        "<summary><b>shell</b> <code>echo &#39;```&#39;</code>",
        "● resumed",
        "@media print",
        "details::details-content { display: block; content-visibility: visible; }",
    ] {
        assert!(page.stdout().contains(words), "{words:?} is not there:\n{}", page.stdout());
    }
    assert!(!page.stdout().contains("<script"), "nothing runs where there is nothing to choose");
    assert!(page.stdout().contains("script-src 'none'"));
    let json = bench.rejoin(&["export", "@", "--format", "json"]).done();
    let mut shown = bench.show();
    assert_eq!(shown.as_object_mut().unwrap().remove("origin"), Some(serde_json::json!({ "from": "here" })));
    assert_eq!(json.json(), shown);
    bench.rejoin(&["export", "@", "--to", "/nowhere/x"]).ends(2).tells(&["cannot write"]);
}

#[test]
fn a_turn_that_is_running_is_left_out_of_what_is_redacted() {
    let bench = Bench::after_a_turn();
    let mut turn = bench.next("half a secret, perhaps SLOW 5000").start();
    turn.hears("text_delta");
    for format in ["md", "html", "json", "jsonl", "bundle"] {
        let export = ["export", "@", "--format", format];
        assert!(bench.rejoin(&export).done().stdout().contains("half a secret"), "{format}");
        let said = bench.rejoin(&export).with(&["--redact"]).done();
        said.tells(&["the turn that is running now is left out"]);
        assert!(said.stdout().contains("MARK-a"), "{format}: {}", said.stdout());
        assert!(!said.stdout().contains("half a secret"), "{format}: {}", said.stdout());
        assert!(!said.stdout().contains("piece"), "{format}: {}", said.stdout());
    }
    turn.kill();
    bench.comes_to_rest();
    let said = bench.rejoin(&["export", "@", "--redact"]).done();
    assert!(
        said.stdout().contains("half a secret"),
        "what was cut is as whole as it gets: {}",
        said.stdout()
    );
}

#[test]
fn a_page_has_all_branches_and_shows_the_one_to_the_head() {
    let bench = Bench::new();
    bench.first("one").done();
    bench.next("two <i>MARK-old</i>").done();
    bench.rejoin(&["rewind", "@", "1"]).done();
    bench.next("two again MARK-new").done();
    let page = bench.rejoin(&["export", "@", "--format", "html"]).done();
    let turns: Vec<&str> = page.stdout().split("<section ").skip(1).collect();
    assert_eq!(turns.len(), 3);
    for (turn, words, ups, hidden) in [
        (0, "one", "\"-1\"", false),
        (1, "two &lt;i&gt;MARK-old", "\"0\"", true),
        (2, "two again MARK-new", "\"0\"", false),
    ] {
        assert!(turns[turn].contains(words), "{}", turns[turn]);
        let tag = turns[turn].split('>').next().unwrap();
        assert!(tag.contains(&format!("data-up={ups}")), "{tag}");
        assert_eq!(tag.contains(" hidden"), hidden, "{tag}");
    }
    assert!(turns[1].contains("branch 1 of 2") && turns[2].contains("branch 2 of 2"));
    assert_eq!(page.stdout().matches("<option").count(), 2);
    assert_eq!(page.stdout().matches("<script").count(), 1);
    assert!(page.stdout().contains("script-src 'sha256-"), "only the one that is known");
}

#[test]
fn a_file_that_is_there_is_replaced_as_a_whole_and_is_private() {
    let bench = Bench::after_a_turn();
    let out = bench.outside("out");
    let (file, link, before) = (out.join("talk.md"), out.join("link.md"), out.join("before"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    fs::hard_link(&file, &before).unwrap();
    bench.rejoin(&["export", "@", "--to", link.to_str().unwrap()]).done();
    assert!(fs::read_to_string(&file).unwrap().contains("MARK-a"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(link.is_symlink(), "what it names is replaced");
    assert_eq!(fs::read_to_string(&before).unwrap(), "old", "nobody sees half of it");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3, "no draft is left");
    fs::write(out.join(".rejoin-export-killed"), "half").unwrap();
    bench.rejoin(&["export", "@", "--to", link.to_str().unwrap()]).done();
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3, "nor what somebody left who was killed");
    bench.rejoin(&["export", "@", "--to", out.to_str().unwrap()]).ends(2).tells(&["it is a directory"]);
    bench.rejoin(&["export", "@", "--to", "/dev/null"]).done();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn reasons_names_of_agents_and_models_are_redacted_too() {
    let bench = Bench::after_a_turn();
    let journal = bench.journals()[0].clone();
    let lines = fs::read_to_string(&journal).unwrap();
    let reason = r#""reason":"workdir_changed","was":"/home/someone-else/x","now":"/home/nobody-here/y""#;
    let changed = lines
        .replace(r#""reason":"first_turn""#, reason)
        .replace(r#""model":"demo-1""#, r#""model":"ghp_abcDEF0123456789abcDEF0123456789""#);
    assert!(changed.contains(reason));
    fs::write(&journal, changed).unwrap();
    for format in ["md", "html", "json", "jsonl", "bundle"] {
        let export = ["export", "@", "--format", format];
        let said = bench.rejoin(&export).with(&["--redact"]).done();
        for secret in ["someone-else", "nobody-here", "ghp_"] {
            assert!(!said.stdout().contains(secret), "{format} tells {secret}: {}", said.stdout());
        }
        let open = bench.rejoin(&export).done();
        assert!(format == "md" || open.stdout().contains("someone-else"), "{format}: {}", open.stdout());
    }
}
