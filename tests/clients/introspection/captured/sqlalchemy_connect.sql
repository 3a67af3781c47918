-- What SQLAlchemy 2 sends by itself in the test `sqlalchemy connect`; from PostgreSQL's log.

-- query 1
select pg_catalog.version()

-- query 2
select current_schema()

-- query 3
show transaction isolation level

-- query 4
show standard_conforming_strings

-- query 5
-- parameters: ["hstore"]
SELECT
    typname AS name, oid, typarray AS array_oid,
    oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t
WHERE t.oid = to_regtype($1)
ORDER BY t.oid
