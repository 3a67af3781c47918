//! The settings that exist, with their defaults and valid values.
//!
//! Some settings of PostgreSQL have no effect here, such as planner options. They exist because
//! clients set and show them.

use std::time::Duration;
use values::input::unknown_zone;
use values::zone::Zone;
use values::{Error, Result, SqlState};

/// A setting.
#[derive(Debug)]
pub struct Known {
    /// Its name, in lower case.
    pub name: &'static str,
    /// Its default, as SHOW displays it.
    pub default: &'static str,
    /// Its valid values.
    pub kind: Kind,
    /// A description of one line, for users.
    pub meaning: &'static str,
}

/// The type and the valid values of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// `on` or `off`.
    Flag,
    /// An integer between a minimum and a maximum, both included.
    Number(i64, i64),
    /// One of these values.
    Choice(&'static [&'static str]),
    /// Milliseconds; 0 means no limit.
    Duration,
    /// The encoding of text in the protocol: a name of UTF-8 or SQL_ASCII.
    Encoding,
    /// The style `ISO` and the order of the fields of dates.
    DateStyle,
    /// The name of a time zone, or its offset from UTC in hours.
    TimeZone,
    /// Only the default, or another spelling of it.
    Always,
    /// Cannot be set.
    Internal,
    /// Set with ALTER SYSTEM for all servers.
    System,
}

const fn known(
    name: &'static str,
    default: &'static str,
    kind: Kind,
    meaning: &'static str,
) -> Known {
    Known { name, default, kind, meaning }
}

const MESSAGES: Kind = Kind::Choice(&[
    "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error",
]);
const ISOLATION: Kind =
    Kind::Choice(&["serializable", "repeatable read", "read committed", "read uncommitted"]);

