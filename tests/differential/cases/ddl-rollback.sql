-- CREATE/ALTER/TRUNCATE survive ROLLBACK; DML after ALTER in the same transaction fails
\pset null NULL
CREATE TABLE c37_t (id int PRIMARY KEY, a int, b int);
INSERT INTO c37_t VALUES (1,10,100),(2,20,200);
\echo q1 TRUNCATE rolled back: expect 2
BEGIN;
INSERT INTO c37_t VALUES (3,30,300);
TRUNCATE c37_t;
SELECT count(*) FROM c37_t;
ROLLBACK;
SELECT count(*) FROM c37_t;
\echo q2 CREATE TABLE rolled back: expect 42P01
BEGIN;
CREATE TABLE c37_new (x int);
INSERT INTO c37_new VALUES (1);
SELECT count(*) FROM c37_new;
ROLLBACK;
SELECT count(*) FROM c37_new;
\echo q3 add a column, use it, roll back: expect 3 columns before and after
BEGIN;
ALTER TABLE c37_t ADD COLUMN c text DEFAULT 'd';
UPDATE c37_t SET c = 'e' WHERE id = 1;
SELECT id, c FROM c37_t ORDER BY 1;
ROLLBACK;
SELECT * FROM c37_t ORDER BY 1;
\echo q4 drop and rename rolled back: expect 100 200
BEGIN;
ALTER TABLE c37_t DROP COLUMN a;
ALTER TABLE c37_t RENAME COLUMN b TO z;
SELECT z FROM c37_t ORDER BY 1;
ROLLBACK;
SELECT b FROM c37_t ORDER BY 1;
\echo q5 drop table rolled back: expect 2
BEGIN;
DROP TABLE c37_t;
ROLLBACK;
SELECT count(*) FROM c37_t;
\echo q6 unique index made in a rolled back transaction is gone: expect 3
BEGIN;
CREATE UNIQUE INDEX c37_u ON c37_t (a);
ROLLBACK;
INSERT INTO c37_t VALUES (3,10,0);
SELECT count(*) FROM c37_t;
\echo q7 create, fill, error, roll back to savepoint: expect 42P01 in between, then 1
BEGIN;
CREATE TABLE c37_k (x int);
SAVEPOINT s;
SELECT * FROM c37_missing;
ROLLBACK TO s;
INSERT INTO c37_k VALUES (1);
COMMIT;
SELECT count(*) FROM c37_k;
\echo q8 type change in a transaction, committed: expect 10.5
BEGIN;
ALTER TABLE c37_t ALTER COLUMN a TYPE numeric(6,1) USING a + 0.5;
COMMIT;
SELECT a FROM c37_t WHERE id = 1;
\echo q9 view over a dropped column: expect 2BP01, then the view still works
CREATE VIEW c37_v AS SELECT id, b FROM c37_t;
ALTER TABLE c37_t DROP COLUMN b;
SELECT count(*) FROM c37_v;
\echo q10 existing name: expect 42P07
CREATE TABLE c37_t (x int);
DROP VIEW c37_v; DROP TABLE c37_t, c37_k;
