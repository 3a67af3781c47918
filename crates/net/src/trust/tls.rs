//! TLS between servers: both sides show a certificate that the cluster's authority signed.
//!
//! A server without a certificate can connect only to join: the listening side requests a
//! certificate, but requires one only for connections that are opened for calls.

use super::error::TrustError;
use super::fingerprint::{FINGERPRINT_BYTES, fingerprint};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime,
};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

/// The name in the certificate of every server.
pub(super) const SERVER_NAME: &str = "server.pando.internal";

/// The TLS configurations for outgoing and incoming connections.
pub(super) fn configs(
    key: &[u8],
    certificate: &[u8],
    authority: &[u8],
) -> Result<(Arc<ClientConfig>, Arc<ServerConfig>), TrustError> {
    let wrong = |error: &dyn std::fmt::Display| TrustError::Certificate(error.to_string());
    let provider = Arc::new(ring::default_provider());
    let roots = roots(authority).map_err(|error| wrong(&error))?;
    let chain: Vec<_> = [certificate, authority].map(|der| der.to_vec().into()).into();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.to_vec()));
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| wrong(&error))?
        .with_root_certificates(Arc::clone(&roots))
        .with_client_auth_cert(chain.clone(), key.clone_key())
        .map_err(|error| wrong(&error))?;
    let callers = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| wrong(&error))?;
    let server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| wrong(&error))?
        .with_client_cert_verifier(callers)
        .with_single_cert(chain, key)
        .map_err(|error| wrong(&error))?;
    Ok((Arc::new(client), Arc::new(server)))
}

fn roots(authority: &[u8]) -> Result<Arc<RootCertStore>, Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority.to_vec()))?;
    Ok(Arc::new(roots))
}

/// Connects to a server of the same cluster.
pub(crate) async fn connect(
    config: &Arc<ClientConfig>,
    stream: TcpStream,
) -> io::Result<client::TlsStream<TcpStream>> {
    let name = ServerName::try_from(SERVER_NAME).map_err(io::Error::other)?;
    TlsConnector::from(Arc::clone(config)).connect(name, stream).await
}

/// Accepts a connection, with a certificate of the cluster or without any.
pub(crate) async fn accept(
    config: &Arc<ServerConfig>,
    stream: TcpStream,
) -> io::Result<server::TlsStream<TcpStream>> {
    TlsAcceptor::from(Arc::clone(config)).accept(stream).await
}

/// Connects without a certificate to a server whose cluster has an authority with this fingerprint.
pub(crate) async fn connect_to_join(
    authority: [u8; FINGERPRINT_BYTES],
    stream: TcpStream,
) -> io::Result<client::TlsStream<TcpStream>> {
    let provider = Arc::new(ring::default_provider());
    let known = Arc::new(Fingerprint { authority, provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(known)
        .with_no_client_auth();
    let name = ServerName::try_from(SERVER_NAME).map_err(io::Error::other)?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

/// Accepts servers whose certificate chain contains the authority with the known fingerprint.
#[derive(Debug)]
struct Fingerprint {
    authority: [u8; FINGERPRINT_BYTES],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Fingerprint {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let authority = others.iter().find(|other| fingerprint(other) == self.authority);
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let roots = roots(authority.ok_or(unknown)?)?;
        let provider = Arc::clone(&self.provider);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
        let verifier = verifier.map_err(|error| Error::General(error.to_string()))?;
        verifier.verify_server_cert(certificate, others, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("servers require TLS 1.3".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signed,
            algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
