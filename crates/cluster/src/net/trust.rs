//! Who belongs to a cluster: its authority, the identities that it signs, and the token by which a server joins.
//!
//! The first server makes the [`Authority`]: a key, its certificate, and a secret. A [`JoinToken`] holds the secret
//! and the fingerprint of that certificate: with it a new server knows the cluster, and the cluster lets it in
//! ([`super::join`]). What it gets is an [`Identity`]. Certificates say that their holder is a server of the cluster,
//! and not which: every server may do what any other may.
//!
//! Keys and secrets leave these types only through `to_bytes`; whoever keeps those bytes keeps them private.

use super::tls;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData, SignatureAlgorithm,
};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use tokio_rustls::rustls::{ClientConfig, ServerConfig};

/// The name in every server's certificate.
pub(super) const SERVER_NAME: &str = "server.pando.internal";

const SECRET_BYTES: usize = 32;
const FINGERPRINT_BYTES: usize = 32;

/// An uncompressed point of P-256.
const PUBLIC_KEY_BYTES: usize = 65;

/// What is wrong with a token, a certificate or a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// Not what a server printed; somebody should copy it again.
    #[error("this is not a join token; copy all of what the first server printed")]
    Token,
    /// Kept bytes were changed, or belong to another release.
    #[error("the certificates that were kept cannot be read: {0}")]
    Kept(String),
    /// A certificate could not be made, or certificate and key do not fit each other.
    #[error("certificate: {0}")]
    Certificate(String),
}

impl From<rcgen::Error> for TrustError {
    fn from(error: rcgen::Error) -> Self {
        Self::Certificate(error.to_string())
    }
}

/// What a server must be given to join a cluster. Whoever has it can join.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    pub(super) secret: [u8; SECRET_BYTES],
    pub(super) fingerprint: [u8; FINGERPRINT_BYTES],
}

impl fmt::Display for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode([self.secret, self.fingerprint].concat()))
    }
}

impl fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinToken").finish_non_exhaustive()
    }
}

impl FromStr for JoinToken {
    type Err = TrustError;

    fn from_str(text: &str) -> Result<Self, TrustError> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_| TrustError::Token)?;
        let (secret, fingerprint) =
            bytes.split_at_checked(SECRET_BYTES).ok_or(TrustError::Token)?;
        Ok(Self {
            secret: secret.try_into().map_err(|_| TrustError::Token)?,
            fingerprint: fingerprint.try_into().map_err(|_| TrustError::Token)?,
        })
    }
}

/// The SHA-256 of a certificate.
pub(super) fn fingerprint(certificate: &[u8]) -> [u8; FINGERPRINT_BYTES] {
    let mut fingerprint = [0; FINGERPRINT_BYTES];
    fingerprint.copy_from_slice(digest(&SHA256, certificate).as_ref());
    fingerprint
}

/// What signs the certificates of a cluster's servers.
#[derive(Serialize, Deserialize)]
pub struct Authority {
    key: Vec<u8>,
    certificate: Vec<u8>,
    secret: [u8; SECRET_BYTES],
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// The authority of a new cluster.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn found() -> Result<Self, TrustError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let certificate = authority_params().self_signed(&key)?.der().to_vec();
        let mut secret = [0; SECRET_BYTES];
        let no_numbers = |_| TrustError::Certificate("there are no random numbers".to_owned());
        SystemRandom::new().fill(&mut secret).map_err(no_numbers)?;
        Ok(Self { key: key.serialize_der(), certificate, secret })
    }

    /// Reads back what [`Authority::to_bytes`] gave.
    ///
    /// # Errors
    /// [`TrustError::Kept`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TrustError> {
        let kept: Self = kept(bytes)?;
        KeyPair::try_from(kept.key.as_slice())
            .map_err(|error| TrustError::Kept(error.to_string()))?;
        Ok(kept)
    }

    /// All of it, to be kept where nobody else can read it.
    ///
    /// # Errors
    /// [`TrustError::Kept`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, TrustError> {
        postcard::to_stdvec(self).map_err(|error| TrustError::Kept(error.to_string()))
    }

    /// What a server must be given to join.
    pub fn token(&self) -> JoinToken {
        JoinToken { secret: self.secret, fingerprint: fingerprint(&self.certificate) }
    }

    /// An identity for this server itself.
    ///
    /// # Errors
    /// The key could not be made.
    pub fn identity(&self) -> Result<Identity, TrustError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let certificate = self.sign(key.public_key_raw())?;
        Identity::new(key.serialize_der(), certificate, self.certificate.clone())
    }

    pub(super) fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// Whether somebody has the token. What is compared are digests, so that the time which that takes tells nothing.
    pub(super) fn accepts(&self, secret: &[u8]) -> bool {
        fingerprint(secret) == fingerprint(&self.secret)
    }

    /// A certificate for the holder of a public key, as [`KeyPair::public_key_raw`] gives it.
    pub(super) fn sign(&self, public_key: &[u8]) -> Result<Vec<u8>, TrustError> {
        if public_key.len() != PUBLIC_KEY_BYTES {
            let length = public_key.len();
            return Err(TrustError::Certificate(format!("a public key of {length} bytes")));
        }
        let issuer = Issuer::new(authority_params(), KeyPair::try_from(self.key.as_slice())?);
        let mut params = CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, "a server of a Pando cluster");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        Ok(params.signed_by(&PublicKey(public_key), &issuer)?.der().to_vec())
    }
}

/// The same for every authority: they differ in their keys.
fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "the authority of a Pando cluster");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

struct PublicKey<'k>(&'k [u8]);

impl PublicKeyData for PublicKey<'_> {
    fn der_bytes(&self) -> &[u8] {
        self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

/// Who a server is: its key, its certificate, and the authority whose certificates it believes.
pub struct Identity {
    kept: Kept,
    pub(super) client: Arc<ClientConfig>,
    pub(super) server: Arc<ServerConfig>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    key: Vec<u8>,
    certificate: Vec<u8>,
    authority: Vec<u8>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    pub(super) fn new(
        key: Vec<u8>,
        certificate: Vec<u8>,
        authority: Vec<u8>,
    ) -> Result<Self, TrustError> {
        let (client, server) = tls::configs(&key, &certificate, &authority)?;
        Ok(Self { kept: Kept { key, certificate, authority }, client, server })
    }

    /// Reads back what [`Identity::to_bytes`] gave.
    ///
    /// # Errors
    /// [`TrustError::Kept`], or [`TrustError::Certificate`] if its parts do not fit each other.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TrustError> {
        let Kept { key, certificate, authority } = kept(bytes)?;
        Self::new(key, certificate, authority)
    }

    /// All of it, to be kept where nobody else can read it.
    ///
    /// # Errors
    /// [`TrustError::Kept`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, TrustError> {
        postcard::to_stdvec(&self.kept).map_err(|error| TrustError::Kept(error.to_string()))
    }
}

fn kept<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, TrustError> {
    postcard::from_bytes(bytes).map_err(|error| TrustError::Kept(error.to_string()))
}
