//! What types of users are made of, and how a new definition takes the place of an old one.
//!
//! The type of a column contains the whole definition ([`SqlType::User`]), so that values can be read and written without a
//! catalog. Who changes a type replaces the tables that use it, in the same transaction.

use crate::sql_type::{Domain, EnumLabel, SqlType, TypeId, UserType, UserTypeKind};
use std::sync::Arc;

/// The distance of the numbers of labels that are declared one after another.
pub const LABEL_DISTANCE: i64 = 1 << 32;

impl UserType {
    /// The labels of an enum.
    pub fn labels(&self) -> Option<&[EnumLabel]> {
        match &self.kind {
            UserTypeKind::Enum(labels) => Some(labels),
            UserTypeKind::Domain(_) => None,
        }
    }

    /// The domain, if it is one.
    pub fn domain(&self) -> Option<&Domain> {
        match &self.kind {
            UserTypeKind::Domain(domain) => Some(domain),
            UserTypeKind::Enum(_) => None,
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

    /// The type that represents its values.
    pub fn representation(&self) -> &SqlType {
        match &self.kind {
            UserTypeKind::Enum(_) => &SqlType::BigInt,
            UserTypeKind::Domain(domain) => domain.base.representation(),
        }
    }
}

/// The labels of a new enum, from their names in order.
pub fn labels(names: impl IntoIterator<Item = String>) -> Vec<EnumLabel> {
    let orders = (1..).map(|place: i64| place * LABEL_DISTANCE);
    names.into_iter().zip(orders).map(|(name, order)| EnumLabel { name, order }).collect()
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
            Self::User(user) => user.representation(),
            other => other,
        }
    }

    /// The type of the values that clients get and send: labels are texts.
    pub fn sent(&self) -> Self {
        match self {
            Self::User(user) if user.labels().is_some() => Self::Text,
            Self::User(user) => user.representation().sent(),
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

    /// Whether its definition contains a user's type.
    pub fn uses(&self, id: TypeId) -> bool {
        match self {
            Self::Array(item) => item.uses(id),
            Self::User(user) => {
                user.id == id || user.domain().is_some_and(|domain| domain.base.uses(id))
            }
            _ => false,
        }
    }

    /// The type with a new definition of a user's type that it contains.
    pub fn with_user_type(&self, new: &Arc<UserType>) -> Self {
        match self {
            Self::Array(item) => Self::Array(Box::new(item.with_user_type(new))),
            Self::User(user) if user.id == new.id => Self::User(Arc::clone(new)),
            Self::User(user) => match &user.kind {
                UserTypeKind::Domain(domain) if domain.base.uses(new.id) => {
                    let base = Box::new(domain.base.with_user_type(new));
                    let kind = UserTypeKind::Domain(Domain { base, ..domain.clone() });
                    Self::User(Arc::new(UserType { kind, ..UserType::clone(user) }))
                }
                _ => self.clone(),
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
