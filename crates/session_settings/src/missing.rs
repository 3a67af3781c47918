//! The settings that PostgreSQL 15 has and Pando has not: of its processes, files, replication, and connections.
//!
//! They are refused with 0A000, so that a name that is written wrong (42704) is told apart.

use values::Error;

/// All of them, sorted.
#[rustfmt::skip]
const MISSING: &[&str] = &[
    "allow_in_place_tablespaces", "allow_system_table_mods", "archive_cleanup_command", "archive_command",
    "archive_library", "archive_mode", "archive_timeout", "authentication_timeout", "autovacuum",
    "autovacuum_analyze_scale_factor", "autovacuum_analyze_threshold", "autovacuum_freeze_max_age",
    "autovacuum_max_workers", "autovacuum_multixact_freeze_max_age", "autovacuum_naptime",
    "autovacuum_vacuum_cost_delay", "autovacuum_vacuum_cost_limit", "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_threshold", "autovacuum_vacuum_scale_factor", "autovacuum_vacuum_threshold",
    "autovacuum_work_mem", "backtrace_functions", "bgwriter_delay", "bgwriter_flush_after", "bgwriter_lru_maxpages",
    "bgwriter_lru_multiplier", "bonjour", "bonjour_name", "checkpoint_completion_target", "checkpoint_flush_after",
    "checkpoint_timeout", "checkpoint_warning", "client_connection_check_interval", "cluster_name",
    "composite_type_mismatch", "config_file", "data_checksums", "data_directory", "data_directory_mode",
    "data_sync_retry", "db_user_namespace", "debug_assertions", "dynamic_library_path", "dynamic_shared_memory_type",
    "event_source", "exit_on_error", "external_pid_file", "fsync", "full_page_writes", "gin_fuzzy_search_limit",
    "hba_file", "hot_standby", "hot_standby_feedback", "huge_page_size", "huge_pages", "ident_file",
    "ignore_checksum_failure", "ignore_invalid_pages", "ignore_system_indexes", "jit_debugging_support",
    "jit_dump_bitcode", "jit_profiling_support", "jit_provider", "krb_caseins_users", "krb_server_keyfile",
    "listen_addresses", "lo_compat_privileges", "local_preload_libraries", "log_autovacuum_min_duration",
    "log_checkpoints", "log_connections", "log_directory", "log_disconnections", "log_executor_stats", "log_file_mode",
    "log_filename", "log_hostname", "log_line_prefix", "log_min_duration_sample", "log_min_duration_statement",
    "log_parameter_max_length", "log_parameter_max_length_on_error", "log_parser_stats", "log_planner_stats",
    "log_recovery_conflict_waits", "log_replication_commands", "log_rotation_age", "log_rotation_size",
    "log_startup_progress_interval", "log_statement_sample_rate", "log_temp_files", "log_timezone",
    "log_transaction_sample_rate", "log_truncate_on_rotation", "logging_collector", "logical_decoding_work_mem",
    "max_files_per_process", "max_function_args", "max_locks_per_transaction", "max_logical_replication_workers",
    "max_pred_locks_per_page", "max_pred_locks_per_relation", "max_pred_locks_per_transaction",
    "max_prepared_transactions", "max_replication_slots", "max_slot_wal_keep_size", "max_standby_archive_delay",
    "max_standby_streaming_delay", "max_sync_workers_per_subscription", "max_wal_senders", "max_wal_size",
    "max_worker_processes", "min_dynamic_shared_memory", "min_wal_size", "old_snapshot_threshold", "port",
    "post_auth_delay", "pre_auth_delay", "primary_conninfo", "primary_slot_name", "promote_trigger_file",
    "recovery_end_command", "recovery_init_sync_method", "recovery_min_apply_delay", "recovery_prefetch",
    "recovery_target", "recovery_target_action", "recovery_target_inclusive", "recovery_target_lsn",
    "recovery_target_name", "recovery_target_time", "recovery_target_timeline", "recovery_target_xid",
    "remove_temp_files_after_crash", "restart_after_crash", "restore_command", "segment_size",
    "session_preload_libraries", "session_replication_role", "shared_memory_size", "shared_memory_size_in_huge_pages",
    "shared_memory_type", "shared_preload_libraries", "ssl", "ssl_ca_file", "ssl_cert_file", "ssl_ciphers",
    "ssl_crl_dir", "ssl_crl_file", "ssl_dh_params_file", "ssl_ecdh_curve", "ssl_key_file", "ssl_library",
    "ssl_max_protocol_version", "ssl_min_protocol_version", "ssl_passphrase_command",
    "ssl_passphrase_command_supports_reload", "ssl_prefer_server_ciphers", "superuser_reserved_connections",
    "synchronous_standby_names", "syslog_facility", "syslog_ident", "syslog_sequence_numbers", "syslog_split_messages",
    "tcp_keepalives_count", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_user_timeout", "temp_file_limit",
    "temp_tablespaces", "timezone_abbreviations", "trace_recovery_messages", "track_activity_query_size",
    "track_commit_timestamp", "track_wal_io_timing", "unix_socket_directories", "unix_socket_group",
    "unix_socket_permissions", "update_process_title", "vacuum_cost_delay", "vacuum_defer_cleanup_age",
    "wal_block_size", "wal_buffers", "wal_consistency_checking", "wal_decode_buffer_size", "wal_init_zero",
    "wal_keep_size", "wal_log_hints", "wal_receiver_create_temp_slot", "wal_receiver_status_interval",
    "wal_receiver_timeout", "wal_recycle", "wal_retrieve_retry_interval", "wal_segment_size", "wal_sender_timeout",
    "wal_skip_threshold", "wal_sync_method", "wal_writer_delay", "wal_writer_flush_after", "zero_damaged_pages",
];

/// Whether PostgreSQL has a setting of this name in lower case, and Pando has not.
pub(crate) fn is_missing(name: &str) -> bool {
    MISSING.binary_search(&name).is_ok()
}

/// The refusal of such a setting.
pub(crate) fn refused(name: &str) -> Error {
    Error::unsupported(format!("the setting \"{name}\" is not supported"))
        .with_hint("SELECT * FROM pando.settings lists those that are.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::find;

    #[test]
    fn names_are_sorted_and_are_no_settings_of_pando() {
        assert!(MISSING.is_sorted());
        assert!(MISSING.iter().all(|name| find(name).is_none()));
        assert!(is_missing("port") && !is_missing("enable_everything"));
    }
}
