//! Passwords are stored as SCRAM-SHA-256 verifiers (RFC 5803), which do not reveal the password.

use values::error::{Error, Result, SqlState};

/// The verifier of a password. A client may send a verifier instead of the password, as psql's
/// `\password` does.
///
/// # Errors
/// 22023 for an empty password and for MD5 hashes.
pub(super) fn verifier(password: &str) -> Result<String> {
    let refuse = |message: &str| Err(Error::new(SqlState::InvalidParameterValue, message));
    if is_verifier(password) {
        return Ok(password.to_owned());
    }
    if password.is_empty() {
        return refuse("an empty password cannot be used to log in");
    }
    if password.strip_prefix("md5").is_some_and(|hash| hash.len() == 32) {
        return refuse(
            "MD5 password hashes are not supported; use the password or a SCRAM-SHA-256 verifier",
        );
    }
    Ok(postgres_protocol::password::scram_sha_256(password.as_bytes()))
}

/// Whether a text is a verifier: `SCRAM-SHA-256$iterations:salt$stored key:server key`.
fn is_verifier(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("SCRAM-SHA-256$") else { return false };
    let Some((iterations, rest)) = rest.split_once(':') else { return false };
    let Some((salt, keys)) = rest.split_once('$') else { return false };
    let Some((stored, server)) = keys.split_once(':') else { return false };
    let base64 = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
    };
    iterations.parse::<u32>().is_ok_and(|count| count > 0)
        && [salt, stored, server].into_iter().all(base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_is_unchanged_and_a_password_is_hashed() {
        let made = verifier("secret").expect("a verifier");
        assert!(is_verifier(&made) && !made.contains("secret"));
        assert_eq!(verifier(&made).expect("unchanged"), made);
        assert!(verifier("").is_err());
        assert!(verifier("md5d41d8cd98f00b204e9800998ecf8427e").is_err());
        assert!(!is_verifier("SCRAM-SHA-256$x"), "an invalid verifier is a password");
    }
}
