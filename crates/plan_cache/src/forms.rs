//! What a session knows of the statements of functions that it has executed: which of them need no planner.

use crate::Basis;
use parking_lot::Mutex;
use planner::NamedParameter;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Texts that a session remembers, at most.
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
    /// By the texts of statements, and the names and types of their variables.
    forms: HashMap<String, Vec<(Vec<NamedParameter>, Form)>>,
}

impl fmt::Debug for KeptForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptForms").field("texts", &self.0.lock().forms.len()).finish()
    }
}

impl KeptForms {
    /// What is known of a statement; `None` if it has not come before.
    pub fn find(&self, basis: &Basis, text: &str, names: &[NamedParameter]) -> Option<Form> {
        let kept = self.0.lock();
        kept.basis.as_ref().filter(|of| *of == basis)?;
        let mut forms = kept.forms.get(text)?.iter();
        forms.find(|(known, _)| known == names).map(|(_, form)| form.clone())
    }

    /// Remembers a form.
    pub fn keep(&self, basis: &Basis, text: &str, names: &[NamedParameter], form: Form) {
        let mut kept = self.0.lock();
        if kept.basis.as_ref() != Some(basis) || kept.forms.len() >= TEXTS_MAX {
            kept.forms.clear();
            kept.basis = Some(basis.clone());
        }
        let forms = kept.forms.entry(text.to_owned()).or_default();
        if forms.len() >= FORMS_MAX {
            forms.clear();
        }
        forms.push((names.to_vec(), form));
    }
}
