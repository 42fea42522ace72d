//! `.rejoin.toml` in a project: it may choose among what the user allows, nothing else.

use serde_json::Value;

use crate::support::{Bench, Call};

fn argv(bench: &Bench, args: &[&str]) -> Vec<String> {
    let said = bench.rejoin(&["run", "--dry-run", "-o", "json", "hello"]).with(args).done();
    let words = said.json()["argv"].as_array().unwrap().clone();
    words.iter().map(|word: &Value| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_chooses_agent_model_and_scope() {
    let bench = Bench::new();
    bench.file(".rejoin.toml", "agent = \"demo2\"\nmodel = \"big\"\nscope = \"own\"\n");
    let said = bench.rejoin(&["run", "-o", "stream-json", "hello"]).within(bench.subdir("deep")).done();
    assert_eq!((said.text("agent"), said.text("model")), ("demo2".to_owned(), "big".to_owned()));
    assert_eq!(bench.show()["info"]["scope"], "own");
    let said = bench.first("hello").with(&["--model", "small", "--scope", "shared"]).done();
    assert_eq!((said.text("agent"), said.text("model")), ("demo".to_owned(), "small".to_owned()));
    assert_eq!(bench.show()["info"]["scope"], "shared");
}

#[test]
fn it_narrows_permissions_and_the_user_may_name_others() {
    let bench = Bench::new();
    bench.file(".rejoin.toml", "permissions = \"read\"\n");
    assert!(argv(&bench, &["-a", "demo"]).contains(&"--permissions=read".to_owned()));
    let said = bench.first("TOOL-RUN [echo done]").done();
    assert_eq!(said.events_of("tool_result")[0]["error"], true);
    assert!(
        argv(&bench, &["-a", "demo", "--permissions", "edit"]).contains(&"--permissions=edit".to_owned())
    );
}

#[test]
fn it_cannot_widen_permissions() {
    let bench = Bench::new();
    bench.config("[agents.demo]\npermissions = \"read\"\n");
    bench.file(".rejoin.toml", "permissions = \"edit\"\n");
    assert!(argv(&bench, &["-a", "demo"]).contains(&"--permissions=read".to_owned()));
    for asked in ["full", "agent"] {
        bench.file(".rejoin.toml", format!("permissions = \"{asked}\"\n"));
        bench.first("hello").ends(5).tells(&[".rejoin.toml:1:1: ", "can only narrow"]);
    }
    bench.config("");
    bench.file(".rejoin.toml", "permissions = \"edit\"\n");
    let said = bench.first("hello").ends(5);
    said.tells(&[".rejoin.toml", "not narrower", "--permissions"]);
    assert!(bench.journals().is_empty());
}

#[test]
fn it_cannot_widen_the_ceiling_of_a_conversation() {
    let bench = Bench::new();
    bench.first("hello").with(&["--permissions", "read"]).done();
    bench.file(".rejoin.toml", "permissions = \"edit\"\n");
    assert!(argv(&bench, &["-c"]).contains(&"--permissions=read".to_owned()));
}

#[test]
fn it_cannot_run_a_command_or_set_an_environment() {
    let bench = Bench::new();
    let marker = bench.lab.root().join("ran");
    let script = bench.file("evil.sh", format!("#!/bin/sh\ntouch {}\n", marker.display()));
    for toml in [
        format!("command = \"{}\"", script.display()),
        "args = [\"--dangerously-skip-permissions\"]".to_owned(),
        "env = { PATH = \".\" }".to_owned(),
        format!("[agents.demo]\ncommand = \"{}\"", script.display()),
        "resume = \"never\"".to_owned(),
        "replay_budget = 1".to_owned(),
    ] {
        bench.file(".rejoin.toml", format!("agent = \"demo\"\n{toml}\n"));
        bench.rejoin(&["run", "hello"]).ends(2).tells(&[".rejoin.toml:2:", "unknown field"]);
    }
    assert!(!marker.exists() && bench.journals().is_empty());
}

#[test]
fn an_agent_it_names_must_be_known() {
    let bench = Bench::new();
    bench.file(".rejoin.toml", "# ours\nagent = \"/bin/sh\"\n");
    let said = bench.rejoin(&["run", "hello"]).within(bench.subdir("deep")).ends(2);
    said.tells(&[".rejoin.toml:2:1: ", "unknown agent", "/bin/sh"]);
    bench.first("hello").done();
}

#[test]
fn a_model_it_names_cannot_become_a_flag() {
    let bench = Bench::new();
    bench.file(".rejoin.toml", "model = \"--permissions=full\"\n");
    let args = argv(&bench, &["-a", "demo"]);
    assert!(args.contains(&"--model=--permissions=full".to_owned()), "{args:?}");
    let said = bench.first("TOOL-RUN [echo done]").with(&["--permissions", "read"]).done();
    assert_eq!(said.events_of("tool_result")[0]["error"], true);
}

#[test]
fn other_places_in_the_project_have_no_say() {
    let bench = Bench::new();
    let deep = bench.subdir("vendor");
    std::fs::write(deep.join(".rejoin.toml"), "permissions = \"full\"\nagent = \"nobody\"\n").unwrap();
    bench.first("hello").within(deep).done();
}

#[test]
fn it_narrows_from_wherever_the_user_stands() {
    let bench = Bench::new();
    let id = bench.first("hello").with(&["--permissions", "full"]).done().conversation();
    bench.file(".rejoin.toml", "permissions = \"read\"\n");
    let project = bench.project();
    let outside = bench.outside("elsewhere");
    for args in [["-r", id.as_str()], ["--cwd", project.to_str().unwrap()]] {
        let call = bench.rejoin(&["run", "-a", "demo", "--dry-run", "-o", "json", "hello"]);
        let plan = call.with(&args).within(&outside).done().json();
        assert!(plan["argv"].to_string().contains("--permissions=read"), "{args:?}: {plan}");
    }
    // Also from the project, where the turn runs elsewhere.
    let plan = argv(&bench, &["-c", "--cwd", outside.to_str().unwrap()]);
    assert!(plan.contains(&"--permissions=read".to_owned()), "{plan:?}");
}

#[test]
fn what_is_no_file_is_refused_with_its_name_and_not_waited_for() {
    let bench = Bench::new();
    let file = bench.project().join(".rejoin.toml");
    let refused = || {
        let begun = std::time::Instant::now();
        // With so little memory that nobody else is hurt if it is read after all.
        let run = ["-c", "ulimit -v 4000000; exec \"$0\" run -a demo hello", env!("CARGO_BIN_EXE_rejoin")];
        Call::of(&bench, "sh", &run).ends(2).tells(&[".rejoin.toml", "not a file"]);
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
        std::fs::remove_file(&file).unwrap();
    };
    for odd in ["/dev/zero", "/dev/tty"] {
        std::os::unix::fs::symlink(odd, &file).unwrap();
        if std::fs::File::open(&file).is_err() {
            std::fs::remove_file(&file).unwrap();
            continue;
        }
        refused();
    }
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, mode).unwrap();
    refused();
    std::fs::write(&file, " ".repeat(2 << 20)).unwrap();
    bench.first("hello").ends(2).tells(&[".rejoin.toml", "larger than 1 MiB"]);
    std::fs::remove_file(&file).unwrap();
    bench.first("hello").env("REJOIN_CONFIG", "/dev/zero").ends(2).tells(&["/dev/zero", "not a file"]);
    bench.first("hello").env("REJOIN_CONFIG", "/dev/null").done();
}
