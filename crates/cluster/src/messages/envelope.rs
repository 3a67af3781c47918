//! The envelope of a request: sender and receiver.

use super::codec::decode;
use super::request::Request;
use sdds::ServerId;
use serde::{Deserialize, Serialize};

/// Variant indexes of [`Request::Heartbeat`] and [`Request::Report`].
const HEARTBEAT: u32 = 1;
const REPORT: u32 = 12;

/// A request with its sender and receiver. A joining server has no number yet and knows no other's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) from: Option<ServerId>,
    pub(crate) to: Option<ServerId>,
    pub(crate) request: Request,
}

/// The name of the request in an encoded call; `None` if it cannot be decoded.
pub fn name_of_call(bytes: &[u8]) -> Option<String> {
    decode::<Envelope>(bytes).ok().map(|envelope| envelope.request.name())
}

/// Whether a call is left out of the counters: heartbeats, and reports, which ask for the counters.
pub(crate) fn is_background(bytes: &[u8]) -> bool {
    /// The first fields of an [`Envelope`], and the variant index of its request.
    type Heading = (Option<ServerId>, Option<ServerId>, u32);
    let heading = postcard::take_from_bytes::<Heading>(bytes);
    heading.is_ok_and(|((_, _, request), _)| request == HEARTBEAT || request == REPORT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::ServerLoad;
    use crate::messages::{Heartbeat, encode};
    use sdds::Timestamp;

    #[test]
    fn heartbeats_and_reports_are_background() {
        let load = ServerLoad::default();
        let (server, oldest, pg) = (ServerId(300), Timestamp(7), None);
        let heartbeat = Heartbeat { server, oldest, settled: Timestamp(0), members: 1, load, pg };
        let all = [
            (Request::Heartbeat(heartbeat), true),
            (Request::Report, true),
            (Request::Now, false),
            (Request::Leave { server: ServerId(1), is_empty: true }, false),
            (Request::Describe { name: "runs".into() }, false),
        ];
        for (request, expected) in all {
            let name = request.name();
            for (from, to) in [(None, None), (Some(ServerId(300)), Some(ServerId(0)))] {
                let envelope = encode(&Envelope { from, to, request: request.clone() });
                assert_eq!(is_background(&envelope.expect("encoded")), expected, "{name}");
            }
        }
        assert!(!is_background(b"") && !is_background(&[1]));
    }
}
