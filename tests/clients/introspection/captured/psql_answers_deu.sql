-- What psql 15 sends by itself in the test `psql answers_deu`; from PostgreSQL's log.

-- query 1
SELECT um.srvname AS "Server",
  um.usename AS "User name"
FROM pg_catalog.pg_user_mappings um
ORDER BY 1, 2;
