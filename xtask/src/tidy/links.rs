//! Checks links in Markdown: the target of a relative link must exist.

use super::Finding;
use super::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in workspace.files.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, target) in relative_links(&file.text) {
            let path = resolve(&file.path, target);
            if path.is_none_or(|path| !path.is_empty() && !workspace.paths.contains(&path)) {
                findings.push(Finding::at(&file.path, line, format!("dead link: {target}")));
            }
        }
    }
    findings
}

/// The relative targets of `[text](target)` outside code, with their lines.
fn relative_links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            // Every second part between backquotes is code.
            let prose = line.split('`').step_by(2);
            let targets = prose.flat_map(|prose| prose.split("](").skip(1));
            let targets = targets.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
            links.extend(
                targets.filter(|target| is_relative(target)).map(|target| (index + 1, target)),
            );
        }
    }
    links
}

fn is_relative(target: &str) -> bool {
    !target.starts_with('#') && !target.contains("://") && !target.starts_with("mailto:")
}

/// The path of a link's target, relative to the workspace; `None` if it is outside of it.
fn resolve(from: &str, target: &str) -> Option<String> {
    let target = target.split(['#', ' ']).next().unwrap_or_default();
    let mut path: Vec<&str> = from.split('/').collect();
    path.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                path.pop()?;
            }
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let workspace = Workspace::of([("docs/a.md", text), ("README.md", ""), ("docs/b.md", "")]);
        check(&workspace).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn dead_links_are_found() {
        assert_eq!(found("see\n[b](b.md) [c](c.md#x)"), ["docs/a.md:2: dead link: c.md#x"]);
        assert_eq!(found("[up](../README.md) [out](../../README.md)").len(), 1);
        assert_eq!(found("`code` then [c](c.md)").len(), 1);
    }

    #[test]
    fn addresses_anchors_and_code_are_free() {
        let text = "[a](https://example.org/x) [b](#here) [c](b.md#there) [d](mailto:a@example.org)\n\
                    `[e](e.md)`\n```\n[f](f.md)\n```\n";
        assert_eq!(found(text), Vec::<String>::new());
    }
}
