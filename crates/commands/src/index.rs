//! CREATE INDEX and UNIQUE constraints.

use crate::collation::refuse_collation;
use crate::names::{RelationName, incomplete, node, some, texts};
use crate::storage_options::{self, Stored};
use crate::{Error, Result};
use grammar::tree::{
    CollateClause, ConstrType, Constraint, IndexElem, IndexStmt, Node, NodeEnum, SortByDir,
    SortByNulls,
};

/// CREATE INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateIndex {
    /// The name, if it is written.
    pub name: Option<String>,
    /// The table.
    pub table: RelationName,
    /// The columns.
    pub columns: Vec<IndexedColumn>,
    /// The columns of INCLUDE.
    pub included: Vec<String>,
    /// WHERE, as SQL text.
    pub predicate: Option<String>,
    /// UNIQUE.
    pub is_unique: bool,
    /// NULLS NOT DISTINCT.
    pub nulls_equal: bool,
    /// USING hash.
    pub is_hash: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// CONCURRENTLY.
    pub is_concurrent: bool,
}

/// A column of CREATE INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedColumn {
    /// The column or the expression.
    pub key: IndexedKey,
    /// DESC.
    pub descending: bool,
    /// Whether NULL comes before all values.
    pub nulls_first: bool,
    /// The operator class, if it is written.
    pub operator_class: Option<String>,
}

/// What is indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexedKey {
    /// A column.
    Column(String),
    /// An expression, as SQL text, and the name that PostgreSQL gives to its value.
    Expression(String, String),
}

impl IndexedKey {
    /// Returns the name of the column, or of the expression's value.
    pub fn name(&self) -> &str {
        match self {
            Self::Column(name) | Self::Expression(_, name) => name,
        }
    }
}

/// A UNIQUE constraint, or a primary key that is deferrable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unique {
    /// The name, if it is written.
    pub name: Option<String>,
    /// The columns.
    pub columns: Vec<String>,
    /// The columns of INCLUDE.
    pub included: Vec<String>,
    /// NULLS NOT DISTINCT.
    pub nulls_equal: bool,
    /// DEFERRABLE.
    pub is_deferrable: bool,
    /// INITIALLY DEFERRED.
    pub is_deferred: bool,
    /// Whether it is a primary key.
    pub is_primary: bool,
}

impl Unique {
    /// Whether it requires the same as another one, at the same time.
    pub fn is_same(&self, other: &Self) -> bool {
        let of = |unique: &Self| (unique.nulls_equal, unique.is_deferrable, unique.is_deferred);
        self.columns == other.columns && self.included == other.included && of(self) == of(other)
    }

    /// A constraint of a table, or of a column.
    pub(crate) fn of(constraint: &Constraint, column: Option<&str>) -> Result<Self> {
        let is_primary = constraint.contype() == ConstrType::ConstrPrimary;
        debug_assert!(is_primary || constraint.contype() == ConstrType::ConstrUnique);
        storage_options::check(&constraint.options, Stored::Index { is_hash: false })?;
        if constraint.nulls_not_distinct && constraint.deferrable {
            let what = "NULLS NOT DISTINCT of a deferrable constraint";
            return Err(Error::missing(what).at(constraint.location));
        }
        Ok(Self {
            name: some(&constraint.conname),
            columns: match column {
                Some(column) => vec![column.to_owned()],
                None => texts(&constraint.keys),
            },
            included: texts(&constraint.including),
            nulls_equal: constraint.nulls_not_distinct,
            is_deferrable: constraint.deferrable,
            is_deferred: constraint.initdeferred,
            is_primary,
        })
    }
}

