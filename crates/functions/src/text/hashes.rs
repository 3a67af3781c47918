//! The hashes of PostgreSQL, from which clients make parts of tables and the numbers of advisory locks.
//!
//! The hash is Bob Jenkins' lookup3 of the bytes, read in little-endian order.

use columnar::checked;
use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array, Int64Array};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use uuid::Uuid;
use values::error::Result;

const TEXT: DataType = DataType::Utf8View;
const INTEGER: DataType = DataType::Int64;

/// What the state begins with, without the length.
const BEGIN: u32 = 0x9e37_79b9_u32.wrapping_add(3_923_095);

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        checked("hashtext", |_| Ok((vec![TEXT], DataType::Int32)), hashtext),
        checked("hashtextextended", |_| Ok((vec![TEXT, INTEGER], INTEGER)), hashtextextended),
        checked("hashint8", |_| Ok((vec![INTEGER], DataType::Int32)), hashint8),
        checked("hashint8extended", |_| Ok((vec![INTEGER; 2], INTEGER)), hashint8extended),
        checked("uuid_hash", |_| Ok((vec![TEXT], DataType::Int32)), uuid_hash),
        checked("uuid_hash_extended", |_| Ok((vec![TEXT, INTEGER], INTEGER)), uuid_hash_extended),
    ]
}

fn hash(bytes: &[u8]) -> i32 {
    state(bytes, 0)[2].cast_signed()
}

fn extended(bytes: &[u8], seed: i64) -> i64 {
    let [_, high, low] = state(bytes, seed.cast_unsigned());
    (u64::from(high) << 32 | u64::from(low)).cast_signed()
}

fn hashtext(args: &[ArrayRef]) -> Result<ArrayRef> {
    let hashes = args[0].as_string_view().iter().map(|text| Some(hash(text?.as_bytes())));
    Ok(Arc::new(hashes.collect::<Int32Array>()))
}

fn hashtextextended(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (texts, seeds) = (args[0].as_string_view(), args[1].as_primitive::<Int64Type>());
    let hashes = texts.iter().zip(seeds);
    let hashes = hashes.map(|(text, seed)| Some(extended(text?.as_bytes(), seed?)));
    Ok(Arc::new(hashes.collect::<Int64Array>()))
}

/// The bytes that stand for an integer, which are the same in all integer types.
fn folded(value: i64) -> [u8; 4] {
    let (low, high) = (value as u32, (value >> 32) as u32);
    (low ^ if value < 0 { !high } else { high }).to_le_bytes()
}

fn hashint8(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<Int64Type>().iter();
    let hashes = values.map(|value| Some(hash(&folded(value?))));
    Ok(Arc::new(hashes.collect::<Int32Array>()))
}

fn hashint8extended(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (values, seeds) =
        (args[0].as_primitive::<Int64Type>(), args[1].as_primitive::<Int64Type>());
    let hashes = values.iter().zip(seeds);
    let hashes = hashes.map(|(value, seed)| Some(extended(&folded(value?), seed?)));
    Ok(Arc::new(hashes.collect::<Int64Array>()))
}

/// The bytes of a UUID, which are held as text.
fn of_uuid(text: &str) -> [u8; 16] {
    Uuid::parse_str(text).unwrap_or_default().into_bytes()
}

fn uuid_hash(args: &[ArrayRef]) -> Result<ArrayRef> {
    let hashes = args[0].as_string_view().iter().map(|text| Some(hash(&of_uuid(text?))));
    Ok(Arc::new(hashes.collect::<Int32Array>()))
}

fn uuid_hash_extended(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (texts, seeds) = (args[0].as_string_view(), args[1].as_primitive::<Int64Type>());
    let hashes = texts.iter().zip(seeds);
    let hashes = hashes.map(|(text, seed)| Some(extended(&of_uuid(text?), seed?)));
    Ok(Arc::new(hashes.collect::<Int64Array>()))
}

/// The state after all bytes.
fn state(bytes: &[u8], seed: u64) -> [u32; 3] {
    let mut state = [BEGIN.wrapping_add(bytes.len() as u32); 3];
    if seed != 0 {
        state = mixed(add(state, [(seed >> 32) as u32, seed as u32, 0]));
    }
    let (blocks, rest) = bytes.as_chunks::<12>();
    for block in blocks {
        state = mixed(add(state, words(block)));
    }
    // The lowest byte of the third word is left to the length.
    let mut last = [0; 12];
    let (first, third) = rest.split_at(rest.len().min(8));
    last[..first.len()].copy_from_slice(first);
    last[9..9 + third.len()].copy_from_slice(third);
    ended(add(state, words(&last)))
}

fn words(block: &[u8; 12]) -> [u32; 3] {
    let (words, _) = block.as_chunks::<4>();
    [0, 1, 2].map(|at: usize| u32::from_le_bytes(words[at]))
}

fn add(state: [u32; 3], words: [u32; 3]) -> [u32; 3] {
    [0, 1, 2].map(|at: usize| state[at].wrapping_add(words[at]))
}

fn mixed([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    for [first, second] in [[4, 6], [16, 19]] {
        let third = if first == 4 { 8 } else { 4 };
        a = a.wrapping_sub(c) ^ c.rotate_left(first);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(second);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(third);
        b = b.wrapping_add(a);
    }
    [a, b, c]
}

fn ended([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    let step = |of: u32, by: u32, bits| (of ^ by).wrapping_sub(by.rotate_left(bits));
    c = step(c, b, 14);
    a = step(a, c, 11);
    b = step(b, a, 25);
    c = step(c, b, 16);
    a = step(a, c, 4);
    b = step(b, a, 14);
    c = step(c, b, 24);
    [a, b, c]
}
