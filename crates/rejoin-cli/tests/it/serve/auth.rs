//! Who is let in, over the wire: tokens, browsers, hosts and origins.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::daemon::{Ask, Daemon, Reply};
use crate::support::Bench;

const API: &str = "/api/v1";

#[track_caller]
fn refused(reply: Reply, status: u16, code: &str) {
    let problem = reply.is(status);
    assert_eq!(problem["code"], code, "{problem}");
}

impl Daemon<'_> {
    pub(super) fn ask_with(&self, token: &str, method: &str, path: &str) -> Ask {
        self.ask_bare(method, path).header("Authorization", &format!("Bearer {token}"))
    }

    /// What a browser has after it was let in: the line of its cookie, and the page's secret.
    fn browser(&self) -> (String, String) {
        let code = self.post("/api/v1/login/code", &json!({})).is(200);
        let reply = self.ask_bare("POST", "/api/v1/login").json(&json!({"code": code["code"]})).send();
        let line = reply.header("set-cookie").unwrap().to_owned();
        let (cookie, attributes) = line.split_once(';').unwrap();
        let port = self.address.rsplit(':').next().unwrap();
        assert!(cookie.starts_with(&format!("rejoin_{port}=")), "{line}");
        for attribute in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(attributes.contains(attribute), "{line}");
        }
        assert!(!attributes.contains("Domain"), "{line}");
        let secret = reply.is(200)["secret"].as_str().unwrap().to_owned();
        (cookie.to_owned(), secret)
    }

    fn ask_as(&self, (cookie, secret): (&str, &str), method: &str, path: &str) -> Ask {
        self.ask_bare(method, path).header("Cookie", cookie).header("X-Rejoin-Secret", secret)
    }
}

/// Makes a named token and gives its secret.
pub(super) fn new_token(bench: &Bench, name: &str, args: &[&str]) -> String {
    bench.rejoin(&["token", "new", name]).with(args).done().stdout().trim().to_owned()
}

#[test]
fn nothing_of_the_api_is_told_without_a_token() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let token = daemon.token.clone();
    for path in [API, "/api", "/api/", "/api/v1/tokens", "/api/v1/nothing", "/api/v1/login", "/api/v2"] {
        refused(daemon.ask_bare("GET", path).send(), 401, "unauthorized");
    }
    let wrong = ["", "Bearer", "Bearer x", &format!("Basic {token}"), &token, &format!("Bearer {token}x")];
    for wrong in wrong {
        refused(daemon.ask_bare("GET", API).header("Authorization", wrong).send(), 401, "unauthorized");
    }
    for query in ["token", "access_token", "k", "authorization"] {
        refused(daemon.ask_bare("GET", &format!("{API}?{query}={token}")).send(), 401, "unauthorized");
    }
    refused(
        daemon.ask_bare("GET", API).header("Cookie", &format!("token={token}")).send(),
        401,
        "unauthorized",
    );
    daemon.get(API).is(200);
    // Neither the page nor whether anybody is there needs one.
    assert_ne!(daemon.ask_bare("GET", "/").send().status, 401);
    assert_ne!(daemon.ask_bare("GET", "/api/v1/health").send().status, 401);
    assert!(!daemon.log().contains(&token));
}

#[test]
fn a_token_that_is_replaced_while_the_daemon_runs_is_good_for_nothing_at_once() {
    let bench = Bench::new();
    let printed = bench.rejoin(&["token"]).done().stdout().to_owned();
    let daemon = Daemon::start(&bench);
    assert_eq!(printed, format!("{}\n", daemon.token), "the one that was there stays");
    let (cookie, secret) = daemon.browser();
    daemon.get(API).is(200);
    daemon.ask_as((&cookie, &secret), "GET", API).send().is(200);
    let new = bench.rejoin(&["token", "--rotate"]).done().stdout().trim().to_owned();
    refused(daemon.get(API), 401, "unauthorized");
    refused(daemon.ask_as((&cookie, &secret), "GET", API).send(), 401, "unauthorized");
    daemon.ask_with(&new, "GET", API).send().is(200);
    assert_eq!(bench.rejoin(&["token"]).done().stdout().trim(), new);
}

