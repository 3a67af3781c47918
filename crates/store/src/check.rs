//! The checker of the store's invariants, for tests: everything derived is derived again and compared.

use crate::bucket::Bucket;
use crate::snapshot::Published;
use sdds::Key;
use std::collections::BTreeSet;

/// Says what is wrong, or nothing.
///
/// Ranges tile the key space; every key lies in the one bucket whose range holds it and in at most one
/// run; a key's versions are not before its run; counts and bytes agree, of each file, too.
pub(crate) fn check(published: &Published, accounted_bytes: Option<u64>) -> Result<(), String> {
    let mut bytes = 0;
    for (id, file) in &published.files {
        let directory = file.directory();
        directory.assert_tiling();
        for (range, tile) in directory.iter() {
            let Some(bucket) = tile.held() else { continue };
            let place = |problem: String| format!("table {} bucket {range}: {problem}", id.0);
            if bucket.range != range {
                return Err(place(format!("it believes to be {}", bucket.range)));
            }
            check_bucket(bucket).map_err(place)?;
            bytes += bucket.state().bytes();
        }
        let (holdings, counted) = (file.holdings(), file.count_holdings());
        if holdings != counted {
            return Err(format!("table {} has {counted:?} and counts {holdings:?}", id.0));
        }
    }
    match accounted_bytes {
        Some(accounted) if accounted != bytes => {
            Err(format!("buckets hold {bytes} bytes and {accounted} are accounted for"))
        }
        _ => Ok(()),
    }
}

fn check_bucket(bucket: &Bucket) -> Result<(), String> {
    let state = bucket.state();
    let mut keys = BTreeSet::new();
    for run in &state.runs {
        let bytes: u64 = run.chunks.iter().map(|chunk| chunk.count_bytes()).sum();
        if run.bytes != bytes {
            return Err(format!("a run counts {} bytes and holds {bytes}", run.bytes));
        }
        for chunk in &run.chunks {
            let encoder = chunk.keys();
            let mut previous: Option<Key> = None;
            for row in 0..chunk.rows() {
                let key = encoder.key(row);
                if previous.replace(key.clone()).is_some_and(|previous| previous >= key) {
                    return Err(format!("key {key} is out of order in its chunk"));
                }
                if !bucket.range.contains(&key) {
                    return Err(format!("run key {key} is outside"));
                }
                if state.delta.get(&key).is_some_and(|chain| chain.timestamp < run.timestamp) {
                    return Err(format!("the delta's version of {key} is older than its run"));
                }
                if !keys.insert(key.clone()) {
                    return Err(format!("key {key} is in two runs"));
                }
            }
        }
    }
    if let Some((key, _)) = state.delta.iter().find(|(key, _)| !bucket.range.contains(key)) {
        return Err(format!("delta key {key} is outside"));
    }
    let (rows, counted) = (state.rows, state.count_rows());
    if rows != counted {
        return Err(format!("it counts {rows} rows and holds {counted}"));
    }
    let (bytes, counted) = (state.delta.bytes(), state.delta.count_bytes());
    if bytes != counted {
        return Err(format!("its delta counts {bytes} bytes and holds {counted}"));
    }
    Ok(())
}
