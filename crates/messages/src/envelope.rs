//! The envelope of a request: sender and receiver.

use super::codec::decode;
use super::request::Request;
use sdds::ServerId;
use serde::{Deserialize, Serialize};

/// The ordinals of heartbeats and reports: group and variant.
const HEARTBEAT: (u32, u32) = (0, 3);
const REPORT: (u32, u32) = (1, 12);

/// A request with its sender and receiver. A joining server has no number yet and knows no other's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Envelope {
    /// Who sends it.
    pub from: Option<ServerId>,
    /// For whom it is.
    pub to: Option<ServerId>,
    /// The request.
    pub request: Request,
}

/// The name of the request in an encoded call; `None` if it cannot be decoded.
pub fn name_of_call(bytes: &[u8]) -> Option<String> {
    decode::<Envelope>(bytes).ok().map(|envelope| envelope.request.question().to_owned())
}

/// Whether a call is left out of the counters: heartbeats, and reports, which ask for the counters.
pub fn is_background(bytes: &[u8]) -> bool {
    /// The first fields of an [`Envelope`], and the ordinals of its request.
    type Heading = (Option<ServerId>, Option<ServerId>, (u32, u32));
    let heading = postcard::take_from_bytes::<Heading>(bytes);
    heading.is_ok_and(|((_, _, request), _)| request == HEARTBEAT || request == REPORT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerLoad;
    use crate::{Heartbeat, RootRequest, RowsRequest, encode};
    use sdds::Timestamp;

    #[test]
    fn heartbeats_and_reports_are_background() {
        let load = ServerLoad::default();
        let (server, oldest, pg) = (ServerId(300), Timestamp(7), None);
        let (settled, members, start) = (Timestamp(0), 1, 2);
        let heartbeat = Heartbeat { server, start, oldest, settled, members, load, pg };
        let all: [(Request, bool); 5] = [
            (RootRequest::Heartbeat(heartbeat).into(), true),
            (RowsRequest::Report.into(), true),
            (RootRequest::Now.into(), false),
            (RootRequest::Leave { server: ServerId(1), start: 2, is_empty: true }.into(), false),
            (RowsRequest::Describe { name: "runs".into() }.into(), false),
        ];
        for (request, expected) in all {
            let name = request.question();
            for (from, to) in [(None, None), (Some(ServerId(300)), Some(ServerId(0)))] {
                let envelope = encode(&Envelope { from, to, request: request.clone() });
                assert_eq!(is_background(&envelope.expect("encoded")), expected, "{name}");
            }
        }
        assert!(!is_background(b"") && !is_background(&[1]));
    }
}
