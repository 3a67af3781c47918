-- What psycopg 3 sends by itself in the test `psycopg type_information`; from PostgreSQL's log.

-- query 1
-- parameters: ["int8"]
SELECT
    typname AS name, oid, typarray AS array_oid,
    oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t
WHERE t.oid = to_regtype($1)
ORDER BY t.oid
