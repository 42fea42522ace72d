//! The names under which the daemon is reached. A page that made its own name point here (DNS rebinding) asks for
//! another host, and a page of another site says where it comes from.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method, Uri};

use crate::listen::{Listen, Protection};
use crate::problem::{Code, Problem};

/// The daemon's own names.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    /// As they stand in `Host`: in small letters, with the port where it is not the usual one.
    own: Vec<String>,
    /// What the origin of its pages begins with.
    schemes: &'static [&'static str],
    /// Whether cookies go over TLS only.
    pub(super) secure: bool,
    port: Option<u16>,
}

impl Hosts {
    /// Those of a daemon that listens there, at this address, and is reached under further names: `rejoin.example.org`
    /// (at the port it listens on, or a proxy does usually), `rejoin.example.org:8443`.
    pub(crate) fn of(listen: &Listen, address: Option<SocketAddr>, names: &[String]) -> Self {
        let (schemes, secure): (&[&str], bool) = match listen {
            Listen::Address { protection: Protection::Tls(_), .. } => (&["https://"], true),
            // Whether the proxy is asked over TLS is known to it alone.
            Listen::Address { protection: Protection::Proxy, .. } => (&["https://", "http://"], true),
            Listen::Loopback(_) | Listen::Socket(_) | Listen::Activated => (&["http://"], false),
        };
        let port = address.map(|address| address.port());
        let mut own = Vec::new();
        let mut reached_as = |name: &str| {
            let name = name.to_ascii_lowercase();
            own.extend(port.map(|port| format!("{name}:{port}")));
            if port.is_none() || port == Some(if secure { 443 } else { 80 }) {
                own.push(name);
            }
        };
        reached_as("localhost");
        if let Some(address) = address {
            reached_as("127.0.0.1");
            reached_as("[::1]");
            match address.ip() {
                ip if ip.is_unspecified() => {}
                IpAddr::V4(ip) => reached_as(&ip.to_string()),
                IpAddr::V6(ip) => reached_as(&format!("[{ip}]")),
            }
        }
        for name in names {
            reached_as(name);
        }
        own.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        Self { own, schemes, secure, port }
    }

    /// The name of the cookie: browsers send the cookies of one host to all its ports.
    pub(super) fn cookie(&self) -> String {
        match self.port {
            Some(port) => format!("rejoin_{port}"),
            None => "rejoin_socket".to_owned(),
        }
    }

    /// Refuses what was sent to somebody else, or by a page of somebody else.
    pub(super) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        api: bool,
    ) -> Result<(), Problem> {
        self.check_host(uri, headers)?;
        self.check_origin(headers)?;
        let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let foreign = match says("sec-fetch-site") {
            // Following a link to the page is nothing that could do harm: it holds no data.
            "cross-site" | "same-site" if !api && method == Method::GET => {
                says("sec-fetch-mode") != "navigate" || says("sec-fetch-dest") != "document"
            }
            // The same site is also another port of this machine.
            "cross-site" | "same-site" => true,
            _ => false,
        };
        if foreign {
            return Err(foreign_origin("a page of another site asked for this"));
        }
        Ok(())
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(HOST).iter();
        let (host, second) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next());
        // A request that names a whole address means that one, whatever `Host` says.
        let authority = uri.authority().is_none_or(|authority| self.is_own(authority.as_str()));
        if host.is_some_and(|host| self.is_own(host)) && second.is_none() && authority {
            return Ok(());
        }
        let said = host.unwrap_or("no host, or more than one");
        Err(Problem::new(Code::ForeignHost, format!("this daemon is not reached as {said:?}"))
            .hint(format!("ask for {}", self.own.first().map_or("localhost", String::as_str))))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let is_own = |origin: &str| {
            let host = self.schemes.iter().find_map(|scheme| origin.strip_prefix(scheme));
            host.is_some_and(|host| self.is_own(host))
        };
        let own = |value: &axum::http::HeaderValue| value.to_str().is_ok_and(is_own);
        if headers.get_all(ORIGIN).iter().all(own) {
            return Ok(());
        }
        Err(foreign_origin("a page of another origin asked for this"))
    }

    fn is_own(&self, host: &str) -> bool {
        self.own.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}

