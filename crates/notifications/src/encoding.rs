//! Notifications as bytes, for other servers: their number, and of each the process id, the channel and the payload. Numbers
//! have four bytes, the highest first; texts have their length in front.

use crate::Notification;

/// The bytes of notifications.
pub fn encode(all: &[Notification]) -> Vec<u8> {
    let mut out = Vec::new();
    let number = |out: &mut Vec<u8>, number: usize| {
        let number = u32::try_from(number).expect("less than 4 GiB are notified at once");
        out.extend(number.to_be_bytes());
    };
    number(&mut out, all.len());
    for one in all {
        out.extend(one.process.to_be_bytes());
        for text in [&one.channel, &one.payload] {
            number(&mut out, text.len());
            out.extend(text.as_bytes());
        }
    }
    out
}

/// The notifications that [`encode`] has written. `None` for other bytes.
pub fn decode(bytes: &[u8]) -> Option<Vec<Notification>> {
    let mut rest = bytes;
    let count = number(&mut rest)?;
    let mut all = Vec::new();
    for _ in 0..count {
        let process = number(&mut rest)?;
        let (channel, payload) = (text(&mut rest)?, text(&mut rest)?);
        all.push(Notification { process, channel, payload });
    }
    rest.is_empty().then_some(all)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, behind) = rest.split_first_chunk::<4>()?;
    *rest = behind;
    Some(u32::from_be_bytes(*bytes))
}

fn text(rest: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_have_their_bytes() {
        let (channel, payload) = ("ab".to_owned(), "c".to_owned());
        let bytes = encode(&[Notification { process: 258, channel, payload }]);
        assert_eq!(bytes, *b"\0\0\0\x01\0\0\x01\x02\0\0\0\x02ab\0\0\0\x01c");
    }

    #[test]
    fn notifications_are_read_back_and_damaged_bytes_are_refused() {
        let one = |channel: &str, payload: &str| Notification {
            process: 7,
            channel: channel.to_owned(),
            payload: payload.to_owned(),
        };
        let all = vec![one("a", ""), one("ä", "x\ny")];
        let bytes = encode(&all);
        assert_eq!(decode(&bytes), Some(all));
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None);
        }
        assert_eq!(decode(&[255; 40]), None);
    }
}
