-- constant column of a subquery used as ROLLUP key is not set to NULL in the total rows
\pset null NULL
CREATE TABLE c13_web (kind text, v int);
CREATE TABLE c13_shop (kind text, v int);
INSERT INTO c13_web VALUES ('a',1),('b',2);
INSERT INTO c13_shop VALUES ('a',10);
\echo q1 expect src NULL only in the grand total
SELECT src, kind, sum(v) FROM (SELECT 'web' AS src, kind, v FROM c13_web) x GROUP BY ROLLUP (src, kind) ORDER BY src NULLS LAST, kind NULLS LAST;
\echo q2 union of channels
SELECT src, sum(v) FROM (SELECT 'web' AS src, v FROM c13_web UNION ALL SELECT 'shop', v FROM c13_shop) x GROUP BY ROLLUP (src) ORDER BY src NULLS LAST;
\echo q3 filter over the rollup result must not reach below it
SELECT * FROM (SELECT src, kind, sum(v) AS s FROM (SELECT 'web' AS src, kind, v FROM c13_web) x GROUP BY ROLLUP (src, kind)) z WHERE src = 'web' ORDER BY kind NULLS LAST;
\echo q4 expect the total row only
SELECT * FROM (SELECT kind, sum(v) AS s FROM c13_web GROUP BY ROLLUP (kind)) z WHERE kind IS NULL;
\echo q5 expression over a grouping column: total shows "all"
SELECT coalesce(kind, 'all') AS k, sum(v) FROM c13_web GROUP BY GROUPING SETS ((kind), ()) ORDER BY sum(v);
\echo q6 outer filter on one kind over a cube keeps two rows
SELECT * FROM (SELECT kind, v > 1 AS big, count(*) AS n FROM c13_web GROUP BY CUBE (kind, v > 1)) z WHERE kind = 'a' ORDER BY big NULLS LAST;
DROP TABLE c13_web, c13_shop;
