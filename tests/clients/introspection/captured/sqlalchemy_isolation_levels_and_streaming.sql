-- What SQLAlchemy 2 sends by itself in the test `sqlalchemy isolation_levels_and_streaming`; from PostgreSQL's log.

-- query 1
SHOW transaction_isolation
