//! SEARCH and CYCLE of a recursive query: columns that its terms compute in addition to their own.

use super::{Binder, names};
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{
    Body, Column, CteId, Expr, FieldValue, From, Kind, Literal, Output, Query, Relation,
    RelationId, Select, Source,
};
use grammar::tree::{CommonTableExpr, Node, NodeEnum, SetOperation};

/// The columns that are added to a recursive query, behind its own.
pub(super) struct Marks {
    search: Option<Search>,
    cycle: Option<Cycle>,
}

/// SEARCH: a column by which the rows are ordered.
struct Search {
    name: String,
    breadth_first: bool,
    by: Vec<usize>,
}

/// CYCLE: a mark of rows that repeat a row before them, and the path to each row.
struct Cycle {
    mark: String,
    path: String,
    value: Expr,
    default: Expr,
    by: Vec<usize>,
}

impl Marks {
    /// The columns.
    pub(super) fn columns(&self) -> Vec<Column> {
        let column = |name: &str, sql_type: SqlType| Column { name: name.to_owned(), sql_type };
        let mut columns = Vec::new();
        if let Some(search) = &self.search {
            let oid = if search.breadth_first { Oid::RECORD } else { Oid::RECORD_ARRAY };
            columns.push(column(&search.name, oid.into()));
        }
        if let Some(cycle) = &self.cycle {
            columns.push(column(&cycle.mark, cycle.value.sql_type));
            columns.push(column(&cycle.path, Oid::RECORD_ARRAY.into()));
        }
        columns
    }
}

/// Refuses a UNION as a side of the recursive query.
fn refuse_nested(cte: &CommonTableExpr) -> Result<()> {
    let query = cte.ctequery.as_deref().and_then(|node| node.node.as_ref());
    let Some(NodeEnum::SelectStmt(select)) = query else { return Ok(()) };
    for (side, which) in [(&select.larg, "left"), (&select.rarg, "right")] {
        if side.as_ref().is_some_and(|side| side.op() != SetOperation::SetopNone) {
            let clause = "with a SEARCH or CYCLE clause";
            let message = format!("{clause}, the {which} side of the UNION must be a SELECT");
            return Err(Error::new("0A000", message));
        }
    }
    Ok(())
}

impl Binder<'_> {
    /// The columns that SEARCH and CYCLE add to a query of these columns; `None` without them.
    pub(super) fn marks(
        &mut self,
        cte: &CommonTableExpr,
        columns: &[Column],
    ) -> Result<Option<Marks>> {
        let search = match &cte.search_clause {
            Some(clause) => Some(Search {
                name: clause.search_seq_column.clone(),
                breadth_first: clause.search_breadth_first,
                by: places(&clause.search_col_list, columns, "search", clause.location)?,
            }),
            None => None,
        };
        let cycle = match &cte.cycle_clause {
            Some(clause) => {
                let by = places(&clause.cycle_col_list, columns, "cycle", clause.location)?;
                let value = self.required(clause.cycle_mark_value.as_deref())?;
                let default = self.required(clause.cycle_mark_default.as_deref())?;
                let (both, _) = self.at_common_type(vec![value, default], "CYCLE")?;
                let [value, default] = <[Expr; 2]>::try_from(both)
                    .map_err(|_| Error::missing("this form").at(clause.location))?;
                let (mark, path) =
                    (clause.cycle_mark_column.clone(), clause.cycle_path_column.clone());
                Some(Cycle { mark, path, value, default, by })
            }
            None => None,
        };
        if search.is_none() && cycle.is_none() {
            return Ok(None);
        }
        let marks = Marks { search, cycle };
        refuse_known(&marks, columns).map_err(|error| error.at(cte.location))?;
        refuse_nested(cte)?;
        Ok(Some(marks))
    }

    /// The non-recursive term with the first values of the columns.
    pub(super) fn first_marks(&mut self, marks: &Marks, term: Query) -> Result<Query> {
        let (relation, mut outputs) = self.outputs_over(&term);
        let own: Vec<Expr> = outputs.iter().map(|output| output.expr.clone()).collect();
        let named = |name: &str, expr: Expr| Output { name: name.to_owned(), expr };
        if let Some(search) = &marks.search {
            let keys = keys(&search.by, &own);
            let first = match search.breadth_first {
                true => row([vec![whole(0)], keys].concat()),
                false => path(row(keys)),
            };
            outputs.push(named(&search.name, first));
        }
        if let Some(cycle) = &marks.cycle {
            outputs.push(named(&cycle.mark, cycle.default.clone()));
            outputs.push(named(&cycle.path, path(row(keys(&cycle.by, &own)))));
        }
        let from = over(relation, term);
        Ok(Query::from(Select::plain(self.next_select(), vec![from], outputs)))
    }

    /// The recursive term with the next values of the columns, of rows that were not marked before.
    pub(super) fn next_marks(
        &mut self,
        marks: &Marks,
        term: Query,
        cte: (CteId, &str),
    ) -> Result<Query> {
        let added = marks.columns();
        let width = term.columns.len();
        let term = with_marks_of(term, cte, &added)?;
        let (relation, mut outputs) = self.outputs_over(&term);
        let mut before = outputs.split_off(width).into_iter().map(|output| output.expr);
        let own: Vec<Expr> = outputs.iter().map(|output| output.expr.clone()).collect();
        let mut push =
            |name: &str, expr: Expr| outputs.push(Output { name: name.to_owned(), expr });
        let mut filter = None;
        let sequence = if marks.search.is_some() { before.next() } else { None };
        if let (Some(search), Some(sequence)) = (&marks.search, sequence) {
            let keys = keys(&search.by, &own);
            let next = match search.breadth_first {
                true => {
                    let depth = FieldValue { row: sequence, field: 0, name: "f1".to_owned() };
                    let depth = Expr::new(Kind::Field(Box::new(depth)), Oid::INT8, -1);
                    let deeper = self.apply("+", Some(depth), whole(1), -1)?;
                    row([vec![deeper], keys].concat())
                }
                false => self.apply("||", Some(sequence), row(keys), -1)?,
            };
            push(&search.name, next);
        }
        if let (Some(cycle), Some(mark), Some(trail)) = (&marks.cycle, before.next(), before.next())
        {
            let here = row(keys(&cycle.by, &own));
            let is_repeated = self.with_each("=", here.clone(), trail.clone(), false, -1)?;
            let is_new = Expr::new(Kind::Not(Box::new(is_repeated.clone())), Oid::BOOL, -1);
            let branches =
                vec![(is_repeated, cycle.value.clone()), (is_new, cycle.default.clone())];
            // The engine requires that the mark seems to be NULL at times, as it does when it runs.
            let otherwise = Box::new(Expr::null(cycle.value.sql_type));
            let next = Expr::new(Kind::Case { branches, otherwise }, cycle.value.sql_type, -1);
            push(&cycle.mark, next);
            push(&cycle.path, self.apply("||", Some(trail), here, -1)?);
            filter = Some(self.apply("<>", Some(mark), cycle.value.clone(), -1)?);
        }
        let from = over(relation, term);
        let select = Select::plain(self.next_select(), vec![from], outputs);
        Ok(Query::from(Select { filter, ..select }))
    }

    /// A number for a query as a relation, and its columns.
    fn outputs_over(&mut self, term: &Query) -> (RelationId, Vec<Output>) {
        let id = self.next_relation();
        let outputs = term.columns.iter().enumerate().map(|(at, column)| Output {
            name: column.name.clone(),
            expr: Expr::new(Kind::Column(id, at), column.sql_type, -1),
        });
        (id, outputs.collect())
    }
}

