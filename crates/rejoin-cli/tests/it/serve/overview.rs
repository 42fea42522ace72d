use serde_json::json;

use super::daemon::Daemon;
use crate::support::Bench;

#[test]
fn the_api_says_its_version_and_what_it_lacks_is_a_problem() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let said = daemon.get("/api/v1").is(200);
    assert_eq!(said["name"], "rejoin");
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    let problem = daemon.get("/api/v1/nothing").is(404);
    assert_eq!(problem["code"], "not_found");
    assert_eq!(problem["type"], "urn:rejoin:problem:not_found");
    let problem = daemon.post("/api/v1", &json!({})).is(405);
    assert_eq!(problem["code"], "method_not_allowed");
}
