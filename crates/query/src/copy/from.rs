//! COPY table FROM 'file'.

use super::copied_columns;
use super::options::Options;
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::dml::assembly::Assembly;
use crate::dml::{declared_column, ingest, named_target};
use catalog_views::access::FileUse;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::LogicalPlanBuilder;
use parser::commands::{Copied, Copy};
use scan::files::{self, Format};
use scan::provider::plan_schema;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Privileges;
use values::error::{Error, Result, SqlState};

/// Runs a COPY FROM.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    copy: &Copy,
) -> Result<Outcome> {
    let Copied::Relation(name, columns) = &copy.what else {
        return Err(Error::new(SqlState::SyntaxError, "COPY FROM requires a table, not a query"));
    };
    frame.access(transaction.catalog()).require_files(FileUse::CopyFrom)?;
    let options = Options::of(copy)?;
    let table = named_target(frame, transaction, name, Privileges::INSERT)?;
    let given = copied_columns(&table, columns)?;
    let schema = Arc::new(plan_schema(&table, &given));
    let (format, schema): (Arc<dyn FileFormat>, _) = match options.format {
        Format::Parquet => (Arc::new(ParquetFormat::default()), None),
        Format::Json => (Arc::new(JsonFormat::default()), Some(schema)),
        Format::Csv => (Arc::new(csv(&options)), Some(schema)),
    };
    let provider = files::listing(frame.engine(), &options.path, format, schema).await?;
    let given = match options.format {
        Format::Csv => given,
        Format::Json => given,
        Format::Parquet => {
            let fields = provider.schema();
            fields
                .fields()
                .iter()
                .map(|f| declared_column(&table, f.name()))
                .collect::<Result<_>>()?
        }
    };
    let plan = LogicalPlanBuilder::scan("file", provider_as_source(provider), None)?.build()?;
    let (physical, assembly) = {
        let planner = frame.planner(transaction);
        let assembly = Assembly::new(&planner, &frame.session.shared.store, &table, &given)?;
        (planner.physical(&plan).await?, assembly)
    };
    let rows = ingest(frame, transaction, table.id, physical, assembly).await?;
    Ok(Outcome::Done(Tag::counted("COPY", rows)))
}

fn csv(options: &Options) -> CsvFormat {
    let format = CsvFormat::default()
        .with_has_header(options.header)
        .with_delimiter(options.delimiter)
        .with_quote(options.quote)
        .with_escape(options.escape);
    match &options.null {
        Some(text) => format.with_null_regex(Some(format!("^{}$", escaped(text)))),
        None => format,
    }
}

/// A regular expression that matches exactly `text`.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
