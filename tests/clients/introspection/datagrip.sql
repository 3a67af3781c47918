-- DataGrip (and the other JetBrains tools): at connect and when a schema is introspected; shaped like what users' logs show.

-- query connect
SELECT current_database() AS a, current_schemas(false) IS NOT NULL AS b

-- query isolation
SHOW TRANSACTION ISOLATION LEVEL

-- query startup_time
SELECT round(extract(epoch FROM pg_postmaster_start_time() AT TIME ZONE 'UTC')) > 0 AS startup_time

-- query oldest_transaction
SELECT l.transactionid::varchar::bigint AS transaction_id FROM pg_catalog.pg_locks l
WHERE l.transactionid IS NOT NULL ORDER BY pg_catalog.age(l.transactionid) DESC LIMIT 1

-- query current_transaction
SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN 1 ELSE (pg_catalog.txid_current() % 4294967296)::varchar::bigint END > 0 AS current_txid

-- query databases
SELECT n.oid::bigint AS id, n.datname AS name, d.description, n.datistemplate AS is_template, n.datallowconn AS allow_connections, pg_catalog.pg_get_userbyid(n.datdba) AS owner
FROM pg_catalog.pg_database n LEFT JOIN pg_catalog.pg_shdescription d ON n.oid = d.objoid
WHERE n.datname = '{database}' ORDER BY CASE WHEN datname = pg_catalog.current_database() THEN -1::bigint ELSE n.oid::bigint END

-- query schemas
-- rows: [["*", "*", "{schema}", null, "{user}"]]
SELECT n.oid::bigint AS id, n.xmin AS state_number, nspname AS name, d.description, pg_catalog.pg_get_userbyid(n.nspowner) AS owner
FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_description d ON n.oid = d.objoid
WHERE nspname = '{schema}' ORDER BY CASE WHEN nspname = pg_catalog.current_schema() THEN -1::bigint ELSE n.oid::bigint END

-- query time_zones_and_names
SELECT count(*) > 0 AS some FROM (SELECT name, is_dst FROM pg_catalog.pg_timezone_names UNION DISTINCT SELECT abbrev AS name, is_dst FROM pg_catalog.pg_timezone_abbrevs) z

-- query may_see_authid
SELECT pg_catalog.has_table_privilege('pg_catalog.pg_roles', 'select') AS may

-- query roles
SELECT r.oid::bigint AS role_id, rolname AS role_name, rolsuper AS is_super, rolinherit AS is_inherit, rolcreaterole AS can_createrole, rolcreatedb AS can_createdb,
       rolcanlogin AS can_login, rolconnlimit AS conn_limit, rolvaliduntil AS valid_until, rolbypassrls AS bypass_rls, rolconfig AS config, d.description
FROM pg_catalog.pg_roles r LEFT JOIN pg_catalog.pg_shdescription d ON d.objoid = r.oid

-- query tablespaces
SELECT t.oid::bigint AS id, t.spcname AS name, t.xmin AS state_number, pg_catalog.pg_get_userbyid(t.spcowner) AS owner FROM pg_catalog.pg_tablespace t

-- query state_of_a_schema
-- rows: [["true", "true"]]
SELECT count(*) > 0 AS some, coalesce(max(greatest(c.age, 0)), 0) >= 0 AS aged FROM (
    SELECT pg_catalog.age(xmin) AS age FROM pg_catalog.pg_class WHERE relnamespace = {namespace}::oid
    UNION ALL SELECT pg_catalog.age(xmin) FROM pg_catalog.pg_type WHERE typnamespace = {namespace}::oid) c

-- query relations
-- rows: [["r", "things", "*", "*", "false", "0", null, "p", null, "false", null, null, "{user}"], ["r", "ser", "*", "*", "false", "0", null, "p", null, "false", null, null, "{user}"], ["v", "seen", "*", "*", "false", "0", null, "p", null, "false", null, null, "{user}"]]
SELECT t.relkind AS table_kind, t.relname AS table_name, t.oid AS table_id, t.xmin AS table_state_number, false AS table_with_oids,
       t.reltablespace AS tablespace_id, t.reloptions AS options, t.relpersistence AS persistence,
       (SELECT pg_catalog.array_agg(inhparent::bigint ORDER BY inhseqno)::varchar FROM pg_catalog.pg_inherits WHERE t.oid = inhrelid) AS ancestors,
       t.relispartition AS is_partition, pg_catalog.pg_get_partkeydef(t.oid) AS partition_key, pg_catalog.pg_get_expr(t.relpartbound, t.oid) AS partition_expression,
       pg_catalog.pg_get_userbyid(t.relowner) AS owner
FROM pg_catalog.pg_class t WHERE relnamespace = {namespace}::oid AND t.relkind IN ('r', 'm', 'v', 'f', 'p') ORDER BY table_kind, table_id

-- query columns
-- rows: [["things", "1", "a", "-1", "0", "integer", "23", "true", null, "false", "false", "", ""], ["things", "2", "b", "24", "0", "character varying(20)", "1043", "true", "'none'::character varying", "false", "false", "", ""], ["things", "3", "c", "786439", "0", "numeric(12,3)", "1700", "false", null, "false", "false", "", ""], ["things", "4", "d", "-1", "0", "timestamp with time zone", "1184", "false", null, "false", "false", "", ""], ["things", "5", "e", "-1", "1", "text[]", "1009", "false", null, "false", "false", "", ""], ["things", "6", "f", "-1", "0", "double precision", "701", "false", "1.5", "false", "false", "", ""]]
WITH t AS (SELECT DISTINCT t.oid AS table_id, t.relname AS table_name FROM pg_catalog.pg_class t WHERE t.relnamespace = {namespace}::oid AND t.relkind IN ('r', 'm', 'v', 'f', 'p'))
SELECT t.table_name, c.attnum AS column_position, c.attname AS column_name, c.atttypmod AS type_mod, c.attndims AS dimensions_number,
       pg_catalog.format_type(c.atttypid, c.atttypmod) AS type_spec, c.atttypid AS type_id, c.attnotnull AS mandatory,
       pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS column_default_expression, NOT c.attislocal AS column_is_inherited, c.attisdropped, c.attidentity, c.attgenerated
