//! Attributes of composite types, and how they change.

use store::catalog::{Attribute, Catalog, UserType, UserTypeKind};
use values::error::{Error, Result, SqlState};

/// A change of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeChange {
    /// A new attribute, behind all others.
    Add(Attribute),
    /// An attribute that goes.
    Drop(String),
    /// An attribute of another type.
    SetType(Attribute),
    /// An attribute of another name.
    Rename(String, String),
}

/// The attributes of a new composite type.
///
/// # Errors
/// 42701 for a name that is there twice; 0A000 for a type without attributes.
pub fn new_attributes(attributes: Vec<Attribute>) -> Result<Vec<Attribute>> {
    for (place, attribute) in attributes.iter().enumerate() {
        let name = &attribute.name;
        if attributes[..place].iter().any(|other| other.name == *name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
    }
    match attributes.is_empty() {
        true => Err(Error::unsupported("a composite type without attributes is not supported")),
        false => Ok(attributes),
    }
}

/// The attributes of a type after a change.
///
/// # Errors
/// 42703 for an attribute that is not there; 42701 for a name that another one has; 0A000 if none is left.
pub fn changed_attributes(
    name: &str,
    attributes: &[Attribute],
    change: AttributeChange,
) -> Result<Vec<Attribute>> {
    let mut all = attributes.to_vec();
    let place = |of: &str| attributes.iter().position(|attribute| attribute.name == of);
    let known = |of: &str| {
        place(of).ok_or_else(|| {
            let message = format!("column \"{of}\" of relation \"{name}\" does not exist");
            Error::new(SqlState::UndefinedColumn, message)
        })
    };
    let free = |of: &str| match place(of) {
        Some(_) => {
            let message = format!("column \"{of}\" of relation \"{name}\" already exists");
            Err(Error::new(SqlState::DuplicateColumn, message))
        }
        None => Ok(()),
    };
    match change {
        AttributeChange::Add(attribute) => {
            free(&attribute.name)?;
            all.push(attribute);
        }
        AttributeChange::Drop(of) => {
            all.remove(known(&of)?);
        }
        AttributeChange::SetType(attribute) => {
            let at = known(&attribute.name)?;
            all[at] = attribute;
        }
        AttributeChange::Rename(from, to) => {
            let at = place(&from).ok_or_else(|| {
                let message = format!("column \"{from}\" does not exist");
                Error::new(SqlState::UndefinedColumn, message)
            })?;
            free(&to)?;
            all[at].name = to;
        }
    }
    new_attributes(all)
}

/// A composite type without its attributes of another type; `None` for other types than composite ones.
///
/// # Errors
/// 0A000 if none is left.
pub fn without_type(user: &UserType, of: &UserType) -> Option<Result<UserType>> {
    let is = |attribute: &&Attribute| {
        attribute.sql_type.user_type().is_some_and(|user| user.id == of.id)
    };
    let kept = user.attributes()?.iter().filter(|attribute| !is(attribute));
    Some(
        new_attributes(kept.cloned().collect()).map(|attributes| UserType {
            kind: UserTypeKind::Composite(attributes),
            ..user.clone()
        }),
    )
}

/// Refuses a change of a type whose values are stored, or that tables are of.
///
/// # Errors
/// 0A000.
pub fn refuse_stored(catalog: &Catalog, user: &UserType) -> Result<()> {
    if let Some(table) = super::tables_of(catalog, user).first() {
        let (name, table) = (&user.name, &table.name);
        let message = format!("cannot alter type \"{name}\" because table \"{table}\" is of it");
        return Err(Error::unsupported(message));
    }
    let tables = super::tables_with(catalog, user);
    let stored = tables.iter().find_map(|table| {
        let mut columns = table.columns.iter();
        Some((table, columns.find(|column| column.sql_type.uses(user.id))?))
    });
    match stored {
        Some((table, column)) => {
            let (name, table, column) = (&user.name, &table.name, &column.name);
            let message =
                format!("cannot alter type \"{name}\" because column \"{table}.{column}\" uses it");
            Err(Error::unsupported(message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::catalog::SqlType;

    fn attribute(name: &str) -> Attribute {
        Attribute { name: name.to_owned(), sql_type: SqlType::Integer }
    }

    #[test]
    fn names_of_attributes_are_different() {
        let twice = new_attributes(vec![attribute("a"), attribute("a")]).expect_err("twice");
        assert_eq!(twice.state(), SqlState::DuplicateColumn);
        let two = [attribute("a"), attribute("b")];
        let renamed = |from: &str, to: &str| {
            changed_attributes("c", &two, AttributeChange::Rename(from.to_owned(), to.to_owned()))
        };
        assert_eq!(renamed("a", "x").expect("renamed")[0].name, "x");
        assert_eq!(renamed("a", "b").expect_err("taken").state(), SqlState::DuplicateColumn);
        assert_eq!(renamed("x", "y").expect_err("unknown").state(), SqlState::UndefinedColumn);
        let dropped = changed_attributes("c", &two, AttributeChange::Drop("a".to_owned()));
        assert_eq!(dropped.expect("dropped"), [attribute("b")]);
    }
}
