//! The settings that exist, with their defaults and valid values.
//!
//! Some settings of PostgreSQL have no effect here, such as planner options. They exist because
//! clients set and show them.

use crate::defaults::DEFAULTS;
use crate::setting::known;

pub use crate::setting::{Kind, Known};
pub use crate::spelling::shown_name;

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
    known("default_with_oids", "off", Kind::Always, "Create new tables with OIDs by default."),
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
    known("work_mem", "4MB", Kind::Memory(1, 64, 2_147_483_647), "Sets the maximum memory to be used for query workspaces."),
    known("xmloption", "content", Kind::Choice(&["content", "document"]), "Sets whether XML data is a document or a fragment."),
];

/// The setting with a name in lower case.
pub fn find(name: &str) -> Option<&'static Known> {
    find_in(KNOWN, name).or_else(|| find_in(DEFAULTS, name))
}

/// Whether a setting changes nothing here, so that sessions can only set it to its default.
pub(crate) fn has_only_default(name: &str) -> bool {
    find_in(DEFAULTS, name).is_some()
}

fn find_in(all: &'static [Known], name: &str) -> Option<&'static Known> {
    all.binary_search_by(|known| known.name.cmp(name)).ok().and_then(|index| all.get(index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use values::Result;

    fn canonical(name: &str, value: &str) -> Result<String, String> {
        let known = find(name).expect("is known");
        known.canonical(value).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn settings_are_sorted_and_their_defaults_are_canonical() {
        for all in [KNOWN, DEFAULTS] {
            assert!(all.is_sorted_by_key(|known| known.name));
        }
        for known in KNOWN.iter().chain(DEFAULTS) {
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
    fn amounts_have_units_and_are_shown_in_the_largest() {
        for (name, given, expected) in [
            ("work_mem", "65536", "64MB"),
            ("work_mem", "1.5MB", "1536kB"),
            ("effective_cache_size", "1000", "8000kB"),
            ("effective_cache_size", " 2 GB ", "2GB"),
            ("min_parallel_table_scan_size", "0", "0"),
            ("random_page_cost", "1.10", "1.1"),
            ("parallel_setup_cost", "0", "0"),
        ] {
            assert_eq!(canonical(name, given).as_deref(), Ok(expected), "{given}");
        }
        for (name, given) in [
            ("work_mem", "1kB"),
            ("work_mem", "1 XB"),
            ("work_mem", ""),
            ("geqo_seed", "2"),
            ("geqo_seed", "NaN"),
        ] {
            assert!(canonical(name, given).is_err(), "{given}");
        }
        let known = find("work_mem").expect("is known");
        assert_eq!(known.plain("64MB"), "65536");
    }

    #[test]
    fn flags_choices_and_encodings_are_shown_in_one_way() {
        assert_eq!(canonical("row_security", "FALSE").as_deref(), Ok("off"));
        assert_eq!(canonical("row_security", "y").as_deref(), Ok("on"));
        assert!(canonical("row_security", "o").is_err());
        assert_eq!(canonical("client_min_messages", "WARNING").as_deref(), Ok("warning"));
        assert!(canonical("client_min_messages", "loud").is_err());
        assert!(canonical("client_min_messages", "1").is_err());
        assert_eq!(canonical("force_parallel_mode", "0").as_deref(), Ok("off"));
        assert_eq!(canonical("client_encoding", "utf-8").as_deref(), Ok("UTF8"));
        assert_eq!(canonical("client_encoding", "sql_ascii").as_deref(), Ok("SQL_ASCII"));
        assert!(canonical("client_encoding", "LATIN1").is_err());
        assert!(canonical("server_version", "16").is_err());
        assert_eq!(canonical("extra_float_digits", "3").as_deref(), Ok("3"));
        assert!(canonical("extra_float_digits", "4").is_err());
    }
}
