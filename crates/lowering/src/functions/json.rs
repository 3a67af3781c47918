//! JSON.

use super::{Make, Table, called};
use crate::populate::{self, Populate};
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;
use std::sync::Arc;
use store::catalog::{SqlType as Held, SystemType};
use values::error::{Error, SqlState};

pub(super) const TABLE: Table = &[
    ("->(json,text)", Make::Named("json_object_field")),
    ("->(json,int4)", Make::Named("json_array_element")),
    ("->(jsonb,text)", Make::Named("jsonb_object_field")),
    ("->(jsonb,int4)", Make::Named("jsonb_array_element")),
    ("->>(json,text)", Make::Named("json_object_field_text")),
    ("->>(json,int4)", Make::Named("json_array_element_text")),
    ("->>(jsonb,text)", Make::Named("jsonb_object_field_text")),
    ("->>(jsonb,int4)", Make::Named("jsonb_array_element_text")),
    ("@>(jsonb,jsonb)", Make::Named("jsonb_contains")),
    ("<@(jsonb,jsonb)", Make::Named("jsonb_contained")),
    ("?(jsonb,text)", Make::Named("jsonb_exists")),
    ("?|(jsonb,_text)", Make::Named("jsonb_exists_any")),
    ("?&(jsonb,_text)", Make::Named("jsonb_exists_all")),
    ("||(jsonb,jsonb)", Make::Named("jsonb_concat")),
    ("-(jsonb,text) -(jsonb,int4) -(jsonb,_text)", Make::Named("jsonb_delete")),
    ("#-(jsonb,_text)", Make::Named("jsonb_delete_path")),
    ("pando_jsonb_assign(jsonb,_text,jsonb)", Make::Named("jsonb_assigned")),
    (
        "jsonb_path_exists(jsonb,jsonpath,jsonb,bool) jsonb_path_exists_tz(jsonb,jsonpath,jsonb,bool)",
        Make::Named("jsonb_path_exists"),
    ),
    (
        "jsonb_path_match(jsonb,jsonpath,jsonb,bool) jsonb_path_match_tz(jsonb,jsonpath,jsonb,bool)",
        Make::Named("jsonb_path_match"),
    ),
    (
        "jsonb_path_query_array(jsonb,jsonpath,jsonb,bool) jsonb_path_query_array_tz(jsonb,jsonpath,jsonb,bool)",
        Make::Named("jsonb_path_query_array"),
    ),
    (
        "jsonb_path_query_first(jsonb,jsonpath,jsonb,bool) jsonb_path_query_first_tz(jsonb,jsonpath,jsonb,bool)",
        Make::Named("jsonb_path_query_first"),
    ),
    (
        "@?(jsonb,jsonpath) jsonb_path_exists_opr(jsonb,jsonpath)",
        Make::Named("jsonb_path_exists_opr"),
    ),
    (
        "@@(jsonb,jsonpath) jsonb_path_match_opr(jsonb,jsonpath)",
        Make::Named("jsonb_path_match_opr"),
    ),
    (
        "json_build_object(any) json_build_object()",
        Make::Own(|of, args, to| written(of, "json_build_object", args, to)),
    ),
    (
        "jsonb_build_object(any) jsonb_build_object()",
        Make::Own(|of, args, to| written(of, "jsonb_build_object", args, to)),
    ),
    (
        "json_build_array(any) json_build_array()",
        Make::Own(|of, args, to| written(of, "json_build_array", args, to)),
    ),
    (
        "jsonb_build_array(any) jsonb_build_array()",
        Make::Own(|of, args, to| written(of, "jsonb_build_array", args, to)),
    ),
    (
        "json_extract_path(json,_text)",
        Make::Own(|of, args, to| {
            at_path(of, ["json_extract_path", "json_extract_path_op"], args, to)
        }),
    ),
    (
        "jsonb_extract_path(jsonb,_text)",
        Make::Own(|of, args, to| {
            at_path(of, ["jsonb_extract_path", "jsonb_extract_path_op"], args, to)
        }),
    ),
    (
        "json_extract_path_text(json,_text)",
        Make::Own(|of, args, to| {
            at_path(of, ["json_extract_path_text", "json_extract_path_text_op"], args, to)
        }),
    ),
    (
        "jsonb_extract_path_text(jsonb,_text)",
        Make::Own(|of, args, to| {
            at_path(of, ["jsonb_extract_path_text", "jsonb_extract_path_text_op"], args, to)
        }),
    ),
    ("to_json(anyelement)", Make::Own(|of, args, to| written(of, "to_json", args, to))),
    ("to_jsonb(anyelement)", Make::Own(|of, args, to| written(of, "to_jsonb", args, to))),
    (
        "json_populate_record(anyelement,json,bool)",
        Make::Own(|of, args, to| populated(of, "json_populate_record", args, to)),
    ),
    (
        "jsonb_populate_record(anyelement,jsonb)",
        Make::Own(|of, args, to| populated(of, "jsonb_populate_record", args, to)),
    ),
];

