//! Rows as values: ROW(...) and the rows of relations.

use super::logic;
use crate::functions::called;
use crate::refusal::{Result, missing, unsupported};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Expr, FieldValue, Kind, RelationId};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr as Engine, when};
use records::Of;
use values::error::{Error, SqlState};
use values::types::{name_without_length, of_field};

impl Lowering<'_> {
    /// ROW(...).
    pub(super) fn row(&mut self, fields: &[Expr]) -> Result<Typed> {
        let values = self.exprs(fields)?;
        let names = (1..=values.len()).map(|number| format!("f{number}"));
        self.record(names.collect(), values, None)
    }

    /// The row of a relation.
    pub(super) fn whole_row(&mut self, relation: RelationId, sql_type: SqlType) -> Result<Typed> {
        let Some(row) = self.row_of(relation) else {
            return missing("the row of this relation");
        };
        let (places, names): (Vec<usize>, Vec<String>) = row.into_iter().unzip();
        let columns = places.into_iter().map(|column| self.column(relation, column));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let presence = self.presence(relation)?;
        match sql_type.oid.is_composite() {
            true => self.composite(columns, presence, sql_type),
            false => self.record(names, columns, presence),
        }
    }

    /// The value of a composite type from those of its attributes; NULL where `presence` is.
    pub(crate) fn composite(
        &self,
        values: Vec<Typed>,
        presence: Option<Typed>,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let held = types::held(sql_type)?;
        let DataType::Struct(fields) = held.arrow() else {
            return missing(format!("a row of {sql_type}"));
        };
        if fields.is_empty() || fields.len() != values.len() {
            return missing(format!("a row of {sql_type} with these columns"));
        }
        refuse_names(&values)?;
        let mut values = values;
        for (value, field) in values.iter_mut().zip(&fields) {
            if value.is_null() || value.data_type == DataType::Null {
                let null = ScalarValue::try_from(field.data_type())?;
                *value = Typed::constant(null, value.sql_type);
            }
        }
        values.extend(presence);
        let (expr, data_type) = called(&Of::Composite(held).function(), values)?;
        Ok(Typed { expr, sql_type, data_type })
    }

    /// The object id of a table.
    pub(super) fn table_oid(&mut self, relation: RelationId) -> Result<Typed> {
        let Some(oid) = self.table_oids.get(&relation).copied() else {
            return missing("tableoid of this table");
        };
        let oid = Typed::constant(ScalarValue::Int64(Some(oid.into())), Oid::OID.into());
        match self.presence(relation)? {
            None => Ok(oid),
            Some(presence) => {
                let expr = when(presence.expr, oid.expr.clone()).end()?;
                Ok(Typed { expr, ..oid })
            }
        }
    }

    /// The record of some values; NULL where `presence` is.
    pub(crate) fn record(
        &self,
        names: Vec<String>,
        values: Vec<Typed>,
        presence: Option<Typed>,
    ) -> Result<Typed> {
        // Rows are written: the fields of enums have their labels.
        let values = values.into_iter().map(|value| Ok(self.labels(&value)?.unwrap_or(value)));
        let values = values.collect::<Result<Vec<_>>>()?;
        if names.is_empty() {
            return missing("a row without fields");
        }
        refuse_names(&values)?;
        let values = values.into_iter().map(|value| self.for_row(value));
        let mut values = values.collect::<Result<Vec<_>>>()?;
        for value in &mut values {
            if value.is_null() && value.data_type == DataType::Null {
                *value = Typed::null(Oid::TEXT.into())?;
            }
        }
        values.extend(presence);
        let (expr, data_type) = called(&Of::Fields(names).function(), values)?;
        Ok(Typed { expr, sql_type: Oid::RECORD.into(), data_type })
    }

    /// A field of a row.
    pub(super) fn field(&mut self, value: &FieldValue, sql_type: SqlType) -> Result<Typed> {
        match &value.row.kind {
            Kind::Row(fields) | Kind::NamedRow(_, fields) if value.field < fields.len() => {
                self.expr(&fields[value.field])
            }
            Kind::WholeRow(relation) => {
                let known = self.column(*relation, value.field)?;
                Typed::of(known.expr, known.data_type, sql_type)
            }
            _ => {
                let row = self.expr(&value.row)?;
                let (expr, data_type) = called(&Of::Field(value.field).function(), vec![row])?;
                Typed::of(expr, data_type, sql_type)
            }
        }
    }

    /// Whether all fields of a row are NULL, or none is; `None` for values that are no rows. A field that is a row is tested
    /// as a value.
    pub(super) fn row_test(&mut self, row: &Expr, null: bool) -> Result<Option<Typed>> {
        let values = match &row.kind {
            Kind::Row(fields) | Kind::NamedRow(_, fields) => self.exprs(fields)?,
            Kind::WholeRow(relation) => {
                let row = self.row_of(*relation).unwrap_or_default();
                let columns = row.into_iter().map(|(column, _)| self.column(*relation, column));
                columns.collect::<Result<_>>()?
            }
            _ if row.sql_type.oid.is_row() => {
                let test = if null { Of::AllNull } else { Of::NoneNull };
                let value = self.expr(row)?;
                if value.is_null() && value.sql_type.oid == Oid::RECORD {
                    return Ok(None);
                }
                let (expr, _) = called(&test.function(), vec![value])?;
                return Ok(Some(Typed::boolean(expr)));
            }
            _ => return Ok(None),
        };
        let tests = values.into_iter().map(|value| match null {
            true => value.expr.is_null(),
            false => value.expr.is_not_null(),
        });
        Ok(Some(Typed::boolean(logic::all(tests.collect(), Engine::and))))
    }

    /// The key that orders a record, and is the same for equal ones.
    pub(crate) fn record_key(&self, record: Typed) -> Result<Typed> {
        if let DataType::Struct(fields) = &record.data_type {
            for field in fields {
                let held = of_field(field);
                if matches!(held, store::catalog::SqlType::Jsonb) {
                    let name = name_without_length(&held);
                    return unsupported(format!("a comparison of rows with {name}"));
                }
            }
        }
        let (expr, data_type) = called(&Of::Key.function(), vec![record])?;
        Ok(Typed { expr, sql_type: Oid::BYTEA.into(), data_type })
    }

    /// The keys of two records that are compared.
    pub(crate) fn record_keys(&self, left: Typed, right: Typed) -> Result<(Typed, Typed)> {
        if let (DataType::Struct(ours), DataType::Struct(theirs)) =
            (&left.data_type, &right.data_type)
        {
            let mixed = ours.iter().zip(theirs).enumerate();
            let mut mixed = mixed.filter(|(_, (our, their))| our.data_type() != their.data_type());
            if let Some((at, (our, their))) = mixed.next() {
                let (our_type, their_type) = (of_field(our), of_field(their));
                let names = [&our_type, &their_type].map(name_without_length);
                if names[0] == names[1] {
                    return unsupported(format!("a comparison of rows with {}", names[0]));
                }
                let message = format!(
                    "cannot compare dissimilar column types {} and {} at record column {}",
                    names[0],
                    names[1],
                    at + 1
                );
                return Err(Error::new(SqlState::DatatypeMismatch, message).into());
            }
            if ours.len() != theirs.len() {
                let message = "cannot compare record types with different numbers of columns";
                return Err(Error::new(SqlState::DatatypeMismatch, message).into());
            }
        }
        Ok((self.record_key(left)?, self.record_key(right)?))
    }
}

/// Refuses rows with names of objects: the texts of rows do not have them.
fn refuse_names(values: &[Typed]) -> Result<()> {
    match values.iter().any(|value| types::has_names(value.sql_type)) {
        true => missing("a row with names of objects"),
        false => Ok(()),
    }
}
