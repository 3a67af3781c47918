//! Addresses of servers, from a URL and the environment.

use super::passfile;
use anyhow::{Context, bail};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Default port of PostgreSQL's protocol.
const PORT: u16 = 5432;

/// One host and port of an address.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// The address of a server: endpoints, user, database, and how to connect.
#[derive(Debug, Clone)]
pub struct Address {
    pub(super) config: Config,
    /// File of trusted certificates, if the server's certificate is verified.
    pub(super) verification: Option<PathBuf>,
    /// Password file.
    passfile: Option<PathBuf>,
}

impl Address {
    /// The endpoints to try, in this order.
    pub(super) fn endpoints(&self) -> Vec<Endpoint> {
        let ports = self.config.get_ports();
        let port = |index: usize| ports.get(index).or(ports.last()).copied().unwrap_or(PORT);
        let hosts = self.config.get_hosts().iter().enumerate();
        hosts.map(|(index, host)| Endpoint { host: host.clone(), port: port(index) }).collect()
    }

    /// The user.
    pub fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    /// The database.
    pub fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
    }

    /// The password for an endpoint: from the URL or the environment, else from the password file.
    pub(super) fn password(&self, endpoint: &Endpoint) -> Option<Vec<u8>> {
        if let Some(password) = self.config.get_password() {
            return Some(password.to_owned());
        }
        let host = match &endpoint.host {
            Host::Tcp(host) => host,
            Host::Unix(_) => "localhost",
        };
        let wanted = [host, &endpoint.port.to_string(), self.database(), self.user()];
        passfile::find(self.passfile.as_deref()?, wanted).map(String::into_bytes)
    }

    /// Sets the password.
    pub(super) fn set_password(&mut self, password: &str) {
        self.config.password(password);
    }

    /// Reads a URL. `environment` returns the value of a variable, for what the URL omits.
    ///
    /// # Errors
    /// If the URL or a variable is invalid.
    pub fn of(
        url: Option<&str>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Self> {
        let variable = |name: &str| environment(name).filter(|value| !value.is_empty());
        let (url, mode) = without_mode(url.unwrap_or(""));
        let host = variable("PGHOST").unwrap_or_else(|| "localhost".to_owned());
        let port = match variable("PGPORT") {
            Some(port) => port.parse().with_context(|| format!("PGPORT is \"{port}\""))?,
            None => PORT,
        };
        let url = with_ports(&url, &host, port);
        // The parser's errors say what is wrong with which part of it.
        let mut config = Config::from_str(&url).context("the URL is invalid")?;
        if config.get_hosts().is_empty() {
            config.host(host);
        }
        if config.get_ports().is_empty() {
            config.port(port);
        }
        if config.get_user().is_none() {
            let user = variable("PGUSER").or_else(|| variable("USER"));
            config.user(user.as_deref().unwrap_or("postgres"));
        }
        if let (None, Some(password)) = (config.get_password(), variable("PGPASSWORD")) {
            config.password(password);
        }
        if config.get_dbname().is_none() {
            let user = config.get_user().unwrap_or_default().to_owned();
            config.dbname(variable("PGDATABASE").unwrap_or(user));
        }
        if let (None, Some(seconds)) = (config.get_connect_timeout(), variable("PGCONNECT_TIMEOUT"))
        {
            let seconds = seconds.parse();
            let seconds = seconds.context("PGCONNECT_TIMEOUT is not a number of seconds")?;
            config.connect_timeout(Duration::from_secs(seconds));
        }
        let passfile = passfile::usual(variable);
        let mode = mode.or_else(|| variable("PGSSLMODE")).unwrap_or_else(|| "prefer".to_owned());
        let verified = mode == "verify-full";
        config.ssl_mode(match mode.as_str() {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-full" => SslMode::Require,
            other => {
                bail!("sslmode is disable, prefer, require or verify-full, not \"{other}\"")
            }
        });
        config.application_name("pando");
        let verification = if verified {
            let file = variable("PGSSLROOTCERT");
            Some(
                file.context("sslmode=verify-full needs PGSSLROOTCERT, a file of certificates")?
                    .into(),
            )
        } else {
            None
        };
        Ok(Self { config, verification, passfile })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Endpoint { host, port }) in self.endpoints().iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match host {
                Host::Tcp(host) => write!(f, "{comma}{host}:{port}")?,
                Host::Unix(path) => write!(f, "{comma}{}:{port}", path.display())?,
            }
        }
        Ok(())
    }
}