impl Lowering<'_> {
    /// A value that is written as JSON, in which object ids are no numbers.
    pub(crate) fn for_json(&self, value: Typed) -> Result<Typed> {
        match types::is_id(value.sql_type.oid) {
            true => self.as_text(value),
            false => self.for_row(value),
        }
    }

    /// A value of a row that may be written as JSON: `char` with its blanks, and texts and documents told apart, as columns
    /// that the engine passes on need not be.
    pub(crate) fn for_row(&self, value: Typed) -> Result<Typed> {
        let value = self.padded(value)?;
        let is_subquery = |part: &Expr| Ok(matches!(part, Expr::ScalarSubquery(_)));
        let marker = match value.sql_type.oid {
            Oid::JSON => Some("text_is_json"),
            Oid::JSONB => Some("text_is_jsonb"),
            _ => None,
        };
        // The engine forgets the type of the value of a subquery.
        if let Some(marker) = marker
            && value.expr.exists(is_subquery)?
        {
            let sql_type = value.sql_type;
            return self.registered(marker, vec![value.named(Oid::TEXT.into())], sql_type);
        }
        let is_held_as_text = matches!(value.sql_type.oid, Oid::JSON | Oid::JSONB)
            || types::is_text(value.sql_type.oid);
        if is_held_as_text && value.value().is_none() { value.declared() } else { Ok(value) }
    }
}

impl Lowering<'_> {
    /// A value that JSON has by itself: as [`for_json`](Self::for_json), but object ids are texts.
    pub(crate) fn as_json(&self, value: Typed) -> Result<Typed> {
        let of = types::system(value.sql_type).and_then(|held| held.system_type());
        if !of.is_some_and(SystemType::is_id) {
            return self.for_json(value);
        }
        let is_array = value.sql_type.oid.element().is_some();
        let text = SqlType::plain(if is_array { Oid::TEXT_ARRAY } else { Oid::TEXT });
        match self.by_names(&value, text)? {
            Some(names) => Ok(names),
            None => self.plain(value, text),
        }
    }

    /// The rows of a composite type that a function makes of documents.
    pub(crate) fn populated_rows(
        &self,
        name: &str,
        of: Held,
        is_set: bool,
        arguments: Vec<Typed>,
    ) -> Result<(Expr, DataType)> {
        let (is_binary, name, style) = (populate::is_binary(name), name.to_owned(), self.style());
        let populate = Populate { of, is_set, is_binary, name, style };
        called(&Arc::new(populate::function(populate)), arguments)
    }
}

/// A row of a composite type from another one and an object.
fn populated(
    lowering: &Lowering<'_>,
    name: &str,
    arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    if !sql_type.oid.is_row() {
        let message = format!("first argument of {name} must be a row type");
        return Err(Error::new(SqlState::DatatypeMismatch, message).into());
    }
    let mut arguments = arguments;
    arguments.truncate(2);
    let of = types::held(sql_type)?;
    let (expr, data_type) = lowering.populated_rows(name, of, false, arguments)?;
    Ok(Typed { expr, sql_type, data_type })
}

/// A function that writes values of any type.
fn written(
    lowering: &Lowering<'_>,
    name: &str,
    arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    let values = arguments.into_iter().map(|argument| lowering.as_json(argument));
    lowering.registered(name, values.collect::<Result<_>>()?, sql_type)
}

/// A part of a document, by the steps to it: by the first function if they are arguments, by the second if they are an
/// array, as the operators `#>` and `#>>` have them.
fn at_path(
    lowering: &Lowering<'_>,
    [of_steps, of_array]: [&str; 2],
    arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    let is_array = arguments.get(1).is_some_and(|path| path.sql_type.oid.element().is_some());
    lowering.registered(if is_array { of_array } else { of_steps }, arguments, sql_type)
}
