-- joins do not yield, so statement_timeout / cancel has no effect
\pset null NULL
CREATE TABLE c56_n AS SELECT i FROM generate_series(1, 20000) i;
SET statement_timeout = '300ms';
\echo q1 nested-loop join, would run very long: expect 57014
SELECT count(*) FROM c56_n a, c56_n b, c56_n c WHERE a.i + b.i + c.i < 0;
\echo q2 hash join with one hot key: expect 57014
SELECT count(*) FROM (SELECT i, 1 AS k FROM c56_n) a JOIN (SELECT i, 1 AS k FROM c56_n) b USING (k) JOIN (SELECT i, 1 AS k FROM c56_n) c USING (k) WHERE a.i <> b.i;
\echo q3 endless recursion: expect 57014
WITH RECURSIVE r(n) AS (SELECT 1::bigint UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r;
\echo q4 sleep: expect 57014
SELECT pg_sleep(5);
\echo q5 sort and window over a big cross join: expect 57014
SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY a.i * b.i) AS r FROM c56_n a, c56_n b) z;
\echo q6 inside a transaction the timeout aborts it: expect 57014, 25P02, then 20000
BEGIN;
DELETE FROM c56_n WHERE i <= 10;
SELECT count(*) FROM c56_n a, c56_n b, c56_n c WHERE a.i + b.i + c.i < 0;
SELECT 1;
ROLLBACK;
\echo q7 session is usable afterwards: expect 20000
SELECT count(*) FROM c56_n;
\echo q8 short statements pass, timeout reset: expect t, then 0
SELECT count(*) > 0 FROM c56_n WHERE i % 3 = 0;
RESET statement_timeout;
SHOW statement_timeout;
\echo q9 moderate cross join still finishes: expect 1000000
SELECT count(*) FROM (SELECT i FROM c56_n WHERE i <= 1000) a, (SELECT i FROM c56_n WHERE i <= 1000) b;
DROP TABLE c56_n;
