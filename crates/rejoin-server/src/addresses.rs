//! The addresses of the page: what a browser of this machine opens, and what one of another device does.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::listen::{Listen, Protection};

/// The address for this machine. A certificate is good for names; who listens on every address is reached on this
/// machine's.
pub(crate) fn for_this_machine(listen: &Listen, address: SocketAddr, names: &[String]) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let here = SocketAddr::new(ip, address.port());
    match (encrypts(listen), names.first()) {
        (true, Some(name)) => format!("https://{}", with_port(name, address.port())),
        (true, None) => format!("https://{here}"),
        (false, _) => format!("http://{here}"),
    }
}

/// The addresses under which other devices reach the daemon; none if it is there for this machine alone, or if nobody
/// told it its name. What is not encrypted on its way is no address for anybody.
pub(crate) fn for_other_devices(
    listen: &Listen,
    address: Option<SocketAddr>,
    names: &[String],
) -> Vec<String> {
    let (Listen::Address { .. }, Some(address)) = (listen, address) else { return Vec::new() };
    if !encrypts(listen) {
        // The proxy has a port of its own, the usual one unless its name says another.
        return names.iter().map(|name| format!("https://{name}")).collect();
    }
    if names.is_empty() && !address.ip().is_loopback() && !address.ip().is_unspecified() {
        return vec![format!("https://{address}")];
    }
    names.iter().map(|name| format!("https://{}", with_port(name, address.port()))).collect()
}

fn encrypts(listen: &Listen) -> bool {
    matches!(listen, Listen::Address { protection: Protection::Tls(_), .. })
}

/// A name with the port it is reached at, unless it has one. Colons between brackets belong to an address.
fn with_port(name: &str, port: u16) -> String {
    let host_ends = name.rfind(']').unwrap_or(0);
    if name[host_ends..].contains(':') { name.to_owned() } else { format!("{name}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listen::TlsFiles;

    fn tls(address: &str) -> (Listen, SocketAddr) {
        let address = address.parse().unwrap();
        let files = TlsFiles { certificate: "c.pem".into(), key: "k.pem".into() };
        (Listen::Address { address, protection: Protection::Tls(files) }, address)
    }

    fn elsewhere((listen, address): (Listen, SocketAddr), names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        for_other_devices(&listen, Some(address), &names)
    }

    #[test]
    fn nobody_elsewhere_reaches_a_daemon_on_loopback_or_a_socket() {
        let address = "127.0.0.1:7717".parse().unwrap();
        let names = ["box.example".to_owned()];
        assert!(for_other_devices(&Listen::Loopback(7717), Some(address), &names).is_empty());
        assert!(for_other_devices(&Listen::Activated, Some(address), &names).is_empty());
        assert!(for_other_devices(&Listen::Socket("/run/x".into()), None, &names).is_empty());
        assert!(elsewhere(tls("127.0.0.1:7717"), &[]).is_empty());
    }

    #[test]
    fn with_a_certificate_its_names_count_else_the_address() {
        assert_eq!(elsewhere(tls("192.0.2.1:8443"), &[]), ["https://192.0.2.1:8443"]);
        assert_eq!(elsewhere(tls("[2001:db8::1]:8443"), &[]), ["https://[2001:db8::1]:8443"]);
        let named = elsewhere(tls("0.0.0.0:8443"), &["box.example", "other.example:443", "[2001:db8::1]"]);
        assert_eq!(
            named,
            ["https://box.example:8443", "https://other.example:443", "https://[2001:db8::1]:8443"]
        );
        assert!(elsewhere(tls("0.0.0.0:8443"), &[]).is_empty(), "which address is meant, nobody said");
    }

    #[test]
    fn behind_a_proxy_only_its_names_are_encrypted() {
        let address = "192.0.2.1:7717".parse().unwrap();
        let proxied = || (Listen::Address { address, protection: Protection::Proxy }, address);
        assert!(elsewhere(proxied(), &[]).is_empty());
        assert_eq!(elsewhere(proxied(), &["box.example"]), ["https://box.example"]);
        assert_eq!(for_this_machine(&proxied().0, address, &["box.example".into()]), "http://192.0.2.1:7717");
    }

    #[test]
    fn a_browser_here_opens_what_the_certificate_is_good_for() {
        let open = |(listen, address), names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            for_this_machine(&listen, address, &names)
        };
        assert_eq!(open(tls("0.0.0.0:8443"), &[]), "https://127.0.0.1:8443");
        assert_eq!(open(tls("[::]:8443"), &["box.example"]), "https://box.example:8443");
        assert_eq!(open(tls("[::]:8443"), &["box.example:9000"]), "https://box.example:9000");
        let loopback = (Listen::Loopback(7717), "127.0.0.1:7717".parse().unwrap());
        assert_eq!(open(loopback, &[]), "http://127.0.0.1:7717");
    }
}