/// All settings, sorted by name.
#[rustfmt::skip]
pub const KNOWN: &[Known] = &[
    known("application_name", "", Kind::Text, "Sets the application name to be reported in statistics and logs."),
    known("block_size", "8192", Kind::Internal, "Shows the size of a disk block."),
    known("bytea_output", "hex", Kind::Choice(&["escape", "hex"]), "Sets the output format for bytea."),
    known("check_function_bodies", "on", Kind::Flag, "Check routine bodies during CREATE FUNCTION and CREATE PROCEDURE."),
    known("client_encoding", "UTF8", Kind::Encoding, "Sets the client's character set encoding."),
    known("client_min_messages", "notice", MESSAGES, "Sets the message levels that are sent to the client."),
    known("datestyle", "ISO, MDY", Kind::DateStyle, "Sets the display format for date and time values."),
    known("deadlock_timeout", "1s", Kind::Duration, "Sets the time to wait on a lock before checking for deadlock. A circle of waits on one server is found at once, whatever the time."),
    known("default_table_access_method", "heap", Kind::Always, "Sets the default table access method for new tables."),
    known("default_tablespace", "", Kind::Text, "Sets the default tablespace to create tables and indexes in."),
    known("default_transaction_deferrable", "off", Kind::Flag, "Sets the default deferrable status of new transactions."),
    known("default_transaction_isolation", "read committed", ISOLATION, "Sets the transaction isolation level of each new transaction."),
    known("default_transaction_read_only", "off", Kind::Flag, "Sets the default read-only status of new transactions."),
    known("enable_seqscan", "on", Kind::Flag, "Enables the planner's use of sequential-scan plans."),
    known("escape_string_warning", "on", Kind::Flag, "Warn about backslash escapes in ordinary string literals."),
    known("extra_float_digits", "1", Kind::Number(-15, 3), "Sets the number of digits displayed for floating-point values."),
    known("geqo", "on", Kind::Flag, "Enables genetic query optimization."),
    known("idle_in_transaction_session_timeout", "0", Kind::Duration, "Sets the maximum allowed idle time between queries, when in a transaction."),
    known("idle_session_timeout", "0", Kind::Duration, "Sets the maximum allowed idle time between queries, when not in a transaction."),
    known("in_hot_standby", "off", Kind::Internal, "Shows whether hot standby is currently active."),
    known("integer_datetimes", "on", Kind::Internal, "Shows whether datetimes are integer based."),
    known("intervalstyle", "postgres", Kind::Choice(&["postgres", "postgres_verbose", "sql_standard", "iso_8601"]), "Sets the display format for interval values."),
    known("is_superuser", "on", Kind::Internal, "Shows whether the current user is a superuser."),
    known("jit", "off", Kind::Flag, "Allow JIT compilation."),
    known("lc_collate", "C", Kind::Internal, "Shows the collation order locale."),
    known("lc_ctype", "C", Kind::Internal, "Shows the character classification and case conversion locale."),
    known("lc_messages", "C", Kind::Text, "Sets the language in which messages are displayed."),
    known("lock_timeout", "0", Kind::Duration, "Sets the maximum allowed duration of any wait for a lock."),
    known("log_destination", "stderr", Kind::Internal, "Sets the destination for server log output."),
    known("log_statement", "none", Kind::Choice(&["none", "ddl", "mod", "all"]), "Sets the type of statements logged."),
    known("max_connections", "10000", Kind::Internal, "Sets the maximum number of concurrent connections."),
    known("max_identifier_length", "63", Kind::Internal, "Shows the maximum identifier length."),
    known("max_index_keys", "32", Kind::Internal, "Shows the maximum number of index keys."),
    known("pando.adjustments", "off", Kind::Flag, "Sets whether a client gets a notice with directory entries after it asked this server for a row of another one."),
    known("pando.broadcast_bytes", "8388608", Kind::Number(0, 8_388_608), "Sets the maximum number of bytes that a join broadcasts to all servers. Above it, both inputs are hash-partitioned."),
    known("pando.bundle_bytes", "268435456", Kind::Number(0, i64::MAX), "Sets the maximum number of bytes that each server keeps in memory between two bundles. Above it, rows are spilled to disk."),
    known("pando.bundling", "pipelined", Kind::Choice(&["pipelined", "none", "optimal", "excessive"]), "Sets which operators form a bundle. Rows are stored between bundles; pipelined stores none."),
    known("pando.fan_in", "16", Kind::Number(2, 1_000_000), "Sets the maximum number of servers whose partial results one server combines. Above it, they are combined in a tree."),
    known("pando.gather", "auto", Kind::Choice(&["auto", "push", "pull"]), "Sets whether other servers push rows or the coordinator pulls them from a few servers at a time. auto pulls from more than 16 servers."),
    known("pando.move_bytes_per_second", "0", Kind::System, "Sets the maximum number of bytes per second that each server sends in moves of buckets. 0 means no limit."),
    known("pando.moves", "running", Kind::System, "Sets whether buckets move between servers: running or paused."),
    known("pando.pull_window", "8", Kind::Number(1, 65_536), "Sets the number of servers that rows are pulled from at a time."),
    known("pando.shipping", "on", Kind::Flag, "Enables the execution of operators on the servers that own the rows."),
    known("pando.termination", "deterministic", Kind::Choice(&["deterministic"]), "Shows how a scan ends: deterministic means that all owners of rows have answered."),
    known("password_encryption", "scram-sha-256", Kind::Choice(&["scram-sha-256"]), "Chooses the algorithm for encrypting passwords."),
    known("plan_cache_mode", "auto", Kind::Choice(&["auto", "force_generic_plan", "force_custom_plan"]), "Controls the planner's selection of custom or generic plan. Here each plan is one that its values fit, whatever the mode."),
    known("plpgsql.check_asserts", "on", Kind::Always, "Perform checks given in ASSERT statements."),
    known("plpgsql.extra_errors", "none", Kind::Always, "List of programming constructs that should produce an error."),
    known("plpgsql.extra_warnings", "none", Kind::Always, "List of programming constructs that should produce a warning."),
    known("plpgsql.print_strict_params", "off", Kind::Always, "Print information about parameters in the DETAIL part of the error messages generated on INTO ... STRICT failures."),
    known("plpgsql.variable_conflict", "error", Kind::Always, "Sets handling of conflicts between PL/pgSQL variable names and table column names."),
    known("row_security", "on", Kind::Flag, "Enable row security."),
    known("search_path", "public", Kind::Text, "Sets the schema search order for names that are not schema-qualified."),
    known("server_encoding", "UTF8", Kind::Internal, "Shows the server (database) character set encoding."),
    known("server_version", "15.0 (Pando 0.1.0)", Kind::Internal, "Shows the server version."),
    known("server_version_num", "150000", Kind::Internal, "Shows the server version as an integer."),
    known("standard_conforming_strings", "on", Kind::Always, "Causes '...' strings to treat backslashes literally."),
    known("statement_timeout", "0", Kind::Duration, "Sets the maximum allowed duration of any statement."),
    known("synchronize_seqscans", "on", Kind::Flag, "Enables synchronized sequential scans."),
    known("synchronous_commit", "on", Kind::Text, "Sets the current transaction's synchronization level."),
    known("timezone", "UTC", Kind::TimeZone, "Sets the time zone for displaying and interpreting time stamps."),
    known("transaction_deferrable", "off", Kind::Flag, "Whether to defer a read-only serializable transaction."),
    known("transaction_isolation", "read committed", ISOLATION, "Sets the current transaction's isolation level."),
    known("transaction_read_only", "off", Kind::Flag, "Sets the current transaction's read-only status."),
    known("wal_level", "minimal", Kind::Internal, "Sets the level of information written to the WAL."),
    known("work_mem", "4MB", Kind::Text, "Sets the maximum memory to be used for query workspaces."),
    known("xmloption", "content", Kind::Choice(&["content", "document"]), "Sets whether XML data is a document or a fragment."),
];

