//! What is said: a query, an announcement, and a bucket's records.

use super::super::range::ROWS_A_BUCKET;
use anyhow::{Context, Result, ensure};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of a record: a key of four and filler.
const RECORD_BYTES: usize = 100;

/// How a server is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    ConnectOnce,
    ConnectUntilAdmitted,
    Announce,
}

/// A query, in a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) way: Way,
    /// Where the client takes connections, on loopback.
    pub(super) port: u16,
    /// Buckets before this one have what it asks for; the others say nothing.
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

/// A port of this machine, and nobody else's.
pub(super) fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// A bucket's records, as they are sent.
pub(super) fn records(bucket: u16) -> Vec<u8> {
    let mut bytes = bucket.to_be_bytes().to_vec();
    let first = u32::from(bucket) * ROWS_A_BUCKET;
    for key in first..first + ROWS_A_BUCKET {
        bytes.extend(key.to_be_bytes());
        bytes.resize(bytes.len() + RECORD_BYTES - 4, b'x');
    }
    bytes
}

/// Reads a bucket's records to their end: the bucket, and how many they are.
pub(super) async fn read(mut from: impl AsyncRead + Unpin) -> Result<(u16, u32)> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).await.context("reading a bucket's records")?;
    let (bucket, rows) = bytes.split_at_checked(2).context("an answer without a bucket")?;
    let bucket = u16::from_be_bytes([bucket[0], bucket[1]]);
    ensure!(rows.len() % RECORD_BYTES == 0, "a broken record of bucket {bucket}");
    Ok((bucket, u32::try_from(rows.len() / RECORD_BYTES)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_it_was_written() {
        for way in [Way::ConnectOnce, Way::ConnectUntilAdmitted, Way::Announce] {
            let query = Query { way, port: 54_321, before: 300 };
            assert_eq!(Query::from_bytes(&query.to_bytes()), Some(query));
        }
        assert_eq!(Query::from_bytes(&[9, 0, 1, 0, 1]), None);
        assert_eq!(Query::from_bytes(&[]), None);
    }

    #[tokio::test]
    async fn records_are_read_as_they_were_written() {
        let bytes = records(3);
        assert_eq!(read(&bytes[..]).await.expect("whole"), (3, ROWS_A_BUCKET));
        assert!(read(&bytes[..bytes.len() - 1]).await.is_err());
        assert!(read(&bytes[..1]).await.is_err());
    }
}
