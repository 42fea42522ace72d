//! Where a daemon listens besides the port of 127.0.0.1: on an address with a certificate or behind a proxy, on a
//! socket in the file system, on one that it is handed.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use serde_json::json;

use super::daemon::{Ask, Daemon, Reply};
use super::runs::{over, wanted};
use crate::support::{Bench, Call, REJOIN, eventually};

const NAME: &str = "rejoin.example.org";

/// A certificate for [`NAME`] that nobody signed but itself, and its key.
fn certificate(bench: &Bench, name: &str) -> (PathBuf, PathBuf) {
    let file = |kind: &str| bench.lab.root().join(format!("{name}.{kind}.pem"));
    let (certificate, key) = (file("certificate"), file("key"));
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]);
    openssl.args(["-subj", &format!("/CN={NAME}"), "-addext", &format!("subjectAltName=DNS:{NAME}")]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    let made = openssl.arg("-keyout").arg(&key).arg("-out").arg(&certificate).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (certificate, key)
}

/// A connection to whoever has a certificate that is known.
fn encrypted(address: &str, known: &Path) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(known).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(NAME).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(connection, TcpStream::connect(address).unwrap())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A daemon on an address of this machine that is treated like one of a network.
fn on_an_address<'a>(bench: &'a Bench, args: &[&str]) -> Daemon<'a> {
    let mut command =
        bench.rejoin(&["serve", "--listen", "127.0.0.1:0", "--host", NAME]).with(args).command();
    Daemon::start_by(&bench.lab, &bench.home(), &mut command)
}

#[track_caller]
fn problem(reply: Reply, status: u16, code: &str) {
    assert_eq!(reply.is(status)["code"], code);
}

#[test]
fn an_address_of_a_network_is_not_listened_on_without_protection() {
    let bench = Bench::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7717", "127.0.0.1:0"] {
        let refused = bench.rejoin(&["serve", "--listen", address]).ends(2);
        refused.tells(&["--tls-cert", "--tls-key", "--behind-proxy", "--port"]);
    }
    assert!(!bench.home().join("daemon.json").exists());
    // Half of it, or both, is a mistake as well.
    bench.rejoin(&["serve", "--listen", "127.0.0.1:0", "--tls-cert", "c.pem"]).ends(2).tells(&["--tls-key"]);
    bench.rejoin(&["serve", "--behind-proxy"]).ends(2).tells(&["--listen"]);
    let both = ["--tls-cert", "c.pem", "--tls-key", "k.pem", "--behind-proxy"];
    bench.rejoin(&["serve", "--listen", "127.0.0.1:0"]).with(&both).ends(2).tells(&["--behind-proxy"]);
}

