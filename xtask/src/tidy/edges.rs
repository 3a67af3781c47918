//! Layers: which crates of the workspace may depend on which.
//!
//! Dependencies only point down. A new crate or edge needs an entry here, although the compiler
//! would accept any acyclic dependency.

use super::Finding;
use super::workspace::Workspace;

/// Each crate of the workspace and its allowed dependencies, including those of tests.
const EDGES: &[(&str, &[&str])] = &[
    ("grammar", &[]),
    ("system_catalog", &[]),
    ("typed_tree", &["grammar", "system_catalog"]),
    ("analyzer", &["grammar", "system_catalog", "typed_tree"]),
    ("commands", &["analyzer", "grammar"]),
    ("bundling", &[]),
    ("dbsim", &["bundling"]),
    ("sdds", &[]),
    ("protocols", &["sdds"]),
    ("locks", &["sdds"]),
    ("catalog", &["sdds"]),
    ("numerics", &[]),
    ("datetimes", &[]),
    ("bucket", &["catalog", "numerics", "sdds"]),
    ("references", &["bucket", "catalog", "sdds"]),
    ("journal", &["sdds"]),
    ("durable", &["journal", "bucket", "catalog", "sdds"]),
    (
        "store",
        &["locks", "protocols", "durable", "journal", "references", "bucket", "catalog", "sdds"],
    ),
    ("backup", &["store", "sdds"]),
    ("client", &["sdds"]),
    ("net", &[]),
    ("messages", &["protocols", "store", "sdds"]),
    ("cluster", &["messages", "protocols", "store", "sdds", "net"]),
    ("simulation", &["cluster", "protocols", "store", "sdds"]),
    ("values", &["datetimes", "numerics", "store"]),
    ("plpgsql", &["values"]),
    ("executor", &["values", "store"]),
    ("regexes", &["executor", "values"]),
    ("jsonpath", &["regexes", "values"]),
    ("columnar", &["values", "store"]),
    ("formats", &["columnar", "numerics", "values", "store"]),
    (
        "functions",
        &["columnar", "formats", "jsonpath", "numerics", "regexes", "executor", "values", "store"],
    ),
    ("records", &["functions", "values", "store"]),
    ("foreign", &["executor", "values", "store"]),
    ("notifications", &[]),
    ("advisory", &["values", "store"]),
    ("session_settings", &["values", "store"]),
    ("user_types", &["analyzer", "grammar", "values", "store"]),
    ("parser", &["user_types", "commands", "analyzer", "grammar", "values", "store"]),
    ("routines", &["commands", "analyzer", "parser", "store", "user_types"]),
    ("deparse", &["parser", "analyzer", "grammar", "values", "store"]),
    ("frames", &["executor", "foreign", "values", "store"]),
    ("scan", &["executor", "foreign", "frames", "functions", "values", "store", "sdds"]),
    ("integrity", &["scan", "parser", "values", "store", "sdds"]),
    ("keyed", &["scan", "parser", "grammar", "values", "store", "sdds"]),
    (
        "catalog_views",
        &[
            "advisory",
            "backup",
            "deparse",
            "executor",
            "scan",
            "parser",
            "routines",
            "session_settings",
            "grammar",
            "functions",
            "values",
            "store",
            "sdds",
            "system_catalog",
        ],
    ),
    (
        "renaming",
        &[
            "catalog_views",
            "parser",
            "routines",
            "user_types",
            "grammar",
            "values",
            "store",
            "system_catalog",
        ],
    ),
    ("optimizer", &["executor", "grammar"]),
    ("long_expressions", &[]),
    (
        "lowering",
        &[
            "long_expressions",
            "analyzer",
            "grammar",
            "executor",
            "foreign",
            "frames",
            "catalog_views",
            "datetimes",
            "functions",
            "optimizer",
            "records",
            "user_types",
            "values",
            "store",
        ],
    ),
    (
        "planner",
        &[
            "lowering",
            "executor",
            "catalog_views",
            "scan",
            "parser",
            "functions",
            "values",
            "store",
        ],
    ),
    ("plan_cache", &["planner", "catalog_views", "scan", "parser", "grammar", "values", "store"]),
    (
        "procedural",
        &[
            "plpgsql",
            "planner",
            "analyzer",
            "catalog_views",
            "user_types",
            "parser",
            "functions",
            "grammar",
            "lowering",
            "numerics",
            "routines",
            "system_catalog",
            "typed_tree",
            "values",
            "store",
        ],
    ),
    (
        "table_rows",
        &[
            "analyzer",
            "grammar",
            "catalog_views",
            "executor",
            "lowering",
            "parser",
            "planner",
            "procedural",
            "routines",
            "scan",
            "store",
            "user_types",
            "values",
        ],
    ),
    (
        "conversation",
        &["procedural", "catalog_views", "executor", "notifications", "values", "store"],
    ),
    ("copy_formats", &["parser", "values", "store"]),
    (
        "distributed",
        &[
            "executor",
            "foreign",
            "frames",
            "scan",
            "functions",
            "values",
            "bundling",
            "store",
            "sdds",
        ],
    ),
    (
        "predict",
        &[
            "planner",
            "distributed",
            "scan",
            "parser",
            "functions",
            "values",
            "bundling",
            "dbsim",
            "store",
        ],
    ),
    (
        "query",
        &[
            "advisory",
            "deparse",
            "renaming",
            "foreign",
            "notifications",
            "user_types",
            "keyed",
            "plan_cache",
            "table_rows",
            "integrity",
            "routines",
            "plpgsql",
            "procedural",
            "conversation",
            "copy_formats",
            "optimizer",
            "lowering",
            "analyzer",
            "grammar",
            "predict",
            "distributed",
            "planner",
            "catalog_views",
            "scan",
            "parser",
            "functions",
            "executor",
            "values",
            "dbsim",
            "store",
            "sdds",
        ],
    ),
    ("program", &[]),
    ("plots", &[]),
    ("workloads", &["query", "cluster", "store", "sdds", "dbsim"]),
    (
        "experiments",
        &["workloads", "query", "client", "store", "sdds", "dbsim", "plots", "program"],
    ),
    ("frontend", &[]),
    ("server", &["query", "frontend"]),
    ("shell", &["query", "server"]),
    (
        "pando",
        &[
            "parser",
            "shell",
            "workloads",
            "query",
            "server",
            "frontend",
            "cluster",
            "client",
            "backup",
            "store",
            "sdds",
            "dbsim",
            "plots",
            "program",
        ],
    ),
    ("xtask", &[]),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let ours = |name: &str| workspace.packages.iter().any(|package| package.name == name);
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = manifest(&package.name);
        let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == package.name) else {
            let message = "the crate has no layer; add it to EDGES of xtask/src/tidy/edges.rs";
            findings.push(Finding::of(&manifest, message));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| ours(&d.name)) {
            if !allowed.contains(&dependency.name.as_str()) {
                let kind = if dependency.dev { "dev-dependency" } else { "dependency" };
                let message = format!(
                    "{kind} {} -> {} is not in EDGES of xtask/src/tidy/edges.rs",
                    package.name, dependency.name
                );
                findings.push(Finding::of(&manifest, message));
            }
        }
    }
    for (name, _) in EDGES.iter().filter(|(name, _)| !ours(name)) {
        let message = format!("EDGES names the crate {name}, which does not exist");
        findings.push(Finding::of("xtask/src/tidy/edges.rs", message));
    }
    findings
}

