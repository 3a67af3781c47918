-- What pgjdbc sends by itself in the test `jdbc metadata_best_row_identifier`; from PostgreSQL's log.

-- query 1
-- rows: [["a", "23", "-1"], ["b", "1043", "24"]]
SELECT a.attname, a.atttypid, atttypmod FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN (SELECT i.indexrelid, i.indrelid, i.indisprimary,              information_schema._pg_expandarray(i.indkey) AS keys         FROM pg_catalog.pg_index i) i     ON (a.attnum = (i.keys).x AND a.attrelid = i.indrelid) WHERE true  AND n.nspname = '{schema}' AND ct.relname = 'things' AND i.indisprimary  ORDER BY a.attnum