#[test]
fn a_named_token_goes_as_far_as_its_scopes_until_it_is_revoked() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let phone = new_token(&bench, "phone", &["--scope", "read,answer", "--ceiling", "edit"]);
    daemon.ask_with(&phone, "GET", API).send().is(200);
    for (method, path) in [
        ("GET", "/api/v1/tokens"),
        ("DELETE", "/api/v1/tokens/0b0fcb0e-6a9d-4b3c-8f47-5a0d6d5f1c11"),
        ("POST", "/api/v1/login/code"),
    ] {
        refused(daemon.ask_with(&phone, method, path).send(), 403, "scope_missing");
    }
    let wanted = json!({"name": "more", "scopes": ["admin"]});
    refused(daemon.ask_with(&phone, "POST", "/api/v1/tokens").json(&wanted).send(), 403, "scope_missing");
    bench.rejoin(&["token", "revoke", "phone"]).done();
    refused(daemon.ask_with(&phone, "GET", API).send(), 401, "unauthorized");
    daemon.get(API).is(200);
}

#[test]
fn a_damaged_list_of_tokens_lets_nobody_in_but_its_owner() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let phone = new_token(&bench, "phone", &["--scope", "read", "--ceiling", "read"]);
    let path = bench.home().join("tokens.json");
    let good = fs::read_to_string(&path).unwrap();
    for damaged in [&good[..good.len() - 5], "", &good.replace("\"ceiling\"", "\"ceilin\"")] {
        fs::write(&path, damaged).unwrap();
        refused(daemon.ask_with(&phone, "GET", API).send(), 401, "unauthorized");
        daemon.get(API).is(200);
        bench.rejoin(&["token", "ls"]).ends(7).tells(&["tokens.json"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    }
    fs::write(&path, &good).unwrap();
    daemon.ask_with(&phone, "GET", API).send().is(200);
}

#[test]
fn a_foreign_host_or_origin_is_refused_even_with_the_token() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (_, port) = daemon.address.rsplit_once(':').unwrap();
    for host in [format!("localhost:{port}"), format!("[::1]:{port}")] {
        daemon.ask("GET", API).header("Host", &host).send().is(200);
    }
    for host in ["evil.example", "127.0.0.1", "localhost", &format!("evil.example:{port}"), "127.0.0.1:1"] {
        refused(daemon.ask("GET", API).header("Host", host).send(), 421, "foreign_host");
        refused(daemon.ask_bare("GET", "/").header("Host", host).send(), 421, "foreign_host");
    }
    let own = format!("http://{}", daemon.address);
    daemon.ask("GET", API).header("Origin", &own).send().is(200);
    for origin in ["null", "http://evil.example", "http://127.0.0.1:1", &own.replace("http", "https")] {
        let ask = daemon.ask("POST", "/api/v1/tokens").json(&json!({"name": "x", "scopes": ["admin"]}));
        let reply = ask.header("Origin", origin).send();
        assert_eq!(reply.header("access-control-allow-origin"), None);
        refused(reply, 403, "foreign_origin");
    }
    for site in ["cross-site", "same-site"] {
        refused(daemon.ask("GET", API).header("Sec-Fetch-Site", site).send(), 403, "foreign_origin");
    }
    assert!(daemon.get("/api/v1/tokens").is(200)["tokens"].as_array().unwrap().is_empty());
}

#[test]
fn a_body_that_a_form_of_another_page_could_send_is_not_taken() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let body = json!({"name": "x", "scopes": ["admin"]}).to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        for path in ["/api/v1/tokens", "/api/v1/login/code", "/api/v1/logout"] {
            let ask = daemon.ask("POST", path).header("Content-Type", kind).body(body.clone());
            refused(ask.send(), 415, "media_type");
        }
        let login = daemon.ask_bare("POST", "/api/v1/login").header("Content-Type", kind);
        refused(login.body(r#"{"code": "x"}"#).send(), 415, "media_type");
    }
    refused(daemon.ask("POST", "/api/v1/tokens").body(body).send(), 415, "media_type");
    assert!(daemon.get("/api/v1/tokens").is(200)["tokens"].as_array().unwrap().is_empty());
}

