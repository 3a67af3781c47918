//! Conditions of domains.

use store::catalog::{SqlType, Table, UserType};

/// The condition of a domain for one column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnCheck {
    /// The name of the column's domain, which may have the condition from a domain that it is over.
    pub domain: String,
    /// The name of the condition.
    pub name: String,
    /// The condition, in which the column stands for VALUE.
    pub condition: String,
}

/// The conditions of the domains of a table's columns.
pub fn checks_of(table: &Table) -> Vec<ColumnCheck> {
    let mut found = Vec::new();
    for column in table.columns.iter().filter(|column| !column.hidden) {
        let name = format!("\"{}\"", column.name.replace('"', "\"\""));
        if let SqlType::User(user) = &column.sql_type {
            of_type(user, (&user.name, &name), &mut found);
        }
    }
    found
}

fn of_type(user: &UserType, (outer, column): (&str, &str), found: &mut Vec<ColumnCheck>) {
    let Some(domain) = user.domain() else { return };
    if let SqlType::User(base) = &*domain.base {
        of_type(base, (outer, column), found);
    }
    for check in &domain.checks {
        let condition = domain_condition(&check.expression, column);
        found.push(ColumnCheck {
            domain: outer.to_owned(),
            name: check.name.clone(),
            condition: condition.unwrap_or_else(|| check.expression.clone()),
        });
    }
}

/// The name of a column's domain, if it does not let the column have NULL.
pub fn not_null_domain(sql_type: &SqlType) -> Option<&str> {
    let SqlType::User(user) = sql_type else { return None };
    let domain = user.domain()?;
    let refuses = !domain.nullable || not_null_domain(&domain.base).is_some();
    refuses.then_some(user.name.as_str())
}

/// A condition in which another expression stands for VALUE. `None` if it is not in the grammar.
pub fn domain_condition(condition: &str, value: &str) -> Option<String> {
    grammar::rename_column(condition, "value", value)
}
