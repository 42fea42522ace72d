//! `rejoin doctor`

use serde_json::Value;

use crate::support::{Bench, Said, fake_claude, old_opencode};

/// The checks of one agent, by name and finding, and the text of the last one with that name.
fn checks(checkups: &Value, agent: &str) -> Vec<(String, String, String)> {
    let all = checkups.as_array().unwrap();
    let mine = all.iter().find(|checkup| checkup["agent"] == agent).unwrap();
    let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
    let checks = mine["checks"].as_array().unwrap().iter();
    checks.map(|one| (text(one, "name"), text(one, "finding"), text(one, "text"))).collect()
}

#[track_caller]
fn says(said: &Said, words: &[&str]) {
    for word in words {
        assert!(said.stdout().contains(word), "{word:?} is not said:\n{}", said.stdout());
    }
}

#[test]
fn two_turns_prove_the_memory_and_the_shapes() {
    let bench = Bench::new();
    let checkups = bench.rejoin(&["doctor", "--turn", "--json"]).without_agents().done().json();
    for agent in ["demo", "demo2"] {
        let checks = checks(&checkups, agent);
        let says = |name: &str, words: &str| {
            checks
                .iter()
                .any(|(check, finding, text)| check == name && finding == "fine" && text.contains(words))
        };
        assert!(says("memory", "resumed its own session and remembered"), "{checks:?}");
        assert!(says("shape", "every line it printed was understood"), "{checks:?}");
    }
}

#[test]
fn what_an_older_version_lacks_is_told_with_what_it_costs() {
    let bench = Bench::new();
    let command = serde_json::json!(old_opencode(&bench.lab.root()));
    bench.config(&format!("[agents.opencode]\ncommand = {command}\n"));
    let said = bench.rejoin(&["doctor"]).without_agents().done();
    says(
        &said,
        &["1.0.61", "rejoin is tested with", "its help has no list --format", "looked for in its files"],
    );
}

#[test]
fn another_program_of_that_name_is_broken() {
    let bench = Bench::new();
    let program = fake_claude(&bench.lab.root(), "pi");
    bench.config(&format!("[agents.pi]\ncommand = {}\n", serde_json::json!(program)));
    let said = bench.rejoin(&["doctor", "--json"]).without_agents().ends(1);
    let checks = checks(&said.json(), "pi");
    assert!(checks.iter().any(|(name, finding, _)| name == "shape" && finding == "broken"), "{checks:?}");
}

#[test]
fn a_key_that_is_not_there_is_broken() {
    let bench = Bench::new();
    bench.config(
        "[agents.openai]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nkey_env = \"NO_SUCH_KEY\"\n",
    );
    let call = || bench.rejoin(&["doctor"]).without_agents();
    says(&call().ends(1), &["NO_SUCH_KEY, which is to hold the key, is not set", "→ set NO_SUCH_KEY"]);
    call().env("NO_SUCH_KEY", "x").done();
}
