-- key filter on one table of a comma join returns an empty result
\pset null NULL
CREATE TABLE c23_size (c0 int PRIMARY KEY, c1 int);
CREATE TABLE c23_hue (c0 int PRIMARY KEY, c1 int);
CREATE TABLE c23_none (c0 int PRIMARY KEY);
INSERT INTO c23_size VALUES (7,NULL),(8,80);
INSERT INTO c23_hue VALUES (4,7),(9,6);
\echo q1 expect 7 7
SELECT s.c0 FROM c23_size s, c23_hue h WHERE s.c0 = 7 ORDER BY h.c0;
\echo q2 expect 0: one side is empty
SELECT count(*) FROM c23_size, c23_none;
\echo q3 expect 2: left join to an empty table
SELECT count(*) FROM c23_size LEFT JOIN c23_none n ON true;
\echo q4 three-way with a filter linking only two: expect 7|4 7|9
SELECT s.c0, h.c0 FROM c23_size s, c23_hue h, (VALUES (1),(2)) v(x) WHERE s.c0 = h.c1 AND v.x = 1 OR s.c0 = 7 AND h.c0 = 9 AND v.x = 2 ORDER BY 1, 2;
\echo q5 same key name, different values, range filter on both: expect 8|9
SELECT s.c0, h.c0 FROM c23_size s JOIN c23_hue h ON s.c0 < h.c0 WHERE s.c0 > 7 AND h.c0 BETWEEN 5 AND 20;
\echo q6 contradictory filter: expect 0
SELECT count(*) FROM c23_size s JOIN c23_hue h ON true WHERE s.c0 = 7 AND s.c0 = 8;
\echo q7 the same table twice without an alias: expect 42712
SELECT 1 FROM c23_size, c23_size;
DROP TABLE c23_size, c23_hue, c23_none;
