//! What types of users are made of, and how a new definition takes the place of an old one.
//!
//! The type of a column contains the whole definition ([`SqlType::User`]), so that values can be read and written without a
//! catalog. Who changes a type replaces the tables that use it, in the same transaction.

use crate::field;
use crate::sql_type::{Attribute, Domain, EnumLabel, SqlType, TypeId, UserType, UserTypeKind};
use crate::{Table, is_temporary_schema};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The distance of the numbers of labels that are declared one after another.
pub const LABEL_DISTANCE: i64 = 1 << 32;

/// What marks the name of a new label. No name has it.
const NEW_LABEL: char = '\0';

impl UserType {
    /// The type of the rows of a relation with these columns.
    pub fn of_rows(
        relation: crate::RelationId,
        (schema, name): (&str, &str),
        columns: Vec<Attribute>,
    ) -> Self {
        Self {
            id: TypeId::of_rows(relation),
            array: TypeId::of_row_arrays(relation),
            schema: schema.to_owned(),
            name: name.to_owned(),
            kind: UserTypeKind::Composite(columns),
            comment: None,
        }
    }

    /// The type of the rows of a table.
    pub fn of_table(table: &Table) -> Self {
        let shown = table.columns.iter().filter(|column| !column.hidden);
        let attribute = |column: &crate::Column| Attribute {
            name: column.name.clone(),
            sql_type: column.sql_type.clone(),
        };
        let columns = shown.map(attribute).collect();
        Self::of_rows(table.id.relation(), (&table.schema, &table.name), columns)
    }

    /// Whether it is the type of the rows of a temporary relation.
    pub fn is_temporary(&self) -> bool {
        is_temporary_schema(&self.schema)
    }

    /// The labels of an enum.
    pub fn labels(&self) -> Option<&[EnumLabel]> {
        match &self.kind {
            UserTypeKind::Enum(labels) => Some(labels),
            UserTypeKind::Domain(_) | UserTypeKind::Composite(_) => None,
        }
    }

    /// The domain, if it is one.
    pub fn domain(&self) -> Option<&Domain> {
        match &self.kind {
            UserTypeKind::Domain(domain) => Some(domain),
            UserTypeKind::Enum(_) | UserTypeKind::Composite(_) => None,
        }
    }

    /// The attributes of a composite type.
    pub fn attributes(&self) -> Option<&[Attribute]> {
        match &self.kind {
            UserTypeKind::Composite(attributes) => Some(attributes),
            UserTypeKind::Enum(_) | UserTypeKind::Domain(_) => None,
        }
    }

    /// Whether values have numbers that stand for labels: it is an enum, or there is one in its attributes.
    pub fn has_labels(&self) -> bool {
        match &self.kind {
            UserTypeKind::Enum(_) => true,
            UserTypeKind::Domain(domain) => domain.base.has_labels(),
            UserTypeKind::Composite(attributes) => {
                attributes.iter().any(|attribute| attribute.sql_type.has_labels())
            }
        }
    }

    /// The number of a label.
    pub fn order_of(&self, label: &str) -> Option<i64> {
        self.labels()?.iter().find(|known| known.name == label).map(|known| known.order)
    }

    /// The label of a number.
    pub fn label_of(&self, order: i64) -> Option<&str> {
        let labels = self.labels()?;
        let at = labels.binary_search_by_key(&order, |label| label.order).ok()?;
        Some(&labels[at].name)
    }

    /// The type that represents its values; `None` of a composite type, which is represented by its fields.
    pub fn representation(&self) -> Option<&SqlType> {
        match &self.kind {
            UserTypeKind::Enum(_) => Some(&SqlType::BigInt),
            UserTypeKind::Domain(domain) => Some(domain.base.representation()),
            UserTypeKind::Composite(_) => None,
        }
    }

    /// The Arrow type that represents its values.
    pub(crate) fn arrow(&self) -> DataType {
        match &self.kind {
            UserTypeKind::Enum(_) => SqlType::BigInt.arrow(),
            UserTypeKind::Domain(domain) => domain.base.arrow(),
            UserTypeKind::Composite(attributes) => field::of_attributes(attributes),
        }
    }

    /// The type with the new labels of enums marked in their names: what metadata of fields hold. [`Self::unmarked`] is the
    /// reverse.
    pub(crate) fn marked(&self) -> Self {
        self.with_labels(&|label| match label.is_new {
            true => EnumLabel { name: format!("{NEW_LABEL}{}", label.name), ..label.clone() },
            false => label.clone(),
        })
    }

    /// The type that was marked so.
    pub fn unmarked(&self) -> Self {
        self.with_labels(&|label| match label.name.strip_prefix(NEW_LABEL) {
            Some(name) => EnumLabel { name: name.to_owned(), is_new: true, ..*label },
            None => label.clone(),
        })
    }

    /// The type with other labels of its enum and of those within it.
    fn with_labels(&self, of: &dyn Fn(&EnumLabel) -> EnumLabel) -> Self {
        fn within(sql_type: &SqlType, of: &dyn Fn(&EnumLabel) -> EnumLabel) -> SqlType {
            match sql_type {
                SqlType::Array(item) => SqlType::Array(Box::new(within(item, of))),
                SqlType::User(user) => SqlType::User(Arc::new(user.with_labels(of))),
                other => other.clone(),
            }
        }
        let kind = match &self.kind {
            UserTypeKind::Enum(labels) => UserTypeKind::Enum(labels.iter().map(of).collect()),
            UserTypeKind::Domain(domain) => {
                let base = Box::new(within(&domain.base, of));
                UserTypeKind::Domain(Domain { base, ..domain.clone() })
            }
            UserTypeKind::Composite(attributes) => {
                let attribute = |attribute: &Attribute| Attribute {
                    name: attribute.name.clone(),
                    sql_type: within(&attribute.sql_type, of),
                };
                UserTypeKind::Composite(attributes.iter().map(attribute).collect())
            }
        };
        Self { kind, ..self.clone() }
    }

