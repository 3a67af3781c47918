//! The messages: queries, and the records of a bucket.

use super::super::ROWS_A_BUCKET;
use anyhow::{Context, Result, ensure};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of a record: a key of four bytes and filler.
const RECORD_BYTES: usize = 100;

/// How a server answers a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    ConnectOnce,
    ConnectUntilAdmitted,
    Announce,
}

/// A query, sent as a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) way: Way,
    /// The port on which the client accepts connections, on loopback.
    pub(super) port: u16,
    /// Buckets with lower numbers answer; the others do not.
    pub(super) before: u16,
}

impl Query {
    pub(super) fn to_bytes(self) -> [u8; 5] {
        let ([p0, p1], [b0, b1]) = (self.port.to_be_bytes(), self.before.to_be_bytes());
        [self.way as u8, p0, p1, b0, b1]
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [way, p0, p1, b0, b1] = *bytes else { return None };
        let ways = [Way::ConnectOnce, Way::ConnectUntilAdmitted, Way::Announce];
        let way = ways.into_iter().find(|known| *known as u8 == way)?;
        let [port, before] = [[p0, p1], [b0, b1]].map(u16::from_be_bytes);
        Some(Self { way, port, before })
    }
}

/// A port on the loopback interface.
pub(super) fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// The records of a bucket as bytes: the bucket's number, then its records.
pub(super) fn records(bucket: u16) -> Vec<u8> {
    let mut bytes = bucket.to_be_bytes().to_vec();
    let first = u32::from(bucket) * ROWS_A_BUCKET;
    for key in first..first + ROWS_A_BUCKET {
        bytes.extend(key.to_be_bytes());
        bytes.resize(bytes.len() + RECORD_BYTES - 4, b'x');
    }
    bytes
}

/// The answer of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Records {
    pub(super) bucket: u16,
    /// Number of records.
    pub(super) records: u32,
}

/// Reads the answer of a bucket to its end.
pub(super) async fn read(mut from: impl AsyncRead + Unpin) -> Result<Records> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).await.context("reading a bucket's records")?;
    let (bucket, rows) = bytes.split_at_checked(2).context("the answer has no bucket")?;
    let bucket = u16::from_be_bytes([bucket[0], bucket[1]]);
    ensure!(rows.len() % RECORD_BYTES == 0, "bucket {bucket} sent an incomplete record");
    Ok(Records { bucket, records: u32::try_from(rows.len() / RECORD_BYTES)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_round_trip() {
        for way in [Way::ConnectOnce, Way::ConnectUntilAdmitted, Way::Announce] {
            let query = Query { way, port: 54_321, before: 300 };
            assert_eq!(Query::from_bytes(&query.to_bytes()), Some(query));
        }
        assert_eq!(Query::from_bytes(&[9, 0, 1, 0, 1]), None);
        assert_eq!(Query::from_bytes(&[]), None);
    }

    #[tokio::test]
    async fn records_round_trip() {
        let bytes = records(3);
        assert_eq!(
            read(&bytes[..]).await.expect("whole"),
            Records { bucket: 3, records: ROWS_A_BUCKET }
        );
        assert!(read(&bytes[..bytes.len() - 1]).await.is_err());
        assert!(read(&bytes[..1]).await.is_err());
    }
}
