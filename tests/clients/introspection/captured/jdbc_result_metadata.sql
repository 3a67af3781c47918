-- What pgjdbc sends by itself in the test `jdbc result_metadata`; from PostgreSQL's log.

-- query 1
-- rows: [["*", "1", "a", "things", "{schema}", "true", null], ["*", "2", "b", "things", "{schema}", "true", "false"], ["*", "3", "c", "things", "{schema}", "false", null]]
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT {oid} AS oid , 1 AS attnum UNION ALL SELECT {oid}, 2 UNION ALL SELECT {oid}, 3) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in ({oid})
