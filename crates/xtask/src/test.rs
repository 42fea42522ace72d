//! `cargo xtask test`: every check and every test.

use std::path::Path;

use anyhow::{Context, Result, bail};
use rejoin_testkit::{TABLE_VARIABLE, Table};

use crate::steps::Steps;
use crate::{attack, caller_env, clients, debian, install, loopback, portable, rooms, web, workspace};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let filters = match arguments.split_first() {
        None => &[],
        Some((first, filters)) if first == "--" => filters,
        Some((first, _)) => bail!("unexpected {first:?}; name tests after --: cargo xtask test -- NAME"),
    };
    let all = filters.is_empty();
    let mut steps = Steps::new(if all { 12 } else { 8 });
    steps.run("format", || workspace::run(workspace::cargo().args(["fmt", "--all", "--check"])))?;
    steps.run("lints", || {
        workspace::run(workspace::cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    steps.run("rooms: who may know whom", rooms::check)?;
    steps.run("compiles for macOS (crates without C)", portable::check)?;
    let runner = steps.run("loopback-only runner", loopback::build)?;
    let agents = steps.run("real agents", || install::agents(&runner))?;
    steps.run("shells to complete in", debian::shells)?;
    steps.run("tests", || {
        let triple = workspace::host_triple()?.to_uppercase().replace('-', "_");
        let tests = |arguments: &[&str], filters: &[String]| {
            let mut tests = workspace::cargo();
            tests.args(["test", "--workspace", "--no-fail-fast", "--"]).args(arguments).args(filters);
            tests.env(format!("CARGO_TARGET_{triple}_RUNNER"), &runner).env("REJOIN_TEST_AGENTS", &agents);
            caller_env::remove_proxies(&mut tests);
            tests
        };
        let list = |filters| workspace::output(&mut tests(&["--list", "--format", "terse"], filters));
        if !all && names(&list(filters)?).is_empty() {
            bail!(no_match(filters, &names(&list(&[])?)));
        }
        let mut tests = tests(&[], filters);
        let notes = tempfile::NamedTempFile::new().context("cannot make a file for the scenario table")?;
        tests.env(TABLE_VARIABLE, notes.path());
        let ran = workspace::run(&mut tests);
        let shown = show_table(notes.path(), all);
        ran.and(shown)
    })?;
    if all {
        steps.run("the page is what web/ builds, and small", web::check)?;
        steps.run("the page in a browser", || web::check_in_browser(&runner))?;
        steps.run("clients made from the OpenAPI document", clients::check)?;
        steps.run("a short attack (cargo xtask attack for the whole one)", attack::short)?;
    }
    steps.summary();
    Ok(())
}

/// Shows what the tests saw the real agents do. When all tests ran, nothing in it may be missing.
fn show_table(notes: &Path, all_ran: bool) -> Result<()> {
    let table = Table::read(notes).context("cannot read the scenario table")?;
    if all_ran || !table.is_empty() {
        eprintln!("\n━━ agent × scenario\n{table}");
    }
    let holes = table.holes();
    if all_ran && !holes.is_empty() {
        bail!("no test looked at {}", holes.join("; "));
    }
    Ok(())
}

/// The tests in a list as libtest prints it.
fn names(list: &[u8]) -> Vec<String> {
    let list = String::from_utf8_lossy(list);
    list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// That nothing was run, and what may have been meant: tests whose names hold a part of what was asked for.
fn no_match(filters: &[String], known: &[String]) -> String {
    let words = || filters.iter().filter(|filter| !filter.starts_with('-'));
    let parts: Vec<&str> = words().flat_map(|word| word.split("::")).filter(|part| part.len() > 2).collect();
    let holds = |name: &String| parts.iter().filter(|part| name.contains(**part)).count();
    let mut similar: Vec<&String> = known.iter().filter(|name| holds(name) > 0).collect();
    similar.sort_by_key(|name| std::cmp::Reverse(holds(name)));
    let asked: Vec<String> = words().map(|word| format!("{word:?}")).collect();
    let mut text = format!("no test has {} in its name, so nothing was tested", asked.join(" or "));
    if !similar.is_empty() {
        let similar: Vec<&str> = similar.into_iter().take(5).map(String::as_str).collect();
        text.push_str("; there are\n   ");
        text.push_str(&similar.join("\n   "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_test_has_is_answered_with_those_that_come_near() {
        let list = names(
            b"real::first_turn::claude: test\nreal::attach::pi: test\n\ndocs - line 3: test\nb: benchmark\n",
        );
        assert_eq!(list, ["real::first_turn::claude", "real::attach::pi", "docs - line 3"]);
        let text = no_match(&["--nocapture".into(), "real::turn".into()], &list);
        assert_eq!(
            text,
            "no test has \"real::turn\" in its name, so nothing was tested; there are\n   real::first_turn::claude\n   real::attach::pi"
        );
        assert!(no_match(&["zzz".into()], &list).ends_with("nothing was tested"));
    }
}
