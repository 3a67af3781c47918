//! What a session knows of the statements of functions that it has executed: which of them need no planner.

use crate::Basis;
use parking_lot::Mutex;
use planner::NamedParameter;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Texts of one generation, at most. A session remembers those of two.
const TEXTS_MAX: usize = 256;

/// Forms of one text, for variables of other types, at most.
const FORMS_MAX: usize = 8;

/// The form of a statement, of a type that is known where statements are executed; `None` of one that is planned.
pub type Form = Option<Arc<dyn Any + Send + Sync>>;

/// The forms of statements.
#[derive(Default)]
pub struct KeptForms(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// What the forms hold for.
    basis: Option<Basis>,
    /// Those that were used last.
    forms: Generation,
    /// Those before. What is used again returns to the last ones, so that texts that come once do not displace others.
    older: Generation,
}

/// By the texts of statements, and the names and types of their variables.
type Generation = HashMap<String, Vec<(Vec<NamedParameter>, Form)>>;

impl fmt::Debug for KeptForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptForms").field("texts", &self.0.lock().forms.len()).finish()
    }
}

impl KeptForms {
    /// What is known of a statement; `None` if it has not come before.
    pub fn find(&self, basis: &Basis, text: &str, names: &[NamedParameter]) -> Option<Form> {
        let mut kept = self.0.lock();
        kept.basis.as_ref().filter(|of| *of == basis)?;
        if !kept.forms.contains_key(text) {
            let (text, forms) = kept.older.remove_entry(text)?;
            kept.put(text, forms);
        }
        let mut forms = kept.forms.get(text)?.iter();
        forms.find(|(known, _)| known == names).map(|(_, form)| form.clone())
    }

    /// Remembers a form.
    pub fn keep(&self, basis: &Basis, text: &str, names: &[NamedParameter], form: Form) {
        let mut kept = self.0.lock();
        if kept.basis.as_ref() != Some(basis) {
            *kept = Kept { basis: Some(basis.clone()), ..Kept::default() };
        }
        let one = (names.to_vec(), form);
        match kept.forms.get_mut(text) {
            Some(forms) => {
                if forms.len() >= FORMS_MAX {
                    forms.clear();
                }
                forms.push(one);
            }
            None => kept.put(text.to_owned(), vec![one]),
        }
    }
}

impl Kept {
    /// Adds a text to those that were used last. If these are too many, they become the older ones.
    fn put(&mut self, text: String, forms: Vec<(Vec<NamedParameter>, Form)>) {
        if self.forms.len() >= TEXTS_MAX {
            self.older = std::mem::take(&mut self.forms);
        }
        self.forms.insert(text, forms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog_views::settings::Settings;
    use store::catalog::Catalog;

    #[test]
    fn texts_that_come_once_do_not_displace_others() {
        let basis = Basis::new(&Arc::new(Catalog::new()), &Arc::new(Settings::default()));
        let (kept, names) = (KeptForms::default(), []);
        kept.keep(&basis, "again", &names, Some(Arc::new(1)));
        kept.keep(&basis, "first", &names, None);
        for number in 0..10 * TEXTS_MAX {
            kept.keep(&basis, &format!("once {number}"), &names, None);
            assert!(kept.find(&basis, "again", &names).flatten().is_some(), "{number}");
        }
        assert!(kept.find(&basis, "first", &names).is_none(), "not used any more");
        let other = Basis::new(&Arc::new(Catalog::new()), &Arc::new(Settings::default()));
        assert!(kept.find(&other, "again", &names).is_none(), "another catalog");
    }
}
