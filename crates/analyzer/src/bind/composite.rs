//! Values of composite types: rows whose fields have the types of the attributes.

use super::Binder;
use crate::error::{Error, Result};
use crate::system::casts::CastContext;
use crate::system::{Oid, SqlType};
use crate::tree::{Cast, Conversion, Expr, Kind, Literal};
use grammar::tree::{ColumnRef, FuncCall, Node, NodeEnum, String as Text};

/// The SQLSTATE of functions that do not exist.
const UNDEFINED_FUNCTION: &str = "42883";

/// A name in a parse tree.
fn text_node(name: &str) -> Node {
    Node { node: Some(NodeEnum::String(Text { sval: name.to_owned() })) }
}

impl Binder<'_> {
    /// Converts a record to a composite type, if its fields are written here: field by field.
    ///
    /// # Errors
    /// 42846: there are more or fewer fields than attributes, or a field cannot be converted.
    pub(super) fn row_of_type(
        &mut self,
        row: Expr,
        to: Oid,
        context: CastContext,
    ) -> Result<Option<Expr>> {
        let location = row.location.0;
        let Some(attributes) = to.attributes() else { return Ok(None) };
        let fields = match row.kind {
            Kind::Literal(Literal::Null) => return Ok(Some(Expr::null(to))),
            Kind::Row(fields) | Kind::NamedRow(_, fields) => fields,
            Kind::WholeRow(relation) => {
                let items = self.named_scopes().flat_map(|scope| &scope.items);
                let mut items = items.filter(|item| item.relation == Some(relation));
                let Some(item) = items.next() else { return Ok(None) };
                item.columns.iter().map(|(_, value)| value.clone()).collect()
            }
            _ => return Ok(None),
        };
        let refused = |detail: String| {
            let message = format!("cannot cast type record to {to}");
            Err(Error::new("42846", message).detail(detail).at(location))
        };
        if fields.len() != attributes.len() {
            let few = if fields.len() < attributes.len() { "few" } else { "many" };
            return refused(format!("Input has too {few} columns."));
        }
        let mut converted = Vec::with_capacity(fields.len());
        for (number, (field, (_, sql_type))) in (1..).zip(fields.into_iter().zip(attributes)) {
            let field = self.decided(field);
            let from = field.sql_type.oid;
            match self.field_of_type(field, *sql_type, context)? {
                Some(field) => converted.push(field),
                None => {
                    let to = sql_type.oid;
                    return refused(format!("Cannot cast type {from} to {to} in column {number}."));
                }
            }
        }
        let value = Box::new(Expr::new(Kind::Row(converted), Oid::RECORD, location));
        let is_explicit = context == CastContext::Explicit;
        let cast = Cast { value, conversion: Conversion::Row, is_explicit };
        Ok(Some(Expr::new(Kind::Cast(cast), to, location)))
    }

    /// A field as a value of an attribute. An explicit conversion cuts it to the length; otherwise it is refused when the row
    /// is made, if it is too long.
    pub(super) fn field_of_type(
        &mut self,
        field: Expr,
        to: SqlType,
        context: CastContext,
    ) -> Result<Option<Expr>> {
        if context == CastContext::Explicit {
            return self.coerce(field, to, context);
        }
        let is_domain = to.oid.base() != to.oid;
        if !is_domain || field.sql_type.oid == to.oid {
            return self.coerce(field, SqlType::plain(to.oid), context);
        }
        // Nobody else checks the conditions of the domain.
        let base = SqlType::plain(to.base().oid);
        let Some(field) = self.coerce(field, base, context)? else { return Ok(None) };
        self.coerce(field, SqlType::plain(to.oid), CastContext::Implicit)
    }

    /// `t.f`, where `f` is a function of the rows of `t`. `None` if there is none.
    pub(super) fn computed_column(
        &mut self,
        (schema, table): (Option<&str>, &str),
        name: &str,
        location: i32,
    ) -> Result<Option<Expr>> {
        let parts = schema.into_iter().chain([table]).map(text_node).collect();
        let row = NodeEnum::ColumnRef(ColumnRef { fields: parts, location });
        self.computed_field(Node { node: Some(row) }, name, location)
    }

    /// `(row).f`, where `f` is a function of such rows. `None` if there is none.
    pub(super) fn computed_field(
        &mut self,
        row: Node,
        name: &str,
        location: i32,
    ) -> Result<Option<Expr>> {
        if self.catalog.routines(None, name)?.is_empty() {
            return Ok(None);
        }
        let (funcname, args) = (vec![text_node(name)], vec![row]);
        let call = FuncCall { funcname, args, location, ..FuncCall::default() };
        match self.routine_call(&call) {
            Err(error) if error.state == UNDEFINED_FUNCTION => Ok(None),
            value => value,
        }
    }

    /// `f(row)`, where `f` is a field. `None` if it is none.
    pub(super) fn field_call(&mut self, name: &str, call: &FuncCall) -> Result<Option<Expr>> {
        let is_plain = call.funcname.len() == 1
            && !call.agg_star
            && !call.agg_distinct
            && !call.func_variadic
            && call.over.is_none();
        let ([argument], true) = (call.args.as_slice(), is_plain) else { return Ok(None) };
        let may_be_row = matches!(
            argument.node,
            Some(
                NodeEnum::ColumnRef(_)
                    | NodeEnum::AIndirection(_)
                    | NodeEnum::TypeCast(_)
                    | NodeEnum::RowExpr(_)
            )
        );
        if !may_be_row {
            return Ok(None);
        }
        let row = self.required(Some(argument))?;
        if !row.sql_type.oid.is_row() {
            return Ok(None);
        }
        let columns = self.row_columns(&row).unwrap_or_default();
        match columns.iter().any(|column| column.name == name) {
            true => self.field(row, name, call.location).map(Some),
            false => Ok(None),
        }
    }

    /// The type of the rows of a view, by the name of the view.
    pub(super) fn rows_of_view(&self, schema: Option<&str>, name: &str) -> Option<Oid> {
        if name.contains(['.', '/', '*']) {
            return None;
        }
        let table = self.catalog.relation(schema, name).ok()??;
        self.catalog.row_type(&table.rows().filter(|_| table.is_view)?)
    }
}
