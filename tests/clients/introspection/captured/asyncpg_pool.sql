-- What asyncpg sends by itself in the test `asyncpg pool`; from PostgreSQL's log.

-- query 1
SET application_name = 'changed'

-- query 2
SELECT pg_advisory_unlock_all();
CLOSE ALL;
UNLISTEN *;
RESET ALL;

-- query 3
SHOW application_name
