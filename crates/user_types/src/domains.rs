//! Conditions of domains.

use store::catalog::{SqlType, Table};

/// The condition of a domain for one column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnCheck {
    /// The name of the domain.
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
        of_type(&column.sql_type, &name, &mut found);
    }
    found
}

fn of_type(sql_type: &SqlType, column: &str, found: &mut Vec<ColumnCheck>) {
    let SqlType::User(user) = sql_type else { return };
    let Some(domain) = user.domain() else { return };
    of_type(&domain.base, column, found);
    for check in &domain.checks {
        let condition = domain_condition(&check.expression, column);
        found.push(ColumnCheck {
            domain: user.name.clone(),
            name: check.name.clone(),
            condition: condition.unwrap_or_else(|| check.expression.clone()),
        });
    }
}

/// The name of the domain that does not let a column have NULL.
pub fn not_null_domain(sql_type: &SqlType) -> Option<&str> {
    let SqlType::User(user) = sql_type else { return None };
    let domain = user.domain()?;
    match domain.nullable {
        true => not_null_domain(&domain.base),
        false => Some(&user.name),
    }
}

/// A condition in which another expression stands for VALUE. `None` if it is not in the grammar.
pub fn domain_condition(condition: &str, value: &str) -> Option<String> {
    grammar::rename_column(condition, "value", value)
}