/// A recursive term that also returns the added columns of the rows before.
fn with_marks_of(mut term: Query, (id, name): (CteId, &str), added: &[Column]) -> Result<Query> {
    let Body::Select(select) = &mut term.body else {
        let message = "with a SEARCH or CYCLE clause, the right side of the UNION must be a SELECT";
        return Err(Error::new("0A000", message));
    };
    let Some(relation) = select.from.iter().find_map(|from| reference(from, id)) else {
        let message = format!(
            "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" must be at the top level of \
             its right-hand SELECT"
        );
        return Err(Error::new("0A000", message));
    };
    if select.is_grouped {
        return Err(Error::missing("SEARCH or CYCLE with GROUP BY"));
    }
    let (relation, first) = (relation.id, relation.columns.len() - added.len());
    for (at, column) in added.iter().enumerate() {
        let expr = Expr::new(Kind::Column(relation, first + at), column.sql_type, -1);
        select.output.push(Output { name: column.name.clone(), expr });
        term.columns.push(column.clone());
    }
    Ok(term)
}

/// The reference to a query in WITH among the items of FROM.
fn reference(from: &From, id: CteId) -> Option<&Relation> {
    match from {
        From::Relation(relation) => {
            matches!(relation.source, Source::Cte(of) if of == id).then_some(relation)
        }
        From::Join { left, right, .. } => reference(left, id).or_else(|| reference(right, id)),
    }
}

fn over(id: RelationId, term: Query) -> From {
    let columns = term.columns.clone();
    let source = Source::Query(Box::new(term));
    let alias = "term".to_owned();
    From::Relation(Box::new(Relation { id, alias, columns, is_lateral: false, source }))
}

/// The places of the columns that a clause names.
fn places(nodes: &[Node], columns: &[Column], clause: &str, location: i32) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(nodes.len());
    for name in names::parts(nodes) {
        let place = columns.iter().position(|column| column.name == name).ok_or_else(|| {
            let message = format!("{clause} column \"{name}\" not in WITH query column list");
            Error::new("42601", message).at(location)
        })?;
        if places.contains(&place) {
            let message = format!("{clause} column \"{name}\" specified more than once");
            return Err(Error::new("42701", message).at(location));
        }
        places.push(place);
    }
    Ok(places)
}

/// Refuses names of added columns that others have.
fn refuse_known(marks: &Marks, columns: &[Column]) -> Result<()> {
    let search = marks.search.iter().map(|of| ("search sequence", &of.name));
    let cycle = marks.cycle.iter();
    let cycle = cycle.flat_map(|of| [("cycle mark", &of.mark), ("cycle path", &of.path)]);
    let mut before: Vec<(&str, &String)> = Vec::new();
    for (what, name) in search.chain(cycle) {
        let same = before.iter().find(|(_, known)| *known == name);
        let message = if columns.iter().any(|column| column.name == *name) {
            format!("{what} column name \"{name}\" already used in WITH query column list")
        } else if let Some((other, _)) = same {
            format!("{other} column name and {what} column name are the same")
        } else {
            before.push((what, name));
            continue;
        };
        return Err(Error::new("42601", message));
    }
    Ok(())
}

fn keys(by: &[usize], own: &[Expr]) -> Vec<Expr> {
    by.iter().map(|place| own[*place].clone()).collect()
}

fn row(values: Vec<Expr>) -> Expr {
    Expr::new(Kind::Row(values), Oid::RECORD, -1)
}

fn path(row: Expr) -> Expr {
    Expr::new(Kind::Array(vec![row]), Oid::RECORD_ARRAY, -1)
}

fn whole(number: i64) -> Expr {
    Expr::new(Kind::Literal(Literal::Integer(number)), Oid::INT8, -1)
}