/// The setting with a name in lower case.
pub fn find(name: &str) -> Option<&'static Known> {
    KNOWN.binary_search_by(|known| known.name.cmp(name)).ok().map(|index| &KNOWN[index])
}

impl Known {
    /// Whether sessions cannot set it.
    pub fn is_fixed(&self) -> bool {
        matches!(self.kind, Kind::Internal | Kind::System)
    }

    /// A value in canonical form, as it is stored and displayed.
    ///
    /// # Errors
    /// 22023 for an invalid value, 55P02 if sessions cannot set it.
    pub fn canonical(&self, value: &str) -> Result<String> {
        let lower = value.to_lowercase();
        match self.kind {
            Kind::Text => Ok(value.to_owned()),
            Kind::Flag => {
                flag(self.name, &lower).map(|flag| if flag { "on" } else { "off" }.to_owned())
            }
            Kind::Number(least, most) => {
                let number: i64 = value.trim().parse().map_err(|_| self.invalid(value))?;
                if (least..=most).contains(&number) {
                    Ok(number.to_string())
                } else {
                    Err(self.outside(&number.to_string(), least, most))
                }
            }
            Kind::Choice(choices) => match choices.iter().find(|choice| **choice == lower) {
                Some(choice) => Ok((*choice).to_owned()),
                None => {
                    let hint = format!("Available values: {}.", choices.join(", "));
                    Err(self.invalid(value).with_hint(hint))
                }
            },
            Kind::Duration => Ok(shown(self.duration(value)?)),
            Kind::Encoding => {
                match lower.replace(|c: char| !c.is_ascii_alphanumeric(), "").as_str() {
                    "utf8" | "unicode" => Ok("UTF8".to_owned()),
                    // Text is not converted, so it is UTF-8 for SQL_ASCII, too.
                    "sqlascii" => Ok("SQL_ASCII".to_owned()),
                    _ => {
                        Err(self.invalid(value).with_hint("Text is always sent and taken in UTF8."))
                    }
                }
            }
            Kind::DateStyle => self.date_style(&lower, self.default),
            Kind::TimeZone => {
                let zone = Zone::of_setting(value).map(|(_, name)| name);
                zone.ok_or_else(|| match unknown_zone(value) {
                    refused if refused.state() == SqlState::FeatureNotSupported => refused,
                    _ => self.invalid(value),
                })
            }
            Kind::Always if is_same(self.default, value) => Ok(self.default.to_owned()),
            Kind::Always => Err(self.always(&lower)?),
            Kind::Internal | Kind::System if lower == self.default.to_lowercase() => {
                Ok(self.default.to_owned())
            }
            Kind::System => {
                let message = format!("parameter \"{}\" cannot be changed now", self.name);
                let error = Error::new(SqlState::CantChangeRuntimeParameter, message);
                Err(error.with_hint("ALTER SYSTEM SET changes it, for all servers."))
            }
            Kind::Internal => {
                let message = format!("parameter \"{}\" cannot be changed", self.name);
                Err(Error::new(SqlState::CantChangeRuntimeParameter, message))
            }
        }
    }

