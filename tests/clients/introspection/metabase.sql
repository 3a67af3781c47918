-- Metabase's sync: tables, fields, keys, enums, privileges; shaped like what its PostgreSQL driver asks through pgjdbc.

-- query tables
-- rows: [["{schema}", "ser", "TABLE", null, "0"], ["{schema}", "things", "TABLE", "all of it", "0"], ["{schema}", "seen", "VIEW", null, null]]
SELECT n.nspname AS schema, c.relname AS name,
       CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' END AS type,
       d.description, stat.n_live_tup AS estimated_row_count
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
LEFT JOIN pg_catalog.pg_description AS d ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
LEFT JOIN pg_stat_user_tables AS stat ON n.nspname = stat.schemaname AND c.relname = stat.relname
WHERE c.relnamespace = n.oid AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
  AND n.nspname IN ('{schema}')
ORDER BY type ASC, schema ASC, name ASC

-- query fields
-- rows: [["a", "int4", "0", "{schema}", "seen", "false", null, "false", "false"], ["b", "varchar", "1", "{schema}", "seen", "false", null, "false", "false"], ["id", "int4", "0", "{schema}", "ser", "true", null, "false", "true"], ["v", "text", "1", "{schema}", "ser", "false", null, "false", "false"], ["a", "int4", "0", "{schema}", "things", "true", null, "true", "false"], ["b", "varchar", "1", "{schema}", "things", "true", null, "false", "false"], ["c", "numeric", "2", "{schema}", "things", "false", "a number", "false", "false"], ["d", "timestamptz", "3", "{schema}", "things", "false", null, "false", "false"], ["e", "_text", "4", "{schema}", "things", "false", null, "false", "false"], ["f", "float8", "5", "{schema}", "things", "false", null, "false", "false"]]
SELECT c.column_name AS name, CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN format('%s', c.udt_name) ELSE format('"%s"."%s"', c.udt_schema, c.udt_name) END AS "database-type",
       c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema", c.table_name AS "table-name",
       pk.column_name IS NOT NULL AS "pk?", col_description(CAST(CAST(format('%I.%I', CAST(c.table_schema AS text), CAST(c.table_name AS text)) AS regclass) AS oid), c.ordinal_position) AS "field-comment",
       (column_default IS NULL OR lower(column_default) = 'null') AND is_nullable = 'NO' AND NOT (column_default IS NOT NULL AND column_default LIKE '%nextval(%' OR is_identity <> 'NO') AS "database-required",
       column_default IS NOT NULL AND column_default LIKE '%nextval(%' OR is_identity <> 'NO' AS "database-is-auto-increment"
FROM information_schema.columns AS c
LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name FROM information_schema.table_constraints AS tc
           INNER JOIN information_schema.key_column_usage AS kc ON tc.constraint_name = kc.constraint_name AND tc.table_schema = kc.table_schema AND tc.table_name = kc.table_name
           WHERE tc.constraint_type = 'PRIMARY KEY') AS pk
  ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name AND c.column_name = pk.column_name
WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema IN ('{schema}')
UNION ALL
SELECT pa.attname, format_type(pa.atttypid, pa.atttypmod), pa.attnum - 1, pn.nspname, pc.relname, false, NULL, false, false
FROM pg_catalog.pg_class AS pc INNER JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pc.relnamespace
INNER JOIN pg_catalog.pg_attribute AS pa ON pa.attrelid = pc.oid
WHERE pc.relkind = 'm' AND pa.attnum >= 1 AND pn.nspname IN ('{schema}')
ORDER BY "table-schema", "table-name", "database-position"

-- query foreign_keys
-- rows: []
SELECT fkn.nspname AS "fk-table-schema", fkt.relname AS "fk-table-name", fkc.attname AS "fk-column-name", pkn.nspname, pkt.relname, pkc.attname
FROM pg_constraint AS c
JOIN pg_class AS fkt ON c.conrelid = fkt.oid JOIN pg_namespace AS fkn ON c.connamespace = fkn.oid JOIN pg_attribute AS fkc ON c.conrelid = fkc.attrelid
JOIN pg_class AS pkt ON c.confrelid = pkt.oid JOIN pg_namespace AS pkn ON pkt.relnamespace = pkn.oid JOIN pg_attribute AS pkc ON c.confrelid = pkc.attrelid
WHERE fkn.nspname !~ '^information_schema|catalog_history|pg_' AND c.contype = 'f'::"char" AND fkc.attnum = ANY(c.conkey) AND pkc.attnum = ANY(c.confkey)
  AND fkn.nspname IN ('{schema}')
