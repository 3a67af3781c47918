//! Writes generated tables as Parquet files, for peers.

use anyhow::{Context, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::{Path, PathBuf};
use workloads::TableSource;

/// Writes a table to `<name>.parquet` in a directory, and returns the path and the number of rows.
pub(crate) fn write(table: TableSource, directory: &Path) -> Result<(PathBuf, u64)> {
    let path = directory.join(format!("{}.parquet", table.name));
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(file, table.schema, Some(properties))?;
    let mut rows = 0;
    for batch in table.batches {
        rows += batch.num_rows() as u64;
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok((path, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use workloads::person;

    #[test]
    fn a_written_file_can_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let (path, rows) = write(person::table(10_000), directory.path()).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(rows, 10_000);
        assert_eq!(batches.iter().map(|b| b.num_rows() as u64).sum::<u64>(), rows);
        assert_eq!(batches[0].column(1).data_type(), &arrow::datatypes::DataType::Utf8View);
    }
}
