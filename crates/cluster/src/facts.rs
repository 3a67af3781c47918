//! What servers with a data directory remember of their cluster: facts in the store, as JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Acknowledgement, Error, Failure, Store, TransactionId};

/// The cluster that a server belongs to ([`Identity`]).
pub(crate) const IDENTITY: &str = "cluster/identity";

/// At the root: the certificate authority of the cluster, with its key.
pub(crate) const AUTHORITY: &str = "cluster/authority";

/// At the root: the list of members.
pub(crate) const MEMBERS: &str = "cluster/members";

/// At the root: no timestamp above this was assigned.
pub(crate) const CLOCK: &str = "cluster/clock";

/// At the root: the number of the newest start of a server.
pub(crate) const STARTS: &str = "cluster/starts";

/// At the root: the beginning of the names of outcomes of transactions.
pub(crate) const OUTCOMES: &str = "cluster/outcome/";

/// The cluster that a server belongs to, and its name there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(crate) struct Identity {
    /// The identity of the root's data directory.
    pub(crate) cluster: u64,
    pub(crate) name: String,
}

/// The name of the fact with the outcome of a transaction.
pub(crate) fn outcome(transaction: TransactionId) -> String {
    format!("{OUTCOMES}{}/{}", transaction.coordinator, transaction.number)
}

/// The transaction whose outcome is a fact with this name.
pub(crate) fn transaction(name: &str) -> Option<TransactionId> {
    let (coordinator, number) = name.strip_prefix(OUTCOMES)?.split_once('/')?;
    let coordinator = sdds::ServerId(coordinator.parse().ok()?);
    Some(TransactionId { coordinator, number: number.parse().ok()? })
}

/// Reads a fact.
///
/// # Errors
/// XX001 if it cannot be decoded.
pub(crate) fn read<T: DeserializeOwned>(store: &Store, name: &str) -> Result<Option<T>, Error> {
    store.fact(name).map(|value| decode(name, &value)).transpose()
}

/// Decodes a fact.
///
/// # Errors
/// XX001 if it cannot be decoded.
pub(crate) fn decode<T: DeserializeOwned>(name: &str, value: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(value).map_err(|error| {
        Error::Failed(Box::new(Failure {
            sql_state: "XX001".into(),
            message: format!("{name} in the data directory cannot be read: {error}"),
            ..Failure::default()
        }))
    })
}

/// Writes a fact, if there is a data directory. It is durable when the result has ended.
///
/// # Errors
/// 53100 if the disk is full, 58030 if it fails.
pub(crate) fn write(
    store: &Store,
    name: &str,
    value: &impl Serialize,
) -> Result<Acknowledgement, Error> {
    if store.journal().is_none() {
        return Ok(Acknowledgement::default());
    }
    let value = serde_json::to_vec(value).map_err(|error| Error::Remote {
        sql_state: "XX000".into(),
        message: format!("{name} cannot be written: {error}"),
        detail: None,
        hint: None,
    })?;
    store.set_fact(name, Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use messages::Members;

    /// They are in logs: whoever wrote them may have been an older version, with fewer fields.
    #[test]
    fn facts_are_read_as_they_were_written() {
        let identity = Identity { cluster: 7, name: "two".into() };
        let text = serde_json::to_string(&identity).expect("encoded");
        assert_eq!(text, r#"{"cluster":7,"name":"two"}"#);
        assert_eq!(decode::<Identity>(IDENTITY, text.as_bytes()).expect("decoded"), identity);
        let old = r#"{"version":8,"list":[{"group":1,"name":"two","address":"b:1","pg":null,"weight":100,
            "is_lost":false,"has_left":false}],"moves":{"is_paused":false,"bytes_per_second":1000}}"#;
        let members: Members = decode(MEMBERS, old.as_bytes()).expect("decoded");
        let text = serde_json::to_string(&members).expect("encoded");
        let now = r#"{"version":8,"list":[{"group":1,"name":"two","address":"b:1","pg":null,"weight":100,"is_lost":false,"keeps_data":false,"has_started":false,"has_left":false,"start":0}],"moves":{"is_paused":false,"bytes_per_second":1000}}"#;
        assert_eq!(text, now);
        let of = TransactionId { coordinator: sdds::ServerId(1), number: 300 };
        assert_eq!(outcome(of), "cluster/outcome/1/300");
        assert_eq!(transaction(&outcome(of)), Some(of));
        for (name, value) in [(CLOCK, "1048576"), (STARTS, "3"), ("cluster/outcome/1/300", "null")]
        {
            assert!(decode::<Option<u64>>(name, value.as_bytes()).is_ok(), "{name}");
        }
        assert!(decode::<u64>(CLOCK, b"x").is_err());
    }
}
