//! What a session knows of the statements of functions that it has executed: which of them need no planner.
//!
//! The forms are good for a catalog and for settings, which also say whose privileges and which schemas count.

use catalog_views::settings::Settings;
use parking_lot::Mutex;
use planner::NamedParameter;
use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::Catalog;

/// Texts that a session remembers, at most.
const TEXTS_MAX: usize = 256;

/// Forms of one text, for variables of other types, at most.
const FORMS_MAX: usize = 8;

/// The form of a statement, of a type that is known where statements are executed; `None` of one that is planned.
pub(crate) type Form = Option<Arc<dyn Any + Send + Sync>>;

/// The forms of statements.
#[derive(Default)]
pub(crate) struct KeptForms(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// What the forms are good for.
    of: Option<(Arc<Catalog>, Arc<Settings>)>,
    /// By the texts of statements, and the names and types of their variables.
    forms: HashMap<String, Vec<(Vec<NamedParameter>, Form)>>,
}

impl KeptForms {
    /// What is known of a statement; `None` if it has not come before.
    pub(crate) fn find(
        &self,
        (catalog, settings): (&Arc<Catalog>, &Arc<Settings>),
        text: &str,
        names: &[NamedParameter],
    ) -> Option<Form> {
        let kept = self.0.lock();
        kept.of
            .as_ref()
            .filter(|of| Arc::ptr_eq(&of.0, catalog) && Arc::ptr_eq(&of.1, settings))?;
        let mut forms = kept.forms.get(text)?.iter();
        forms.find(|(known, _)| known == names).map(|(_, form)| form.clone())
    }

    /// Remembers a form.
    pub(crate) fn keep(
        &self,
        (catalog, settings): (&Arc<Catalog>, &Arc<Settings>),
        text: &str,
        names: &[NamedParameter],
        form: Form,
    ) {
        let mut kept = self.0.lock();
        let is_same = |of: &(_, _)| Arc::ptr_eq(&of.0, catalog) && Arc::ptr_eq(&of.1, settings);
        if !kept.of.as_ref().is_some_and(is_same) || kept.forms.len() >= TEXTS_MAX {
            kept.forms.clear();
            kept.of = Some((Arc::clone(catalog), Arc::clone(settings)));
        }
        let forms = kept.forms.entry(text.to_owned()).or_default();
        if forms.len() >= FORMS_MAX {
            forms.clear();
        }
        forms.push((names.to_vec(), form));
    }
}
