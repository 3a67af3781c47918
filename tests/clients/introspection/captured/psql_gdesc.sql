-- What psql 15 sends by itself in the test `psql gdesc`; from PostgreSQL's log.

-- query 1
SELECT name AS "Column", pg_catalog.format_type(tp, tpm) AS "Type"
FROM (VALUES ('id', '23'::pg_catalog.oid, -1),('name', '25'::pg_catalog.oid, -1),('price', '1700'::pg_catalog.oid, 524294),('picked', '1114'::pg_catalog.oid, -1),('more', '23'::pg_catalog.oid, -1),('yes', '16'::pg_catalog.oid, -1),('list', '1007'::pg_catalog.oid, -1)) s(name, tp, tpm)
