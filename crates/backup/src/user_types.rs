//! Types of users in a manifest, and back.

use crate::manifest::{
    AttributeForm, DomainCheckForm, DomainForm, LabelForm, Name, TypeForm, TypeKindForm,
};
use crate::{Error, sql_types};
use store::catalog::{
    Attribute, Catalog, Domain, DomainCheck, EnumLabel, SqlType, TypeId, UserType, UserTypeKind,
};

/// Returns the types of a catalog. A domain is behind the type that it restricts, and a composite type behind those of its
/// attributes.
pub(crate) fn forms(catalog: &Catalog) -> Result<Vec<TypeForm>, Error> {
    let mut types: Vec<&UserType> = catalog.user_types().map(|user| &**user).collect();
    types.sort_by_key(|user| height(user));
    types.into_iter().map(|user| form(catalog, user)).collect()
}

/// Returns the number of users' types below a type.
fn height(user: &UserType) -> usize {
    let base = user.domain().map(|domain| &*domain.base);
    let attributes = user.attributes().unwrap_or_default().iter();
    let below = base.into_iter().chain(attributes.map(|attribute| &attribute.sql_type));
    below.filter_map(SqlType::user_type).map(|below| height(below) + 1).max().unwrap_or(0)
}

fn form(catalog: &Catalog, user: &UserType) -> Result<TypeForm, Error> {
    let kind = match &user.kind {
        UserTypeKind::Enum(labels) => TypeKindForm::Enum(labels.iter().map(label_form).collect()),
        UserTypeKind::Domain(domain) => TypeKindForm::Domain(domain_form(catalog, user, domain)?),
        UserTypeKind::Composite(attributes) => {
            let forms = attributes.iter().map(|of| attribute_form(catalog, user, of));
            TypeKindForm::Composite(forms.collect::<Result<_, _>>()?)
        }
    };
    Ok(TypeForm {
        name: Name { schema: user.schema.clone(), name: user.name.clone() },
        kind,
        comment: user.comment.clone(),
    })
}

fn label_form(label: &EnumLabel) -> LabelForm {
    LabelForm { name: label.name.clone(), order: label.order }
}

fn attribute_form(
    catalog: &Catalog,
    user: &UserType,
    attribute: &Attribute,
) -> Result<AttributeForm, Error> {
    let sql_type = sql_types::text(&attribute.sql_type, catalog).ok_or_else(|| {
        let (name, of) = (&user.name, &attribute.name);
        let what = format!("attribute \"{of}\" of type \"{name}\"");
        Error::Unsupported(format!("{what} is of a type that backups cannot hold"))
    })?;
    Ok(AttributeForm { name: attribute.name.clone(), sql_type })
}

fn domain_form(catalog: &Catalog, user: &UserType, domain: &Domain) -> Result<DomainForm, Error> {
    let base = sql_types::text(&domain.base, catalog).ok_or_else(|| {
        let (name, of) = (&user.name, &domain.base);
        Error::Unsupported(format!("domain \"{name}\" is of a type that backups cannot hold: {of}"))
    })?;
    let check = |check: &DomainCheck| DomainCheckForm {
        name: check.name.clone(),
        expression: check.expression.clone(),
        is_unchecked: !check.is_valid,
        comment: check.comment.clone(),
    };
    Ok(DomainForm {
        base,
        nullable: domain.nullable,
        default: domain.default.clone(),
        checks: domain.checks.iter().map(check).collect(),
    })
}

