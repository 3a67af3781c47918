//! The checker of the store's invariants, for tests: recomputes derived values and compares them.

use crate::snapshot::Published;

/// Returns a description of the first violation.
///
/// Ranges tile the key space; every bucket satisfies [`bucket::Bucket::check`]; the totals of files
/// and the accounted memory are correct.
pub(super) fn check(published: &Published, accounted_bytes: Option<u64>) -> Result<(), String> {
    let mut bytes = 0;
    for (id, file) in &published.files {
        let directory = file.directory();
        directory.assert_tiling();
        for (range, tile) in directory.iter() {
            let Some(bucket) = tile.held() else { continue };
            let place = |problem: String| format!("table {} bucket {range}: {problem}", id.0);
            if bucket.range != range {
                return Err(place(format!("its range is {}", bucket.range)));
            }
            bucket.check().map_err(place)?;
            bytes += bucket.state().bytes();
        }
        let (holdings, counted) = (file.holdings(), file.count_holdings());
        if holdings != counted {
            return Err(format!("table {} holds {counted:?} and counts {holdings:?}", id.0));
        }
    }
    match accounted_bytes {
        Some(accounted) if accounted != bytes => {
            Err(format!("buckets hold {bytes} bytes and {accounted} are accounted for"))
        }
        _ => Ok(()),
    }
}
