//! Query levels and the names that they show.

use crate::error::{Error, Result};
use crate::tree::{AggregateCall, Column, CteId, Expr, RelationId, SelectId, SetCall, WindowCall};
use grammar::tree::WindowDef;

/// The clause that is being bound. It decides whether aggregates and the like may stand there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clause {
    Targets,
    Where,
    On,
    Having,
    GroupBy,
    OrderBy,
    DistinctOn,
    Limit,
    Offset,
    Values,
    /// VALUES of one row in INSERT, which may have sets.
    ValuesRow,
    FromFunction,
    FromSubquery,
    AggregateArgument,
    Filter,
    Window,
    Update,
    Returning,
    Default,
    /// The default of a parameter.
    ParameterDefault,
    Check,
    Generated,
    /// The new value of a column whose type is altered.
    Transform,
    /// AND of a WHEN clause.
    MergeWhen,
    /// An expression of an ON CONFLICT target, and its WHERE.
    IndexExpression,
    IndexPredicate,
    /// WHERE of COPY FROM.
    CopyWhere,
}

impl Clause {
    /// Whether an expression is one of a row of a table.
    pub(super) fn is_of_one_row(self) -> bool {
        matches!(
            self,
            Self::Check
                | Self::Generated
                | Self::IndexExpression
                | Self::IndexPredicate
                | Self::Transform
                | Self::CopyWhere
                | Self::Returning
        )
    }

    /// How messages call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Targets => "SELECT",
            Self::Where => "WHERE",
            Self::On => "JOIN conditions",
            Self::Having => "HAVING",
            Self::GroupBy => "GROUP BY",
            Self::OrderBy => "ORDER BY",
            Self::DistinctOn => "DISTINCT ON",
            Self::Limit => "LIMIT",
            Self::Offset => "OFFSET",
            Self::Values | Self::ValuesRow => "VALUES",
            Self::FromFunction => "functions in FROM",
            Self::FromSubquery => "FROM clause of their own query level",
            Self::AggregateArgument => "aggregate function calls",
            Self::Filter => "FILTER",
            Self::Window => "window definitions",
            Self::Update => "UPDATE",
            Self::Returning => "RETURNING",
            Self::Default | Self::ParameterDefault => "DEFAULT expressions",
            Self::Check => "check constraints",
            Self::Generated => "column generation expressions",
            Self::Transform => "transform expressions",
            Self::MergeWhen => "MERGE WHEN conditions",
            Self::IndexExpression => "index expressions",
            Self::IndexPredicate => "index predicates",
            Self::CopyWhere => "COPY FROM WHERE conditions",
        }
    }
}

/// How far a query in WITH is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CteState {
    /// Wholly.
    Bound,
    /// Its non-recursive term is being bound.
    NonRecursiveTerm,
    /// Its recursive term is being bound.
    RecursiveTerm,
    /// A query in its WITH is being bound.
    Within,
    /// It is being bound and no UNION: it must not refer to itself.
    NotUnion,
    /// It is being bound and changes rows: it must not refer to itself.
    Changing,
    /// It changes rows and returns none.
    WithoutRows,
}

/// A query in WITH that statements can name.
#[derive(Debug, Clone)]
pub(super) struct NamedCte {
    pub id: CteId,
    pub name: String,
    pub columns: Vec<Column>,
    /// References from elsewhere, and from itself.
    pub references: u32,
    pub own_references: u32,
    /// Where its last reference to itself stands.
    pub own_location: i32,
    /// The number of columns at the end that names do not find.
    pub hidden: usize,
    pub state: CteState,
}

/// A name in FROM.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The name; empty for an unnamed join.
    pub name: String,
    /// The schema, if the name is that of a table and no alias.
    pub schema: Option<String>,
    /// The columns and what they stand for.
    pub columns: Vec<(String, Expr)>,
    /// The relation, unless it is a join.
    pub relation: Option<RelationId>,
    /// The table that the name is an alias of.
    pub aliased: Option<String>,
    /// Whether `name.column` and `name.*` find it.
    pub is_named: bool,
    /// Whether a bare column name finds its columns.
    pub shows_columns: bool,
    /// Whether it stands before the item that is being bound, and only LATERAL can see it.
    pub is_lateral_only: bool,
    /// Whether LATERAL may refer to it.
    pub allows_lateral: bool,
}

/// A query level.
#[derive(Debug)]
pub(super) struct Scope {
    pub select: SelectId,
    pub clause: Clause,
    pub items: Vec<Item>,
    pub ctes: Vec<NamedCte>,
    pub aggregates: Vec<AggregateCall>,
    pub windows: Vec<WindowCall>,
    pub sets: Vec<SetCall>,
    /// Where the last of them stands.
    pub set_location: i32,
    pub window_definitions: Vec<WindowDef>,
    /// The arguments of GROUPING calls, with their locations.
    pub groupings: Vec<(Vec<Expr>, i32)>,
    /// The primary keys of the tables in FROM.
    pub keys: Vec<(RelationId, Vec<usize>)>,
    /// The relations that are functions with one plain value.
    pub scalar_functions: Vec<RelationId>,
    /// Whether a LATERAL item of FROM is being bound.
    pub is_lateral: bool,
}

impl Item {
    /// Whether both names cannot stand in one FROM: tables of different schemas can.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let differ = matches!((&self.schema, &other.schema), (Some(one), Some(two)) if one != two);
        self.is_named && other.is_named && self.name == other.name && !differ
    }
}

impl Scope {
    pub(super) fn new(select: SelectId) -> Self {
        Self {
            select,
            clause: Clause::Targets,
            items: Vec::new(),
            ctes: Vec::new(),
            aggregates: Vec::new(),
            windows: Vec::new(),
            sets: Vec::new(),
            set_location: -1,
            window_definitions: Vec::new(),
            groupings: Vec::new(),
            keys: Vec::new(),
            scalar_functions: Vec::new(),
            is_lateral: false,
        }
    }

    /// The items that names can refer to. While FROM is bound, only LATERAL sees the items before it.
    fn visible(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.is_lateral_only || self.is_lateral)
    }

    /// The columns that a bare name finds in this level.
    pub(super) fn column(&self, name: &str, location: i32) -> Result<Option<Expr>> {
        let mut found = None;
        for item in self.visible().filter(|item| item.shows_columns) {
            for (_, expr) in item.columns.iter().filter(|(column, _)| column == name) {
                if item.is_lateral_only && !item.allows_lateral {
                    return Err(lateral_refused(&item.name).at(location));
                }
                if found.is_some() {
                    let message = format!("column reference \"{name}\" is ambiguous");
                    return Err(Error::new("42702", message).at(location));
                }
                found = Some(expr.clone());
            }
        }
        Ok(found)
    }

    /// The item that a qualifier names in this level.
    pub(super) fn item(
        &self,
        schema: Option<&str>,
        name: &str,
        location: i32,
    ) -> Result<Option<&Item>> {
        let named = |item: &&Item| {
            item.is_named
                && item.name == name
                && (schema.is_none() || item.schema.as_deref() == schema)
        };
        let mut found = self.visible().filter(named);
        let Some(item) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            let message = format!("table reference \"{name}\" is ambiguous");
            return Err(Error::new("42P09", message).at(location));
        }
        if item.is_lateral_only && !item.allows_lateral {
            return Err(lateral_refused(name).at(location));
        }
        Ok(Some(item))
    }
}

fn lateral_refused(name: &str) -> Error {
    Error::new("42P10", format!("invalid reference to FROM-clause entry for table \"{name}\""))
        .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
}
