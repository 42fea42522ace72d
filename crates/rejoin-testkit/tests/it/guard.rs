//! The guard on PATH.

use rejoin_testkit::{GUARD_EXIT_CODE, GUARDED_AGENTS, Lab};

#[test]
fn every_agent_is_guarded_in_a_laboratory_without_real_ones() {
    let lab = Lab::new();
    for name in GUARDED_AGENTS {
        let outcome = lab.run(lab.command(name).arg("--version"), "");
        assert_eq!(outcome.code(), Some(GUARD_EXIT_CODE));
        assert_eq!(outcome.stderr, format!("a test called a real agent by accident: {name}\n"));
    }
}
