-- What asyncpg sends by itself in the test `asyncpg reset`; from PostgreSQL's log.

-- query 1
SET statement_timeout = 5000

-- query 2
SHOW statement_timeout