impl CreateIndex {
    pub(crate) fn of(statement: &IndexStmt) -> Result<Self> {
        let relation = statement.relation.as_ref().ok_or_else(incomplete)?;
        // ONLY is for tables with partitions, which no table has.
        if !statement.table_space.is_empty() {
            return Err(Error::missing("TABLESPACE"));
        }
        let is_hash = method(&statement.access_method)?;
        storage_options::check(&statement.options, Stored::Index { is_hash })?;
        let columns: Vec<IndexedColumn> =
            statement.index_params.iter().map(IndexedColumn::of).collect::<Result<_>>()?;
        let included = statement.index_including_params.iter().map(included);
        let included = included.collect::<Result<Vec<_>>>()?;
        let not_by_hash = [
            (statement.unique, "unique indexes"),
            (!included.is_empty(), "included columns"),
            (columns.len() > 1, "multicolumn indexes"),
            (columns.iter().any(|c| c.descending || c.nulls_first), "ASC/DESC options"),
        ];
        if let Some((_, what)) = not_by_hash.into_iter().find(|(used, _)| is_hash && *used) {
            let message = format!("access method \"hash\" does not support {what}");
            return Err(Error::new("0A000", message));
        }
        Ok(Self {
            name: some(&statement.idxname),
            table: RelationName::of(Some(relation))?,
            columns,
            included,
            predicate: statement.where_clause.as_deref().map(written).transpose()?,
            is_unique: statement.unique,
            nulls_equal: statement.nulls_not_distinct,
            is_hash,
            if_not_exists: statement.if_not_exists,
            is_concurrent: statement.concurrent,
        })
    }
}

/// Whether an access method is hash; btree otherwise.
fn method(name: &str) -> Result<bool> {
    match name {
        "" | "btree" => Ok(false),
        "hash" => Ok(true),
        "gist" | "gin" | "spgist" | "brin" => Err(Error::missing(format!("USING {name}"))),
        _ => Err(Error::new("42704", format!("access method \"{name}\" does not exist"))),
    }
}

impl IndexedColumn {
    fn of(element: &Node) -> Result<Self> {
        let NodeEnum::IndexElem(element) = node(Some(element))? else { return Err(incomplete()) };
        if !element.collation.is_empty() {
            let collname = element.collation.clone();
            refuse_collation(&CollateClause { collname, location: -1, ..Default::default() })?;
        }
        if !element.opclassopts.is_empty() {
            return Err(Error::missing("options of an operator class"));
        }
        let descending = element.ordering() == SortByDir::SortbyDesc;
        let key = match element.expr.as_deref() {
            None => IndexedKey::Column(element.name.clone()),
            Some(Node { node: Some(NodeEnum::ColumnRef(column)) }) if column.fields.len() == 1 => {
                IndexedKey::Column(texts(&column.fields).pop().ok_or_else(incomplete)?)
            }
            Some(expression) => {
                IndexedKey::Expression(written(expression)?, value_name(expression))
            }
        };
        Ok(Self {
            key,
            descending,
            nulls_first: nulls_first(element).unwrap_or(descending),
            operator_class: texts(&element.opclass).pop(),
        })
    }
}

/// An expression as SQL text.
fn written(expression: &Node) -> Result<String> {
    grammar::expression_text(expression).ok_or_else(incomplete)
}

/// The column of INCLUDE.
fn included(element: &Node) -> Result<String> {
    let NodeEnum::IndexElem(element) = node(Some(element))? else { return Err(incomplete()) };
    if element.expr.is_some() {
        return Err(Error::new("0A000", "expressions are not supported in included columns"));
    }
    let is_ordered = element.ordering() != SortByDir::SortbyDefault;
    let unsupported = [
        (is_ordered, "including column does not support ASC/DESC options"),
        (
            nulls_first(element).is_some(),
            "including column does not support NULLS FIRST/LAST options",
        ),
    ];
    match unsupported.into_iter().find(|(used, _)| *used) {
        Some((_, message)) => Err(Error::new("42P17", message)),
        None => Ok(element.name.clone()),
    }
}

/// The name of an expression's value: that of its function or column.
fn value_name(expression: &Node) -> String {
    let name = expression.node.as_ref().and_then(analyzer::column_name);
    name.unwrap_or_else(|| "expr".to_owned())
}

fn nulls_first(element: &IndexElem) -> Option<bool> {
    match element.nulls_ordering() {
        SortByNulls::SortbyNullsFirst => Some(true),
        SortByNulls::SortbyNullsLast => Some(false),
        SortByNulls::Undefined | SortByNulls::SortbyNullsDefault => None,
    }
}
