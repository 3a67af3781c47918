//! Which servers are admitted, and which are refused.

use super::place::{LIMITS, LONG, founder, joined, listening, talker};
use crate::tcp::hello;
use crate::trust::tls;
use crate::{
    Address, Authority, Identity, JoinToken, NetError, Security, Tcp, TrustError, ask, join,
};
use bytes::Bytes;
use std::sync::Arc;
use tokio::net::TcpStream;

async fn call(security: Security, to: &Address) -> Result<Bytes, NetError> {
    ask(&Tcp::new("a:1".into(), security, LIMITS), to, "echo x".into(), LONG).await
}

fn refused(result: Result<impl std::fmt::Debug, NetError>) -> String {
    match result {
        Err(NetError::Refused { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_joins_with_the_token_and_calls() {
    let (security, token) = founder();
    let (service, ..) = talker();
    let first = listening(security.clone(), Arc::clone(&service)).await;
    let printed: JoinToken = token.to_string().parse().expect("as it was printed");
    let member = joined(first.address(), &printed).await;
    assert_eq!(call(member.clone(), first.address()).await, Ok("x".into()));
    let second = listening(member, service).await;
    assert_eq!(call(security, second.address()).await, Ok("x".into()));
    let reason = refused(join(second.address(), &"c:1".into(), &token, LIMITS).await);
    assert!(reason.contains("the server that created the token"), "{reason}");
}

#[tokio::test]
async fn a_wrong_token_is_refused() {
    let ((security, token), (_, foreign)) = (founder(), founder());
    let (service, ..) = talker();
    let first = listening(security, service).await;
    let reason = refused(join(first.address(), &"a:1".into(), &foreign, LIMITS).await);
    assert!(reason.contains("does the join token belong to this cluster?"), "{reason}");
    let guessed = JoinToken { secret: [0; 32], ..token.clone() };
    let reason = refused(join(first.address(), &"a:1".into(), &guessed, LIMITS).await);
    assert_eq!(reason, "the join token belongs to another cluster");
    joined(first.address(), &token).await;
}

#[tokio::test]
async fn servers_of_another_cluster_are_refused() {
    let ((security, token), (foreign, _)) = (founder(), founder());
    let (service, ..) = talker();
    let first = listening(security, service).await;
    refused(call(foreign.clone(), first.address()).await);
    // A caller that trusts this cluster but shows a certificate of another is refused.
    let Security::Mutual { identity: foreign, .. } = foreign else { panic!("it is encrypted") };
    let Security::Mutual { identity, .. } = joined(first.address(), &token).await else {
        panic!("it is encrypted")
    };
    let mut mixed = (*identity.client).clone();
    mixed.client_auth_cert_resolver = foreign.client.client_auth_cert_resolver.clone();
    let mut mixed_identity =
        Identity::from_bytes(&identity.to_bytes().expect("bytes")).expect("its own");
    mixed_identity.client = Arc::new(mixed);
    let identity = Arc::new(mixed_identity);
    refused(call(Security::Mutual { identity, authority: None }, first.address()).await);
}

#[tokio::test]
async fn who_has_no_certificate_can_only_join() {
    let (security, token) = founder();
    let (service, ..) = talker();
    let first = listening(security, service).await;
    let to = first.address();
    let stream = TcpStream::connect(to.as_str()).await.expect("it listens");
    let mut stream = tls::connect_to_join(token.fingerprint, stream).await.expect("it is known");
    let hello = hello::Hello { purpose: hello::Purpose::Calls, address: "a:1".into() };
    let reason = refused(hello::greet(&mut stream, &hello, to).await);
    assert!(reason.contains("join with a token first"), "{reason}");
}

#[tokio::test]
async fn plain_and_encrypted_servers_do_not_talk() {
    let (security, token) = founder();
    let (service, ..) = talker();
    let encrypted = listening(security.clone(), Arc::clone(&service)).await;
    let plain = listening(Security::Plain, service).await;
    let reason = refused(call(Security::Plain, encrypted.address()).await);
    assert!(reason.contains("is only one side encrypted?"), "{reason}");
    refused(call(security, plain.address()).await);
    refused(join(plain.address(), &"a:1".into(), &token, LIMITS).await);
}

#[test]
fn what_is_kept_is_read_back() {
    let authority = Authority::found().expect("an authority");
    let bytes = authority.to_bytes().expect("bytes");
    assert_eq!(Authority::from_bytes(&bytes).map(|read| read.token()), Ok(authority.token()));
    let identity = authority.identity().expect("an identity").to_bytes().expect("bytes");
    let again = Identity::from_bytes(&identity).expect("an identity").to_bytes();
    assert_eq!(again, Ok(identity.clone()));
    for length in 0..identity.len() {
        assert!(Identity::from_bytes(&identity[..length]).is_err());
    }
    for length in 0..bytes.len() {
        assert!(Authority::from_bytes(&bytes[..length]).is_err());
    }
    for text in ["", "x", "AAAA", &authority.token().to_string()[1..], "ü"] {
        assert_eq!(text.parse::<JoinToken>(), Err(TrustError::Token), "{text}");
    }
    assert!(!format!("{:?} {:?}", authority, authority.token()).contains("secret"));
}
