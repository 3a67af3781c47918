-- CREATE TABLE AS EXECUTE: the rows of a prepared query
\pset null NULL
CREATE TABLE ct_s (id int PRIMARY KEY, s text);
INSERT INTO ct_s VALUES (1, 'a'), (2, 'b'), (3, NULL);
PREPARE ct_q (int, text) AS SELECT id, coalesce(s, $2) AS s FROM ct_s WHERE id >= $1 ORDER BY id;
\echo q1 its rows
CREATE TABLE ct_1 AS EXECUTE ct_q (2, 'none');
SELECT * FROM ct_1 ORDER BY id;
\echo q2 names of columns, and the types
CREATE TEMP TABLE ct_2 (number, text) AS EXECUTE ct_q (1 + 1, lower('X'));
SELECT number, text, pg_typeof(number), pg_typeof(text) FROM ct_2 ORDER BY number;
\echo q3 without data
CREATE TABLE ct_3 AS EXECUTE ct_q (1, NULL) WITH NO DATA;
SELECT count(*) FROM ct_3;
INSERT INTO ct_3 VALUES (7, 'x');
SELECT * FROM ct_3;
\echo q4 the number of rows: expect SELECT 3
\set QUIET off
CREATE TABLE ct_4 AS EXECUTE ct_q (0, 'z');
\set QUIET on
\echo q5 IF NOT EXISTS
CREATE TABLE IF NOT EXISTS ct_4 AS EXECUTE ct_q (3, 'z');
SELECT count(*) FROM ct_4;
\echo q6 what is no query: expect 42809
PREPARE ct_i AS INSERT INTO ct_s VALUES (9, 'i') RETURNING id;
CREATE TABLE ct_5 AS EXECUTE ct_i;
SELECT count(*) FROM ct_s;
\echo q7 a change in WITH
PREPARE ct_w AS WITH i AS (INSERT INTO ct_s VALUES (9, 'i') RETURNING id) SELECT id + 1 AS n FROM i;
CREATE TABLE ct_6 AS EXECUTE ct_w;
SELECT n FROM ct_6;
SELECT count(*) FROM ct_s;
\echo q8 unknown names and wrong arguments: expect 26000 42601
CREATE TABLE ct_7 AS EXECUTE ct_nosuch;
CREATE TABLE ct_7 AS EXECUTE ct_q (1);
\echo q9 in a transaction
BEGIN;
CREATE TABLE ct_8 AS EXECUTE ct_q (1, 'y');
SELECT count(*) FROM ct_8;
ROLLBACK;
SELECT to_regclass('ct_8');
DROP TABLE ct_1, ct_2, ct_3, ct_4, ct_6, ct_s;