    /// A `datestyle`: an output format, an order, or both; what is not given is as in a style before. Two formats or two
    /// orders are a conflict.
    ///
    /// # Errors
    /// 22023: unknown words, or a conflict.
    pub(super) fn date_style(&self, value: &str, before: &str) -> Result<String> {
        let (mut format, mut order): (Option<&str>, Option<&str>) = (None, None);
        let set = |of: &mut Option<&'static str>, to: &'static str| {
            let is_conflict = of.is_some_and(|known| known != to);
            *of = Some(to);
            let conflict = "Conflicting \"datestyle\" specifications.";
            if is_conflict { Err(self.invalid(value).with_detail(conflict)) } else { Ok(()) }
        };
        let before = before.split_once(", ").unwrap_or(("ISO", "MDY"));
        for word in value.split([',', ' ']).filter(|word| !word.is_empty()) {
            let begins = |start: &str| word.starts_with(start);
            match word {
                "iso" => set(&mut format, "ISO")?,
                "sql" => set(&mut format, "SQL")?,
                _ if begins("postgres") => set(&mut format, "Postgres")?,
                // The German format implies its order, which another word may change.
                _ if begins("german") => set(&mut format, "German")?,
                "ymd" => set(&mut order, "YMD")?,
                "dmy" => set(&mut order, "DMY")?,
                "mdy" | "us" => set(&mut order, "MDY")?,
                _ if begins("euro") => set(&mut order, "DMY")?,
                _ if begins("noneuro") => set(&mut order, "MDY")?,
                "default" => {
                    format = format.or(Some("ISO"));
                    order = order.or(Some("MDY"));
                }
                word => {
                    let detail = format!("Unrecognized key word: \"{word}\".");
                    return Err(self.invalid(value).with_detail(detail));
                }
            }
        }
        let order = match (format, order) {
            (Some("German"), None) => "DMY",
            (_, order) => order.unwrap_or(before.1),
        };
        Ok(format!("{}, {order}", format.unwrap_or(before.0)))
    }

    /// Parses a duration: milliseconds, or a number with a unit. `None` (0) means no limit.
    ///
    /// # Errors
    /// 22023 for an invalid duration.
    pub(super) fn duration(&self, text: &str) -> Result<Option<Duration>> {
        const MOST: i64 = i32::MAX as i64;
        let text = text.trim();
        let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let (number, unit) = text.split_at(text.len() - text.trim_start_matches(digits).len());
        let millis = match unit.trim() {
            "us" => Some(0.001),
            "" | "ms" => Some(1.0),
            "s" => Some(1e3),
            "min" => Some(60e3),
            "h" => Some(3600e3),
            "d" => Some(86_400e3),
            _ => None,
        };
        let number: Option<f64> = number.parse().ok();
        let Some(millis) = number.zip(millis).map(|(number, unit)| (number * unit).round()) else {
            let hint = "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".";
            return Err(self.invalid(text).with_hint(hint));
        };
        let millis = millis as i64;
        if !(0..=MOST).contains(&millis) {
            return Err(self.outside(&format!("{millis} ms"), 0, MOST));
        }
        Ok((millis > 0).then(|| Duration::from_millis(millis.unsigned_abs())))
    }

    /// The refusal of another value than the only one: 0A000 where PostgreSQL takes it.
    fn always(&self, value: &str) -> Result<Error> {
        let hint = format!("It is always {}.", self.default);
        if matches!(self.default, "on" | "off") {
            flag(self.name, value)?;
        } else if self.name == "default_table_access_method" {
            return Ok(self.invalid(value).with_hint(hint));
        }
        let message = format!("{} = {value} is not supported", self.name);
        Ok(Error::unsupported(message).with_hint(hint))
    }

