//! Types as functions in other languages know them: a domain is what it is made of.

use store::catalog::{SqlType, UserTypeKind};
use values::error::{Error, Result};

/// The digits of a numeric without declaration in functions of other languages, and how many are behind the point.
pub const BORDER: SqlType = SqlType::Numeric { precision: 38, scale: 10 };

/// The type of an argument.
pub fn argument_type(of: &SqlType) -> SqlType {
    scaled(base(of))
}

/// The type of a plain result. If it is a domain, the caller checks the conditions.
///
/// # Errors
/// 0A000: a part of the values is of a domain with conditions.
pub fn value_type(of: &SqlType) -> Result<SqlType> {
    let base = base(of);
    refuse_conditions(&base)?;
    Ok(scaled(base))
}

/// The type of a column of rows and sets, in which numerics keep their scales.
///
/// # Errors
/// 0A000: values, or parts of them, are of a domain with conditions.
pub fn column_type(of: &SqlType) -> Result<SqlType> {
    refuse_conditions(of)?;
    Ok(base(of))
}

/// What a domain, or an array of one, is made of; other types themselves.
fn base(of: &SqlType) -> SqlType {
    match of {
        SqlType::User(user) => {
            user.domain().map_or_else(|| of.clone(), |domain| base(&domain.base))
        }
        SqlType::Array(item) => SqlType::Array(Box::new(base(item))),
        other => other.clone(),
    }
}

/// Decimals have one scale in the columns of functions.
fn scaled(of: SqlType) -> SqlType {
    match of {
        SqlType::Array(item) => SqlType::Array(Box::new(scaled(*item))),
        numeric if numeric == SqlType::NUMERIC => BORDER,
        other => other,
    }
}

/// Refuses values with parts of a domain whose conditions nobody would check.
fn refuse_conditions(of: &SqlType) -> Result<()> {
    let user = match of {
        SqlType::Array(item) => return refuse_conditions(item),
        SqlType::User(user) => user,
        _ => return Ok(()),
    };
    match &user.kind {
        UserTypeKind::Enum(_) => Ok(()),
        UserTypeKind::Domain(domain) if domain.nullable && domain.checks.is_empty() => {
            refuse_conditions(&domain.base)
        }
        UserTypeKind::Domain(_) => {
            let what = format!("the domain {} in rows and sets", user.name);
            Err(Error::unsupported(format!("{what} of another language is not supported")))
        }
        UserTypeKind::Composite(attributes) => {
            attributes.iter().try_for_each(|attribute| refuse_conditions(&attribute.sql_type))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerics_have_the_scale_of_the_border_in_plain_values() {
        let list = |of: SqlType| SqlType::Array(Box::new(of));
        assert_eq!(argument_type(&SqlType::NUMERIC), BORDER);
        assert_eq!(value_type(&list(SqlType::NUMERIC)), Ok(list(BORDER)));
        assert_eq!(column_type(&SqlType::NUMERIC), Ok(SqlType::NUMERIC));
    }
}