/// Splits `sslmode` off a URL, because the library does not know all modes.
fn without_mode(url: &str) -> (String, Option<String>) {
    let Some((base, parameters)) = url.split_once('?') else { return (url.to_owned(), None) };
    let mut mode = None;
    let mut kept = Vec::new();
    for parameter in parameters.split('&') {
        match parameter.strip_prefix("sslmode=") {
            Some(value) => mode = Some(value.to_owned()),
            None => kept.push(parameter),
        }
    }
    if kept.is_empty() {
        return (base.to_owned(), mode);
    }
    (format!("{base}?{}", kept.join("&")), mode)
}

/// Adds the port to hosts of a URL that have none, because the library's default differs.
fn with_ports(url: &str, host: &str, port: u16) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    if hosts.is_empty() {
        return url.to_owned();
    }
    let host = host.replace('/', "%2F");
    let complete = |place: &str| {
        // The colons of an IPv6 address are in brackets.
        let colon = place.rfind(':').filter(|at| !place[*at..].contains(']'));
        match (place.split_at(colon.unwrap_or(place.len())), colon) {
            (("", given), _) => format!("{host}{given}"),
            ((given, ""), None) => format!("{given}:{port}"),
            _ => place.to_owned(),
        }
    };
    let hosts: Vec<String> = hosts.split(',').map(complete).collect();
    let at = if authority.contains('@') { "@" } else { "" };
    format!("{scheme}://{user}{at}{}{rest}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(name: &str) -> Option<String> {
        let value = match name {
            "PGHOST" => "elsewhere",
            "PGPORT" => "6000",
            "PGUSER" => "ada",
            _ => return None,
        };
        Some(value.to_owned())
    }

    #[test]
    fn the_environment_has_the_defaults_of_the_url() {
        let address = Address::of(Some("postgres://here/d"), variables).expect("valid");
        assert_eq!(address.to_string(), "here:6000");
        assert_eq!(address.config.get_user(), Some("ada"));
        assert_eq!(address.config.get_dbname(), Some("d"));
        let address = Address::of(Some("postgres://[::1]/d"), variables).expect("valid");
        assert_eq!(address.config.get_ports(), [6000]);
        let address = Address::of(Some("postgres://eve:x@here:1/d"), variables).expect("valid");
        assert_eq!(address.to_string(), "here:1");
        assert_eq!(address.config.get_user(), Some("eve"));
        let address = Address::of(None, |_| None).expect("defaults");
        assert_eq!(address.to_string(), "localhost:5432");
        let places = |url| Address::of(Some(url), variables).expect("valid").to_string();
        assert_eq!(places("postgres://a:b@h:1,i,[::1]/d"), "h:1,i:6000,::1:6000");
        assert_eq!(places("postgres://[::1]:7/d?connect_timeout=3"), "::1:7");
        assert_eq!(places("postgres://ada@:7/d"), "elsewhere:7");
        assert_eq!(places("postgres:///d"), "elsewhere:6000");
        assert_eq!(places("host=x dbname=d"), "x:6000");
    }

    #[test]
    fn sslmodes() {
        let mode = |mode: &str| {
            let url = format!("postgres://h/d?sslmode={mode}&application_name=x");
            Address::of(Some(&url), |_| None).map(|address| address.config.get_ssl_mode())
        };
        assert_eq!(mode("disable").expect("known"), SslMode::Disable);
        assert_eq!(mode("require").expect("known"), SslMode::Require);
        assert!(mode("verify-full").is_err_and(|e| e.to_string().contains("PGSSLROOTCERT")));
        assert!(mode("maybe").is_err_and(|e| e.to_string().contains("\"maybe\"")));
    }
}
