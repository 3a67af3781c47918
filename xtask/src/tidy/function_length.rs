//! How long functions are, from `fn` to the closing brace; comments inside count, doc comments do not.

use super::measured::Measured;
use super::workspace::{SourceFile, Workspace};
use proc_macro2::Span;
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// Lines of a function.
pub(super) const LINES_MAX: usize = 70;

/// Every function of every Rust file that parses (the compiler speaks about the others). A name that
/// stands more than once in a file is numbered from the second on.
pub(super) fn measure(workspace: &Workspace) -> Vec<Measured> {
    workspace.rust().flat_map(functions).collect()
}

fn functions(file: &SourceFile) -> Vec<Measured> {
    let Ok(parsed) = syn::parse_file(&file.text) else { return Vec::new() };
    let mut functions =
        Functions { path: &file.path, measured: Vec::new(), named: BTreeMap::new() };
    functions.visit_file(&parsed);
    functions.measured
}

struct Functions<'a> {
    path: &'a str,
    measured: Vec<Measured>,
    named: BTreeMap<String, usize>,
}

impl Functions<'_> {
    fn push(&mut self, signature: &syn::Signature, end: Span) {
        let line = signature.fn_token.span.start().line;
        let name = signature.ident.to_string();
        let count = self.named.entry(name.clone()).or_default();
        *count += 1;
        let number = if *count == 1 { String::new() } else { format!("#{count}") };
        self.measured.push(Measured {
            what: format!("function {} {name}{number}", self.path),
            path: self.path.to_owned(),
            line,
            lines: end.end().line + 1 - line,
            lines_max: LINES_MAX,
        });
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.push(&item.sig, item.block.brace_token.span.close());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.push(&item.sig, item.block.brace_token.span.close());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.push(&item.sig, block.brace_token.span.close());
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_fn_to_brace_wherever_a_function_stands() {
        let text = "\
/// Not counted.
#[inline]
pub fn free() {
    fn inner() {}
}
impl A {
    fn inner(&self) {
        let x = \"fn not_one() {\";
    }
}
trait B {
    fn declared();
    fn default() {
    }
}
";
        let measured = measure(&Workspace::of([("a.rs", text)]));
        let seen: Vec<_> = measured.iter().map(|m| (m.what.as_str(), m.line, m.lines)).collect();
        assert_eq!(
            seen,
            [
                ("function a.rs free", 3, 3),
                ("function a.rs inner", 4, 1),
                ("function a.rs inner#2", 7, 3),
                ("function a.rs default", 13, 2),
            ]
        );
    }
}
