-- scalar subquery with several rows does not raise an error
\pset null NULL
CREATE TABLE c09_kid (id int, parent int);
CREATE TABLE c09_par (id int, name text);
INSERT INTO c09_par VALUES (1,'uma'),(2,'vic'),(3,'wes');
INSERT INTO c09_kid VALUES (10,1),(11,1),(12,2);
\echo q1 expect 21000
SELECT name, (SELECT id FROM c09_kid k WHERE k.parent = p.id) FROM c09_par p ORDER BY 1;
\echo q2 expect 21000
SELECT (SELECT id FROM c09_kid);
\echo q3 no row gives NULL, one row gives the value: expect 12 NULL
SELECT name, (SELECT id FROM c09_kid k WHERE k.parent = p.id) FROM c09_par p WHERE p.id > 1 ORDER BY 1;
\echo q4 expect 21000 in a WHERE clause
SELECT name FROM c09_par WHERE id = (SELECT parent FROM c09_kid) ORDER BY 1;
\echo q5 two columns: expect 42601
SELECT (SELECT id, parent FROM c09_kid WHERE id = 12);
\echo q6 expect 21000 in UPDATE, then unchanged data
UPDATE c09_par p SET name = (SELECT 'k' || k.id FROM c09_kid k WHERE k.parent = p.id);
SELECT id, name FROM c09_par ORDER BY 1;
\echo q7 unneeded duplicates after LIMIT are fine: expect 10 12 NULL
SELECT name, (SELECT id FROM c09_kid k WHERE k.parent = p.id ORDER BY id LIMIT 1) FROM c09_par p ORDER BY 1;
DROP TABLE c09_kid, c09_par;
