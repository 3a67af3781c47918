//! The settings that PostgreSQL 15 has and Pando has not.
//!
//! They are refused with 0A000, so that a name that is written wrong (42704) is told apart. Setting one to PostgreSQL's
//! default is accepted: nothing would change.

use crate::setting::is_same;
use values::Error;

/// Settings that sessions change in PostgreSQL, with PostgreSQL's defaults as SHOW displays them; sorted by name.
#[rustfmt::skip]
const OF_SESSIONS: &[(&str, &str)] = &[
    ("allow_in_place_tablespaces", "off"), ("allow_system_table_mods", "off"), ("backtrace_functions", ""),
    ("client_connection_check_interval", "0"), ("composite_type_mismatch", "error"),
    ("dynamic_library_path", "$libdir"), ("exit_on_error", "off"), ("gin_fuzzy_search_limit", "0"),
    ("ignore_checksum_failure", "off"), ("jit_dump_bitcode", "off"), ("lo_compat_privileges", "off"),
    ("local_preload_libraries", ""), ("log_executor_stats", "off"), ("log_min_duration_sample", "-1"),
    ("log_min_duration_statement", "-1"), ("log_parameter_max_length", "-1"),
    ("log_parameter_max_length_on_error", "0"), ("log_parser_stats", "off"), ("log_planner_stats", "off"),
    ("log_replication_commands", "off"), ("log_statement_sample_rate", "1"), ("log_temp_files", "-1"),
    ("log_transaction_sample_rate", "0"), ("logical_decoding_work_mem", "64MB"), ("session_preload_libraries", ""),
    ("session_replication_role", "origin"), ("tcp_keepalives_count", "0"), ("tcp_keepalives_idle", "0"),
    ("tcp_keepalives_interval", "0"), ("tcp_user_timeout", "0"), ("temp_file_limit", "-1"), ("temp_tablespaces", ""),
    ("timezone_abbreviations", "Default"), ("track_wal_io_timing", "off"), ("update_process_title", "on"),
    ("vacuum_cost_delay", "0"), ("wal_consistency_checking", ""), ("wal_init_zero", "on"), ("wal_recycle", "on"),
    ("wal_sender_timeout", "1min"), ("wal_skip_threshold", "2MB"), ("zero_damaged_pages", "off"),
];