/// Returns a type with ids of its own: that of the type, and that of arrays of it. `None` if it is a domain over a
/// type that the catalog does not have, or if the numbers of labels are not in order.
pub(crate) fn restored(
    form: &TypeForm,
    (id, array): (TypeId, TypeId),
    catalog: &Catalog,
) -> Option<UserType> {
    let kind = match &form.kind {
        TypeKindForm::Enum(labels) => {
            if !labels.is_sorted_by(|one, next| one.order < next.order) {
                return None;
            }
            let label = |of: &LabelForm| {
                let (name, order) = (of.name.clone(), of.order);
                EnumLabel { name, order, is_new: false }
            };
            UserTypeKind::Enum(labels.iter().map(label).collect())
        }
        TypeKindForm::Domain(domain) => {
            let check = |of: &DomainCheckForm| DomainCheck {
                name: of.name.clone(),
                expression: of.expression.clone(),
                is_valid: !of.is_unchecked,
                comment: of.comment.clone(),
            };
            UserTypeKind::Domain(Domain {
                base: Box::new(sql_types::parse(&domain.base, catalog)?),
                nullable: domain.nullable,
                default: domain.default.clone(),
                checks: domain.checks.iter().map(check).collect(),
            })
        }
        TypeKindForm::Composite(forms) => {
            let attribute = |of: &AttributeForm| {
                let sql_type = sql_types::parse(&of.sql_type, catalog)?;
                Some(Attribute { name: of.name.clone(), sql_type })
            };
            UserTypeKind::Composite(forms.iter().map(attribute).collect::<Option<_>>()?)
        }
    };
    let Name { schema, name } = form.name.clone();
    Some(UserType { id, array, schema, name, kind, comment: form.comment.clone() })
}

/// Checks that values of a type of a backup, which has the types `forms`, are values of the type of its name in a
/// catalog. Types that are no user's are.
///
/// # Errors
/// [`Error::TypeMissing`], [`Error::TypeDiffers`].
pub(crate) fn require(forms: &[TypeForm], text: &str, catalog: &Catalog) -> Result<(), Error> {
    let Some((schema, name)) = sql_types::user_type(text) else { return Ok(()) };
    let shown = || format!("{schema}.{name}");
    let found = catalog.user_type(&schema, &name);
    let found = found.ok_or_else(|| Error::TypeMissing { name: shown() })?;
    let is_named = |form: &&TypeForm| form.name.schema == schema && form.name.name == name;
    let differs = |difference: String| Error::TypeDiffers { name: shown(), difference };
    let form = forms.iter().find(is_named);
    let form = form.ok_or_else(|| differs("the backup does not say what it was".to_owned()))?;
    let difference = match (&form.kind, &found.kind) {
        (TypeKindForm::Enum(labels), UserTypeKind::Enum(known)) => new_label(labels, known),
        (TypeKindForm::Domain(old), UserTypeKind::Domain(new)) => {
            require(forms, &old.base, catalog)?;
            stricter(old, new, catalog)
        }
        (TypeKindForm::Composite(old), UserTypeKind::Composite(_)) => {
            for attribute in old {
                require(forms, &attribute.sql_type, catalog)?;
            }
            let is_same = restored(form, (found.id, found.array), catalog)
                .is_some_and(|known| known.kind == found.kind);
            (!is_same).then(|| "it has other attributes now".to_owned())
        }
        (_, UserTypeKind::Domain(_)) => Some("it is a domain now".to_owned()),
        (_, UserTypeKind::Enum(_)) => Some("it is an enum now".to_owned()),
        (_, UserTypeKind::Composite(_)) => Some("it is a composite type now".to_owned()),
    };
    match difference {
        Some(difference) => Err(differs(difference)),
        None => Ok(()),
    }
}

/// Says which label of a backup has no number, or another one.
fn new_label(labels: &[LabelForm], known: &[EnumLabel]) -> Option<String> {
    labels.iter().find_map(|label| {
        let found = known.iter().find(|known| known.name == label.name);
        match found.map(|found| found.order == label.order) {
            Some(true) => None,
            Some(false) => Some(format!("label \"{}\" was added at another place", label.name)),
            None => Some(format!("it has no label \"{}\" now", label.name)),
        }
    })
}

