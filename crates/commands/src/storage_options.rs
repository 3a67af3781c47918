//! Options of tables and indexes that tell PostgreSQL how to store them. They are checked, and change nothing here.

use crate::names::{incomplete, node};
use crate::options::elements;
use crate::view_options::{boolean, repeated, value};
use crate::{Error, Result};
use grammar::tree::{AlterTableCmd, AlterTableType, DefElem, Node, NodeEnum};

/// What has options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// A table that is made, which has options of ours, too.
    NewTable,
    Table,
    /// An index: one by hash has fewer options.
    Index {
        is_hash: bool,
    },
}

/// The values that an option may have.
#[derive(Debug, Clone, Copy)]
enum Allowed {
    Boolean,
    /// Whole numbers between two.
    Integer(i64, i64),
    /// Numbers from 0 to this one.
    Number(f64),
    /// `on`, `off` and `auto`.
    Switch,
}

use Allowed::{Boolean, Integer, Number, Switch};

const MOST: i64 = i32::MAX as i64;

const OF_TABLES: &[(&str, Allowed)] = &[
    ("autovacuum_analyze_scale_factor", Number(100.0)),
    ("autovacuum_analyze_threshold", Integer(0, MOST)),
    ("autovacuum_enabled", Boolean),
    ("autovacuum_freeze_max_age", Integer(100_000, 2_000_000_000)),
    ("autovacuum_freeze_min_age", Integer(0, 1_000_000_000)),
    ("autovacuum_freeze_table_age", Integer(0, 2_000_000_000)),
    ("autovacuum_multixact_freeze_max_age", Integer(10_000, 2_000_000_000)),
    ("autovacuum_multixact_freeze_min_age", Integer(0, 1_000_000_000)),
    ("autovacuum_multixact_freeze_table_age", Integer(0, 2_000_000_000)),
    ("autovacuum_vacuum_cost_delay", Number(100.0)),
    ("autovacuum_vacuum_cost_limit", Integer(1, 10_000)),
    ("autovacuum_vacuum_insert_scale_factor", Number(100.0)),
    ("autovacuum_vacuum_insert_threshold", Integer(-1, MOST)),
    ("autovacuum_vacuum_scale_factor", Number(100.0)),
    ("autovacuum_vacuum_threshold", Integer(0, MOST)),
    ("fillfactor", Integer(10, 100)),
    ("log_autovacuum_min_duration", Integer(-1, MOST)),
    ("parallel_workers", Integer(0, 1024)),
    ("toast_tuple_target", Integer(128, 8160)),
    ("user_catalog_table", Boolean),
    ("vacuum_index_cleanup", Switch),
    ("vacuum_truncate", Boolean),
];

const OF_INDEXES: &[(&str, Allowed)] =
    &[("fillfactor", Integer(10, 100)), ("deduplicate_items", Boolean)];

/// The options of a table that are Pando's own.
const OWN: [&str; 2] = ["bucket_size", "colocate_with"];

/// The options of views, which ALTER TABLE may mean, too.
const OF_VIEWS: [&str; 3] = ["check_option", "security_barrier", "security_invoker"];

/// Checks options that are set.
///
/// # Errors
/// 22023 for what does not exist, and for values.
pub(crate) fn check(nodes: &[Node], of: Stored) -> Result<()> {
    let mut seen = Vec::new();
    for element in elements(nodes) {
        let (space, name) = (element.defnamespace.as_str(), element.defname.as_str());
        if !matches!((space, of), ("", _) | ("toast", Stored::Table | Stored::NewTable)) {
            let message = format!("unrecognized parameter namespace \"{space}\"");
            return Err(Error::new("22023", message));
        }
        if seen.contains(&(space, name)) {
            return Err(repeated(name));
        }
        seen.push((space, name));
        let known = match of {
            Stored::NewTable if OWN.contains(&name) => continue,
            Stored::NewTable if name == "oids" => {
                refuse_oids(element)?;
                continue;
            }
            Stored::Table if OWN.contains(&name) => {
                return Err(Error::missing(format!("another {name}")).at(element.location));
            }
            Stored::Table if OF_VIEWS.contains(&name) => {
                return Err(Error::missing(format!("ALTER TABLE SET ({name})")));
            }
            Stored::Table | Stored::NewTable => OF_TABLES,
            Stored::Index { is_hash: true } => &OF_INDEXES[..1],
            Stored::Index { is_hash: false } => OF_INDEXES,
        };
        let Some((_, allowed)) = known.iter().find(|(known, _)| *known == name) else {
            return Err(Error::new("22023", format!("unrecognized parameter \"{name}\"")));
        };
        check_value(element, *allowed)?;
    }
    Ok(())
}

/// Checks the options of ALTER TABLE ... SET and RESET; whether an operation is one of these.
///
/// # Errors
/// As of [`check`]; 42601 for values of RESET.
pub(crate) fn is_altered(operation: &AlterTableCmd, of: Stored) -> Result<bool> {
    let is_reset = match operation.subtype() {
        AlterTableType::AtSetRelOptions => false,
        AlterTableType::AtResetRelOptions => true,
        _ => return Ok(false),
    };
    let NodeEnum::List(options) = node(operation.def.as_deref())? else { return Err(incomplete()) };
    if !is_reset {
        check(&options.items, of)?;
    } else if elements(&options.items).any(|element| element.arg.is_some()) {
        return Err(Error::new("42601", "RESET must not include values for parameters"));
    }
    Ok(true)
}

fn refuse_oids(element: &DefElem) -> Result<()> {
    match boolean(element)? {
        true => Err(Error::new("0A000", "tables declared WITH OIDS are not supported")),
        false => Ok(()),
    }
}

fn check_value(element: &DefElem, allowed: Allowed) -> Result<()> {
    let (name, written) = (&element.defname, value(element));
    let invalid = |kind: &str| {
        let message = format!("invalid value for {kind} option \"{name}\": {written}");
        Error::new("22023", message)
    };
    let outside = |least: String, most: String| {
        let message = format!("value {written} out of bounds for option \"{name}\"");
        let detail = format!("Valid values are between \"{least}\" and \"{most}\".");
        Err(Error::new("22023", message).detail(detail))
    };
    let number = || written.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match allowed {
        Boolean => boolean(element).map(drop),
        Integer(least, most) => {
            let number = number().ok_or_else(|| invalid("integer"))?.round_ties_even();
            match (least as f64..=most as f64).contains(&number) {
                true => Ok(()),
                false => outside(least.to_string(), most.to_string()),
            }
        }
        Number(most) => {
            let number = number().ok_or_else(|| invalid("floating point"))?;
            match (0.0..=most).contains(&number) {
                true => Ok(()),
                false => outside(format!("{:.6}", 0.0), format!("{most:.6}")),
            }
        }
        Switch if written.eq_ignore_ascii_case("auto") => Ok(()),
        Switch => match boolean(element) {
            Ok(_) => Ok(()),
            Err(_) => {
                let detail = "Valid values are \"on\", \"off\", and \"auto\".";
                Err(invalid("enum").detail(detail))
            }
        },
    }
}
