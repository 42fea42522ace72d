use serde_json::json;

use super::auth::new_token;
use super::daemon::Daemon;
use super::runs::text;
use crate::support::Bench;

#[test]
fn the_api_says_its_version_and_what_it_lacks_is_a_problem() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let said = daemon.get("/api/v1").is(200);
    assert_eq!(said["name"], "rejoin");
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(said["capabilities"], json!(["instead_of", "strict_parameters", "terminal_runs"]));
    assert_eq!(said["addresses"], json!([]), "it is there for this machine alone");
    let problem = daemon.get("/api/v1/nothing").is(404);
    assert_eq!(problem["code"], "not_found");
    assert_eq!(problem["type"], "urn:rejoin:problem:not_found");
    let problem = daemon.post("/api/v1", &json!({})).is(405);
    assert_eq!(problem["code"], "method_not_allowed");
}

#[test]
fn where_it_works_is_told_to_those_who_may_begin_there() {
    let bench = Bench::new();
    let other = bench.lab.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let told = |daemon: &Daemon<'_>, token: &str| {
        daemon.ask_with(token, "GET", "/api/v1").send().is(200)["directory"].clone()
    };
    let kept = |name: &str, dir: &std::path::Path| {
        new_token(&bench, name, &["--scope", "read", "--project", dir.to_str().unwrap()])
    };
    let (here, elsewhere) = (kept("here", &bench.project()), kept("elsewhere", &other));
    let daemon = Daemon::start(&bench);
    let real = bench.project().canonicalize().unwrap();
    assert_eq!(text(&told(&daemon, &daemon.token)), real.to_str().unwrap());
    assert_eq!(text(&told(&daemon, &here)), real.to_str().unwrap());
    assert_eq!(told(&daemon, &elsewhere), json!(null), "not even its name");
    daemon.kill();
    // Nobody may begin outside of what the daemon is kept to.
    let daemon = Daemon::start_with(&bench, &["--project", other.to_str().unwrap()]);
    assert_eq!(told(&daemon, &daemon.token), json!(null));
}