FROM t JOIN pg_catalog.pg_attribute c ON t.table_id = c.attrelid
LEFT JOIN pg_catalog.pg_attrdef d ON (c.attrelid, c.attnum) = (d.adrelid, d.adnum)
WHERE attnum > 0 AND t.table_name = 'things' ORDER BY table_id, attnum

-- query indexes
-- rows: [["*", "r", "things_pkey", "true", "true", null, "btree", "false"], ["*", "r", "ser_pkey", "true", "true", null, "btree", "false"]]
SELECT tab.oid AS table_id, tab.relkind AS table_kind, ind_stor.relname AS index_name, ind_head.indisunique AS is_unique, ind_head.indisprimary AS is_primary,
       pg_catalog.pg_get_expr(ind_head.indpred, ind_head.indrelid) AS condition, am.amname AS access_method_name, ind_head.indnullsnotdistinct_is_new
FROM pg_catalog.pg_class tab
JOIN (SELECT i.*, false AS indnullsnotdistinct_is_new FROM pg_catalog.pg_index i) ind_head ON ind_head.indrelid = tab.oid
JOIN pg_catalog.pg_class ind_stor ON tab.relnamespace = ind_stor.relnamespace AND ind_head.indexrelid = ind_stor.oid
LEFT JOIN pg_catalog.pg_am am ON ind_stor.relam = am.oid
WHERE tab.relnamespace = {namespace}::oid AND tab.relkind IN ('r', 'm', 'v', 'p') AND ind_stor.relkind IN ('i', 'I')

-- query index_columns
-- rows: [["1", "b", "0"], ["2", "a", "0"]]
SELECT k AS position, pg_catalog.pg_get_indexdef(i.indexrelid, k, true) AS column_name, i.indoption[k - 1] AS column_options
FROM (SELECT indexrelid, indrelid, indoption, pg_catalog.generate_series(1, indnatts) AS k FROM pg_catalog.pg_index WHERE indrelid = {oid}::oid) i ORDER BY k

-- query constraints
-- rows: [["things", "positive", "c", "[3]", "false", "false", "true"], ["things", "things_pkey", "p", "[2, 1]", "false", "false", "false"], ["ser", "ser_pkey", "p", "[1]", "false", "false", "false"]]
SELECT t.relname, con.conname AS con_name, con.contype AS con_kind, con.conkey AS con_columns, con.condeferrable AS is_deferrable, con.condeferred AS is_init_deferred,
       pg_catalog.pg_get_expr(con.conbin, con.conrelid) IS NOT NULL AS has_expression
FROM pg_catalog.pg_constraint con JOIN pg_catalog.pg_class t ON con.conrelid = t.oid
WHERE t.relkind IN ('r', 'v', 'f', 'p') AND t.relnamespace = {namespace}::oid AND con.contype IN ('p', 'c') AND con.connamespace = {namespace}::oid

-- query view_sources
-- rows: [["v", "seen", "true"]]
SELECT t.relkind AS view_kind, t.relname, pg_catalog.pg_get_viewdef(t.oid, true) IS NOT NULL AS has_source FROM pg_catalog.pg_class t
JOIN pg_catalog.pg_namespace n ON t.relnamespace = n.oid WHERE n.oid = {namespace}::oid AND t.relkind IN ('m', 'v')

-- query descriptions
-- rows: [["0", "all of it"], ["3", "a number"]]
SELECT d.objsubid AS position, d.description FROM pg_catalog.pg_description d JOIN pg_catalog.pg_class c ON d.objoid = c.oid
WHERE c.relnamespace = {namespace}::oid AND d.classoid = 'pg_catalog.pg_class'::regclass ORDER BY 1

-- query privileges
-- rows: [["things", null], ["ser", null], ["seen", null]]
SELECT t.relname, t.relacl AS acl FROM pg_catalog.pg_class t WHERE t.relnamespace = {namespace}::oid AND t.relkind IN ('r', 'm', 'v', 'f', 'p')

-- query sequences
-- rows: [["1", "1", "false", "1", "ser_id_seq"]]
SELECT sq.seqstart, sq.seqincrement, sq.seqcycle, sq.seqcache, c.relname FROM pg_catalog.pg_sequence sq JOIN pg_catalog.pg_class c ON c.oid = sq.seqrelid WHERE c.relnamespace = {namespace}::oid

-- query rules_triggers_operators_casts
-- rows: [["0", "0", "0", "0", "*", "true", "true"]]
SELECT (SELECT count(*) FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class t ON t.oid = r.ev_class WHERE t.relnamespace = {namespace}::oid AND r.rulename <> '_RETURN') AS rules,
       (SELECT count(*) FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = {namespace}::oid) AS triggers,
       (SELECT count(*) FROM pg_catalog.pg_operator WHERE oprnamespace = {namespace}::oid) AS operators,
       (SELECT count(*) FROM pg_catalog.pg_proc WHERE pronamespace = {namespace}::oid) AS routines,
       (SELECT count(*) FROM pg_catalog.pg_collation WHERE collnamespace = {namespace}::oid) AS collations,
       (SELECT count(*) FROM pg_catalog.pg_foreign_table) >= 0 AS foreign_tables, (SELECT count(*) FROM pg_catalog.pg_user_mapping) >= 0 AS mappings