/// Settings that only a server's configuration or the start of a connection changes in PostgreSQL; sorted by name.
#[rustfmt::skip]
const OF_SERVERS: &[&str] = &[
    "archive_cleanup_command", "archive_command", "archive_library", "archive_mode", "archive_timeout",
    "authentication_timeout", "autovacuum", "autovacuum_analyze_scale_factor", "autovacuum_analyze_threshold",
    "autovacuum_freeze_max_age", "autovacuum_max_workers", "autovacuum_multixact_freeze_max_age", "autovacuum_naptime",
    "autovacuum_vacuum_cost_delay", "autovacuum_vacuum_cost_limit", "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_threshold", "autovacuum_vacuum_scale_factor", "autovacuum_vacuum_threshold",
    "autovacuum_work_mem", "bgwriter_delay", "bgwriter_flush_after", "bgwriter_lru_maxpages", "bgwriter_lru_multiplier",
    "bonjour", "bonjour_name", "checkpoint_completion_target", "checkpoint_flush_after", "checkpoint_timeout",
    "checkpoint_warning", "cluster_name", "config_file", "data_checksums", "data_directory", "data_directory_mode",
    "data_sync_retry", "db_user_namespace", "debug_assertions", "dynamic_shared_memory_type", "event_source",
    "external_pid_file", "fsync", "full_page_writes", "hba_file", "hot_standby", "hot_standby_feedback",
    "huge_page_size", "huge_pages", "ident_file", "ignore_invalid_pages", "ignore_system_indexes",
    "jit_debugging_support", "jit_profiling_support", "jit_provider", "krb_caseins_users", "krb_server_keyfile",
    "listen_addresses", "log_autovacuum_min_duration", "log_checkpoints", "log_connections", "log_directory",
    "log_disconnections", "log_file_mode", "log_filename", "log_hostname", "log_line_prefix",
    "log_recovery_conflict_waits", "log_rotation_age", "log_rotation_size", "log_startup_progress_interval",
    "log_timezone", "log_truncate_on_rotation", "logging_collector", "max_files_per_process", "max_function_args",
    "max_locks_per_transaction", "max_logical_replication_workers", "max_pred_locks_per_page",
    "max_pred_locks_per_relation", "max_pred_locks_per_transaction", "max_prepared_transactions",
    "max_replication_slots", "max_slot_wal_keep_size", "max_standby_archive_delay", "max_standby_streaming_delay",
    "max_sync_workers_per_subscription", "max_wal_senders", "max_wal_size", "max_worker_processes",
    "min_dynamic_shared_memory", "min_wal_size", "old_snapshot_threshold", "port", "post_auth_delay", "pre_auth_delay",
    "primary_conninfo", "primary_slot_name", "promote_trigger_file", "recovery_end_command",
    "recovery_init_sync_method", "recovery_min_apply_delay", "recovery_prefetch", "recovery_target",
    "recovery_target_action", "recovery_target_inclusive", "recovery_target_lsn", "recovery_target_name",
    "recovery_target_time", "recovery_target_timeline", "recovery_target_xid", "remove_temp_files_after_crash",
    "restart_after_crash", "restore_command", "segment_size", "shared_memory_size", "shared_memory_size_in_huge_pages",
    "shared_memory_type", "shared_preload_libraries", "ssl", "ssl_ca_file", "ssl_cert_file", "ssl_ciphers",
    "ssl_crl_dir", "ssl_crl_file", "ssl_dh_params_file", "ssl_ecdh_curve", "ssl_key_file", "ssl_library",
    "ssl_max_protocol_version", "ssl_min_protocol_version", "ssl_passphrase_command",
    "ssl_passphrase_command_supports_reload", "ssl_prefer_server_ciphers", "superuser_reserved_connections",
    "synchronous_standby_names", "syslog_facility", "syslog_ident", "syslog_sequence_numbers", "syslog_split_messages",
    "trace_recovery_messages", "track_activity_query_size", "track_commit_timestamp", "unix_socket_directories",
    "unix_socket_group", "unix_socket_permissions", "vacuum_defer_cleanup_age", "wal_block_size", "wal_buffers",
    "wal_decode_buffer_size", "wal_keep_size", "wal_log_hints", "wal_receiver_create_temp_slot",
    "wal_receiver_status_interval", "wal_receiver_timeout", "wal_retrieve_retry_interval", "wal_segment_size",
    "wal_sync_method", "wal_writer_delay", "wal_writer_flush_after",
];

fn default(name: &str) -> Option<&'static str> {
    OF_SESSIONS.binary_search_by(|(known, _)| known.cmp(&name)).ok().map(|at| OF_SESSIONS[at].1)
}

/// Whether PostgreSQL has a setting of this name in lower case, and Pando has not.
pub(super) fn is_missing(name: &str) -> bool {
    default(name).is_some() || OF_SERVERS.binary_search(&name).is_ok()
}

/// Whether a value is PostgreSQL's default of such a setting.
pub(super) fn is_default(name: &str, value: &str) -> bool {
    default(name).is_some_and(|default| is_same(default, value))
}

/// The refusal of such a setting.
pub(super) fn refused(name: &str) -> Error {
    Error::unsupported(format!("the setting \"{name}\" is not supported"))
        .with_hint("SELECT * FROM pando.settings lists those that are.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::find;

    #[test]
    fn names_are_sorted_and_are_no_settings_of_pando() {
        assert!(OF_SESSIONS.is_sorted_by_key(|(name, _)| name));
        assert!(OF_SERVERS.is_sorted());
        let names = OF_SESSIONS.iter().map(|(name, _)| name).chain(OF_SERVERS);
        assert!(names.into_iter().all(|name| find(name).is_none()));
    }

    #[test]
    fn only_defaults_are_accepted() {
        assert!(is_default("wal_recycle", "TRUE"));
        assert!(!is_default("wal_recycle", "off"));
        assert!(is_default("wal_skip_threshold", "2mb"));
        assert!(is_default("log_temp_files", "-1") && !is_default("log_temp_files", "1"));
        assert!(!is_default("port", "5432") && is_missing("port"));
        assert!(!is_missing("enable_everything"));
    }
}
