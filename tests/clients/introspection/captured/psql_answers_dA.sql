-- What psql 15 sends by itself in the test `psql answers_dA`; from PostgreSQL's log.

-- query 1
SELECT amname AS "Name",
  CASE amtype WHEN 'i' THEN 'Index' WHEN 't' THEN 'Table' END AS "Type"
FROM pg_catalog.pg_am
ORDER BY 1;
