//! Each route takes tokens of one scope, and no others.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::auth::new_token;
use super::super::daemon::{Daemon, Reply};
use super::route_table::{Needs, SCOPES, Scene};
use crate::support::Bench;

fn code(reply: &Reply) -> String {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    body["code"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_table_has_every_route_of_the_document_and_no_other() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let document = daemon.get("/api/v1/openapi.json").is(200);
    let documented: BTreeSet<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    let scene = Scene::set(&bench, &daemon);
    let known: BTreeSet<String> =
        scene.routes().iter().map(|route| format!("{} {}", route.method, route.template)).collect();
    assert_eq!(known, documented);
}

#[test]
fn every_route_takes_the_tokens_of_its_scope_and_no_others() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let scene = Scene::set(&bench, &daemon);
    let tokens = SCOPES.map(|scope| (scope, new_token(&bench, scope, &["--scope", scope])));
    let routes = scene.routes();
    // Those that are refused first: what is refused changes nothing for the others.
    for route in &routes {
        if route.needs != Needs::Nothing {
            let reply = route.ask(&daemon, None).send();
            assert_eq!((reply.status, code(&reply).as_str()), (401, "unauthorized"), "{route}");
        }
        let Needs::Scope(needed) = route.needs else { continue };
        for (scope, token) in tokens.iter().filter(|(scope, _)| *scope != needed) {
            let reply = route.ask(&daemon, Some(token)).send();
            assert_eq!((reply.status, code(&reply).as_str()), (403, "scope_missing"), "{scope}: {route}");
        }
    }
    for route in &routes {
        let fits = |(scope, _): &&(&str, String)| match route.needs {
            Needs::Scope(needed) => *scope == needed,
            _ => true,
        };
        for (scope, token) in tokens.iter().filter(fits) {
            if route.endless {
                assert!(
                    route.ask(&daemon, Some(token)).events().next_within(crate::support::PATIENCE).is_some()
                );
                continue;
            }
            // A code lets one browser in.
            let token = (route.needs != Needs::Nothing).then_some(token.as_str());
            let reply = route.ask(&daemon, token).send();
            assert!(reply.status < 500 && reply.status != 400, "{scope}: {route}: {}", reply.text());
            assert!(!["scope_missing", "media_type"].contains(&code(&reply).as_str()), "{scope}: {route}");
            if token.is_some() {
                assert!(![401, 403].contains(&reply.status), "{scope}: {route}: {}", reply.text());
            }
        }
    }
}

/// Whether there is such a thing is not told to those who may not look.
#[test]
fn what_does_not_exist_is_refused_like_what_does() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let nobody = "7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111";
    let token = new_token(&bench, "answer", &["--scope", "answer"]);
    for path in
        ["/runs/ID", "/runs/ID/events", "/conversations/ID", "/conversations/ID/events", "/flows/runs/ID"]
    {
        let path = format!("/api/v1{}", path.replace("ID", nobody));
        let reply = daemon.ask_with(&token, "GET", &path).send();
        assert_eq!(code(&reply), "scope_missing", "{path}: {}", reply.text());
    }
}
