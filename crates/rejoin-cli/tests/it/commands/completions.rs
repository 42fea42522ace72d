//! What shells offer, and the manual.

use crate::support::{Bench, Call};

/// What fish is told for the last of some words.
fn offered(bench: &Bench, words: &[&str]) -> Vec<String> {
    let said = bench.rejoin(&["--", "rejoin"]).with(words).env("_REJOIN_COMPLETE", "fish").done();
    said.stdout().lines().map(str::to_owned).collect()
}

#[test]
fn conversations_are_offered_by_name_or_id_with_what_they_are_about() {
    let bench = Bench::new();
    assert!(offered(&bench, &["show", ""]).iter().all(|line| line.starts_with("--")));
    let unnamed = bench.first("find the bug").done().conversation();
    bench.first("bump the version").with(&["-s", "release"]).done();
    let expected = [format!("{}\tfind the bug", &unnamed[..8]), "release\tbump the version".to_owned()];
    for command in [&["show", ""][..], &["run", "-r", ""], &["rm", ""], &["why", ""], &["export", ""]] {
        let offered = offered(&bench, command);
        for line in &expected {
            assert!(offered.contains(line), "{command:?}: {line:?} is not in {offered:?}");
        }
    }
    assert!(offered(&bench, &["run", "-a", "de"]).contains(&"demo\tDemo agent".to_owned()));
    assert!(offered(&bench, &["rew"]).iter().any(|line| line.starts_with("rewind\t")));
}

#[test]
fn a_real_bash_completes() {
    let bench = Bench::new();
    bench.first("bump the version").with(&["-s", "release"]).done();
    let script = format!(
        "source <({0} completions bash); PATH={1}:$PATH; COMP_WORDS=(rejoin show rel); COMP_CWORD=2; \
         _clap_complete_rejoin rejoin rel show; echo \"${{COMPREPLY[@]}}\"",
        env!("CARGO_BIN_EXE_rejoin"),
        std::path::Path::new(env!("CARGO_BIN_EXE_rejoin")).parent().unwrap().display()
    );
    let said = Call::of(&bench, "bash", &["-c", &script]).done();
    assert_eq!(said.stdout().trim(), "release");
}

#[test]
fn every_shell_has_a_script_and_an_unknown_one_is_told() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = bench.rejoin(&["completions", shell]).done();
        assert!(said.stdout().contains("_REJOIN_COMPLETE"), "{}", said.stdout());
    }
    bench.rejoin(&["completions", "tcsh"]).ends(2).tells(&["tcsh", "bash"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    assert!(bench.rejoin(&["man"]).done().stdout().contains(".TH rejoin 1"));
    let dir = bench.outside("man");
    bench.rejoin(&["man", "--to", dir.to_str().unwrap()]).done();
    for page in ["rejoin.1", "rejoin-run.1", "rejoin-branch.1", "rejoin-why.1"] {
        assert!(std::fs::read_to_string(dir.join(page)).unwrap().contains(".TH rejoin"), "{page}");
    }
}
