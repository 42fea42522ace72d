//! Files that go along with a prompt reach the model, byte for byte, and no path of theirs is taken for anything else.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::files::files_below;
use super::run::Run;
use super::stage::{Stage, play};
use super::turn::Turn;
use super::who::Who;

/// A red square.
const PNG: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x08\x00\x00\x00\x08\x08\x02\x00\x00\x00Km)\xdc\x00\x00\x00\x12\
    IDATx\x9cc\xf8\xcf\xc0\x80\x15a\x17\x1d\xb4\x12\x00(\xff?\xc1n\xec\xdfa\x00\x00\x00\x00IEND\xaeB`\x82";
const PDF: &[u8] =
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj \
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 10 10]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";
const TEXT: &str = "The password is swordfish, @README.md\n";
/// Names that could be taken for flags, lists, mentions or several words.
const PICTURE: &str = "-a, @b ü.png";
const PAPER: &str = "paper.pdf";
const NOTES: &str = "my notes.md";

/// The files a scenario is about, in the order in which they are attached.
fn write(stage: &Stage, names: &[&str]) -> Vec<PathBuf> {
    let content = |name: &str| match name {
        PICTURE => PNG,
        PAPER => PDF,
        _ => TEXT.as_bytes(),
    };
    names
        .iter()
        .map(|name| {
            let path = stage.lab.project().join(name);
            fs::write(&path, content(name)).unwrap();
            path
        })
        .collect()
}

fn turn(stage: &Stage, agent: &str, prompt: &str, names: &[&str], more: &[&str]) -> Turn {
    run(stage, agent, prompt, names, more).with(["-s", "work"]).go().done()
}

fn run<'a>(stage: &'a Stage, agent: &str, prompt: &str, names: &[&str], more: &[&str]) -> Run<'a> {
    let run = stage.run(prompt).with(["-a", agent]);
    let run = names.iter().fold(run, |run, name| run.with([format!("--attach={name}").as_str()]));
    more.iter().fold(run, |run, arg| run.with([*arg]))
}

/// The files and the text that the model was sent.
#[track_caller]
fn model_has(turn: &Turn, names: &[&str]) {
    let last = turn.calls.last().expect("a call of the model");
    let files = last.files();
    for (name, media_type, bytes) in [(PICTURE, "image/png", PNG), (PAPER, "application/pdf", PDF)] {
        let sent = files.iter().filter(|file| file.media_type == media_type && file.bytes == bytes).count();
        assert_eq!(sent, usize::from(names.contains(&name)), "{name}: {turn}");
    }
    let told = last.user_messages.iter().any(|text| text.contains(TEXT.trim_end()))
        || files.iter().any(|file| file.bytes == TEXT.as_bytes());
    assert_eq!(told, names.contains(&NOTES), "{turn}\n{}", last.body);
}

/// A turn that leaves nothing behind, one that is resumed with files, another whose session holds them, and a
/// replay that can only name them.
fn files_reach_the_model(stage: &Stage, agent: &str, names: &[&str]) {
    let paths = write(stage, names);
    let alone = run(stage, agent, "look MARK-zero", names, &["--ephemeral"]).go().done();
    model_has(&alone, names);
    no_copies_are_left(stage);

    let first = turn(stage, agent, "hello MARK-one", &[], &[]);
    let second = turn(stage, agent, "look MARK-two", names, &[]).resumed(&first.session(), 0);
    let second = second.remembered(2, ["one", "two"]);
    model_has(&second, names);
    let listed = second.receipt()["attachments"].as_array().expect("attachments").clone();
    let listed: Vec<&str> = listed.iter().filter_map(|about| about["name"].as_str()).collect();
    assert_eq!(listed, names);
    assert_eq!(second.receipt()["bytes"], "look MARK-two".len());
    no_copies_are_left(stage);

    for path in paths {
        fs::remove_file(path).unwrap();
    }
    let third = turn(stage, agent, "and? MARK-three", &[], &[]).remembered(3, ["one", "two", "three"]);
    let third = third.resumed(&first.session(), 0);
    model_has(&third, names);

    let fourth = turn(stage, agent, "anew MARK-four", &[], &["--fresh-session"]);
    let fourth = fourth.fresh("forced", 3).remembered(1, ["one", "two", "three", "four"]);
    model_has(&fourth, &[]);
    only_names(&fourth, names);
}

#[track_caller]
fn no_copies_are_left(stage: &Stage) {
    let left = files_below(&stage.rejoin_home().join("agents"));
    assert!(left.iter().all(|file| !file.to_string_lossy().contains("attached-")), "{left:?}");
}

#[track_caller]
fn only_names(turn: &Turn, names: &[&str]) {
    let warnings = turn.warnings("attachments");
    let said = turn.calls.last().expect("a call").user_messages.join("\n");
    for name in names {
        assert!(said.contains(&format!("[attachment {name}, ")), "{name} is not named: {said}");
        assert!(warnings.iter().any(|text| text.contains(name)), "{warnings:?}");
    }
    assert!(said.contains("not available to you]"), "{said}");
}

/// Nothing is written, nothing is run.
#[track_caller]
fn refuses(stage: &Stage, agent: &str, name: &str, words: &str) {
    let outcome = stage.run("look").with(["-a", agent, &format!("--attach={name}")]).plainly();
    assert_eq!(outcome.code(), Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    assert_eq!(stage.records(), Vec::<Value>::new());
    assert!(stage.lab.model().calls().is_empty());
}

/// An agent's own place for sessions is another directory, and the conversation remembers.
fn sessions_elsewhere(stage: &Stage, agent: &str, own: &str) {
    let there = stage.lab.root().join("my sessions");
    fs::create_dir_all(&there).unwrap();
    let named = there.to_str().expect("UTF-8");
    let first = turn(stage, agent, "look MARK-one", &[], &["--session-dir", named]).remembered(1, ["one"]);
    assert!(!files_below(&there).is_empty());
    let short = &first.session()[..8];
    let own = files_below(&stage.lab.home().join(own));
    assert!(own.iter().all(|file| !file.to_string_lossy().contains(short)), "{own:?}");
    let second = turn(stage, agent, "and? MARK-two", &[], &[]);
    second.resumed(&first.session(), 0).remembered(2, ["one", "two"]);
    let third = turn(stage, agent, "home MARK-three", &[], &["--session-dir", ""]);
    third.fresh("store_changed", 2).remembered(1, ["one", "two", "three"]);
}

fn no_sessions_elsewhere(stage: &Stage, agent: &str) {
    let here = stage.lab.project();
    let outcome =
        stage.run("look").with(["-a", agent, "--session-dir", here.to_str().expect("UTF-8")]).plainly();
    assert_eq!(outcome.code(), Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("without its login"), "{}", outcome.stderr);
    assert_eq!(stage.records(), Vec::<Value>::new());
}

mod claude {
    use super::*;

    #[test]
    fn takes_images_papers_and_text() {
        play(Who::Claude, |stage| files_reach_the_model(stage, "claude", &[PICTURE, PAPER, NOTES]));
    }

    #[test]
    fn keeps_its_sessions_with_its_login() {
        play(Who::Claude, |stage| no_sessions_elsewhere(stage, "claude"));
    }
}

mod codex {
    use super::*;

    #[test]
    fn takes_images_and_nothing_else() {
        play(Who::Codex, |stage| {
            write(stage, &[NOTES, PAPER]);
            refuses(
                stage,
                "codex",
                NOTES,
                "my notes.md (text/plain) cannot be attached: codex takes images;",
            );
            refuses(stage, "codex", PAPER, "such a file can go to claude, gemini, opencode");
            files_reach_the_model(stage, "codex", &[PICTURE]);
        });
    }

    #[test]
    fn keeps_its_sessions_with_its_login() {
        play(Who::Codex, |stage| no_sessions_elsewhere(stage, "codex"));
    }
}

mod gemini {
    use super::*;

    #[test]
    fn takes_images_papers_and_text() {
        play(Who::Claude, |stage| files_reach_the_model(stage, "gemini", &[PICTURE, PAPER, NOTES]));
    }

    #[test]
    fn refuses_what_it_would_cut_off() {
        play(Who::Claude, |stage| {
            fs::write(stage.lab.project().join("long.txt"), "line\n".repeat(2001)).unwrap();
            refuses(stage, "gemini", "long.txt", "gemini would read only a part of long.txt");
        });
    }

    #[test]
    fn takes_them_at_the_level_read_too() {
        play(Who::Claude, |stage| {
            write(stage, &[PICTURE]);
            let turn = turn(stage, "gemini", "look MARK-one", &[PICTURE], &["--permissions=read"]);
            model_has(&turn, &[PICTURE]);
        });
    }

    #[test]
    fn keeps_its_sessions_with_its_login() {
        play(Who::Claude, |stage| no_sessions_elsewhere(stage, "gemini"));
    }
}

mod opencode {
    use super::*;

    #[test]
    fn takes_images_papers_and_text() {
        play(Who::Claude, |stage| files_reach_the_model(stage, "opencode", &[PICTURE, PAPER, NOTES]));
    }

    #[test]
    fn refuses_what_it_would_cut_off() {
        play(Who::Claude, |stage| {
            fs::write(stage.lab.project().join("long.txt"), "a long line\n".repeat(5000)).unwrap();
            refuses(stage, "opencode", "long.txt", "opencode would read only a part of long.txt");
        });
    }

    #[test]
    fn keeps_its_sessions_where_the_user_wants() {
        play(Who::Claude, |stage| sessions_elsewhere(stage, "opencode", ".local/share/opencode"));
    }
}

mod pi {
    use super::*;

    #[test]
    fn takes_images_and_text() {
        play(Who::Claude, |stage| {
            write(stage, &[PAPER]);
            refuses(stage, "pi", PAPER, "pi takes images, text;");
            files_reach_the_model(stage, "pi", &[PICTURE, NOTES]);
        });
    }

    #[test]
    fn keeps_its_sessions_where_the_user_wants() {
        play(Who::Claude, |stage| sessions_elsewhere(stage, "pi", ".pi/agent"));
    }
}

mod qwen {
    use super::*;

    #[test]
    fn takes_images_and_text() {
        play(Who::Claude, |stage| {
            write(stage, &[PAPER]);
            refuses(stage, "qwen", PAPER, "qwen takes images, text;");
            files_reach_the_model(stage, "qwen", &[PICTURE, NOTES]);
        });
    }

    #[test]
    fn takes_them_at_the_level_read_too() {
        play(Who::Claude, |stage| {
            write(stage, &[PICTURE]);
            let turn = turn(stage, "qwen", "look MARK-one", &[PICTURE], &["--permissions=read"]);
            model_has(&turn, &[PICTURE]);
        });
    }

    #[test]
    fn keeps_its_sessions_where_the_user_wants() {
        play(Who::Claude, |stage| sessions_elsewhere(stage, "qwen", ".qwen/projects"));
    }
}

mod openai {
    use super::*;

    #[test]
    fn takes_images_and_text_and_is_told_the_names_later() {
        play(Who::Claude, |stage| {
            let dir = stage.lab.home().join(".config/rejoin");
            fs::create_dir_all(&dir).unwrap();
            let url = stage.lab.model().url();
            let config = format!("[agents.openai]\nbase_url = \"{url}/v1\"\nmodel = \"mock-model\"\n");
            fs::write(dir.join("config.toml"), config).unwrap();
            let names = [PICTURE, NOTES];
            write(stage, &names);
            let first = turn(stage, "openai", "look MARK-one", &names, &[]).remembered(1, ["one"]);
            model_has(&first, &names);
            let second = turn(stage, "openai", "and? MARK-two", &[], &[]);
            let second = second.fresh("unsupported", 1).remembered(2, ["one", "two"]);
            model_has(&second, &[]);
            only_names(&second, &names);
        });
    }
}