#[test]
fn a_browser_needs_its_cookie_and_its_secret_until_it_logs_out() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (cookie, secret) = daemon.browser();
    let (other_cookie, other_secret) = daemon.browser();
    let (browser, other) =
        ((cookie.as_str(), secret.as_str()), (other_cookie.as_str(), other_secret.as_str()));
    daemon.ask_as(browser, "GET", "/api/v1/tokens").send().is(200);
    refused(daemon.ask_bare("GET", API).header("Cookie", &cookie).send(), 401, "unauthorized");
    refused(daemon.ask_bare("GET", API).header("X-Rejoin-Secret", &secret).send(), 401, "unauthorized");
    refused(daemon.ask_as((other.0, browser.1), "GET", API).send(), 401, "unauthorized");
    // A form of another page brings the cookie, and nothing else.
    refused(daemon.ask_bare("POST", "/api/v1/logout").header("Cookie", &cookie).send(), 401, "unauthorized");
    refused(daemon.ask_as(browser, "POST", "/api/v1/login/code").send(), 403, "not_allowed");
    refused(daemon.ask("POST", "/api/v1/logout").send(), 422, "refused");
    let left = daemon.ask_as(browser, "POST", "/api/v1/logout").send();
    assert!(left.header("set-cookie").unwrap().contains("Max-Age=0"));
    left.is(204);
    refused(daemon.ask_as(browser, "GET", API).send(), 401, "unauthorized");
    daemon.ask_as(other, "GET", API).send().is(200);
    let log = daemon.log();
    daemon.kill();
    assert!([&cookie, &secret, &other_secret].iter().all(|secret| !log.contains(secret.as_str())));
    // The next daemon knows it, under the name of its own port.
    let daemon = Daemon::start(&bench);
    let port = daemon.address.rsplit(':').next().unwrap();
    let cookie = format!("rejoin_{port}={}", other_cookie.split_once('=').unwrap().1);
    daemon.ask_as((&cookie, &other_secret), "GET", API).send().is(200);
}

#[test]
fn a_code_is_good_once() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let url = rejoin_server::new_login_url(&bench.home()).unwrap();
    let (page, code) = url.split_once("#k=").unwrap();
    assert_eq!(page, format!("http://{}/", daemon.address));
    let log_in = |code: &str| daemon.ask_bare("POST", "/api/v1/login").json(&json!({"code": code})).send();
    let wrong = log_in("wrong");
    assert!(log_in(code).is(200)["secret"].is_string());
    let used = log_in(code);
    assert_eq!(wrong.header("set-cookie"), None);
    assert_eq!((wrong.status, wrong.text()), (used.status, used.text()), "nothing tells them apart");
    refused(used, 401, "unauthorized");
    refused(
        daemon.ask_bare("POST", "/api/v1/login").json(&json!({"kode": "x"})).send(),
        400,
        "unknown_field",
    );
    assert!(!daemon.log().contains(code));
    daemon.kill();
    assert!(rejoin_server::new_login_url(&bench.home()).is_err(), "nobody is there");
}

#[test]
fn tokens_are_made_listed_and_revoked_over_the_api_and_their_secrets_shown_once() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let project = bench.project().canonicalize().unwrap();
    let wanted =
        json!({"name": "ci", "scopes": ["prompt", "read"], "ceiling": "edit", "projects": [project]});
    let made = daemon.post("/api/v1/tokens", &wanted).is(201);
    let secret = made["secret"].as_str().unwrap();
    assert_eq!(made["token"]["scopes"], json!(["read", "prompt"]));
    daemon.ask_with(secret, "GET", API).send().is(200);
    let list = daemon.get("/api/v1/tokens").is(200);
    assert_eq!(list, json!({"tokens": [made["token"]]}));
    assert_eq!(bench.rejoin(&["token", "ls", "--json"]).done().json(), list["tokens"]);
    refused(daemon.post("/api/v1/tokens", &wanted), 422, "refused");
    for (field, value) in
        [("ceiling", json!("agent")), ("scopes", json!(["all"])), ("scope", json!(["read"]))]
    {
        let mut wanted = json!({"name": "other", "scopes": ["read"]});
        wanted[field] = value;
        assert_eq!(daemon.post("/api/v1/tokens", &wanted).status, 400, "{wanted}");
    }
    let path = format!("/api/v1/tokens/{}", made["token"]["id"].as_str().unwrap());
    assert_eq!(daemon.ask("DELETE", &path).send().is(204), Value::Null);
    refused(daemon.ask_with(secret, "GET", API).send(), 401, "unauthorized");
    refused(daemon.ask("DELETE", &path).send(), 404, "not_found");
    refused(daemon.ask("DELETE", "/api/v1/tokens/main").send(), 404, "not_found");
}

