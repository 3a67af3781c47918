-- row comparison with NULL members returns true; keyset pagination gives extra rows
\pset null NULL
CREATE TABLE c11_feed (day date, id int, note text);
INSERT INTO c11_feed VALUES ('2024-05-01',3,'p'),('2024-05-01',7,'q'),('2024-05-02',1,NULL),('2024-05-02',5,'r'),('2024-05-03',2,'s');
\echo q1 page after (2024-05-01, 3): expect 7 1
SELECT id FROM c11_feed WHERE (day, id) > ('2024-05-01', 3) ORDER BY day, id LIMIT 2;
\echo q2 page before, backwards: expect 7 3
SELECT id FROM c11_feed WHERE (day, id) < ('2024-05-02', 1) ORDER BY day DESC, id DESC LIMIT 2;
\echo q3 NULL member decides only when needed: expect 5 2
SELECT id FROM c11_feed WHERE (day, note) >= ('2024-05-02', 'a') ORDER BY day, id;
\echo q4 expect NULL t NULL t f
SELECT (NULL, 4) > (2, 4), (8, NULL) > (3, 5), (6, 5) >= (6, NULL), (9, NULL) <> (7, NULL), (7, NULL) = (9, NULL);
\echo q5 row IN list: expect 3 2
SELECT id FROM c11_feed WHERE (day, id) IN (('2024-05-01', 3), ('2024-05-03', 2), (NULL, 5)) ORDER BY day, id;
\echo q6 row IN subquery, row IS NULL, row IS NOT DISTINCT FROM
SELECT (1, NULL::int) IS NULL, (NULL::int, NULL::int) IS NULL, (1, 2) IS NOT NULL, (1, NULL::int) IS NOT NULL, (1, NULL::int) IS NOT DISTINCT FROM (1, NULL::int);
\echo q7 correlated row comparison: expect 5 rows ranked 1..5
SELECT id, (SELECT count(*) FROM c11_feed y WHERE (y.day, y.id) <= (x.day, x.id)) AS rk FROM c11_feed x ORDER BY rk;
DROP TABLE c11_feed;
