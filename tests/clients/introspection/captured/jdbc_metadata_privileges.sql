-- What pgjdbc sends by itself in the test `jdbc metadata_privileges`; from PostgreSQL's log.

-- query 1
-- rows: [["{database}", "{schema}", "things", "{user}", null]]
SELECT current_database() AS current_database, n.nspname,c.relname,r.rolname,c.relacl  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c, pg_catalog.pg_roles r  WHERE c.relnamespace = n.oid  AND c.relowner = r.oid  AND c.relkind IN ('r','p','v','m','f')  AND n.nspname LIKE '{schema}' AND c.relname LIKE 'things' ORDER BY nspname, relname

-- query 2
-- rows: [["{database}", "{schema}", "things", "{user}", null, null, "a"], ["{database}", "{schema}", "things", "{user}", null, null, "b"], ["{database}", "{schema}", "things", "{user}", null, null, "c"], ["{database}", "{schema}", "things", "{user}", null, null, "d"], ["{database}", "{schema}", "things", "{user}", null, null, "e"], ["{database}", "{schema}", "things", "{user}", null, null, "f"]]
SELECT current_database() AS current_database, n.nspname,c.relname,r.rolname,c.relacl, a.attacl,  a.attname  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c,  pg_catalog.pg_roles r, pg_catalog.pg_attribute a  WHERE c.relnamespace = n.oid  AND c.relowner = r.oid  AND c.oid = a.attrelid  AND c.relkind = 'r'  AND a.attnum > 0 AND NOT a.attisdropped  AND n.nspname = '{schema}' AND c.relname = 'things' AND a.attname LIKE '%' ORDER BY attname
