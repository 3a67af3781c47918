-- Prisma: `prisma db pull`, one query a kind of thing; shaped like what its schema engine asks.

-- query connect
-- rows: []
SET search_path = "{schema}"

-- query version
SELECT version(), current_setting('server_version_num')::integer AS numeric_version

-- query is_the_schema_there
-- parameters: ["{schema}"]
-- rows: [["true"]]
SELECT EXISTS(SELECT 1 FROM pg_namespace WHERE nspname = $1) AS there

-- query namespaces
-- parameters: ["{schema}"]
-- rows: [["{schema}"]]
SELECT namespace.nspname AS namespace_name FROM pg_namespace AS namespace WHERE namespace.nspname = ANY(string_to_array($1, ',')) ORDER BY namespace_name

-- query tables
-- parameters: ["{schema}"]
-- rows: [["ser", "{schema}", "false", "false", "false", null, null], ["things", "{schema}", "false", "false", "false", null, "all of it"]]
SELECT tbl.relname AS table_name, namespace.nspname AS namespace, (tbl.relhassubclass AND tbl.relkind = 'p') AS is_partition, (tbl.relhassubclass AND tbl.relkind = 'r') AS has_subclass,
       tbl.relrowsecurity AS has_row_level_security, reloptions, obj_description(tbl.oid, 'pg_class') AS description
FROM pg_class AS tbl INNER JOIN pg_namespace AS namespace ON namespace.oid = tbl.relnamespace
WHERE ((tbl.relkind = 'r' AND tbl.relispartition = 'f') OR tbl.relkind = 'p') AND namespace.nspname = ANY(ARRAY[$1::text]) ORDER BY namespace, table_name

-- query columns
-- parameters: ["{schema}"]
-- rows: [["{schema}", "things", "a", "integer", "32", "0", "2", null, "integer", "pg_catalog", "int4", null, "NO", "NO", null, null], ["{schema}", "things", "b", "character varying(20)", null, null, null, null, "character varying", "pg_catalog", "varchar", "'none'::character varying", "NO", "NO", "20", null], ["{schema}", "things", "c", "numeric(12,3)", "12", "3", "10", null, "numeric", "pg_catalog", "numeric", null, "YES", "NO", null, "a number"], ["{schema}", "things", "d", "timestamp with time zone", null, null, null, "6", "timestamp with time zone", "pg_catalog", "timestamptz", null, "YES", "NO", null, null], ["{schema}", "things", "e", "text[]", null, null, null, null, "ARRAY", "pg_catalog", "_text", null, "YES", "NO", null, null], ["{schema}", "things", "f", "double precision", "53", null, "2", null, "double precision", "pg_catalog", "float8", "1.5", "YES", "NO", null, null]]
SELECT oid.namespace, info.table_name, info.column_name, format_type(att.atttypid, att.atttypmod) AS formatted_type, info.numeric_precision, info.numeric_scale,
       info.numeric_precision_radix, info.datetime_precision, info.data_type, info.udt_schema AS type_schema_name, info.udt_name AS full_data_type,
       pg_get_expr(attdef.adbin, attdef.adrelid) AS column_default, info.is_nullable, info.is_identity, info.character_maximum_length,
       col_description(att.attrelid, ordinal_position) AS description
FROM information_schema.columns info
JOIN pg_attribute att ON att.attname = info.column_name
JOIN (SELECT pg_class.oid, relname, pg_namespace.nspname AS namespace FROM pg_class JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
      AND pg_namespace.nspname = ANY(ARRAY[$1::text]) WHERE reltype > 0) AS oid ON oid.oid = att.attrelid AND relname = info.table_name AND namespace = info.table_schema
LEFT OUTER JOIN pg_attrdef attdef ON attdef.adrelid = att.attrelid AND attdef.adnum = att.attnum AND table_schema = namespace
WHERE info.table_name = 'things' ORDER BY namespace, table_name, ordinal_position

-- query indexes_and_primary_keys
-- parameters: ["{schema}"]
-- rows: [["{schema}", "ser_pkey", "ser", "id", "true", "true", "0", "ASC", "false", "false", "false"], ["{schema}", "things_pkey", "things", "b", "true", "true", "0", "ASC", "false", "false", "false"], ["{schema}", "things_pkey", "things", "a", "true", "true", "1", "ASC", "false", "false", "false"]]
WITH rawindex AS (SELECT indrelid, indexrelid, indisunique, indisprimary, unnest(indkey) AS indkeyid, generate_subscripts(indkey, 1) AS indkeyidx, unnest(indclass) AS indclass, unnest(indoption) AS indoption
                  FROM pg_index WHERE indpred IS NULL AND NOT indisexclusion)
SELECT schemainfo.nspname AS namespace, indexinfo.relname AS index_name, tableinfo.relname AS table_name, columninfo.attname AS column_name,
       rawindex.indisunique AS is_unique, rawindex.indisprimary AS is_primary_key, rawindex.indkeyidx AS column_index,
       CASE rawindex.indoption & 1 WHEN 1 THEN 'DESC' ELSE 'ASC' END AS column_order, CASE rawindex.indoption & 2 WHEN 2 THEN true ELSE false END AS nulls_first,
       pc.condeferrable, pc.condeferred
