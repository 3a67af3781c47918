-- What pgx 5 sends by itself in the test `pgx load_type`; from PostgreSQL's log.

-- query 1
SELECT 'pg_catalog.int4'::regtype::oid

-- query 2
-- parameters: ["1007"]
select typtype::text, typbasetype from pg_type where oid=$1

-- query 3
-- parameters: ["1007"]
select typelem, typdelim::text from pg_type where oid=$1
