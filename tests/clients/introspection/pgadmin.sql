-- pgAdmin 4: at connect, the dashboard and the browser tree; shaped like its templates.

-- query connect
SET DateStyle = ISO; SET client_min_messages = notice; SELECT set_config('bytea_output', 'hex', false) FROM pg_show_all_settings() WHERE name = 'bytea_output'; SET client_encoding = 'UTF8'

-- query server
SELECT db.oid AS did, db.datname, db.datallowconn, pg_encoding_to_char(db.encoding) AS serverencoding,
       has_database_privilege(db.oid, 'CREATE') AS cancreate, datistemplate
FROM pg_catalog.pg_database db WHERE db.datname = current_database()

-- query me
SELECT roles.oid AS id, roles.rolname AS name, roles.rolsuper AS is_superuser,
       CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END AS can_create_role,
       CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can_create_db,
       CASE WHEN 'pg_signal_backend' = ANY(ARRAY(WITH RECURSIVE cte AS (
            SELECT pg_roles.oid, pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid
            UNION ALL SELECT m.roleid, pgr.rolname FROM cte cte_1 JOIN pg_auth_members m ON m.member = cte_1.oid JOIN pg_roles pgr ON pgr.oid = m.roleid)
            SELECT rolname FROM cte)) THEN true ELSE false END AS can_signal_backend
FROM pg_catalog.pg_roles AS roles WHERE rolname = current_user

-- query in_recovery
SELECT CASE WHEN usesuper THEN pg_is_in_recovery() ELSE false END AS inrecovery, CASE WHEN usesuper AND pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END AS isreplaypaused
FROM pg_catalog.pg_user WHERE usename = current_user

-- query gss
SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()

-- query dashboard
SELECT 'session_stats' AS chart_name, pg_catalog.row_to_json(t)::jsonb IS NOT NULL AS chart_data
FROM (SELECT (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = (SELECT datname FROM pg_catalog.pg_database WHERE datname = '{database}')) AS "Total",
             (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE state = 'active') AS "Active",
             (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE state = 'idle') AS "Idle") t
UNION ALL
SELECT 'tps_stats', pg_catalog.row_to_json(t)::jsonb IS NOT NULL
FROM (SELECT (SELECT sum(xact_commit) + sum(xact_rollback) FROM pg_catalog.pg_stat_database) AS "Transactions",
             (SELECT sum(xact_commit) FROM pg_catalog.pg_stat_database) AS "Commits", (SELECT sum(xact_rollback) FROM pg_catalog.pg_stat_database) AS "Rollbacks") t

-- query dashboard_counts_are_numbers
-- rows: [["true", "true", "true"]]
SELECT sum(tup_inserted) + sum(tup_updated) + sum(tup_deleted) >= 0 AS "tuples in", sum(tup_fetched) + sum(tup_returned) >= 0 AS "tuples out",
       sum(blks_read) + sum(blks_hit) >= 0 AS "blocks" FROM pg_catalog.pg_stat_database

-- query dashboard_sessions
SELECT pid, datname, usename, application_name, client_addr, to_char(backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') AS backend_start, state,
       wait_event_type || ': ' || wait_event AS wait_event, pg_catalog.pg_blocking_pids(pid) AS blocking_pids, query,
       to_char(state_change, 'YYYY-MM-DD HH24:MI:SS TZ') AS state_change, to_char(query_start, 'YYYY-MM-DD HH24:MI:SS TZ') AS query_start, backend_type,
       CASE WHEN state = 'active' THEN round((extract(epoch FROM now() - query_start) / 60)::numeric, 2) ELSE 0 END AS active_since
FROM pg_catalog.pg_stat_activity WHERE datname = (SELECT datname FROM pg_catalog.pg_database WHERE datname = '{database}') ORDER BY pid

-- query dashboard_locks
SELECT pid, locktype, datname, relation::regclass, page, tuple, virtualxid AS transactionid, classid::regclass, objid, objsubid, virtualtransaction, mode, granted, fastpath
FROM pg_catalog.pg_locks l LEFT OUTER JOIN pg_catalog.pg_database d ON (l.database = d.oid) ORDER BY pid, locktype

-- query dashboard_prepared_transactions
-- rows: []
SELECT gid, database, owner, transaction, pg_catalog.to_char(prepared, 'YYYY-MM-DD HH24:MI:SS TZ') AS prepared FROM pg_catalog.pg_prepared_xacts
WHERE database = (SELECT datname FROM pg_catalog.pg_database WHERE datname = '{database}') AND owner <> '{schema}' ORDER BY gid, database, owner

-- query dashboard_settings
SELECT name, category, setting, unit, short_desc FROM pg_catalog.pg_show_all_settings() ORDER BY category

-- query dashboard_log
SELECT setting FROM pg_catalog.pg_settings WHERE name = 'log_destination'

-- query dashboard_replication_whole
SELECT * FROM pg_catalog.pg_stat_replication

-- query dashboard_slots_whole
SELECT * FROM pg_catalog.pg_replication_slots

-- query schemas
-- rows: [["*", "{schema}", "true", "true", null]]
SELECT nsp.oid, nsp.nspname AS name, has_schema_privilege(nsp.oid, 'CREATE') AS can_create, has_schema_privilege(nsp.oid, 'USAGE') AS has_usage, des.description
FROM pg_catalog.pg_namespace nsp
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = nsp.oid AND des.classoid = 'pg_namespace'::regclass)
WHERE nspname NOT LIKE E'pg\\_%' AND nsp.nspname = '{schema}' ORDER BY nspname