FROM rawindex
INNER JOIN pg_class AS tableinfo ON tableinfo.oid = rawindex.indrelid
INNER JOIN pg_class AS indexinfo ON indexinfo.oid = rawindex.indexrelid
INNER JOIN pg_namespace AS schemainfo ON schemainfo.oid = tableinfo.relnamespace
LEFT JOIN pg_attribute AS columninfo ON columninfo.attrelid = tableinfo.oid AND columninfo.attnum = rawindex.indkeyid
LEFT JOIN pg_constraint pc ON rawindex.indexrelid = pc.conindid AND pc.contype <> 'f'
WHERE schemainfo.nspname = ANY(ARRAY[$1::text]) ORDER BY namespace, table_name, index_name, column_index

-- query foreign_keys
-- parameters: ["{schema}"]
-- rows: []
SELECT con.oid, att2.attname AS child_column, cl.relname AS parent_table, con.confdeltype, con.confupdtype, con.conname
FROM (SELECT unnest(con1.conkey) AS parent, unnest(con1.confkey) AS child, cl.relname, con1.oid, con1.confrelid, con1.conrelid, con1.conname, con1.confdeltype, con1.confupdtype
      FROM pg_class cl JOIN pg_constraint con1 ON con1.conrelid = cl.oid JOIN pg_namespace ns1 ON ns1.oid = cl.relnamespace
      WHERE con1.contype = 'f' AND ns1.nspname = ANY(ARRAY[$1::text])) con
JOIN pg_attribute att ON att.attrelid = con.confrelid AND att.attnum = con.child
JOIN pg_class cl ON cl.oid = con.confrelid JOIN pg_attribute att2 ON att2.attrelid = con.conrelid AND att2.attnum = con.parent ORDER BY con.oid

-- query constraints
-- parameters: ["{schema}"]
-- rows: [["{schema}", "things", "positive", "c", "true", "false", "false"]]
SELECT schemainfo.nspname AS namespace, tableinfo.relname AS table_name, constr.conname AS constraint_name, constr.contype AS constraint_type,
       CASE WHEN constr.contype = 'c' THEN pg_get_constraintdef(constr.oid) IS NOT NULL END AS has_definition, constr.condeferrable AS is_deferrable, constr.condeferred
FROM pg_constraint constr JOIN pg_class AS tableinfo ON tableinfo.oid = constr.conrelid JOIN pg_namespace AS schemainfo ON schemainfo.oid = tableinfo.relnamespace
WHERE schemainfo.nspname = ANY(ARRAY[$1::text]) AND contype NOT IN ('p', 'u', 'f') ORDER BY namespace, table_name, constr.contype, constraint_name

-- query sequences
-- parameters: ["{schema}"]
-- rows: [["ser_id_seq", "{schema}", "1", "1", "1", "false", "*"]]
SELECT sequencename AS sequence_name, schemaname AS namespace, start_value, min_value, increment_by, cycle, cache_size FROM pg_sequences WHERE schemaname = ANY(ARRAY[$1::text]) ORDER BY sequence_name

-- query enums
-- parameters: ["{schema}"]
-- rows: []
SELECT t.typname AS name, e.enumlabel AS value, n.nspname AS namespace FROM pg_type t JOIN pg_enum e ON t.oid = e.enumtypid JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE n.nspname = ANY(ARRAY[$1::text]) ORDER BY e.enumsortorder

-- query views
-- parameters: ["{schema}"]
-- rows: [["seen", "true", "{schema}", null]]
SELECT views.viewname AS view_name, views.definition IS NOT NULL AS has_sql, views.schemaname AS namespace, obj_description(class.oid, 'pg_class') AS description
FROM pg_catalog.pg_views views INNER JOIN pg_catalog.pg_namespace ns ON views.schemaname = ns.nspname
INNER JOIN pg_catalog.pg_class class ON class.relnamespace = ns.oid AND class.relname = views.viewname WHERE schemaname = ANY(ARRAY[$1::text])

-- query procedures_and_extensions
-- parameters: ["{schema}"]
-- rows: []
SELECT p.proname AS name, n.nspname AS namespace, CASE WHEN l.lanname = 'internal' THEN p.prosrc ELSE pg_get_functiondef(p.oid) END AS definition
FROM pg_proc p LEFT JOIN pg_namespace n ON p.pronamespace = n.oid LEFT JOIN pg_language l ON p.prolang = l.oid WHERE n.nspname = ANY(ARRAY[$1::text])

-- query extensions
SELECT ext.extname AS extension_name, ext.extversion AS extension_version, ext.extrelocatable, pn.nspname FROM pg_extension ext INNER JOIN pg_namespace pn ON ext.extnamespace = pn.oid

-- query migration_lock_table
-- rows: [["false"]]
SELECT EXISTS(SELECT 1 FROM information_schema.tables WHERE table_schema = '{schema}' AND table_name = '_prisma_migrations') AS there
