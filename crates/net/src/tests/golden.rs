//! The bytes of a connection. They must not change unless the version of the protocol does.

use super::frames::{KINDS, encode};
use crate::tcp::frame::{Frame, Kind};
use crate::tcp::hello::{self, Hello, Purpose};
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A frame of a kind, as it is sent.
fn sample(kind: Kind) -> Frame {
    match kind {
        Kind::Request | Kind::Answer | Kind::LastAnswer | Kind::PulledRequest => {
            Frame::text(258, kind, "x")
        }
        Kind::Failed | Kind::Declined => Frame::text(258, kind, "why"),
        Kind::Credit => Frame { call: 258, kind, payload: Bytes::from_static(&[4, 0, 0, 0]) },
        Kind::End | Kind::Cancel | Kind::Goodbye => Frame::bare(258, kind),
        Kind::Ping | Kind::Pong => Frame::bare(0, kind),
    }
}

/// Length, checksum, call, kind and payload.
#[test]
fn every_kind_of_frame_has_its_bytes() {
    let golden = [
        "01000000 8094ff18 0201000000000000 01 78",
        "01000000 43c7d233 0201000000000000 02 78",
        "01000000 02f6c92a 0201000000000000 03 78",
        "00000000 83aa45ea 0201000000000000 04",
        "03000000 28185b0a 0201000000000000 05 776879",
        "03000000 c6b7ee18 0201000000000000 06 776879",
        "00000000 39fb4c73 0201000000000000 07",
        "04000000 c0f30cfe 0201000000000000 08 04000000",
        "00000000 3ed6f494 0201000000000000 09",
        "00000000 9cafa1ef 0000000000000000 0a",
        "00000000 0a9fa698 0000000000000000 0b",
        "01000000 cdea51ad 0201000000000000 0c 78",
    ];
    for (kind, expected) in KINDS.into_iter().zip(golden) {
        let bytes = encode(&sample(kind));
        let parts = [&bytes[..4], &bytes[4..8], &bytes[8..16], &bytes[16..17], &bytes[17..]];
        assert_eq!(parts.map(hex).join(" ").trim(), expected, "{kind:?}");
    }
}

/// The bytes that a caller sends first.
async fn first_words(purpose: Purpose) -> String {
    let (mut caller, mut server) = duplex(1 << 10);
    let hello = Hello { purpose, address: "a:1".into() };
    let to = "b:1".into();
    let serving = async {
        let mut heard = vec![0; 16];
        server.read_exact(&mut heard).await.expect("a hello");
        hello::welcome(&mut server).await.expect("it listens");
        heard
    };
    let (greeted, heard) = futures::join!(hello::greet(&mut caller, &hello, &to), serving);
    greeted.expect("it is welcome");
    hex(&heard)
}

/// Magic, version, purpose or answer, and a text with its length.
#[tokio::test]
async fn every_part_of_a_handshake_has_its_bytes() {
    assert_eq!(first_words(Purpose::Calls).await, "70616e646f0d0a000900010300613a31");
    assert_eq!(first_words(Purpose::Join).await, "70616e646f0d0a000900020300613a31");
    let (mut server, mut caller) = duplex(1 << 10);
    hello::welcome(&mut server).await.expect("room");
    hello::refuse(&mut server, "no").await.expect("room");
    server.shutdown().await.expect("open");
    let mut heard = Vec::new();
    caller.read_to_end(&mut heard).await.expect("written");
    assert_eq!(
        hex(&heard),
        "70616e646f0d0a000900010000".to_owned() + "70616e646f0d0a0009000002006e6f"
    );
}
