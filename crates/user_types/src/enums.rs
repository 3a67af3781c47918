//! Labels of enums.

use store::catalog::{EnumLabel, labels, order_between};
use values::error::{Error, Result, SqlState};

/// The most bytes of a label.
const LABEL_MAX: usize = 63;

/// Where a new label stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Behind all others.
    Last,
    /// In front of this one.
    Before(String),
    /// Behind this one.
    After(String),
}

/// The labels of a new enum.
///
/// # Errors
/// 42602 for labels that are too long; 23505 for one that is there twice.
pub fn new_labels(names: &[String]) -> Result<Vec<EnumLabel>> {
    for (place, name) in names.iter().enumerate() {
        refuse_long(name)?;
        if names[..place].contains(name) {
            let message =
                "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"";
            return Err(Error::new(SqlState::UniqueViolation, message)
                .with_detail(format!("The label \"{name}\" is used more than once.")));
        }
    }
    Ok(labels(names.iter().cloned()))
}

/// The labels with a new one. `None` if it is there already.
///
/// # Errors
/// 42602 for a label that is too long; 22023 for a neighbour that is not there; 0A000 if no number is left between the
/// neighbours.
pub fn add_label(known: &[EnumLabel], name: &str, place: &Place) -> Result<Option<Vec<EnumLabel>>> {
    refuse_long(name)?;
    if known.iter().any(|label| label.name == name) {
        return Ok(None);
    }
    let at = match place {
        Place::Last => known.len(),
        Place::Before(neighbour) => position(known, neighbour)?,
        Place::After(neighbour) => position(known, neighbour)? + 1,
    };
    let order = |at: usize| known.get(at).map(|label| label.order);
    let order = order_between(at.checked_sub(1).and_then(order), order(at));
    let order = order.ok_or_else(|| {
        Error::unsupported(format!("adding \"{name}\" between these labels is not supported"))
            .with_detail("Too many labels have been added at this place.")
    })?;
    let mut labels = known.to_vec();
    labels.insert(at, EnumLabel { name: name.to_owned(), order, is_new: true });
    Ok(Some(labels))
}

/// The labels with another name for one of them.
///
/// # Errors
/// 22023 for a label that is not there; 42710 for a name that is taken.
pub fn rename_label(known: &[EnumLabel], from: &str, to: &str) -> Result<Vec<EnumLabel>> {
    refuse_long(to)?;
    let at = position(known, from)?;
    if known.iter().any(|label| label.name == to) {
        let message = format!("enum label \"{to}\" already exists");
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    let mut labels = known.to_vec();
    to.clone_into(&mut labels[at].name);
    Ok(labels)
}

fn position(known: &[EnumLabel], name: &str) -> Result<usize> {
    known.iter().position(|label| label.name == name).ok_or_else(|| {
        let message = format!("\"{name}\" is not an existing enum label");
        Error::new(SqlState::InvalidParameterValue, message)
    })
}

fn refuse_long(name: &str) -> Result<()> {
    if name.is_empty() || name.len() <= LABEL_MAX {
        return Ok(());
    }
    let message = format!("invalid enum label \"{name}\"");
    Err(Error::new(SqlState::InvalidName, message)
        .with_detail(format!("Labels must be {LABEL_MAX} bytes or less.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(labels: &[EnumLabel]) -> Vec<&str> {
        labels.iter().map(|label| label.name.as_str()).collect()
    }

    #[test]
    fn labels_come_where_they_are_put() {
        let known = new_labels(&["a".to_owned(), "c".to_owned()]).expect("labels");
        let more = add_label(&known, "b", &Place::Before("c".to_owned())).expect("added");
        let more = more.expect("new");
        assert_eq!(names(&more), ["a", "b", "c"]);
        assert!(more.is_sorted_by_key(|label| label.order));
        assert_eq!(add_label(&more, "b", &Place::Last).expect("known"), None);
        let last = add_label(&more, "d", &Place::After("c".to_owned())).expect("added");
        assert_eq!(names(&last.expect("new")), ["a", "b", "c", "d"]);
        let missing = add_label(&more, "x", &Place::After("y".to_owned())).expect_err("missing");
        assert_eq!(missing.message(), "\"y\" is not an existing enum label");
    }

    #[test]
    fn a_place_takes_many_labels_before_it_is_full() {
        let mut known = new_labels(&["a".to_owned(), "z".to_owned()]).expect("labels");
        let mut added = 0;
        loop {
            let place = Place::After("a".to_owned());
            match add_label(&known, &format!("m{added}"), &place) {
                Ok(Some(more)) => known = more,
                Ok(None) => unreachable!("the label is new"),
                Err(error) => {
                    assert_eq!(error.state(), SqlState::FeatureNotSupported);
                    break;
                }
            }
            added += 1;
        }
        assert!(added >= 31, "{added}");
        assert!(known.is_sorted_by_key(|label| label.order));
    }
}
