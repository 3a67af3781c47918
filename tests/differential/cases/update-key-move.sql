-- UPDATE that moves rows to another key range is applied twice, lost, or reports a false duplicate
\pset null NULL
CREATE TABLE c25_k (k bigint PRIMARY KEY, n int, tag text);
INSERT INTO c25_k SELECT i * 1000, i, 'v' FROM generate_series(1, 2000) i;
\echo q1 move one hundred rows far to the right, applied once: expect 2000|2001000|v+m
UPDATE c25_k SET k = k + 4000000000000, tag = tag || '+m' WHERE n <= 100;
SELECT count(*), sum(n), max(tag) FROM c25_k;
\echo q2 expect 1900 below and 100 above
SELECT count(*) FILTER (WHERE k < 4000000000000), count(*) FILTER (WHERE k >= 4000000000000) FROM c25_k;
\echo q3 mirror all keys, expect 2000|0 positive
UPDATE c25_k SET k = -k;
SELECT count(*), count(*) FILTER (WHERE k > 0) FROM c25_k;
\echo q4 shift inside a transaction and roll back, expect the same minimum and maximum
SELECT min(k), max(k) FROM c25_k;
BEGIN;
UPDATE c25_k SET k = k + 9000000000000000;
SELECT min(k) > 0 FROM c25_k;
ROLLBACK;
SELECT min(k), max(k) FROM c25_k;
\echo q5 collision: expect 23505 and nothing changed
UPDATE c25_k SET k = -2000000 WHERE n = 1500;
SELECT k FROM c25_k WHERE n = 1500;
\echo q6 non-unique join partner, no false duplicate: expect 2000 distinct keys
UPDATE c25_k SET k = c25_k.k - 7 FROM (SELECT 1 AS one FROM c25_k LIMIT 3) s WHERE one = 1;
SELECT count(DISTINCT k), count(*) FROM c25_k;
\echo q7 swap two unique values through a third place
BEGIN;
UPDATE c25_k SET k = 1 WHERE n = 10;
UPDATE c25_k SET k = (SELECT k FROM c25_k WHERE n = 20) + 1 WHERE n = 10;
COMMIT;
SELECT a.k - b.k FROM c25_k a, c25_k b WHERE a.n = 10 AND b.n = 20;
\echo q8 range scans after the moves: expect 2000 in total over the three ranges
SELECT (SELECT count(*) FROM c25_k WHERE k < -3000000000000) + (SELECT count(*) FROM c25_k WHERE k >= -3000000000000 AND k < -1000000) + (SELECT count(*) FROM c25_k WHERE k >= -1000000);
DROP TABLE c25_k;
