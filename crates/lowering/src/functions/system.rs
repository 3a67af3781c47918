//! Functions on the catalog, the session and the server.

use super::{Make, Table, called, take};
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use analyzer::system::{Oid, SqlType, functions};
use catalog_views::functions::current_setting;
use catalog_views::pg_catalog::oids;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use std::sync::Arc;
use store::catalog::SqlType as Held;

pub(super) const TABLE: Table = &[
    ("pg_typeof(any)", Make::Own(type_of)),
    ("regclass(text)", Make::Named("regclassin")),
    ("nextval(regclass)", Make::Own(|of, args, to| of_sequence(of, "nextval", args, to))),
    ("currval(regclass)", Make::Own(|of, args, to| of_sequence(of, "currval", args, to))),
    (
        "setval(regclass,int8) setval(regclass,int8,bool)",
        Make::Own(|of, args, to| of_sequence(of, "setval", args, to)),
    ),
    ("current_setting(text) current_setting(text,bool)", Make::Own(setting)),
];

/// Functions of our own that have the names of PostgreSQL's, and take the types of their arguments.
const SAME: &str = "acldefault col_description current_database current_schema current_schemas format_type \
    getdatabaseencoding \
    has_any_column_privilege has_column_privilege has_database_privilege has_foreign_data_wrapper_privilege \
    has_function_privilege has_language_privilege has_schema_privilege has_sequence_privilege has_server_privilege \
    has_table_privilege has_tablespace_privilege has_type_privilege inet_client_addr inet_client_port inet_server_addr \
    inet_server_port lastval obj_description oidvectortypes pando_backup pando_backup_progress pando_restore_table pando_set_weight \
    pg_advisory_lock pg_advisory_lock_shared pg_advisory_unlock pg_advisory_unlock_all pg_advisory_unlock_shared \
    pg_advisory_xact_lock pg_advisory_xact_lock_shared pg_backend_pid pg_blocking_pids pg_trigger_depth \
    pg_cancel_backend pg_char_to_encoding pg_client_encoding pg_collation_is_visible pg_column_is_updatable pg_conf_load_time \
    pg_conversion_is_visible pg_current_xact_id pg_database_size pg_encoding_to_char pg_function_is_visible \
    pg_get_constraintdef pg_get_expr pg_get_function_arguments pg_get_function_identity_arguments \
    pg_get_function_result pg_get_function_sqlbody pg_get_functiondef pg_get_indexdef pg_get_partition_constraintdef \
    pg_get_partkeydef pg_get_replica_identity_index pg_get_ruledef pg_get_serial_sequence pg_get_statisticsobjdef \
    pg_get_statisticsobjdef_columns pg_get_triggerdef pg_get_userbyid pg_get_viewdef pg_has_role pg_index_column_has_property \
    pg_index_has_property pg_indexes_size \
    pg_is_in_recovery pg_is_other_temp_schema pg_is_wal_replay_paused pg_jit_available pg_last_wal_replay_lsn \
    pg_last_xact_replay_timestamp pg_notify pg_my_temp_schema pg_opclass_is_visible pg_operator_is_visible \
    pg_opfamily_is_visible pg_partition_root pg_postmaster_start_time pg_relation_filenode \
    pg_relation_is_publishable pg_relation_is_updatable pg_relation_size \
    pg_sequence_last_value pg_stat_clear_snapshot pg_stat_get_blocks_fetched pg_stat_get_dead_tuples \
    pg_stat_get_live_tuples pg_stat_get_numscans pg_statistics_obj_is_visible pg_table_is_visible pg_table_size \
    pg_tablespace_location pg_tablespace_size pg_terminate_backend pg_total_relation_size \
    pg_try_advisory_lock pg_try_advisory_lock_shared pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared \
    pg_ts_config_is_visible \
    pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible pg_type_is_visible row_security_active \
    set_config setseed shobj_description to_regclass to_regnamespace to_regproc to_regrole to_regtype txid_current \
    version";

/// All variants of the functions with the same names.
pub(super) fn same_names() -> impl Iterator<Item = (Oid, Make)> {
    SAME.split_whitespace()
        .flat_map(|name| functions::named(name).map(move |f| (f.oid, Make::Named(name))))
}

/// The id of the type of a value, which is known when the statement is planned.
fn type_of(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [value] = take(arguments)?;
    let id = match types::held(value.sql_type) {
        Ok(Held::User(user)) => oids::user_type(user.id),
        Ok(Held::Array(item)) if item.user_type().is_some() => {
            item.user_type().map_or(0, |user| oids::user_type(user.array))
        }
        _ => value.sql_type.oid.0.into(),
    };
    let id = ScalarValue::Int64(Some(id));
    Ok(Typed::constant(id, sql_type))
}

/// A function of a sequence, which takes the name instead of the id.
fn of_sequence(
    lowering: &Lowering<'_>,
    name: &str,
    mut arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    if let Some(sequence) = arguments.first_mut() {
        let text = SqlType::plain(Oid::TEXT);
        *sequence = match &sequence.expr {
            Expr::ScalarFunction(call) if call.name() == "regclassin" && call.args.len() == 1 => {
                Typed { expr: call.args[0].clone(), sql_type: text, data_type: DataType::Utf8View }
            }
            _ => lowering.registered("regclassout", vec![sequence.clone()], text)?,
        };
    }
    lowering.registered(name, arguments, sql_type)
}

/// A setting of the statement.
fn setting(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let settings = catalog_views::named_settings(lowering.around.engine);
    let function = current_setting(settings, lowering.around.functions.changing());
    let (expr, data_type) = called(&Arc::new(function), arguments)?;
    Typed::of(expr, data_type, sql_type)
}