#[test]
fn whoever_manages_tokens_gives_no_more_than_he_has_and_sees_no_others() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    new_token(&bench, "wide", &["--scope", "read"]);
    let admin = new_token(&bench, "admin", &["--scope", "read,admin", "--ceiling", "edit"]);
    let create = |wanted: Value| daemon.ask_with(&admin, "POST", "/api/v1/tokens").json(&wanted).send();
    for wider in [
        json!({"name": "x", "scopes": ["prompt"], "ceiling": "edit"}),
        json!({"name": "x", "scopes": ["read"], "ceiling": "full"}),
        json!({"name": "x", "scopes": ["read"]}),
    ] {
        refused(create(wider), 403, "not_allowed");
    }
    create(json!({"name": "x", "scopes": ["read"], "ceiling": "read"})).is(201);
    let seen = daemon.ask_with(&admin, "GET", "/api/v1/tokens").send().is(200);
    let names: Vec<&str> =
        seen["tokens"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["admin", "x"]);
    // A browser that it lets in has its rights, not the owner's.
    let code = daemon.ask_with(&admin, "POST", "/api/v1/login/code").send().is(200);
    let reply = daemon.ask_bare("POST", "/api/v1/login").json(&json!({"code": code["code"]})).send();
    let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let secret = reply.is(200)["secret"].as_str().unwrap().to_owned();
    let ask = daemon.ask_as((&cookie, &secret), "POST", "/api/v1/tokens");
    refused(ask.json(&json!({"name": "y", "scopes": ["read"]})).send(), 403, "not_allowed");
}

#[test]
fn a_browser_lets_a_phone_in_with_a_token_of_its_own_and_passes_admin_on_to_nobody() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (cookie, secret) = daemon.browser();
    let browser = (cookie.as_str(), secret.as_str());
    let create = |wanted: Value| daemon.ask_as(browser, "POST", "/api/v1/tokens").json(&wanted).send();
    let code_of = |token: &Value| {
        let path = format!("/api/v1/tokens/{}/login-code", token["id"].as_str().unwrap());
        daemon.ask_as(browser, "POST", &path).send()
    };
    refused(create(json!({"name": "x", "scopes": ["read", "admin"]})), 403, "not_allowed");
    let phone = create(json!({"name": "phone", "scopes": ["read", "answer"]})).is(201)["token"].clone();
    let code = code_of(&phone).is(200);
    assert_eq!(code["expiresIn"], 300);
    let log_in = || daemon.ask_bare("POST", "/api/v1/login").json(&json!({"code": code["code"]})).send();
    let reply = log_in();
    let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let secret = reply.is(200)["secret"].as_str().unwrap().to_owned();
    refused(log_in(), 401, "unauthorized");
    // It has the rights of its token, and ends with it.
    let on_the_phone = |method: &str, path: &str| daemon.ask_as((&cookie, &secret), method, path).send();
    on_the_phone("GET", API).is(200);
    refused(on_the_phone("GET", "/api/v1/tokens"), 403, "scope_missing");
    let own = format!("/api/v1/tokens/{}", phone["id"].as_str().unwrap());
    refused(on_the_phone("POST", &format!("{own}/login-code")), 403, "scope_missing");
    daemon.ask_as(browser, "DELETE", &own).send().is(204);
    refused(on_the_phone("GET", API), 401, "unauthorized");
    refused(code_of(&phone), 404, "not_found");
    // Neither for the main token nor for one that could make others; with a token of its own, that is no way round.
    for id in ["main", "0b0fcb0e-6a9d-4b3c-8f47-5a0d6d5f1c11"] {
        refused(code_of(&json!({ "id": id })), 404, "not_found");
    }
    let admin = daemon.post("/api/v1/tokens", &json!({"name": "admin", "scopes": ["admin"]})).is(201);
    refused(code_of(&admin["token"]), 403, "not_allowed");
    let path = format!("/api/v1/tokens/{}/login-code", admin["token"]["id"].as_str().unwrap());
    daemon.ask("POST", &path).send().is(200);
}