    /// A composite type with other types of its attributes.
    fn with_types(&self, of: impl Fn(&SqlType) -> SqlType) -> SqlType {
        let attributes = self.attributes().unwrap_or_default().iter();
        let attribute = |attribute: &Attribute| Attribute {
            name: attribute.name.clone(),
            sql_type: of(&attribute.sql_type),
        };
        let kind = UserTypeKind::Composite(attributes.map(attribute).collect());
        SqlType::User(Arc::new(Self { kind, ..self.clone() }))
    }
}

/// The labels of a new enum, from their names in order.
pub fn labels(names: impl IntoIterator<Item = String>) -> Vec<EnumLabel> {
    let orders = (1..).map(|place: i64| place * LABEL_DISTANCE);
    let label = |(name, order)| EnumLabel { name, order, is_new: false };
    names.into_iter().zip(orders).map(label).collect()
}

/// The number of a label between two others, or at an end. `None` if there is no number between.
pub fn order_between(before: Option<i64>, after: Option<i64>) -> Option<i64> {
    match (before, after) {
        (None, None) => Some(LABEL_DISTANCE),
        (Some(before), None) => before.checked_add(LABEL_DISTANCE),
        (None, Some(after)) => after.checked_sub(LABEL_DISTANCE),
        (Some(before), Some(after)) => {
            let middle = before + (after - before) / 2;
            (middle > before && middle < after).then_some(middle)
        }
    }
}

impl SqlType {
    /// The type that represents its values: that of numbers for enums, that below a domain.
    pub fn representation(&self) -> &Self {
        match self {
            Self::User(user) => user.representation().unwrap_or(self),
            other => other,
        }
    }

    /// The type of the values that clients get and send: labels are texts.
    pub fn sent(&self) -> Self {
        match self {
            Self::User(user) => match &user.kind {
                UserTypeKind::Enum(_) => Self::Text,
                UserTypeKind::Domain(domain) => domain.base.representation().sent(),
                UserTypeKind::Composite(_) if user.has_labels() => user.with_types(Self::sent),
                UserTypeKind::Composite(_) => self.clone(),
            },
            Self::Array(item) => Self::Array(Box::new(item.sent())),
            other => other.clone(),
        }
    }

    /// The user's type that it is, or that its items are.
    pub fn user_type(&self) -> Option<&Arc<UserType>> {
        match self {
            Self::User(user) => Some(user),
            Self::Array(item) => item.user_type(),
            _ => None,
        }
    }

    /// Whether it is the same type as another, which may have an earlier definition of a user's type.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::User(one), Self::User(other)) => one.id == other.id,
            (Self::Array(one), Self::Array(other)) => one.is_same(other),
            (one, other) => one == other,
        }
    }

    /// The attributes of a composite type; `None` for other types.
    pub fn attributes(&self) -> Option<&[Attribute]> {
        match self {
            Self::User(user) => user.attributes(),
            _ => None,
        }
    }

    /// Whether values have numbers that stand for labels.
    pub fn has_labels(&self) -> bool {
        self.user_type().is_some_and(|user| user.has_labels())
    }

    /// Whether its definition contains a user's type.
    pub fn uses(&self, id: TypeId) -> bool {
        match self {
            Self::Array(item) => item.uses(id),
            Self::User(user) => {
                user.id == id
                    || match &user.kind {
                        UserTypeKind::Enum(_) => false,
                        UserTypeKind::Domain(domain) => domain.base.uses(id),
                        UserTypeKind::Composite(attributes) => {
                            attributes.iter().any(|attribute| attribute.sql_type.uses(id))
                        }
                    }
            }
            _ => false,
        }
    }

    /// The type with a new definition of a user's type that it contains.
    pub fn with_user_type(&self, new: &Arc<UserType>) -> Self {
        match self {
            Self::Array(item) => Self::Array(Box::new(item.with_user_type(new))),
            Self::User(user) if user.id == new.id => Self::User(Arc::clone(new)),
            Self::User(user) if self.uses(new.id) => match &user.kind {
                UserTypeKind::Domain(domain) => {
                    let base = Box::new(domain.base.with_user_type(new));
                    let kind = UserTypeKind::Domain(Domain { base, ..domain.clone() });
                    Self::User(Arc::new(UserType { kind, ..UserType::clone(user) }))
                }
                UserTypeKind::Composite(_) => user.with_types(|of| of.with_user_type(new)),
                UserTypeKind::Enum(_) => self.clone(),
            },
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_numbers_when_others_come_between() {
        let labels = labels(["a".to_owned(), "b".to_owned()]);
        let between = order_between(Some(labels[0].order), Some(labels[1].order));
        assert_eq!(between, Some(LABEL_DISTANCE + LABEL_DISTANCE / 2));
        assert_eq!(order_between(None, Some(labels[0].order)), Some(0));
        assert_eq!(order_between(Some(labels[1].order), None), Some(3 * LABEL_DISTANCE));
        assert_eq!(order_between(Some(4), Some(5)), None);
    }
}
