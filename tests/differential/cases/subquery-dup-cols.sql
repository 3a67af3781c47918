-- ORM wraps a join in a subquery, duplicate column names are refused or mixed up; UNION ALL view under an aggregate
\pset null NULL
CREATE TABLE c59_a (id int, k int);
CREATE TABLE c59_b (id int, k int);
INSERT INTO c59_a VALUES (1,10),(2,20),(3,30);
INSERT INTO c59_b VALUES (2,200),(3,300),(4,400);
\echo q1 duplicate names survive in a star over a subquery
SELECT * FROM (SELECT * FROM c59_a a LEFT JOIN c59_b b ON a.id = b.id) lo ORDER BY 1;
\echo q2 ORM count wrapper: expect 3
SELECT count(*) FROM (SELECT a.id, b.id FROM c59_a a LEFT JOIN c59_b b ON a.id = b.id) AS subquery;
\echo q3 referring to the duplicate name: expect 42702
SELECT id FROM (SELECT * FROM c59_a a JOIN c59_b b ON a.id = b.id) lo;
\echo q4 column alias list renames them: expect 2 20 200, 3 30 300
SELECT x, ak, bk FROM (SELECT a.id, a.k, b.id, b.k FROM c59_a a JOIN c59_b b ON a.id = b.id) q(x, ak, y, bk) ORDER BY 1;
\echo q5 same expression twice, same literal twice, unnamed columns
SELECT k + 1, k + 1, 'x', 'x', count(*) OVER (), count(*) OVER () FROM c59_a ORDER BY 1;
SELECT * FROM (SELECT max(k), max(k), min(k) FROM c59_a) z;
\echo q6 union all view, aggregate above, filters differ
CREATE VIEW c59_v AS SELECT * FROM c59_a WHERE k > 10 UNION ALL SELECT * FROM c59_b WHERE k < 400;
SELECT count(*), sum(k) FROM c59_v;
SELECT id, count(*) FROM c59_v GROUP BY id HAVING count(*) > 1 ORDER BY id;
\echo q7 view keeps its columns when the table gets one more: expect 2 columns
ALTER TABLE c59_a ADD COLUMN extra int DEFAULT 7;
SELECT * FROM c59_v ORDER BY 2 LIMIT 1;
\echo q8 self join with whole-row and table-qualified stars
SELECT a.*, b.k FROM c59_a a JOIN c59_a b ON b.id = a.id + 1 ORDER BY a.id;
SELECT a FROM c59_a a ORDER BY a.id LIMIT 1;
\echo q9 CTE and table of the same name: the CTE wins inside, the table outside
WITH c59_b AS (SELECT 99 AS id) SELECT id FROM c59_b UNION ALL SELECT id FROM (SELECT * FROM c59_a WHERE id = 1) s ORDER BY 1;
\echo q10 create table as with duplicate names: expect 42701
CREATE TABLE c59_dup AS SELECT a.id, b.id FROM c59_a a, c59_b b;
\echo q11 order by output name, input name and expression
SELECT -k AS id FROM c59_a ORDER BY id;
SELECT k AS id FROM c59_a a ORDER BY a.id DESC;
SELECT id FROM c59_a ORDER BY -id;
\echo q12 alias is not visible in WHERE: expect 42703; is visible in a later CTE
SELECT k * 2 AS dbl FROM c59_a WHERE dbl > 20;
WITH d AS (SELECT k * 2 AS dbl FROM c59_a) SELECT dbl FROM d WHERE dbl > 20 ORDER BY 1;
\echo q13 join of two derived tables with equal inner names
SELECT l.id, r.id, l.s, r.s FROM (SELECT id, sum(k) s FROM c59_a GROUP BY id) l FULL JOIN (SELECT id, sum(k) s FROM c59_b GROUP BY id) r ON l.id = r.id ORDER BY 1 NULLS LAST, 2;
DROP VIEW c59_v; DROP TABLE c59_a, c59_b;