ORDER BY "fk-table-schema", "fk-table-name"

-- query indexes
-- rows: [["{schema}", "ser", "id"], ["{schema}", "things", "b"]]
SELECT tab_col.table_schema AS "table-schema", tab.relname AS "table-name", col.attname AS "field-name"
FROM pg_index AS ix JOIN pg_class AS idx ON ix.indexrelid = idx.oid JOIN pg_class AS tab ON ix.indrelid = tab.oid
JOIN pg_namespace AS ns ON tab.relnamespace = ns.oid
JOIN pg_attribute AS col ON col.attnum = ix.indkey[0] AND col.attrelid = tab.oid
JOIN information_schema.tables AS tab_col ON tab_col.table_schema = ns.nspname AND tab_col.table_name = tab.relname
WHERE ns.nspname !~ '^information_schema|catalog_history|pg_' AND ns.nspname = '{schema}' AND ix.indpred IS NULL AND ix.indisvalid
ORDER BY 1, 2

-- query indexes_by_position
-- rows: [["{schema}", "ser", "id"], ["{schema}", "things", "b"]]
SELECT t."table-schema", t."table-name", trim(BOTH '"' FROM pg_catalog.pg_get_indexdef(t.ci_oid, t.pos, false)) AS "field-name"
FROM (SELECT n.nspname AS "table-schema", ct.relname AS "table-name", ci.oid AS ci_oid, (information_schema._pg_expandarray(i.indkey)).n AS pos
      FROM pg_catalog.pg_class AS ct INNER JOIN pg_catalog.pg_namespace AS n ON ct.relnamespace = n.oid
      INNER JOIN pg_catalog.pg_index AS i ON ct.oid = i.indrelid INNER JOIN pg_catalog.pg_class AS ci ON ci.oid = i.indexrelid
      WHERE pg_catalog.pg_get_expr(i.indpred, i.indrelid) IS NULL AND n.nspname !~ '^information_schema|catalog_history|pg_' AND n.nspname IN ('{schema}')) AS t
WHERE t.pos = 1

-- query enums
-- rows: []
SELECT nspname, typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT DISTINCT enumtypid FROM pg_enum e) AND nspname = '{schema}'

-- query privileges
-- rows: [[null, "{schema}", "seen", "true", "true", "true", "true"], [null, "{schema}", "ser", "true", "true", "true", "true"], [null, "{schema}", "things", "true", "true", "true", "true"]]
WITH table_privileges AS (
  SELECT NULL AS role, t.schemaname AS schema, t.objectname AS "table",
         pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'update') AS update,
         pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'select') AS select,
         pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'insert') AS insert,
         pg_catalog.has_table_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'delete') AS delete
  FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables
        UNION SELECT schemaname, viewname AS objectname FROM pg_catalog.pg_views
        UNION SELECT schemaname, matviewname AS objectname FROM pg_catalog.pg_matviews) t
  WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema' AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage'))
SELECT t.* FROM table_privileges t WHERE schema = '{schema}' ORDER BY "table"

-- query time_zone
SHOW TIMEZONE

-- query field_values
-- rows: []
SELECT "things"."b" AS b FROM "{schema}"."things" GROUP BY "things"."b" ORDER BY "things"."b" ASC LIMIT 1001

-- query a_fingerprint_of_numbers
-- rows: [["0", null, null]]
SELECT count(DISTINCT "things"."a") AS "distinct", floor((max("things"."c") / 10)) * 10 AS bin, date_trunc('week', min("things"."d")) + interval '-1 day' AS week FROM "{schema}"."things"

-- query a_fingerprint
-- rows: []
SELECT substring("things"."b" FROM 1 FOR 1234) AS b, "things"."a" AS a FROM "{schema}"."things" LIMIT 10000

-- query a_chart
-- rows: []
SELECT date_trunc('month', "source"."d") AS d, count(*) AS count, sum(coalesce("source"."c", 0)) AS total FROM (SELECT * FROM "{schema}"."things") AS "source"
WHERE "source"."d" >= date_trunc('month', (now() + (interval '-12 month'))) GROUP BY date_trunc('month', "source"."d") ORDER BY date_trunc('month', "source"."d") ASC
