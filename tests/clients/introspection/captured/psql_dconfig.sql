-- What psql 15 sends by itself in the test `psql dconfig`; from PostgreSQL's log.

-- query 1
SELECT s.name AS "Parameter", pg_catalog.current_setting(s.name) AS "Value"
FROM pg_catalog.pg_settings s
WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.~) '^(search_path)$' COLLATE pg_catalog.default
ORDER BY 1;