-- query tables
-- rows: [["*", "ser", "0", "0", null], ["*", "things", "0", "0", "all of it"]]
SELECT rel.oid, rel.relname AS name, (SELECT count(*) FROM pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = false) AS triggercount,
       (SELECT count(*) FROM pg_inherits WHERE inhrelid = rel.oid LIMIT 1) AS is_inherits, des.description
FROM pg_class rel
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = {namespace}::oid AND NOT rel.relispartition ORDER BY rel.relname

-- query columns
-- rows: [["a", "*", "integer", "true", "false", null], ["b", "*", "character varying", "true", "true", null], ["c", "*", "numeric", "false", "false", "a number"], ["d", "*", "timestamp with time zone", "false", "false", null], ["e", "*", "text[]", "false", "false", null], ["f", "*", "double precision", "false", "true", null]]
SELECT att.attname AS name, att.attnum AS "OID", pg_catalog.format_type(att.atttypid, NULL) AS datatype, att.attnotnull AS not_null,
       CASE WHEN att.atthasdef OR att.attidentity <> '' OR ty.typdefault IS NOT NULL THEN true ELSE false END AS has_default_val, des.description
FROM pg_catalog.pg_attribute att
JOIN pg_catalog.pg_type ty ON ty.oid = atttypid
JOIN pg_catalog.pg_namespace tn ON tn.oid = ty.typnamespace
JOIN pg_catalog.pg_class cl ON cl.oid = att.attrelid
JOIN pg_catalog.pg_namespace na ON na.oid = cl.relnamespace
LEFT OUTER JOIN pg_catalog.pg_attrdef def ON adrelid = att.attrelid AND adnum = att.attnum
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = att.attrelid AND des.objsubid = att.attnum AND des.classoid = 'pg_class'::regclass)
WHERE att.attrelid = {oid}::oid AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum

-- query primary_key
-- rows: [["things_pkey", null, "2", "false"]]
SELECT cls.relname AS name, CASE contype WHEN 'p' THEN desp.description WHEN 'u' THEN desp.description ELSE des.description END AS comment, indnkeyatts AS col_count, con.condeferrable
FROM pg_catalog.pg_index idx
JOIN pg_catalog.pg_class cls ON cls.oid = indexrelid
LEFT JOIN pg_catalog.pg_depend dep ON (dep.classid = cls.tableoid AND dep.objid = cls.oid AND dep.refobjsubid = '0' AND dep.refclassid = (SELECT oid FROM pg_catalog.pg_class WHERE relname = 'pg_constraint') AND dep.deptype = 'i')
LEFT OUTER JOIN pg_catalog.pg_constraint con ON (con.tableoid = dep.refclassid AND con.oid = dep.refobjid)
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = cls.oid AND des.classoid = 'pg_class'::regclass)
LEFT OUTER JOIN pg_catalog.pg_description desp ON (desp.objoid = con.oid AND desp.objsubid = 0 AND desp.classoid = 'pg_constraint'::regclass)
WHERE indrelid = {oid}::oid AND contype = 'p' ORDER BY cls.relname

-- query primary_key_columns
-- rows: [["b"], ["a"]]
SELECT pg_catalog.pg_get_indexdef(i.indexrelid, gs.n, true) AS column
FROM pg_catalog.pg_index i, generate_series(1, 2) AS gs(n) WHERE i.indrelid = {oid} AND i.indisprimary ORDER BY gs.n

-- query statistics
-- rows: [["0", "0", "*"]]
SELECT seq_scan AS "Sequential scans", n_live_tup AS "Live tuples", pg_catalog.pg_size_pretty(pg_catalog.pg_relation_size(stat.relid)) AS "Table size"
FROM pg_catalog.pg_stat_all_tables stat WHERE stat.relid = {oid}::oid

-- query dependents
-- rows: []
SELECT DISTINCT dep.deptype, dep.classid, cl.relkind FROM pg_catalog.pg_depend dep LEFT JOIN pg_catalog.pg_class cl ON dep.objid = cl.oid WHERE dep.refobjid = {oid}::oid AND cl.relkind = 'v'

-- query view_data
-- rows: [["a", "1", "int4"], ["b", "2", "varchar"]]
SELECT at.attname, at.attnum, ty.typname FROM pg_catalog.pg_attribute at LEFT JOIN pg_catalog.pg_type ty ON (ty.oid = at.atttypid)
WHERE attrelid = {oid}::oid AND attnum = ANY((SELECT con.conkey FROM pg_catalog.pg_class rel LEFT OUTER JOIN pg_catalog.pg_constraint con ON con.conrelid = rel.oid AND con.contype = 'p' WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.oid = {oid}::oid)::oid[])

-- query first_rows
-- rows: []
SELECT * FROM {schema}.things ORDER BY b ASC, a ASC LIMIT 100
