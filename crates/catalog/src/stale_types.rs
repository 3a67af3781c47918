//! Types of users in commits. The types of columns contain whole definitions, so that a table, or a type that is made of
//! others, is stale when another transaction has changed or dropped a type since: the later one is refused, and executed
//! again on what there is then. Temporary tables are left out.

use crate::{
    Catalog, CatalogChange, Error, Relation, RelationId, SqlType, Table, TypeId, UserType,
};
use std::collections::BTreeSet;

impl Catalog {
    /// Refuses changes, from `before` to this catalog, that leave a stale table or type which was none before.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub(super) fn refuse_stale(
        &self,
        before: &Self,
        changes: &[CatalogChange],
    ) -> Result<(), Error> {
        let mut changed: BTreeSet<TypeId> = BTreeSet::new();
        for change in changes {
            match change {
                CatalogChange::Create(relation) | CatalogChange::Replace(relation) => {
                    self.refuse_stale_table(before, relation.id())?;
                }
                CatalogChange::CreateType(user) => self.refuse_stale_type(before, user.id)?,
                CatalogChange::ReplaceType(user) => {
                    self.refuse_stale_type(before, user.id)?;
                    changed.insert(user.id);
                }
                CatalogChange::DropType(id) => {
                    changed.insert(*id);
                }
                _ => {}
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        self.relations.keys().try_for_each(|id| self.refuse_stale_table(before, *id))?;
        self.types.values().try_for_each(|user| self.refuse_stale_type(before, user.id))
    }

    fn refuse_stale_table(&self, before: &Self, id: RelationId) -> Result<(), Error> {
        match self.stale_table(id) {
            Some(table) if before.stale_table(id).is_none() => {
                Err(Error::Conflict { relation: table.name.clone() })
            }
            _ => Ok(()),
        }
    }

    fn refuse_stale_type(&self, before: &Self, id: TypeId) -> Result<(), Error> {
        match self.stale_type(id) {
            Some(user) if before.stale_type(id).is_none() => {
                Err(Error::Conflict { relation: user.name.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The table of an id, if it is stale.
    fn stale_table(&self, id: RelationId) -> Option<&Table> {
        let Some(Relation::Table(table)) = self.relations.get(&id) else { return None };
        let mut columns = table.columns.iter();
        let is_gone = |of: TypeId| self.user_type_by_id(of).is_none();
        let is_stale = columns.any(|column| self.is_stale(&column.sql_type))
            || table.extension.of_type.is_some_and(is_gone);
        Some(&**table).filter(|table| is_stale && !crate::is_temporary_schema(&table.schema))
    }

    /// The type of an id, if it is stale.
    fn stale_type(&self, id: TypeId) -> Option<&UserType> {
        let user = self.user_type_by_id(id)?;
        let base = user.domain().map(|domain| &*domain.base);
        let attributes = user.attributes().unwrap_or_default().iter();
        let mut parts = base.into_iter().chain(attributes.map(|attribute| &attribute.sql_type));
        parts.any(|part| self.is_stale(part)).then_some(&**user)
    }

    /// Whether the definition in a type is not that of the catalog.
    fn is_stale(&self, sql_type: &SqlType) -> bool {
        let Some(user) = sql_type.user_type() else { return false };
        let known = self.user_type_by_id(user.id);
        user.id.rows_of().is_none() && known.is_none_or(|known| known.kind != user.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEFAULT_SCHEMA, UserTypeKind, labels};
    use std::sync::Arc;

    fn mood(names: &[&str]) -> UserType {
        UserType {
            id: TypeId(7),
            array: TypeId(8),
            schema: DEFAULT_SCHEMA.to_owned(),
            name: "mood".to_owned(),
            kind: UserTypeKind::Enum(labels(names.iter().map(|name| (*name).to_owned()))),
            comment: None,
        }
    }

    /// A composite type with an attribute of a mood.
    fn pair(of: &UserType) -> CatalogChange {
        let sql_type = SqlType::User(Arc::new(of.clone()));
        let attribute = crate::Attribute { name: "a".to_owned(), sql_type };
        let kind = UserTypeKind::Composite(vec![attribute]);
        let (id, array, name) = (TypeId(9), TypeId(10), "pair".to_owned());
        CatalogChange::CreateType(UserType { id, array, name, kind, ..mood(&[]) })
    }

    fn is_refused(before: &Catalog, change: CatalogChange) -> bool {
        let after = before.apply(&change).expect("a valid change");
        after.refuse_stale(before, &[change]).is_err()
    }

    #[test]
    fn what_is_made_of_another_definition_is_refused() {
        let known = Catalog::new().apply(&CatalogChange::CreateType(mood(&["a"]))).expect("valid");
        assert!(!is_refused(&known, pair(&mood(&["a"]))));
        assert!(is_refused(&known, pair(&mood(&["a", "b"]))), "another one has changed it");
        assert!(is_refused(&Catalog::new(), pair(&mood(&["a"]))), "another one has dropped it");
        let both = known.apply(&pair(&mood(&["a"]))).expect("valid");
        assert!(is_refused(&both, CatalogChange::DropType(TypeId(7))), "the pair is new");
        assert!(is_refused(&both, CatalogChange::ReplaceType(mood(&["a", "b"]))));
        let stale = known.apply(&pair(&mood(&["a", "b"]))).expect("valid");
        assert!(!is_refused(&stale, CatalogChange::DropType(TypeId(7))), "it was stale before");
    }
}
