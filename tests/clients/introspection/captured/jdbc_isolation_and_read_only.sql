-- What pgjdbc sends by itself in the test `jdbc isolation_and_read_only`; from PostgreSQL's log.

-- query 1
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ

-- query 2
SHOW TRANSACTION ISOLATION LEVEL
