-- What psql 15 sends by itself in the test `psql tab_completion`; from PostgreSQL's log.

-- query 1
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'pc\_psql\_25009\_complete%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pc\_psql\_25009\_complete%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000

-- query 2
-- rows: []
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE 'tang%' AND c.relname = '{table}' AND pg_catalog.pg_table_is_visible(c.oid)
LIMIT 1000
