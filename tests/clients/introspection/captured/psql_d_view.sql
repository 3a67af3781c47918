-- What psql 15 sends by itself in the test `psql d_view`; from PostgreSQL's log.

-- query 1
-- rows: [["a", "integer", null, "true", null, "", "", "*", null], ["b", "character varying(20)", "'none'::character varying", "true", null, "", "", "*", null], ["c", "numeric(12,3)", null, "false", null, "", "", "*", "a number"], ["d", "timestamp with time zone", null, "false", null, "", "", "*", null], ["e", "text[]", null, "false", null, "", "", "*", null], ["f", "double precision", "1.5", "false", null, "", "", "*", null]]
SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
   FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
  a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity,
  a.attgenerated,
  a.attstorage,
  pg_catalog.col_description(a.attrelid, a.attnum)
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = '{oid}' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;

-- query 2
-- rows: [[null]]
SELECT pg_catalog.pg_get_viewdef('{oid}'::pg_catalog.oid, true);

-- query 3
-- rows: []
SELECT r.rulename, trim(trailing ';' from pg_catalog.pg_get_ruledef(r.oid, true))
FROM pg_catalog.pg_rewrite r
WHERE r.ev_class = '{oid}' AND r.rulename != '_RETURN' ORDER BY 1;

-- query 4
-- rows: [["*"]]
SELECT '{view}'::pg_catalog.regclass::pg_catalog.oid

-- query 5
-- rows: [["{schema}", "things", "r", null, null, null]]
SELECT nspname, relname, relkind, pg_catalog.pg_get_viewdef(c.oid, true), pg_catalog.array_remove(pg_catalog.array_remove(c.reloptions,'check_option=local'),'check_option=cascaded') AS reloptions, CASE WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL'::text WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'::text ELSE NULL END AS checkoption FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON c.relnamespace = n.oid WHERE c.oid = {oid}
