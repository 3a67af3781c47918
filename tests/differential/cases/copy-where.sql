-- COPY FROM ... WHERE: which rows are taken, what the condition sees, where it fails
\pset null NULL
CREATE TABLE cw_t (id int PRIMARY KEY, x int CHECK (x < 100), s text DEFAULT 'd', g int GENERATED ALWAYS AS (x * 2) STORED);
\echo q1 rows of which the condition is true: expect 1 and 2, not those where it is NULL
COPY cw_t (id, x) FROM STDIN WHERE x < 60;
1	5
2	50
3	500
4	\N
\.
SELECT * FROM cw_t ORDER BY id;
\echo q2 the number of rows copied: expect COPY 1
\set QUIET off
COPY cw_t (id, x) FROM STDIN WHERE cw_t.x > 7 AND id = 5;
5	8
6	9
\.
\set QUIET on
\echo q3 columns that are not copied have their defaults
COPY cw_t (id, x) FROM STDIN WHERE s = 'd' AND lower('A') = 'a';
7	7
\.
SELECT count(*) FROM cw_t WHERE id = 7;
\echo q4 constraints hold for what is taken: expect 23514
COPY cw_t (id, x) FROM STDIN WHERE id > 7;
8	800
\.
\echo q5 a key that is there is not taken
COPY cw_t (id, x) FROM STDIN (FORMAT csv) WHERE id <> 7;
7,1
9,1
\.
SELECT id, x FROM cw_t WHERE id IN (7, 9) ORDER BY id;
\echo q6 values are read before the condition: expect 22P02
COPY cw_t (id, x) FROM STDIN WHERE false;
x	1
\.
\echo q7 the condition fails: expect 22012
COPY cw_t (id, x) FROM STDIN WHERE 10 / x > 1;
10	5
11	0
\.
\echo q8 no row is taken of the failed ones
SELECT count(*) FROM cw_t WHERE id >= 10;
\echo q9 triggers fire for what is taken
CREATE FUNCTION cw_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.s := 'by trigger'; RETURN NEW; END $$;
CREATE TRIGGER cw_b BEFORE INSERT ON cw_t FOR EACH ROW EXECUTE FUNCTION cw_f();
COPY cw_t (id, x) FROM STDIN WHERE s = 'd' AND x <> 2;
12	1
13	2
14	3
\.
SELECT id, s FROM cw_t WHERE id >= 10 ORDER BY id;
DROP TABLE cw_t;
DROP FUNCTION cw_f;
