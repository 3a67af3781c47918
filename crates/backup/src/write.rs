//! Makes a backup: freezes a state, writes the pieces of its tables that no earlier backup has, then the manifest.

use crate::cutter::{Cutter, Piece};
use crate::freeze::{Frozen, freeze};
use crate::manifest::{DATA, DataFile, FORMAT, Manifest};
use crate::{Backup, Error, Progress, Target, definitions, digest, open, rows};
use arrow::datatypes::{Schema, SchemaRef};
use chrono::{DateTime, SecondsFormat, Utc};
use sdds::KeyRange;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;
use store::catalog::{Column, Relation, Table};
use store::{Morsel, Store};
use tokio::task::JoinSet;

/// Pieces that are encoded and written at the same time.
const PIECES_AT_ONCE: usize = 4;

/// What a backup has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The name of the backup.
    pub name: String,
    /// Tables in it.
    pub tables: u64,
    /// Rows in it.
    pub rows: u64,
    /// Bytes of its data files.
    pub bytes: u64,
    /// Data files that were written.
    pub files_written: u64,
    /// Bytes of those.
    pub bytes_written: u64,
    /// Data files of earlier backups that it refers to.
    pub files_reused: u64,
}

/// Writes a backup of a store. Temporary relations are left out. Dropping the future leaves no backup.
///
/// # Errors
/// [`Error::Unsupported`] in a cluster; those of the object store. Earlier backups are as they were then.
pub async fn write(
    store: &Arc<Store>,
    target: &Target,
    progress: &Arc<Progress>,
) -> Result<Report, Error> {
    let created = DateTime::<Utc>::from(SystemTime::now());
    let earlier = open::names(target).await?;
    let number = earlier.last().and_then(|name| open::number(name)).unwrap_or(0) + 1;
    let known = known_files(target, earlier.last()).await?;
    let frozen = freeze(store).await?;
    let mut manifest = Manifest {
        format: FORMAT,
        pando: env!("CARGO_PKG_VERSION").to_owned(),
        created: created.to_rfc3339_opts(SecondsFormat::Micros, true),
        timestamp: frozen.snapshot.timestamp().0,
        schemas: Vec::new(),
        tables: Vec::new(),
        views: Vec::new(),
        sequences: Vec::new(),
        roles: Vec::new(),
        public: Vec::new(),
        functions: Vec::new(),
        types: Vec::new(),
        triggers: Vec::new(),
        type_ids: BTreeMap::new(),
    };
    definitions::put(&frozen, &mut manifest)?;
    let mut writer = Writer::new(target.clone(), known, Arc::clone(progress));
    let tables = TableRows::all(&frozen, progress)?;
    for (number, table) in tables.into_iter().enumerate() {
        writer.table(number, table).await?;
    }
    let (files, mut report) = writer.finish().await?;
    for (place, file) in files {
        let table = &mut manifest.tables[place.table];
        table.rows += file.rows;
        table.files.push(file);
    }
    let created = created.format("%Y%m%dT%H%M%SZ").to_string();
    let backup = Backup::publish(target, number, &created, manifest).await?;
    report.name = backup.name().to_owned();
    report.tables = backup.manifest.tables.len() as u64;
    Ok(report)
}

/// Returns the data files of a backup that are still there, by the fingerprints of their rows. A backup that
/// cannot be read has none: everything is written again then.
async fn known_files(
    target: &Target,
    earlier: Option<&String>,
) -> Result<BTreeMap<String, DataFile>, Error> {
    let Some(name) = earlier else { return Ok(BTreeMap::new()) };
    let backup = match Backup::open(target, Some(name)).await {
        Ok(backup) => backup,
        Err(Error::Damaged { .. } | Error::Newer { .. } | Error::Missing { .. }) => {
            return Ok(BTreeMap::new());
        }
        Err(error) => return Err(error),
    };
    let sizes: BTreeMap<String, u64> = target.list(DATA).await?.into_iter().collect();
    let is_there = |file: &DataFile| {
        let path = file.path();
        path.rsplit('/').next().and_then(|name| sizes.get(name)) == Some(&file.bytes)
    };
    let files = backup.manifest.tables.into_iter().flat_map(|table| table.files);
    Ok(files.filter(is_there).map(|file| (file.content.clone(), file)).collect())
}

/// The rows of a table.
struct TableRows {
    schema: SchemaRef,
    /// The positions of the columns in the table.
    columns: Vec<usize>,
    morsels: Vec<Morsel>,
}

