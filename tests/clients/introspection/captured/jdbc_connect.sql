-- What pgjdbc sends by itself in the test `jdbc connect`; from PostgreSQL's log.

-- query 1
SET application_name = 'PostgreSQL JDBC Driver'

-- query 2
select current_schema()

-- query 3
SHOW application_name

-- query 4
SHOW search_path

-- query 5
SHOW statement_timeout

-- query 6
SET SESSION search_path TO 'public'
