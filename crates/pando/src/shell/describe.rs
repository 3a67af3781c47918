//! Lists of what there is: `\d`, `\dt`, `\dv`, `\dn`.

use super::Shell;
use super::command::{CommandError, Kinds};
use crate::output::{Align, Grid, Heading};
use crate::quantity::{bytes, count};
use pando::catalog::{Relation, Table};
use std::io::Write;

/// Buckets, rows and bytes of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) buckets: usize,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

impl Size {
    pub(super) fn of(shell: &Shell, table: &Table) -> Self {
        let buckets = shell.database.store().bucket_infos(table.id);
        Self {
            buckets: buckets.len(),
            rows: buckets.iter().map(|bucket| bucket.rows).sum(),
            bytes: buckets.iter().map(|bucket| bucket.bytes).sum(),
        }
    }
}

/// Tables, views and sequences.
pub(super) fn list(shell: &mut Shell, kinds: Kinds) -> Result<(), CommandError> {
    let catalog = shell.session.catalog();
    let wanted = |relation: &&Relation| match kinds {
        Kinds::All => true,
        Kinds::Tables => matches!(relation, Relation::Table(_)),
        Kinds::Views => matches!(relation, Relation::View(_)),
    };
    let mut grid = Grid::new(headings(kinds));
    for relation in catalog.relations().filter(wanted) {
        grid.push(row(shell, relation, kinds));
    }
    if grid.rows() == 0 {
        let what = match kinds {
            Kinds::All => "tables, views or sequences",
            Kinds::Tables => "tables",
            Kinds::Views => "views",
        };
        writeln!(shell.out, "There are no {what}.")?;
        return Ok(());
    }
    let total = grid.rows() as u64;
    shell.view.write_grid(&grid, total, None, &mut shell.out)?;
    Ok(())
}

fn headings(kinds: Kinds) -> Vec<Heading> {
    let text = |name| Heading::new(name, Align::Left);
    let number = |name| Heading::new(name, Align::Right);
    match kinds {
        Kinds::Views => vec![text("schema"), text("view"), text("query"), text("comment")],
        Kinds::All | Kinds::Tables => vec![
            text("schema"),
            text("name"),
            text("kind"),
            number("rows"),
            number("bytes"),
            number("buckets"),
            text("comment"),
        ],
    }
}

fn row(shell: &Shell, relation: &Relation, kinds: Kinds) -> Vec<String> {
    let mut row = vec![relation.schema().to_owned(), relation.name().to_owned()];
    let comment = match relation {
        Relation::Table(table) => &table.comment,
        Relation::View(view) => &view.comment,
        Relation::Sequence(sequence) => &sequence.comment,
    };
    match relation {
        Relation::View(view) if kinds == Kinds::Views => row.push(view.sql.clone()),
        Relation::Table(table) => {
            let size = Size::of(shell, table);
            row.push(relation.kind().to_owned());
            row.extend([count(size.rows), bytes(size.bytes), count(size.buckets as u64)]);
        }
        Relation::View(_) | Relation::Sequence(_) => {
            row.push(relation.kind().to_owned());
            row.extend([const { String::new() }; 3]);
        }
    }
    row.push(comment.clone().unwrap_or_default());
    row
}

/// Schemas.
pub(super) fn schemas(shell: &mut Shell) -> Result<(), CommandError> {
    let catalog = shell.session.catalog();
    let headings = [("schema", Align::Left), ("relations", Align::Right), ("comment", Align::Left)];
    let headings = headings.map(|(name, align)| Heading::new(name, align));
    let mut grid = Grid::new(headings.into());
    for schema in catalog.schemas() {
        let relations = catalog.relations_in(&schema.name).count();
        let comment = schema.comment.clone().unwrap_or_default();
        grid.push([schema.name.clone(), count(relations as u64), comment]);
    }
    let total = grid.rows() as u64;
    shell.view.write_grid(&grid, total, None, &mut shell.out)?;
    Ok(())
}
