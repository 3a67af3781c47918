-- MERGE loses NOT MATCHED rows when ON also restricts the target; duplicate matches
\pset null NULL
CREATE TABLE c31_acc (id int PRIMARY KEY, bal int);
CREATE TABLE c31_in (id int, amt int);
INSERT INTO c31_in VALUES (11,20),(13,40);
\echo q1 the extra ON condition must not drop source rows: expect 11 50, 13 50
MERGE INTO c31_acc t USING c31_in s ON t.id = s.id AND t.id = 11 WHEN NOT MATCHED THEN INSERT (id, bal) VALUES (s.id, 50);
SELECT id, bal FROM c31_acc ORDER BY 1;
\echo q2 update, insert and delete in one go: expect 11 70, 19 900
INSERT INTO c31_in VALUES (19,900);
MERGE INTO c31_acc t USING c31_in s ON t.id = s.id
WHEN MATCHED AND s.amt = 40 THEN DELETE
WHEN MATCHED THEN UPDATE SET bal = t.bal + s.amt
WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.amt);
\echo :ROW_COUNT
SELECT id, bal FROM c31_acc ORDER BY 1;
\echo q3 two source rows for one target row: expect 21000 and unchanged rows
INSERT INTO c31_in VALUES (11,10);
MERGE INTO c31_acc t USING c31_in s ON t.id = s.id WHEN MATCHED THEN UPDATE SET bal = s.amt;
SELECT id, bal FROM c31_acc ORDER BY 1;
\echo q4 one source row for two target rows is fine: expect 3 rows of 0
CREATE TABLE c31_two (k int, v int);
INSERT INTO c31_two VALUES (1,10),(1,20),(2,30);
MERGE INTO c31_two t USING (VALUES (1),(2)) s(k) ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = 0;
SELECT k, v FROM c31_two ORDER BY 1, 2;
\echo q5 DO NOTHING branch and NULL keys never match: expect NULL inserted
MERGE INTO c31_two t USING (VALUES (NULL::int),(2)) s(k) ON t.k = s.k WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (s.k, -1);
SELECT k, v FROM c31_two ORDER BY k NULLS LAST, v;
\echo q6 first matching branch wins; source is a subquery with an aggregate
MERGE INTO c31_acc t USING (SELECT id, sum(amt)::int AS a FROM c31_in GROUP BY id) s ON s.id = t.id
WHEN MATCHED AND s.a > 500 THEN UPDATE SET bal = 1
WHEN MATCHED THEN UPDATE SET bal = s.a
WHEN NOT MATCHED AND s.a > 5000 THEN INSERT VALUES (s.id, 0);
SELECT id, bal FROM c31_acc ORDER BY 1;
DROP TABLE c31_acc, c31_in, c31_two;
