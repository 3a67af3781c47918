//! Encryption: a certificate from files, or one made at the start.

use crate::config::Tls;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// What clients say they speak when they begin with TLS (ALPN).
pub(crate) const PROTOCOL: &[u8] = b"postgresql";

/// What encrypts connections; `None` where they stay plain.
///
/// # Errors
/// Files that cannot be read, or do not belong together; the message names them.
pub fn acceptor(tls: &Tls, hosts: Vec<String>) -> io::Result<Option<TlsAcceptor>> {
    let (certificates, key) = match tls {
        Tls::Off => return Ok(None),
        Tls::Files { certificate, key } => (certificates(certificate)?, private_key(key)?),
        Tls::SelfSigned => self_signed(hosts)?,
    };
    let provider = Arc::new(ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|error| io::Error::other(format!("certificate and key do not match: {error}")))?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

fn named(path: &Path, error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(path).map_err(|error| named(path, error))?;
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(|error| named(path, error))?;
    if all.is_empty() {
        return Err(named(path, "the file contains no PEM certificate"));
    }
    Ok(all)
}

fn private_key(path: &Path) -> io::Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| named(path, error))
}

fn self_signed(
    hosts: Vec<String>,
) -> io::Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
    let made = rcgen::generate_simple_self_signed(hosts).map_err(io::Error::other)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}