/// The manifest of a crate.
pub(super) fn manifest(package: &str) -> String {
    if package == "xtask" {
        "xtask/Cargo.toml".to_owned()
    } else {
        format!("crates/{package}/Cargo.toml")
    }
}

/// The source directory of a crate.
pub(super) fn sources(package: &str) -> String {
    manifest(package).replace("Cargo.toml", "src")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> Workspace {
        EDGES
            .iter()
            .fold(Workspace::of([]), |house, (name, allowed)| house.with_package(name, allowed))
    }

    #[test]
    fn the_table_itself_is_allowed() {
        assert_eq!(check(&house()), []);
    }

    #[test]
    fn an_edge_upwards_is_found() {
        let mut house = house();
        house.packages.retain(|package| package.name != "store");
        let house = house.with_package("store", &["sdds", "query", "dev:workloads", "arrow"]);
        let found: Vec<_> = check(&house).into_iter().map(|f| f.message).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("dependency store -> query"));
        assert!(found[1].starts_with("dev-dependency store -> workloads"));
    }

    #[test]
    fn a_crate_without_a_layer_and_a_layer_without_a_crate_are_found() {
        let mut house = house().with_package("unheard", &[]);
        assert_eq!(check(&house)[0].path, "crates/unheard/Cargo.toml");
        house.packages.retain(|package| package.name != "sdds" && package.name != "unheard");
        assert!(check(&house)[0].message.contains("sdds"));
    }

    #[test]
    fn the_table_has_no_circle() {
        let order: Vec<&str> = EDGES.iter().map(|(name, _)| *name).collect();
        for (position, (name, allowed)) in EDGES.iter().enumerate() {
            for lower in *allowed {
                let below = order.iter().position(|other| other == lower);
                assert!(below < Some(position), "{name} -> {lower} does not point down");
            }
        }
    }
}
