//! What the installations tell about themselves, and what holds for all agents.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use insta::assert_debug_snapshot;
use rejoin_agents::{Agents, ProbeAnswer, Settles, find, registry};
use rejoin_core::Agent;
use uuid::Uuid;

use crate::requests::{Asked, capabilities, definition, gemini, opencode, root_help};

#[test]
fn the_recorded_versions_can_do_this() {
    let all = [Agent::Claude, Agent::Codex, gemini(), opencode(), Agent::Qwen, Agent::Demo];
    let shown = all.map(|agent| {
        let mut known = capabilities(&agent);
        let flags = std::mem::take(&mut known.flags);
        known.version = known.version.filter(|_| agent != Agent::Demo);
        (agent, known, flags.len())
    });
    assert_debug_snapshot!(shown);
}

#[test]
fn an_unanswered_probe_promises_nothing() {
    let silent =
        ProbeAnswer { answered: false, stdout: "--resume --session-id".into(), stderr: String::new() };
    for agent in [Agent::Claude, Agent::Codex, gemini(), opencode(), Agent::Qwen] {
        for answers in [vec![], vec![silent.clone(); 3]] {
            let known = definition(&agent).learn(&answers);
            assert_eq!(known, rejoin_agents::Capabilities::default(), "{agent}");
        }
    }
}

#[test]
fn the_help_of_the_whole_program_is_not_the_help_of_a_command() {
    let known = definition(&Agent::Codex).learn(&[ProbeAnswer::default(), root_help(), root_help()]);
    assert!(!known.resume && known.flags.is_empty(), "{known:?}");
}

#[test]
fn the_registry_holds_each_agent_once_and_finds_it() {
    let names: Vec<String> = registry().iter().map(|agent| agent.agent().to_string()).collect();
    let expected = ["claude", "codex", "gemini", "opencode", "pi", "qwen", "openai", "demo", "demo2"];
    assert_eq!(names, expected);
    assert!(find(&Agent::named("codex")).is_some());
    assert!(find(&Agent::named("hal")).is_none());
}

#[test]
fn only_lower_case_uuids_are_sessions() {
    let id = "01a1e09c-6875-7203-a42d-c11166b3c878";
    let other = [Agent::OpenAi, opencode()];
    for agent in registry().iter().filter(|agent| !other.contains(&agent.agent())) {
        assert_eq!(agent.session_id(id).unwrap().as_str(), id);
        for bad in ["", "latest", "--last", &id.to_uppercase(), &id[1..], &format!("{id} ")] {
            assert!(agent.session_id(bad).is_err(), "{bad:?}");
        }
    }
}

#[test]
fn an_id_is_chosen_only_where_it_can_be() {
    let fresh = Uuid::from_u128(1);
    let chosen = |agent: &Agent| definition(agent).choose_session(&capabilities(agent), fresh);
    assert_eq!(chosen(&Agent::Claude).unwrap().as_str(), fresh.to_string());
    assert_eq!(chosen(&Agent::Codex), None);
    assert_eq!(chosen(&gemini()).unwrap().as_str(), fresh.to_string());
    assert!(
        definition(&Agent::Claude).choose_session(&rejoin_agents::Capabilities::default(), fresh).is_none()
    );
}

#[test]
fn stores_follow_the_environment() {
    let store = |agent: &Agent, variables: &[(&str, &str)]| {
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(*value))
        };
        definition(agent).store(&env)
    };
    let home = ("HOME", "/h");
    assert_eq!(store(&Agent::Claude, &[home]), Some(PathBuf::from("/h/.claude")));
    assert_eq!(store(&Agent::Claude, &[home, ("CLAUDE_CONFIG_DIR", "/c")]), Some(PathBuf::from("/c")));
    assert_eq!(store(&Agent::Codex, &[home, ("CODEX_HOME", "")]), Some(PathBuf::from("/h/.codex")));
    assert_eq!(store(&Agent::Codex, &[home, ("CODEX_HOME", "/x")]), Some(PathBuf::from("/x")));
    assert_eq!(store(&Agent::Codex, &[]), None);
    assert_eq!(store(&gemini(), &[home]), Some(PathBuf::from("/h/.gemini")));
    assert_eq!(store(&gemini(), &[home, ("GEMINI_CLI_HOME", "/g")]), Some(PathBuf::from("/g/.gemini")));
    assert_eq!(store(&Agent::Demo, &[("REJOIN_HOME", "/r")]), Some(PathBuf::from("/r/demo-agent")));
    assert_eq!(store(&Agent::Demo, &[("REJOIN_DEMO_STORE", "/d")]), Some(PathBuf::from("/d")));
}

#[test]
fn only_marks_of_nesting_are_stripped_never_configuration() {
    let kept = ["KEY", "TOKEN", "BASE_URL", "HOME", "CONFIG", "MODEL", "PROXY", "USE_BEDROCK"];
    for agent in registry() {
        let stripped: HashSet<&str> = agent.foreign_env().iter().copied().collect();
        assert_eq!(stripped.len(), agent.foreign_env().len());
        for name in stripped {
            assert!(!kept.iter().any(|part| name.contains(part)), "{name}");
        }
    }
}

#[test]
fn every_agent_serves_one_turn_and_its_exit_settles_it() {
    for agent in registry().iter().filter(|agent| !agent.takes_messages()) {
        let driver = Asked::of(agent.agent()).driver();
        assert!(!driver.serves_more(), "{}", agent.agent());
        assert_eq!(driver.settles(), Settles::AtExit, "{}", agent.agent());
    }
}

#[test]
fn a_list_of_agents_is_a_value_of_its_own() {
    let [codex, demo] = [Agent::Codex, Agent::Demo].map(|agent| find(&agent).unwrap());
    let some = Agents::new(vec![demo, codex]);
    let names: Vec<Agent> = some.iter().map(|agent| agent.agent()).collect();
    assert_eq!(names, [Agent::Demo, Agent::Codex]);
    assert_eq!(some.find(&Agent::Codex).unwrap().title(), "Codex CLI");
    assert!(some.find(&Agent::Claude).is_none());
}