#[test]
fn failures_are_slowed_down_and_then_too_many_but_the_owner_never_waits() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let began = Instant::now();
    refused(daemon.ask_with("wrong", "GET", API).send(), 401, "unauthorized");
    assert!(began.elapsed() >= Duration::from_millis(50), "it was answered at once");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || daemon.ask_with("wrong", "GET", API);
        let asked: Vec<_> = (0..12).map(|_| scope.spawn(move || ask().send().status)).collect();
        std::thread::sleep(Duration::from_millis(300));
        let began = Instant::now();
        daemon.get(API).is(200);
        assert!(began.elapsed() < Duration::from_secs(1), "it waited for those who were wrong");
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 9, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 3, "{statuses:?}");
}

#[test]
fn every_answer_tells_browsers_to_be_careful() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let answers = [
        daemon.get(API),
        daemon.get("/api/v1/nothing"),
        daemon.ask_bare("GET", API).send(),
        daemon.ask("GET", API).header("Host", "evil.example").send(),
        daemon.ask_bare("GET", "/").send(),
    ];
    for (place, answer) in answers.iter().enumerate() {
        let policy = answer.header("content-security-policy").unwrap();
        for part in
            ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"]
        {
            assert!(policy.contains(part) && !policy.contains("unsafe"), "{policy}");
        }
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
        if place < 4 {
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    }
}

#[test]
fn what_is_kept_of_tokens_and_browsers_is_for_the_owner_alone_and_holds_no_secret() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let phone = new_token(&bench, "phone", &["--scope", "read"]);
    let (cookie, secret) = daemon.browser();
    let code = daemon.post("/api/v1/login/code", &json!({})).is(200)["code"].as_str().unwrap().to_owned();
    for name in ["token", "tokens.json", "browsers.json", "login-codes.json", "auth.lock"] {
        let path = bench.home().join(name);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        let text = fs::read_to_string(&path).unwrap();
        for hidden in [phone.as_str(), cookie.split_once('=').unwrap().1, &secret, &code] {
            assert!(!text.contains(hidden), "{name}");
        }
    }
}

#[test]
fn the_command_says_what_is_wrong_with_a_token() {
    let bench = Bench::new();
    bench.rejoin(&["token", "revoke", "phone"]).ends(4).tells(&["phone"]);
    new_token(&bench, "phone", &["--scope", "read", "--project", "."]);
    bench.rejoin(&["token", "new", "phone", "--scope", "read"]).ends(2).tells(&["phone", "already"]);
    bench.rejoin(&["token", "new", "other"]).ends(2).tells(&["--scope"]);
    bench.rejoin(&["token", "new", "other", "--scope", "all"]).ends(2).tells(&["admin"]);
    bench
        .rejoin(&["token", "new", "other", "--scope", "read", "--ceiling", "agent"])
        .ends(2)
        .tells(&["edit"]);
    bench
        .rejoin(&["token", "new", "other", "--scope", "read", "--project", "nowhere"])
        .ends(2)
        .tells(&["nowhere"]);
    bench.rejoin(&["token", "revoke", "phon"]).ends(4).tells(&["phone"]);
    let listed = bench.rejoin(&["token", "ls", "--json"]).done().json();
    assert_eq!(listed[0]["projects"], json!([bench.project().canonicalize().unwrap()]));
    assert!(bench.rejoin(&["token", "ls"]).done().stdout().contains("phone"));
    let id = listed[0]["id"].as_str().unwrap();
    bench.rejoin(&["token", "revoke", id]).done();
    assert_eq!(bench.rejoin(&["token", "ls", "--json"]).done().json(), json!([]));
}