fn foreign_origin(detail: &str) -> Problem {
    Problem::new(Code::ForeignOrigin, detail)
        .hint("only the daemon's own page may ask; programs send no Origin and no Sec-Fetch headers")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use axum::http::{HeaderName, HeaderValue};

    use super::*;
    use crate::listen::TlsFiles;

    fn loopback() -> Hosts {
        Hosts::of(&Listen::Loopback(7717), Some("127.0.0.1:7717".parse().unwrap()), &[])
    }

    fn behind_proxy() -> Hosts {
        let address = "0.0.0.0:7717".parse().unwrap();
        let listen = Listen::Address { address, protection: Protection::Proxy };
        Hosts::of(&listen, Some(address), &["Rejoin.example.org".to_owned()])
    }

    fn check(hosts: &Hosts, api: bool, headers: &[(&'static str, &str)]) -> Result<(), Code> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        let path = if api { "/api/v1/runs" } else { "/" };
        let checked = hosts.check(&Method::GET, &Uri::from_static(path), &headers.collect(), api);
        checked.map_err(|problem| problem.code())
    }

    #[test]
    fn only_its_own_names_with_its_own_port_are_taken() {
        for own in ["127.0.0.1:7717", "localhost:7717", "LocalHost:7717", "[::1]:7717"] {
            assert_eq!(check(&loopback(), true, &[("host", own)]), Ok(()), "{own}");
        }
        let foreign = [
            "localhost",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:77170",
            "evil.example:7717",
            "127.0.0.2:7717",
            "localhost.:7717",
            "localhost:7717.evil.example",
            "evil@localhost:7717",
            "",
            "0.0.0.0:7717",
        ];
        for foreign in foreign {
            for api in [true, false] {
                assert_eq!(
                    check(&loopback(), api, &[("host", foreign)]),
                    Err(Code::ForeignHost),
                    "{foreign}"
                );
            }
        }
        assert_eq!(check(&loopback(), true, &[]), Err(Code::ForeignHost));
    }

    #[test]
    fn the_whole_address_of_a_request_and_a_second_host_count_too() {
        let hosts = loopback();
        let host = HeaderValue::from_static("127.0.0.1:7717");
        let mut headers = HeaderMap::from_iter([(HOST, host)]);
        let asked = |uri: &'static str, headers: &HeaderMap| {
            hosts.check(&Method::GET, &Uri::from_static(uri), headers, true).is_ok()
        };
        assert!(asked("http://localhost:7717/api/v1", &headers));
        assert!(!asked("http://evil.example:7717/api/v1", &headers));
        headers.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!asked("/api/v1", &headers));
    }

    #[test]
    fn a_page_of_another_origin_is_refused_everywhere() {
        let own = ("host", "127.0.0.1:7717");
        for origin in ["http://127.0.0.1:7717", "http://localhost:7717"] {
            assert_eq!(check(&loopback(), true, &[own, ("origin", origin)]), Ok(()), "{origin}");
        }
        let foreign = [
            "null",
            "",
            "http://evil.example",
            "https://127.0.0.1:7717",
            "http://127.0.0.1:3000",
            "http://127.0.0.1",
            "http://127.0.0.1:7717.evil.example",
            "127.0.0.1:7717",
        ];
        for origin in foreign {
            for api in [true, false] {
                let asked = check(&loopback(), api, &[own, ("origin", origin)]);
                assert_eq!(asked, Err(Code::ForeignOrigin), "{origin}");
            }
        }
    }

    #[test]
    fn another_site_may_link_to_the_page_and_nothing_else() {
        let own = ("host", "127.0.0.1:7717");
        let link = [
            own,
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert_eq!(check(&loopback(), false, &link), Ok(()));
        assert_eq!(check(&loopback(), true, &link), Err(Code::ForeignOrigin));
        let mut frame = link;
        frame[3].1 = "iframe";
        assert_eq!(check(&loopback(), false, &frame), Err(Code::ForeignOrigin));
        for (site, expected) in [
            ("same-origin", Ok(())),
            ("none", Ok(())),
            ("same-site", Err(Code::ForeignOrigin)),
            ("cross-site", Err(Code::ForeignOrigin)),
        ] {
            assert_eq!(check(&loopback(), true, &[own, ("sec-fetch-site", site)]), expected, "{site}");
        }
    }

    #[test]
    fn behind_a_proxy_the_configured_name_counts() {
        let hosts = behind_proxy();
        for host in ["rejoin.example.org", "rejoin.example.org:7717", "localhost:7717"] {
            let origin = format!("https://{host}");
            assert_eq!(check(&hosts, true, &[("host", host), ("origin", &origin)]), Ok(()), "{host}");
        }
        for host in ["example.org", "0.0.0.0:7717", "rejoin.example.org:80"] {
            assert_eq!(check(&hosts, true, &[("host", host)]), Err(Code::ForeignHost), "{host}");
        }
    }

    #[test]
    fn under_tls_the_origin_is_a_safe_one_and_a_socket_is_localhost() {
        let address = "192.0.2.1:443".parse().unwrap();
        let files = TlsFiles { certificate: PathBuf::new(), key: PathBuf::new() };
        let tls =
            Hosts::of(&Listen::Address { address, protection: Protection::Tls(files) }, Some(address), &[]);
        let asked = |origin: &str| check(&tls, true, &[("host", "192.0.2.1"), ("origin", origin)]);
        assert_eq!(asked("https://192.0.2.1"), Ok(()));
        assert_eq!(asked("http://192.0.2.1"), Err(Code::ForeignOrigin));
        assert!(tls.secure && !loopback().secure);
        let socket = Hosts::of(&Listen::Socket(PathBuf::new()), None, &[]);
        assert_eq!(check(&socket, true, &[("host", "localhost")]), Ok(()));
        assert_eq!(check(&socket, true, &[("host", "evil.example")]), Err(Code::ForeignHost));
        assert_eq!((loopback().cookie(), socket.cookie()), ("rejoin_7717".into(), "rejoin_socket".into()));
    }
}
