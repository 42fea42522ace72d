//! `rejoin demo`.

use crate::support::Bench;

#[test]
fn the_tour_runs_through_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let said = bench.rejoin(&["demo"]).without_agents().done();
    let mut table = said.stdout().lines().skip_while(|line| !line.starts_with("step "));
    let rows: Vec<Vec<&str>> = table
        .by_ref()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let decisions: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(
        decisions,
        [
            ("first turn", "fresh: first turn"),
            ("next turn", "resumed"),
            ("kill -9", "interrupted"),
            ("after kill -9", "resumed, told 1 turn"),
            ("history changed", "fresh: history changed since its session saw it"),
            ("hand-over", "fresh: no session of this agent here yet"),
            ("and back", "resumed, told 1 turn"),
        ]
    );
    let remembered: Vec<&str> = rows.iter().filter_map(|row| row.get(3).copied()).collect();
    assert_eq!(
        remembered,
        ["one", "one two", "one two three four", "one five", "one five six", "one five six seven"]
    );
    assert_eq!(rows[1][2], "19 bytes", "a resumed turn sends the prompt only");
    assert!(!bench.home().exists(), "it has a home of its own");
    assert_eq!(std::fs::read_dir(bench.lab.tmp()).unwrap().count(), 0, "and leaves none");
    bench.comes_to_rest();
}

#[test]
fn the_tour_can_be_kept() {
    let bench = Bench::new();
    let said = bench.rejoin(&["demo", "--keep"]).without_agents().done();
    let kept = said.stdout().lines().last().unwrap().split("REJOIN_HOME=").nth(1).unwrap();
    let home = kept.split(' ').next().unwrap();
    let list = bench.rejoin(&["ls", "--all-projects"]).env("REJOIN_HOME", home).done();
    assert!(list.stdout().contains("the bug is in parser.rs"), "{}", list.stdout());
}

#[test]
fn the_tour_does_not_depend_on_settings() {
    let bench = Bench::new();
    bench.config("resume = \"never\"\n[agents.demo]\nenv = { REJOIN_DEMO_LIE = \"1\" }\n");
    let said = bench.rejoin(&["demo"]).done();
    assert!(said.stdout().contains("next turn        resumed"), "{}", said.stdout());
}
