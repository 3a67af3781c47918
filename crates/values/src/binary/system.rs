//! Types of the system catalogs in binary format.

use super::{BinaryColumn, Form};
use crate::error::{Error, Result, SqlState};
use datafusion::arrow::array::{ArrayRef, AsArray, BinaryViewArray, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use std::net::IpAddr;
use store::catalog::SystemType;

/// PostgreSQL's id of `smallint`.
const INT2: u32 = 21;
/// The families of addresses.
const IP4: u8 = 2;
const IP6: u8 = 3;

/// Resolves the format of an array's values.
///
/// # Errors
/// 42883 for a type without a binary format; an error of the cast.
pub(super) fn column(array: &ArrayRef, of: SystemType) -> Result<BinaryColumn> {
    let array = cast(array, &of.arrow())?;
    let texts = || array.as_string_view();
    Ok(BinaryColumn(match of {
        SystemType::Int2Vector => {
            let lists = array.as_list::<i32>().clone();
            let items = BinaryColumn(Form::SmallInt(lists.values().as_primitive().clone()));
            return Ok(BinaryColumn::vector(lists, items, INT2));
        }
        SystemType::OidVector => {
            let lists = array.as_list::<i32>().clone();
            let items = column(lists.values(), SystemType::Oid)?;
            return Ok(BinaryColumn::vector(lists, items, SystemType::Oid.oid()));
        }
        SystemType::Xid8 => Form::BigInt(array.as_primitive().clone()),
        id if id.is_id() => Form::Oid(cast(&array, &DataType::UInt32)?.as_primitive().clone()),
        SystemType::Char => Form::Single(texts().clone()),
        SystemType::Jsonpath => Form::Jsonb(texts().clone()),
        SystemType::PgLsn => {
            let places = texts().iter().map(|text| text.and_then(place));
            Form::BigInt(places.collect::<Int64Array>())
        }
        SystemType::Inet => {
            let addresses = texts().iter().map(|text| text.and_then(address));
            Form::Bytes(addresses.collect::<BinaryViewArray>())
        }
        SystemType::Tid => {
            let rows = texts().iter().map(|text| text.map(row).transpose());
            Form::Bytes(rows.collect::<Result<BinaryViewArray>>()?)
        }
        SystemType::AclItem => {
            let message = format!("no binary output function available for type {}", of.name());
            return Err(Error::new(SqlState::UndefinedFunction, message));
        }
        _ => Form::Text(texts().clone()),
    }))
}

/// The number of a place in the log: `16/B374D848`.
fn place(text: &str) -> Option<i64> {
    let (high, low) = text.split_once('/')?;
    let part = |digits| u32::from_str_radix(digits, 16).ok().map(u64::from);
    Some(((part(high)? << 32) | part(low)?).cast_signed())
}

/// The block of a row, in 32 bits, and its place there: `(7,12)`.
///
/// # Errors
/// 22003 for a block that clients cannot read.
fn row(text: &str) -> Result<Vec<u8>> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let parts = inner.and_then(|inner| inner.split_once(','));
    let parts = parts
        .and_then(|(block, place)| Some((block.parse::<u32>().ok()?, place.parse::<u16>().ok()?)));
    let Some((block, place)) = parts else {
        let message = format!("the tid {text} has no binary form");
        return Err(Error::new(SqlState::NumericValueOutOfRange, message)
            .with_hint("Read it as text: ctid::text."));
    };
    Ok([block.to_be_bytes().as_slice(), &place.to_be_bytes()].concat())
}

/// The family of an address, the number of its bits that count, whether it is a network, its length, and its bytes.
fn address(text: &str) -> Option<Vec<u8>> {
    let (host, bits) = match text.split_once('/') {
        Some((host, bits)) => (host, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let (family, bytes) = match host.parse::<IpAddr>().ok()? {
        IpAddr::V4(address) => (IP4, address.octets().to_vec()),
        IpAddr::V6(address) => (IP6, address.octets().to_vec()),
    };
    let length = u8::try_from(bytes.len()).ok()?;
    let mut sent = vec![family, bits.unwrap_or(8 * length), 0, length];
    sent.extend(bytes);
    Some(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_places_are_numbers() {
        assert_eq!(address("127.0.0.1"), Some(vec![2, 32, 0, 4, 127, 0, 0, 1]));
        assert_eq!(address("10.0.0.0/8"), Some(vec![2, 8, 0, 4, 10, 0, 0, 0]));
        assert_eq!(address("::1").map(|sent| (sent.len(), sent[0], sent[1])), Some((20, 3, 128)));
        assert_eq!(place("16/B374D848"), Some(0x16_B374_D848));
        assert_eq!(place("x"), None);
        assert_eq!(row("(65537,2)").expect("a row"), [0, 1, 0, 1, 0, 2]);
        row("(4294967296,0)").expect_err("a block of 33 bits");
    }
}