impl TableRows {
    /// Returns the rows of all tables, in the order of the manifest.
    fn all(frozen: &Frozen, progress: &Progress) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        for relation in frozen.catalog.relations() {
            let Relation::Table(table) = relation else { continue };
            let view = frozen.snapshot.table(table.id);
            let view = view.expect("the table is in the catalog of the snapshot");
            let morsels = view.morsels(&KeyRange::all())?;
            progress.expect(morsels.iter().map(|morsel| morsel.rows() as u64).sum());
            all.push(Self { morsels, ..Self::shape(table) });
        }
        Ok(all)
    }

    fn shape(table: &Table) -> Self {
        // Rows without columns are counted by their ids, which nobody reads.
        let all_are_hidden = table.columns.iter().all(|column| column.hidden);
        let is_kept = |column: &Column| all_are_hidden || !column.hidden;
        let kept = table.columns.iter().enumerate().filter(|(_, column)| is_kept(column));
        let columns: Vec<usize> = kept.map(|(position, _)| position).collect();
        let all = table.arrow_schema();
        let fields: Vec<_> = columns.iter().map(|column| all.field(*column).clone()).collect();
        Self { schema: Arc::new(Schema::new(fields)), columns, morsels: Vec::new() }
    }
}

/// The place of a piece in the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The number of its table.
    table: usize,
    /// Its number in the table.
    piece: usize,
}

/// A file, and the place of the piece that is in it.
type Placed = (Place, DataFile);

/// Writes pieces, some at the same time.
struct Writer {
    target: Target,
    known: BTreeMap<String, DataFile>,
    progress: Arc<Progress>,
    running: JoinSet<Result<Placed, Error>>,
    files: BTreeMap<Place, DataFile>,
    report: Report,
}

impl Writer {
    fn new(target: Target, known: BTreeMap<String, DataFile>, progress: Arc<Progress>) -> Self {
        let report = Report {
            name: String::new(),
            tables: 0,
            rows: 0,
            bytes: 0,
            files_written: 0,
            bytes_written: 0,
            files_reused: 0,
        };
        let (running, files) = (JoinSet::new(), BTreeMap::new());
        Self { target, known, progress, running, files, report }
    }

    async fn table(&mut self, table: usize, rows: TableRows) -> Result<(), Error> {
        let mut cutter = Cutter::default();
        let mut place = Place { table, piece: 0 };
        for morsel in rows.morsels {
            let batch = morsel.read(&rows.columns, &rows.schema).map_err(store::Error::from)?;
            if let Some(piece) = cutter.add(batch)? {
                self.piece(place, piece).await?;
                place.piece += 1;
            }
        }
        match cutter.finish() {
            Some(piece) => self.piece(place, piece).await,
            None => Ok(()),
        }
    }

    /// Refers to the file of an earlier backup that has the rows of a piece, or begins to write one.
    async fn piece(&mut self, place: Place, piece: Piece) -> Result<(), Error> {
        if let Some(known) = self.known.get(&piece.content) {
            self.report.files_reused += 1;
            let known = known.clone();
            self.add(place, known);
            return Ok(());
        }
        while self.running.len() >= PIECES_AT_ONCE {
            self.take_one().await?;
        }
        let target = self.target.clone();
        self.running.spawn(async move { Ok((place, write_piece(&target, piece).await?)) });
        Ok(())
    }

    /// Waits for the end of one of the running writes.
    async fn take_one(&mut self) -> Result<(), Error> {
        let Some(ended) = self.running.join_next().await else { return Ok(()) };
        let (place, file) = ended.expect("writing a piece does not panic")?;
        self.report.files_written += 1;
        self.report.bytes_written += file.bytes;
        self.add(place, file);
        Ok(())
    }

    fn add(&mut self, place: Place, file: DataFile) {
        self.progress.advance(file.rows);
        self.report.rows += file.rows;
        self.report.bytes += file.bytes;
        self.files.insert(place, file);
    }

    async fn finish(mut self) -> Result<(BTreeMap<Place, DataFile>, Report), Error> {
        while !self.running.is_empty() {
            self.take_one().await?;
        }
        Ok((self.files, self.report))
    }
}

async fn write_piece(target: &Target, piece: Piece) -> Result<DataFile, Error> {
    let Piece { batches, rows, content } = piece;
    let encoded = tokio::task::spawn_blocking(move || {
        let bytes = rows::encode(&batches)?;
        Ok::<_, Error>((digest::of(&bytes), bytes))
    });
    let (sha256, bytes) = encoded.await.expect("encoding rows does not panic")?;
    let file = DataFile { sha256, rows: rows as u64, bytes: bytes.len() as u64, content };
    target.put(&file.path(), bytes).await?;
    Ok(file)
}
