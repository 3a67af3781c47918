//! JOIN.

use super::Binder;
use super::expression::all_of;
use super::from::Part;
use super::names;
use super::scope::{Clause, Item};
use crate::error::{Error, Result};
use crate::resolve::common_type;
use crate::tree::{Column, Expr, From, JoinKind, Kind};
use grammar::tree::{JoinExpr, JoinType};

impl Binder<'_> {
    pub(super) fn join(&mut self, join: &JoinExpr) -> Result<Part> {
        let kind = match join.jointype() {
            JoinType::JoinInner => JoinKind::Inner,
            JoinType::JoinLeft => JoinKind::Left,
            JoinType::JoinRight => JoinKind::Right,
            JoinType::JoinFull => JoinKind::Full,
            _ => return Err(Error::missing("this kind of join")),
        };
        let left = self.bind_from_item(names::node(join.larg.as_deref())?)?;
        let before = self.scopes.last().map_or(0, |scope| scope.items.len());
        // The names of a join may hide those within it.
        self.show_items(left.items.clone(), matches!(kind, JoinKind::Inner | JoinKind::Left));
        let right = self.bind_from_item(names::node(join.rarg.as_deref())?)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.truncate(before);
        }
        refuse_same_names(&left.items, &right.items)?;
        let using = shared_columns(join, &left.columns, &right.columns);
        let mut conditions = Vec::new();
        let mut merged = Vec::new();
        for (at, name) in using.iter().enumerate() {
            if using[..at].contains(name) {
                let message =
                    format!("column name \"{name}\" appears more than once in USING clause");
                return Err(Error::new("42701", message));
            }
            let left = side(&left.columns, name, "left")?;
            let right = side(&right.columns, name, "right")?;
            merged.push((name.clone(), self.merged(kind, left.clone(), right.clone())?));
            conditions.push(self.apply("=", Some(left), right, -1)?);
        }
        let mut items: Vec<Item> = left.items.into_iter().chain(right.items).collect();
        if let Some(on) = join.quals.as_deref() {
            let condition = self.among(&items, |binder| {
                let condition = binder.in_clause(Clause::On, |binder| binder.required(Some(on)))?;
                binder.coerce_to_bool(condition, "JOIN/ON")
            })?;
            conditions.push(condition);
        }
        let rest = |columns: Vec<(String, Expr)>| {
            columns.into_iter().filter(|(name, _)| !using.contains(name))
        };
        let mut columns = merged.clone();
        columns.extend(rest(left.columns));
        columns.extend(rest(right.columns));
        name_join(join, &mut items, merged, &mut columns)?;
        let condition = (!conditions.is_empty()).then(|| all_of(conditions, -1));
        let (left, right) = (Box::new(left.from), Box::new(right.from));
        Ok(Part { from: From::Join { kind, left, right, condition }, items, columns })
    }

    /// The column that USING makes of two.
    fn merged(&mut self, kind: JoinKind, left: Expr, right: Expr) -> Result<Expr> {
        let oid = common_type(&[left.sql_type.oid, right.sql_type.oid]).map_err(|mixed| {
            let message = format!("JOIN/USING types {} and {} cannot be matched", mixed.0, mixed.1);
            Error::new("42804", message)
        })?;
        let same_modifier = left.sql_type == right.sql_type;
        let sql_type = if same_modifier { left.sql_type } else { oid.into() };
        match kind {
            JoinKind::Inner if left.sql_type.oid != oid && right.sql_type.oid == oid => Ok(right),
            JoinKind::Inner | JoinKind::Left => self.convert_to_common(left, oid, "JOIN/USING"),
            JoinKind::Right => self.convert_to_common(right, oid, "JOIN/USING"),
            JoinKind::Full => {
                let left = self.convert_to_common(left, oid, "JOIN/USING")?;
                let right = self.convert_to_common(right, oid, "JOIN/USING")?;
                Ok(Expr::new(Kind::Coalesce(vec![left, right]), sql_type, -1))
            }
        }
    }

    /// Binds ON: only the names of the join are visible in its level.
    fn among<T>(&mut self, items: &[Item], bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let own: Vec<Item> =
            items.iter().cloned().map(|item| Item { is_lateral_only: false, ..item }).collect();
        let outer = self.scopes.last_mut().map(|scope| std::mem::replace(&mut scope.items, own));
        let result = bind(self);
        if let (Some(scope), Some(outer)) = (self.scopes.last_mut(), outer) {
            scope.items = outer;
        }
        result
    }
}

fn side(columns: &[(String, Expr)], name: &str, which: &str) -> Result<Expr> {
    let mut found = columns.iter().filter(|(column, _)| column == name);
    match (found.next(), found.next()) {
        (Some((_, expr)), None) => Ok(expr.clone()),
        (Some(_), Some(_)) => {
            let message =
                format!("common column name \"{name}\" appears more than once in {which} table");
            Err(Error::new("42702", message))
        }
        (None, _) => {
            let message = format!(
                "column \"{name}\" specified in USING clause does not exist in {which} table"
            );
            Err(Error::new("42703", message))
        }
    }
}

fn join_item(name: &str, columns: Vec<(String, Expr)>, shows_columns: bool) -> Item {
    Item {
        name: name.to_owned(),
        schema: None,
        columns,
        relation: None,
        aliased: None,
        is_named: true,
        shows_columns,
        is_lateral_only: false,
        allows_lateral: true,
    }
}

/// Refuses a name that both sides have.
fn refuse_same_names(left: &[Item], right: &[Item]) -> Result<()> {
    for item in right {
        if left.iter().any(|known| known.conflicts(item)) {
            let message = format!("table name \"{}\" specified more than once", item.name);
            return Err(Error::new("42712", message));
        }
    }
    Ok(())
}

/// The columns of USING, or those that NATURAL finds.
fn shared_columns(
    join: &JoinExpr,
    left: &[(String, Expr)],
    right: &[(String, Expr)],
) -> Vec<String> {
    if join.is_natural {
        let shared = left
            .iter()
            .map(|(name, _)| name)
            .filter(|name| right.iter().any(|(other, _)| other == *name));
        let mut shared: Vec<String> = shared.cloned().collect();
        shared.dedup();
        shared
    } else {
        names::parts(&join.using_clause).into_iter().map(str::to_owned).collect()
    }
}

/// Adds the names of a join as a whole to those of its sides.
fn name_join(
    join: &JoinExpr,
    items: &mut Vec<Item>,
    merged: Vec<(String, Expr)>,
    columns: &mut [(String, Expr)],
) -> Result<()> {
    items.iter_mut().for_each(|item| item.shows_columns = false);
    if let Some(alias) = &join.join_using_alias {
        let item = join_item(&alias.aliasname, merged, false);
        refuse_same_names(items, std::slice::from_ref(&item))?;
        items.push(item);
    }
    if let Some(alias) = &join.alias {
        let column =
            |(name, expr): &(String, Expr)| Column { name: name.clone(), sql_type: expr.sql_type };
        let mut named: Vec<Column> = columns.iter().map(column).collect();
        super::from::rename(&mut named, alias, -1)?;
        for (column, named) in columns.iter_mut().zip(named) {
            column.0 = named.name;
        }
        // The alias hides what is in the join. Its relations are still there for rows and groups.
        items.iter_mut().for_each(|item| item.is_named = false);
        items.push(join_item(&alias.aliasname, columns.to_vec(), true));
    } else {
        let mut item = join_item("", columns.to_vec(), true);
        item.is_named = false;
        items.push(item);
    }
    Ok(())
}