/// Says why values of a domain of a backup may be none of a domain now.
fn stricter(old: &DomainForm, new: &Domain, catalog: &Catalog) -> Option<String> {
    if sql_types::parse(&old.base, catalog).as_ref() != Some(&*new.base) {
        return Some(format!("it is a domain over {} now", new.base));
    }
    if old.nullable && !new.nullable {
        return Some("it is NOT NULL now".to_owned());
    }
    let is_known =
        |check: &DomainCheck| old.checks.iter().any(|known| known.expression == check.expression);
    let added = new.checks.iter().find(|check| !is_known(check))?;
    Some(format!("it has another constraint \"{}\" now", added.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use store::catalog::{CatalogChange, DEFAULT_SCHEMA, SqlType, labels};

    fn user(id: u32, name: &str, kind: UserTypeKind) -> UserType {
        UserType {
            id: TypeId(id),
            array: TypeId(id + 1),
            schema: DEFAULT_SCHEMA.to_owned(),
            name: name.to_owned(),
            kind,
            comment: Some("a comment".to_owned()),
        }
    }

    fn mood(names: &[&str]) -> UserType {
        user(10, "mood", UserTypeKind::Enum(labels(names.iter().map(|name| (*name).to_owned()))))
    }

    /// A domain over an enum, with a name that comes first.
    fn domain(base: &UserType, check: &str) -> UserType {
        let check = DomainCheck {
            name: "c".to_owned(),
            expression: check.to_owned(),
            is_valid: true,
            comment: Some("about c".to_owned()),
        };
        let domain = Domain {
            base: Box::new(SqlType::User(Arc::new(base.clone()))),
            nullable: true,
            default: Some("'a'".to_owned()),
            checks: vec![check],
        };
        user(20, "a mood", UserTypeKind::Domain(domain))
    }

    /// A composite type over an enum and a composite type, with a name that comes first.
    fn bill(mood: &UserType, names: &[&str]) -> [UserType; 2] {
        let attribute = |name: &str, sql_type| Attribute { name: name.to_owned(), sql_type };
        let held = SqlType::User(Arc::new(mood.clone()));
        let costs = names.iter().map(|name| attribute(name, held.clone())).collect();
        let cost = user(30, "cost", UserTypeKind::Composite(costs));
        let costs = SqlType::Array(Box::new(SqlType::User(Arc::new(cost.clone()))));
        let parts = vec![attribute("a b", SqlType::Integer), attribute("parts", costs)];
        [cost, user(40, "bill", UserTypeKind::Composite(parts))]
    }

    fn catalog(types: &[UserType]) -> Catalog {
        let changes = types.iter().map(|user| CatalogChange::CreateType(user.clone()));
        changes.fold(Catalog::new(), |catalog, change| catalog.apply(&change).expect("new"))
    }

    fn with_domain(mood: &UserType, check: &str) -> Catalog {
        catalog(&[mood.clone(), domain(mood, check)])
    }

    #[test]
    fn types_are_restored_in_the_order_of_their_forms() {
        let mood = mood(&["a", "b"]);
        let [cost, bill] = bill(&mood, &["c", "d"]);
        let before = catalog(&[mood.clone(), domain(&mood, "VALUE <> 'b'"), cost, bill]);
        let mut after = Catalog::new();
        for form in forms(&before).expect("forms") {
            let old = before.user_type(&form.name.schema, &form.name.name).expect("the type");
            let new = restored(&form, (old.id, old.array), &after).expect("a type");
            assert_eq!(new, **old);
            after = after.apply(&CatalogChange::CreateType(new)).expect("created");
        }
        assert_eq!(after.user_types().count(), 4);
    }

    #[test]
    fn a_composite_type_must_have_the_attributes_of_the_backup() {
        let made = |names: &[&str]| {
            let mood = mood(&["a", "b"]);
            let [cost, bill] = bill(&mood, names);
            catalog(&[mood, cost, bill])
        };
        let forms = forms(&made(&["c", "d"])).expect("forms");
        let text = "\"public\".\"bill\"";
        assert!(require(&forms, text, &made(&["c", "d"])).is_ok());
        let error = require(&forms, text, &made(&["c", "e"])).expect_err("another name");
        assert!(error.to_string().ends_with("it has other attributes now"), "{error}");
        assert!(require(&forms, text, &Catalog::new()).is_err());
    }

    #[test]
    fn a_type_may_have_more_values_than_in_the_backup_but_not_fewer() {
        let forms = forms(&with_domain(&mood(&["a", "b"]), "true")).expect("forms");
        let text = "\"public\".\"a mood\"[]";
        let said = |catalog: &Catalog| match require(&forms, text, catalog) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said(&with_domain(&mood(&["a", "b", "c"]), "true")), "");
        assert!(said(&Catalog::new()).contains("\"public.a mood\" does not exist"));
        for (names, check, difference) in [
            (&["a"][..], "true", "it has no label \"b\" now"),
            (&["b", "a"], "true", "label \"a\" was added at another place"),
            (&["a", "b"], "VALUE <> 'b'", "it has another constraint \"c\" now"),
        ] {
            let said = said(&with_domain(&mood(names), check));
            assert!(said.ends_with(difference), "{said}");
        }
    }
}