    fn invalid(&self, value: &str) -> Error {
        let message = format!("invalid value for parameter \"{}\": \"{value}\"", self.name);
        Error::new(SqlState::InvalidParameterValue, message)
    }

    fn outside(&self, number: &str, least: i64, most: i64) -> Error {
        let name = self.name;
        let message = format!(
            "{number} is outside the valid range for parameter \"{name}\" ({least} .. {most})"
        );
        Error::new(SqlState::InvalidParameterValue, message)
    }
}

/// Parses a Boolean value, which may be abbreviated.
fn flag(name: &str, value: &str) -> Result<bool> {
    let is = |word: &str| !value.is_empty() && word.starts_with(value);
    match value {
        "1" | "on" => Ok(true),
        "0" => Ok(false),
        _ if is("true") || is("yes") => Ok(true),
        _ if is("false") || is("no") || value == "of" || value == "off" => Ok(false),
        _ => {
            let message = format!("parameter \"{name}\" requires a Boolean value");
            Err(Error::new(SqlState::InvalidParameterValue, message))
        }
    }
}

/// A duration as text, in the largest unit that gives a whole number.
pub(super) fn shown(limit: Option<Duration>) -> String {
    let millis = limit.map_or(0, |limit| limit.as_millis());
    let units = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];
    let whole = units.iter().find(|(_, unit)| millis > 0 && millis.is_multiple_of(*unit));
    whole.map_or("0".to_owned(), |(name, unit)| format!("{}{name}", millis / unit))
}

/// Whether a value is another spelling of the default.
pub(super) fn is_same(default: &str, value: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    match default {
        "on" | "off" => flag("", &value.to_lowercase()) == Ok(default == "on"),
        _ => plain(default) == plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(name: &str, value: &str) -> Result<String, String> {
        let known = find(name).expect("is known");
        known.canonical(value).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn settings_are_sorted_and_their_defaults_are_canonical() {
        assert!(KNOWN.is_sorted_by_key(|known| known.name));
        for known in KNOWN {
            assert_eq!(
                known.canonical(known.default).as_deref(),
                Ok(known.default),
                "{}",
                known.name
            );
        }
    }

    #[test]
    fn durations_have_units_and_are_shown_in_the_largest() {
        for (given, expected) in [
            ("1500", "1500ms"),
            ("9000", "9s"),
            ("2min", "2min"),
            ("1.5s", "1500ms"),
            ("0", "0"),
            ("24h", "1d"),
        ] {
            assert_eq!(canonical("statement_timeout", given).as_deref(), Ok(expected), "{given}");
        }
        let message = canonical("statement_timeout", "-1").expect_err("refused");
        assert_eq!(
            message,
            "-1 ms is outside the valid range for parameter \"statement_timeout\" (0 .. 2147483647)"
        );
        let message = canonical("lock_timeout", "5 parsecs").expect_err("refused");
        assert_eq!(message, "invalid value for parameter \"lock_timeout\": \"5 parsecs\"");
    }

    #[test]
    fn flags_choices_and_encodings_are_shown_in_one_way() {
        assert_eq!(canonical("row_security", "FALSE").as_deref(), Ok("off"));
        assert_eq!(canonical("row_security", "y").as_deref(), Ok("on"));
        assert!(canonical("row_security", "o").is_err());
        assert_eq!(canonical("client_min_messages", "WARNING").as_deref(), Ok("warning"));
        assert!(canonical("client_min_messages", "loud").is_err());
        assert_eq!(canonical("client_encoding", "utf-8").as_deref(), Ok("UTF8"));
        assert_eq!(canonical("client_encoding", "sql_ascii").as_deref(), Ok("SQL_ASCII"));
        assert!(canonical("client_encoding", "LATIN1").is_err());
        assert!(canonical("server_version", "16").is_err());
        assert_eq!(canonical("extra_float_digits", "3").as_deref(), Ok("3"));
        assert!(canonical("extra_float_digits", "4").is_err());
    }
}