#[test]
fn a_port_in_use_is_said_with_who_has_it() {
    let (bench, other) = (Bench::new(), Bench::new());
    let daemon = Daemon::start(&other);
    let port = daemon.address.rsplit(':').next().unwrap();
    let refused = bench.rejoin(&["serve", "--port", port]).ends(6);
    refused.tells(&[&format!("port {port} is in use by process {} (rejoin serve)", daemon.pid()), "--port"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let refused = bench.rejoin(&["serve", "--port", &port.to_string()]).ends(6);
    refused.tells(&[&format!("port {port} is in use by process {}", std::process::id())]);
    assert!(!bench.home().join("daemon.json").exists());
}

#[test]
fn a_second_daemon_on_one_home_is_told_of_the_first() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let first = format!("process {}", daemon.pid());
    for args in [["serve", "--port", "0"], ["serve", "--port", daemon.address.rsplit(':').next().unwrap()]] {
        bench.rejoin(&args).ends(6).tells(&["a daemon serves this home already", &first, "rejoin serve"]);
    }
    daemon.get("/api/v1").is(200);
}

#[test]
fn with_a_certificate_everything_is_encrypted_and_its_name_is_the_daemons() {
    let bench = Bench::new();
    let (known, key) = certificate(&bench, "own");
    let daemon = on_an_address(&bench, &["--tls-cert", text(&known), "--tls-key", text(&key)]);
    let port = daemon.address.rsplit(':').next().unwrap().to_owned();
    let host = format!("{NAME}:{port}");
    let send = |ask: Ask| ask.header("Host", &host).send_over(encrypted(&daemon.address, &known));
    let said = send(daemon.ask("GET", "/api/v1")).is(200);
    assert_eq!(said["addresses"], json!([format!("https://{host}")]));
    let url = bench.rejoin(&["serve", "--url"]).done().stdout().to_owned();
    assert!(url.starts_with(&format!("https://{host}/#k=")), "{url}");

    let taken = send(daemon.ask("POST", "/api/v1/runs").json(&wanted(&bench, "hello MARK-a"))).is(202);
    let path = format!("/api/v1/runs/{}?wait=20", taken["run"].as_str().unwrap());
    assert_eq!(send(daemon.ask("GET", &path)).is(200)["status"], "completed");

    // A cookie never goes over a line that is not encrypted, and only pages of the encrypted address are ours.
    let code = send(daemon.ask("POST", "/api/v1/login/code").json(&json!({}))).is(200);
    let login = || daemon.ask_bare("POST", "/api/v1/login").json(&json!({ "code": code["code"] }));
    problem(send(login().header("Origin", &format!("http://{host}"))), 403, "foreign_origin");
    let reply = send(login().header("Origin", &format!("https://{host}")));
    assert!(reply.header("set-cookie").unwrap().contains("; Secure"), "{reply:?}");

    // Who does not encrypt hears nothing, and who knows another certificate does not talk to it.
    assert_eq!(daemon.get("/api/v1").status, 0);
    let (other, _) = certificate(&bench, "other");
    let mut stranger = encrypted(&daemon.address, &other);
    let error = stranger.conn.complete_io(&mut stranger.sock).unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    send(daemon.ask("GET", "/api/v1")).is(200);
}

#[test]
fn a_certificate_that_cannot_be_used_is_said_with_its_file() {
    let bench = Bench::new();
    let ((known, key), (_, foreign)) = (certificate(&bench, "own"), certificate(&bench, "other"));
    let nothing = bench.lab.root().join("nothing.pem");
    let empty = bench.lab.root().join("empty.pem");
    fs::write(&empty, "").unwrap();
    let cases = [
        (&nothing, &key, &nothing),
        (&known, &nothing, &nothing),
        (&empty, &key, &empty),
        (&known, &foreign, &known),
    ];
    for (certificate, key, named) in cases {
        let args = ["--tls-cert", text(certificate), "--tls-key", text(key)];
        bench.rejoin(&["serve", "--listen", "127.0.0.1:0"]).with(&args).ends(2).tells(&[text(named)]);
    }
}

#[test]
fn behind_a_proxy_its_name_is_taken_and_cookies_are_for_encrypted_lines() {
    let bench = Bench::new();
    let daemon = on_an_address(&bench, &["--behind-proxy"]);
    // As a proxy hands it on: the name the browser used, without our port.
    let forwarded = |ask: Ask| ask.header("Host", NAME).header("X-Forwarded-Proto", "https");
    let said = forwarded(daemon.ask("GET", "/api/v1")).send().is(200);
    assert_eq!(said["addresses"], json!([format!("https://{NAME}")]));
    problem(daemon.ask("GET", "/api/v1").header("Host", "evil.example").send(), 421, "foreign_host");
    // What a proxy says of the host does not count: anybody can say it.
    let claims = daemon.ask("GET", "/api/v1").header("Host", "evil.example").header("X-Forwarded-Host", NAME);
    problem(claims.send(), 421, "foreign_host");
    let code = forwarded(daemon.ask("POST", "/api/v1/login/code")).json(&json!({})).send().is(200);
    let login = forwarded(daemon.ask_bare("POST", "/api/v1/login")).json(&json!({ "code": code["code"] }));
    let reply = login.header("Origin", &format!("https://{NAME}")).send();
    assert!(reply.header("set-cookie").unwrap().contains("; Secure"), "{reply:?}");
    reply.is(200);
}

/// What hands its standard input over as systemd does: as descriptor 3, to the process it becomes.
const HAND_OVER: &str = r#"exec 3<&0 0</dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve --activated"#;

fn handed(bench: &Bench, socket: OwnedFd) -> Command {
    let mut command = Call::of(bench, "/bin/sh", &["-c", HAND_OVER, REJOIN]).command();
    command.stdin(Stdio::from(socket));
    command
}

#[test]
fn a_port_that_was_handed_over_is_served() {
    let bench = Bench::new();
    bench.rejoin(&["serve", "--activated"]).ends(4).tells(&["LISTEN_FDS"]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    // Whoever came before it is answered, too: the system keeps him.
    let early = TcpStream::connect(&address).unwrap();
    let daemon = Daemon::start_given(&bench.lab, &bench.home(), &mut handed(&bench, port.into()));
    assert_eq!(daemon.address, address);
    daemon.ask("GET", "/api/v1").send_over(early).is(200);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "hello MARK-a")).is(202);
    assert_eq!(over(&daemon, &taken["run"])["status"], "completed");
    let elsewhere = daemon.ask("GET", "/api/v1").header("Host", "evil.example").send();
    problem(elsewhere, 421, "foreign_host");
}

/// A child that is ended with the test.
struct Started(std::process::Child);

impl Drop for Started {
    fn drop(&mut self) {
        crate::support::kill(self.0.id());
        let _ = self.0.wait();
    }
}

/// Asks at a socket in the file system.
fn asks_at(bench: &Bench, path: &Path) {
    let token = bench.rejoin(&["token"]).done().stdout().trim().to_owned();
    let connect = || UnixStream::connect(path).ok();
    let ask = |token: &str| {
        let mut ask = Ask::new("localhost", "GET", "/api/v1");
        ask = ask.header("Authorization", &format!("Bearer {token}"));
        ask.send_over(eventually("a connection", connect))
    };
    assert_eq!(ask(&token).is(200)["name"], "rejoin");
    problem(ask("wrong"), 401, "unauthorized");
}

#[test]
fn a_socket_in_the_file_system_is_for_its_user_alone_and_goes_with_the_daemon() {
    let bench = Bench::new();
    let path = bench.lab.root().join("rejoin.sock");
    let serve = || bench.rejoin(&["serve", "--socket", text(&path)]);
    fs::write(&path, "something").unwrap();
    serve().ends(6).tells(&["in the way", "no socket"]);
    fs::remove_file(&path).unwrap();
    let mut command = serve().command();
    let mut started = Started(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    asks_at(&bench, &path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    crate::support::signal(started.0.id(), rustix::process::Signal::TERM);
    assert!(started.0.wait().unwrap().success());
    assert!(!path.exists());
    // What a killed one left is no obstacle.
    drop(UnixListener::bind(&path).unwrap());
    let _again = Started(command.spawn().unwrap());
    asks_at(&bench, &path);
}

#[test]
fn a_socket_in_the_file_system_that_was_handed_over_is_served_and_stays() {
    let bench = Bench::new();
    let path = bench.lab.root().join("systemd.sock");
    let socket = UnixListener::bind(&path).unwrap();
    let mut command = handed(&bench, socket.into());
    let mut started = Started(command.stderr(Stdio::null()).spawn().unwrap());
    asks_at(&bench, &path);
    crate::support::signal(started.0.id(), rustix::process::Signal::TERM);
    assert!(started.0.wait().unwrap().success());
    assert!(path.exists(), "it is the system's");
}
