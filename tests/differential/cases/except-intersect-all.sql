-- EXCEPT ALL / INTERSECT ALL return the wrong number of copies; NULL rows never match
\pset null NULL
CREATE TABLE c17_a (x int, y text);
CREATE TABLE c17_b (x int, y text);
INSERT INTO c17_a VALUES (1,'p'),(1,'p'),(1,'p'),(2,NULL),(2,NULL),(NULL,NULL),(3,'q');
INSERT INTO c17_b VALUES (1,'p'),(2,NULL),(NULL,NULL),(NULL,NULL),(4,'z');
\echo q1 except all: 1p 1p, 2NULL, 3q
SELECT * FROM c17_a EXCEPT ALL SELECT * FROM c17_b ORDER BY x NULLS LAST, y;
\echo q2 intersect all
SELECT * FROM c17_a INTERSECT ALL SELECT * FROM c17_b ORDER BY x NULLS LAST, y;
\echo q3 except
SELECT * FROM c17_a EXCEPT SELECT * FROM c17_b ORDER BY x NULLS LAST, y;
\echo q4 intersect
SELECT * FROM c17_a INTERSECT SELECT * FROM c17_b ORDER BY x NULLS LAST, y;
\echo q5 INTERSECT binds tighter than UNION: expect 1 2
SELECT 1 AS n UNION SELECT 2 INTERSECT SELECT 2 ORDER BY n;
\echo q6 EXCEPT is left associative: expect 1
(SELECT 1 AS n EXCEPT SELECT 2) EXCEPT SELECT 3 ORDER BY n;
\echo q7 data reconciliation in both directions: expect 2 rows
SELECT 'only a' AS side, x, y FROM (SELECT * FROM c17_a EXCEPT SELECT * FROM c17_b) u
UNION ALL SELECT 'only b', x, y FROM (SELECT * FROM c17_b EXCEPT SELECT * FROM c17_a) v ORDER BY 1;
\echo q8 unequal column counts: expect 42601
SELECT x FROM c17_a UNION SELECT x, y FROM c17_b;
DROP TABLE c17_a, c17_b;
