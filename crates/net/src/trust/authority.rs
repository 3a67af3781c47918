//! The certificate authority of a cluster.

use super::error::TrustError;
use super::fingerprint::fingerprint;
use super::identity::Identity;
use super::saved;
use super::tls::SERVER_NAME;
use super::token::{JoinToken, SECRET_BYTES};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData, SignatureAlgorithm,
};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Length of an uncompressed point of P-256.
const PUBLIC_KEY_BYTES: usize = 65;

/// Signs the certificates of the servers of a cluster.
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
    /// Creates the authority of a new cluster.
    ///
    /// # Errors
    /// The system has no random numbers, or a key could not be created.
    pub fn found() -> Result<Self, TrustError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let certificate = authority_params().self_signed(&key)?.der().to_vec();
        let mut secret = [0; SECRET_BYTES];
        let no_numbers = |_| TrustError::Certificate("the system has no random numbers".to_owned());
        SystemRandom::new().fill(&mut secret).map_err(no_numbers)?;
        Ok(Self { key: key.serialize_der(), certificate, secret })
    }

    /// Decodes the result of [`Authority::to_bytes`].
    ///
    /// # Errors
    /// [`TrustError::Saved`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TrustError> {
        let authority: Self = saved::decode(bytes)?;
        KeyPair::try_from(authority.key.as_slice())
            .map_err(|error| TrustError::Saved(error.to_string()))?;
        Ok(authority)
    }

    /// Encodes key, certificate and secret. The bytes must be saved where nobody else can read
    /// them.
    ///
    /// # Errors
    /// [`TrustError::Saved`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, TrustError> {
        saved::encode(self)
    }

    /// The token with which servers join this cluster.
    pub fn token(&self) -> JoinToken {
        JoinToken { secret: self.secret, fingerprint: fingerprint(&self.certificate) }
    }

    /// Creates an identity for the server that holds the authority.
    ///
    /// # Errors
    /// The key could not be created.
    pub fn identity(&self) -> Result<Identity, TrustError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let certificate = self.sign(key.public_key_raw())?;
        Identity::new(key.serialize_der(), certificate, self.certificate.clone())
    }

    pub(crate) fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// Whether `secret` is that of the token. Digests are compared, so that the duration reveals
    /// nothing.
    pub(crate) fn accepts(&self, secret: &[u8]) -> bool {
        fingerprint(secret) == fingerprint(&self.secret)
    }

    /// Signs a public key, encoded as by [`KeyPair::public_key_raw`].
    pub(crate) fn sign(&self, public_key: &[u8]) -> Result<Vec<u8>, TrustError> {
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

/// Parameters of the authority's certificate. They are the same for all authorities, which differ
/// in their keys.
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
