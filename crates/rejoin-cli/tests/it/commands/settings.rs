//! `rejoin config`

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::Bench;

/// A setting, with where it comes from.
fn setting(bench: &Bench, key: &str) -> Value {
    let all = bench.rejoin(&["config", "show", "--json"]).done().json();
    let found = all.as_array().unwrap().iter().find(|one| one["key"] == key).cloned();
    found.unwrap_or_else(|| panic!("no {key}: {all:#}"))
}

#[test]
fn every_value_is_shown_with_its_origin() {
    let bench = Bench::new();
    let file = bench.lab.home().join(".config/rejoin/config.toml");
    assert_eq!(bench.rejoin(&["config", "path"]).done().stdout(), format!("{}\n", file.display()));
    assert_eq!(setting(&bench, "agent"), json!({ "key": "agent", "value": null, "origin": "default" }));
    assert_eq!(setting(&bench, "home")["place"], "REJOIN_HOME");
    bench.config("# mine\nagent = \"demo\"\n[agents.codex]\nenv = { A = \"b\" }\nargs = [\"-x\"]\n");
    let place = |line: &str| json!(format!("{}:{line}", file.display()));
    assert_eq!(
        setting(&bench, "agent"),
        json!({ "key": "agent", "value": "demo", "origin": "user", "place": place("2:1") })
    );
    assert_eq!(setting(&bench, "agents.codex.env.A")["place"], place("4:9"));
    assert_eq!(setting(&bench, "agents.codex.args")["value"], json!(["-x"]));
    // What the project says goes before.
    let project = bench.file(".rejoin.toml", "scope = \"own\"\nagent = \"demo2\"\n");
    assert_eq!(setting(&bench, "agent")["value"], "demo2");
    let said = bench.rejoin(&["config"]).within(bench.subdir("deep")).done();
    let line = said.stdout().lines().find(|line| line.starts_with("agent = ")).unwrap();
    let (value, origin) = line.split_once("  # ").unwrap();
    assert_eq!(
        (value.trim_end(), origin),
        ("agent = \"demo2\"", format!("{}:2:1", project.display()).as_str())
    );
    assert!(said.stdout().contains("resume = \"auto\""), "{}", said.stdout());
}

#[test]
fn one_value_is_got_and_set() {
    let bench = Bench::new();
    let get = |key: &str| bench.rejoin(&["config", "get", key]);
    get("agent").ends(4).tells(&["nothing sets \"agent\""]);
    get("agnet").ends(4).tells(&["did you mean \"agent\"?"]);
    bench.rejoin(&["config", "set", "agent", "demo"]).done().tells(&["agent is set in "]);
    assert_eq!(get("agent").done().stdout(), "demo\n");
    let file = bench.lab.home().join(".config/rejoin/config.toml");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // It is used, and what else stands there stays.
    let text = "agent = \"demo\" # for now\n\n[agents.demo]\n# small\nmodel = \"s\"\n";
    bench.config(text);
    bench.rejoin(&["config", "set", "agents.demo.model", "big"]).done();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text.replace("\"s\"", "\"big\""));
    let said = bench.rejoin(&["run", "-o", "stream-json", "hello"]).done();
    assert_eq!((said.text("agent"), said.text("model")), ("demo".to_owned(), "big".to_owned()));
    // What would be wrong is not written.
    let before = std::fs::read_to_string(&file).unwrap();
    bench.rejoin(&["config", "set", "agent", "cluade"]).ends(2).tells(&["did you mean \"claude\"?"]);
    bench.rejoin(&["config", "set", "colour", "red"]).ends(2).tells(&["cannot be set"]);
    bench.rejoin(&["config", "set", "agents.demo.command", "x"]).ends(2).tells(&["part of rejoin"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn a_configuration_that_is_a_link_stays_one() {
    let bench = Bench::new();
    let kept = bench.outside("dotfiles").join("rejoin.toml");
    std::fs::write(&kept, "agent = \"demo\"\n").unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o644)).unwrap();
    let link = bench.lab.root().join("linked.toml");
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    bench.rejoin(&["config", "set", "resume", "never"]).env("REJOIN_CONFIG", &link).done();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "agent = \"demo\"\nresume = \"never\"\n");
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    // One that is named and not there yet can be made so.
    let new = bench.lab.root().join("deep/new.toml");
    bench.rejoin(&["config", "set", "agent", "demo"]).env("REJOIN_CONFIG", &new).done();
    assert_eq!(std::fs::read_to_string(&new).unwrap(), "agent = \"demo\"\n");
}
