//! Select lists of columns.

use crate::names::Named;
use datafusion::sql::sqlparser::ast::{
    Expr, SelectItem, SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};
use parser::names::fold;

/// A column of a result: the table's column, and its name in the result.
pub(crate) type Output = (usize, String);

/// The name of the only item of a select list, if that is `count(*)`.
pub(crate) fn count_of(items: &[SelectItem]) -> Option<String> {
    let (value, name) = match items {
        [SelectItem::UnnamedExpr(value)] => (value, "count".to_owned()),
        [SelectItem::ExprWithAlias { expr, alias }] => (expr, fold(alias)),
        _ => return None,
    };
    let is_count =
        matches!(value, Expr::Function(_)) && value.to_string().eq_ignore_ascii_case("count(*)");
    is_count.then_some(name)
}

/// The columns of a select list; `None` if one of its items is no column.
pub(crate) fn of(named: Named<'_>, items: &[SelectItem]) -> Option<Vec<Output>> {
    let column = |value: &Expr, alias: Option<String>| {
        let index = named.column(value)?;
        Some((index, alias.unwrap_or_else(|| named.table.columns[index].name.clone())))
    };
    let shown = named.table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
    let all = shown.map(|(index, column)| (index, column.name.clone()));
    let is_plain = |options: &WildcardAdditionalOptions| options.to_string().is_empty();
    let mut outputs = Vec::new();
    for item in items {
        match item {
            SelectItem::UnnamedExpr(value) => outputs.push(column(value, None)?),
            SelectItem::ExprWithAlias { expr, alias } => {
                outputs.push(column(expr, Some(fold(alias)))?);
            }
            SelectItem::Wildcard(options) if is_plain(options) => outputs.extend(all.clone()),
            SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(name),
                options,
            ) if is_plain(options) => {
                let [qualifier] = &name.0[..] else { return None };
                qualifier.as_ident().filter(|qualifier| named.is(qualifier))?;
                outputs.extend(all.clone());
            }
            _ => return None,
        }
    }
    Some(outputs)
}
