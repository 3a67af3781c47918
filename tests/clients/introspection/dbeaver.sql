-- DBeaver's navigator: what it asks at connect and when a schema is opened; shaped like the queries of its PostgreSQL model.

-- query settings_at_connect
SET extra_float_digits = 3

-- query application_name
SET application_name = 'DBeaver - Main'

-- query search_path
SHOW search_path

-- query who_and_where
SELECT current_schema(), session_user

-- query reset_search_path
SELECT reset_val FROM pg_settings WHERE name = 'search_path'

-- query version
SELECT version()

-- query database
-- parameters: ["{database}"]
SELECT db.oid, db.datname FROM pg_catalog.pg_database db WHERE datname = $1

-- query database_whole
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate ORDER BY db.datname

-- query schemas
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
ORDER BY nspname

-- query does_the_server_have
SELECT typcategory FROM pg_catalog.pg_type WHERE 1 <> 1 LIMIT 1

-- query data_types
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')

-- query tables
-- parameters: ["{namespace}"]
-- rows: [["*", "things", "r", "true", "1", "false", "all of it", null, null], ["*", "ser_id_seq", "S", "false", "0", "false", null, null, null], ["*", "ser", "r", "true", "0", "false", null, null, null], ["*", "seen", "v", "false", "0", "false", null, null, null]]
SELECT c.oid, c.relname, c.relkind, c.relhasindex, c.relchecks, c.relispartition, d.description,
       pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = $1 AND c.relkind NOT IN ('i', 'I', 'c')

-- query tables_whole
-- parameters: ["{namespace}"]
SELECT c.oid AS oid_again, c.* FROM pg_catalog.pg_class c WHERE c.relnamespace = $1 AND c.relkind NOT IN ('i', 'I', 'c')

-- query columns
-- parameters: ["{namespace}"]
-- rows: [["things", "a", "1", "true", "false", "", "", "integer", null, null, null], ["things", "b", "2", "true", "true", "", "", "character varying(20)", "'none'::character varying", null, null], ["things", "c", "3", "false", "false", "", "", "numeric(12,3)", null, "a number", null], ["things", "d", "4", "false", "false", "", "", "timestamp with time zone", null, null, null], ["things", "e", "5", "false", "false", "", "", "text[]", null, null, null], ["things", "f", "6", "false", "true", "", "", "double precision", "1.5", null, null]]
SELECT c.relname, a.attname, a.attnum, a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
       pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND a.attnum > 0 AND c.relkind NOT IN ('i', 'I', 'c') AND c.relname = 'things' AND c.relnamespace = $1 ORDER BY a.attnum

-- query columns_whole
-- parameters: ["{oid}"]
SELECT a.* FROM pg_catalog.pg_attribute a WHERE a.attrelid = $1 AND NOT a.attisdropped ORDER BY a.attnum

-- query constraints
-- parameters: ["{namespace}"]
-- rows: [["*", "things_pkey", "p", "[2, 1]", "things", null, null, null], ["*", "ser_pkey", "p", "[1]", "ser", null, null, null]]
SELECT c.oid, c.conname, c.contype, c.conkey, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description,
       pg_catalog.pg_get_expr(c.conbin, c.conrelid) AS consrc_copy
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE t.relnamespace = $1 AND c.contype = 'p' ORDER BY c.oid

-- query constraint_text
-- parameters: ["{oid}"]
-- rows: [["things_pkey", "PRIMARY KEY (b, a)"]]
SELECT conname, pg_catalog.pg_get_constraintdef(oid, true) AS text FROM pg_catalog.pg_constraint WHERE conrelid = $1 AND contype = 'p'

-- query indexes
-- parameters: ["{oid}"]
-- rows: [["true", "true", "2 1", "things_pkey", "btree", "things", null, null, null, "*", "*"]]
SELECT i.indisunique, i.indisprimary, i.indkey, c.relname, am.amname AS index_method, tc.relname AS tabrelname, dsc.description,
       pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr,
       pg_catalog.pg_relation_size(i.indexrelid) AS index_rel_size, pg_catalog.pg_stat_get_numscans(i.indexrelid) AS index_num_scans_size
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
LEFT OUTER JOIN pg_catalog.pg_am am ON am.oid = c.relam
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid
WHERE i.indrelid = $1 ORDER BY tabrelname, c.relname

-- query sizes
-- parameters: ["{oid}"]
-- rows: [["*", "*"]]
SELECT pg_catalog.pg_total_relation_size($1) AS total_rel_size, pg_catalog.pg_relation_size($1) AS rel_size

-- query view_text
-- rows: [["true"]]
SELECT pg_catalog.pg_get_viewdef(c.oid, true) IS NOT NULL AS has_text FROM pg_catalog.pg_class c WHERE c.relname = 'seen' AND c.relnamespace = {namespace}

-- query sequences
-- parameters: ["{namespace}"]
-- rows: [["ser_id_seq", "1", "1", "1", "false"]]
SELECT c.relname, s.seqstart, s.seqincrement, s.seqmin, s.seqcycle FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid WHERE c.relnamespace = $1

-- query triggers_rules_policies
-- parameters: ["{oid}"]
-- rows: [["0", "0", "0", "0"]]
SELECT (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = $1 AND NOT tgisinternal) AS triggers,
       (SELECT count(*) FROM pg_catalog.pg_rewrite WHERE ev_class = $1) AS rules, (SELECT count(*) FROM pg_catalog.pg_policy WHERE polrelid = $1) AS policies,
       (SELECT count(*) FROM pg_catalog.pg_inherits WHERE inhparent = $1) AS children

-- query functions
-- parameters: ["{namespace}"]
-- rows: []
SELECT p.oid, p.proname, pg_catalog.format_type(p.prorettype, NULL), pg_catalog.pg_get_function_identity_arguments(p.oid) FROM pg_catalog.pg_proc p WHERE p.pronamespace = $1

-- query roles
SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid ORDER BY a.rolname

-- query extensions_tablespaces_languages_encodings
SELECT (SELECT count(*) FROM pg_catalog.pg_extension) IS NOT NULL, (SELECT count(*) FROM pg_catalog.pg_tablespace) IS NOT NULL,
       (SELECT count(*) FROM pg_catalog.pg_language) IS NOT NULL, (SELECT count(*) FROM pg_catalog.pg_foreign_server) IS NOT NULL,
       (SELECT count(*) FROM pg_catalog.pg_event_trigger) IS NOT NULL, (SELECT count(*) FROM pg_catalog.pg_collation) IS NOT NULL

-- query keywords
SELECT word FROM pg_catalog.pg_get_keywords() WHERE word = 'select'

-- query sessions
SELECT sa.datname, sa.usename, sa.state, sa.query FROM pg_catalog.pg_stat_activity sa WHERE sa.pid = pg_catalog.pg_backend_pid()

-- query locks
SELECT count(*) >= 0 FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid WHERE NOT l.granted
