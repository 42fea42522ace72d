//! What rejoin knows about the installed agents.

use super::stage::Stage;
use super::who::Who;

on_both!(what_it_can_do, without_a_name_the_first_installed_one);

fn what_it_can_do(stage: &Stage) {
    let all = stage.ask(["agents", "--json"]);
    let mine = all.as_array().unwrap().iter().find(|agent| agent["agent"] == stage.who.name()).unwrap();
    assert_eq!(mine["installed"], true);
    assert!(mine["path"].as_str().unwrap().ends_with(stage.who.name()), "{mine}");
    assert_eq!(mine["store"], stage.store(stage.who).to_str().unwrap());
    let can = &mine["capabilities"];
    let pinned = include_str!("../../../../../tests/agents/package.json");
    assert!(pinned.contains(&format!("\"{}\"", can["version"].as_str().unwrap())), "{can}");
    let told = ["resume", "fork", "ephemeral", "choose_id", "ask"].map(|name| can[name].as_bool().unwrap());
    let expected = if stage.who == Who::Claude {
        (Some("Claude Code"), [true; 5])
    } else {
        (Some("codex-cli"), [true, true, true, false, false])
    };
    assert_eq!((can["product"].as_str(), told), expected);
    let shown = stage.lab.run(stage.rejoin().arg("agents"), "").assert_success().stdout;
    assert!(shown.contains(mine["title"].as_str().unwrap()), "{shown}");
}

fn without_a_name_the_first_installed_one(stage: &Stage) {
    let config = stage.lab.root().join("config.toml");
    std::fs::write(&config, format!("agent = \"{}\"\n", stage.who.name())).unwrap();
    let first = stage.run("first MARK-one").env("REJOIN_CONFIG", config.to_str().unwrap()).go().done();
    assert_eq!(first.receipt()["agent"], stage.who.name());
    let second = stage.next("second MARK-two").go().done().resumed(&first.session(), 0);
    assert_eq!(second.receipt()["agent"], stage.who.name());
}
