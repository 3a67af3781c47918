-- setval/nextval inside a transaction lost; is_called; identity rules
\pset null NULL
\echo q1 currval before nextval: expect 55000
CREATE SEQUENCE c35_s;
SELECT currval('c35_s');
\echo q2 fresh sequence: expect 1 f, then 1
SELECT last_value, is_called FROM c35_s;
SELECT nextval('c35_s');
\echo q3 setval survives a rollback, nextval too: expect 11, 12
BEGIN;
SELECT setval('c35_s', 10);
SELECT nextval('c35_s');
ROLLBACK;
SELECT nextval('c35_s');
\echo q4 setval with is_called false: expect 40
SELECT setval('c35_s', 40, false);
SELECT nextval('c35_s');
\echo q5 ALTER SEQUENCE RESTART is rolled back: expect 900, then 41
BEGIN;
ALTER SEQUENCE c35_s RESTART WITH 900;
SELECT nextval('c35_s');
ROLLBACK;
SELECT nextval('c35_s');
\echo q6 serial column: failed insert burns a value: expect 1 3
CREATE TABLE c35_t (id serial PRIMARY KEY, v int CHECK (v > 0));
INSERT INTO c35_t (v) VALUES (1);
INSERT INTO c35_t (v) VALUES (-1);
INSERT INTO c35_t (v) VALUES (2);
SELECT id FROM c35_t ORDER BY 1;
SELECT lastval(), currval(pg_get_serial_sequence('c35_t', 'id'));
\echo q7 explicit id does not move the sequence, then it collides: expect 23505
INSERT INTO c35_t VALUES (4, 9);
INSERT INTO c35_t (v) VALUES (5);
\echo q8 identity ALWAYS: expect 428C9, then 1 77 2
CREATE TABLE c35_i (id int GENERATED ALWAYS AS IDENTITY, v text);
INSERT INTO c35_i (id, v) VALUES (5, 'no');
INSERT INTO c35_i (v) VALUES ('a') RETURNING id;
INSERT INTO c35_i (id, v) OVERRIDING SYSTEM VALUE VALUES (77, 'b') RETURNING id;
INSERT INTO c35_i (id, v) OVERRIDING USER VALUE VALUES (99, 'c') RETURNING id;
\echo q9 limits: expect 3, 2200H, then cycle 1
CREATE SEQUENCE c35_m MINVALUE 1 MAXVALUE 3 START 3;
SELECT nextval('c35_m');
SELECT nextval('c35_m');
ALTER SEQUENCE c35_m CYCLE;
SELECT nextval('c35_m');
\echo q10 descending with step: expect 10 7
CREATE SEQUENCE c35_d INCREMENT -3 START 10 MINVALUE -100 MAXVALUE 10;
SELECT nextval('c35_d'), nextval('c35_d');
\echo q11 TRUNCATE RESTART IDENTITY: expect 1
TRUNCATE c35_t RESTART IDENTITY;
INSERT INTO c35_t (v) VALUES (8) RETURNING id;
\echo q12 dropping a sequence in use: expect 2BP01
DROP SEQUENCE c35_t_id_seq;
DROP TABLE c35_t, c35_i; DROP SEQUENCE c35_s, c35_m, c35_d;
