-- The questions of graphical tools, put as they put them.

-- DBeaver: the databases, schemas, roles, settings.
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate ORDER BY db.datname;

-- DBeaver
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass
ORDER BY nspname;

-- DBeaver
SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a
LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid ORDER BY a.rolname;

-- DBeaver
SELECT * FROM pg_catalog.pg_settings;

-- DBeaver
SELECT current_schema(), session_user;

-- DBeaver
SHOW search_path;

-- DBeaver: types.
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL
AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C');

-- DBeaver: tables of a schema, with what they are worth.
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,
       pg_catalog.pg_get_partkeydef(c.oid) as partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass
WHERE c.relnamespace=2200 AND c.relkind not in ('i', 'I', 'c');

-- DBeaver: columns.
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value, dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i'
  and dep.refobjsubid = a.attnum and dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.relkind not in ('i', 'I', 'c') AND c.oid=${t}
ORDER BY a.attnum;

-- DBeaver: constraints and indexes.
SELECT c.oid, c.*, t.relname as tabrelname, rt.relnamespace as refnamespace, d.description,
       null as consrc_copy, case when c.contype='c' then "substring"(pg_get_constraintdef(c.oid), 7) else null end consrc_copy2
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid=c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid=c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_constraint'::regclass
WHERE c.conrelid=${t}
ORDER BY c.oid;

-- DBeaver
SELECT i.*, i.indkey as keys, c.relname, c.relnamespace, c.relam, c.reltablespace, tc.relname as tabrelname,
       dsc.description, pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,
       pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr,
       pg_catalog.pg_relation_size(i.indexrelid) as index_rel_size,
       pg_catalog.pg_stat_get_numscans(i.indexrelid) as index_num_scans
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid
WHERE i.indrelid=${t} ORDER BY tabrelname, c.relname;

-- DBeaver: sizes, sequences, access methods, languages, tablespaces.
SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) as total_rel_size, pg_catalog.pg_relation_size(c.oid) as rel_size
FROM pg_class c WHERE c.relnamespace=2200;

-- DBeaver
SELECT c.oid, c.relname, s.*, d.description FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_sequence s ON s.seqrelid = c.oid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid WHERE c.relnamespace=2200;

-- DBeaver
SELECT am.oid, am.* FROM pg_catalog.pg_am am ORDER BY am.oid;

-- DBeaver
SELECT p.oid, p.*, pg_catalog.pg_get_expr(p.proargdefaults, 0) as arg_defaults, d.description
FROM pg_catalog.pg_proc p
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=p.oid
WHERE p.pronamespace=2200 ORDER BY p.proname;

-- Metabase: tables, with an estimate of their rows.
SELECT n.nspname AS schema, c.relname AS name,
  CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW'
    WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS type,
  d.description AS description, NULLIF(stat.n_live_tup, 0) AS estimated_row_count
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
LEFT JOIN pg_catalog.pg_description AS d ON (c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass)
LEFT JOIN pg_stat_user_tables AS stat ON (n.nspname = stat.schemaname AND c.relname = stat.relname)
WHERE (c.relnamespace = n.oid) AND (n.nspname !~ '^information_schema|catalog_history|pg_')
  AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
ORDER BY type ASC, schema ASC, name ASC;

-- Metabase: fields.
SELECT c.column_name AS name, CASE WHEN c.udt_schema IN ('public', 'pg_catalog')
    THEN FORMAT('%s', c.udt_name) ELSE FORMAT('"%s"."%s"', c.udt_schema, c.udt_name) END AS "database-type",
  c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema", c.table_name AS "table-name",
  (pk.column_name IS NOT NULL) AS "pk?",
  COL_DESCRIPTION(CAST(CAST(FORMAT('%I.%I', CAST(c.table_schema AS TEXT), CAST(c.table_name AS TEXT)) AS REGCLASS) AS OID), c.ordinal_position) AS "field-comment",
  ((c.column_default IS NULL) OR (LOWER(c.column_default) = 'null')) AND (c.is_nullable = 'NO')
    AND NOT (((c.column_default IS NOT NULL) AND (c.column_default LIKE '%nextval(%')) OR (c.is_identity <> 'NO')) AS "database-required"
FROM information_schema.columns AS c
LEFT JOIN (
  SELECT tc.table_schema, tc.table_name, kc.column_name
  FROM information_schema.table_constraints AS tc
  INNER JOIN information_schema.key_column_usage AS kc
    ON (tc.constraint_name = kc.constraint_name) AND (tc.table_schema = kc.table_schema) AND (tc.table_name = kc.table_name)
  WHERE tc.constraint_type = 'PRIMARY KEY') AS pk
  ON (c.table_schema = pk.table_schema) AND (c.table_name = pk.table_name) AND (c.column_name = pk.column_name)
WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema IN ('public')
ORDER BY "table-schema", "table-name", "database-position";

-- Metabase: privileges.
SELECT NULL AS role, t.schemaname AS schema, t.objectname AS table,
  pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'update') AS update,
  pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'select') AS select
FROM (
  SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables
  UNION SELECT schemaname, viewname AS objectname FROM pg_views
  UNION SELECT schemaname, matviewname AS objectname FROM pg_matviews) t
WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema'
  AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'USAGE');

-- Grafana: what there is to choose from.
SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog')
  AND table_type = 'BASE TABLE' ORDER BY 1;

-- Grafana
SELECT CASE WHEN
    quote_ident(table_schema) IN (
      SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
      FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1),
                           array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
           string_to_array(current_setting('search_path'),',') s)
  THEN quote_ident(table_name)
  ELSE quote_ident(table_schema) || '.' || quote_ident(table_name)
  END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache');

-- Grafana
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE quote_ident(table_name) = 't';

-- Grafana
SELECT current_setting('server_version_num')::int/100 as version;

-- Grafana
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb';

-- pgAdmin: its dashboard, and whether it may.
SELECT 'session_stats' AS chart_name, row_count FROM (SELECT count(*) AS row_count FROM pg_catalog.pg_stat_activity) s;

-- pgAdmin
SELECT roles.oid as id, roles.rolname as name, roles.rolsuper as is_superuser,
  CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END as can_create_role,
  CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END as can_create_db,
  CASE WHEN 'pg_signal_backend'=ANY(ARRAY(WITH RECURSIVE cte AS (
    SELECT pg_roles.oid,pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid
    UNION ALL
    SELECT m.roleid,pgr.rolname FROM cte cte_1
    JOIN pg_auth_members m ON m.member = cte_1.oid
    JOIN pg_roles pgr ON pgr.oid = m.roleid)
  SELECT rolname FROM cte)) THEN True ELSE False END as can_signal_backend
FROM pg_catalog.pg_roles as roles WHERE rolname = current_user;

-- Superset and Tableau: tables, with LATERAL.
-- rows:
-- t|1
SELECT c.relname, k.ord FROM pg_class c
JOIN pg_index i ON i.indrelid = c.oid
LEFT JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, ord) ON true
WHERE c.relname = 't';
