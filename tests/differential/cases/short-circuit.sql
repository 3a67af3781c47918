-- CASE / COALESCE evaluate the branch they guard
\pset null NULL
CREATE TABLE c19_line (id int, qty int, amount int, code text);
INSERT INTO c19_line VALUES (1,0,9,'12'),(2,3,9,'x7'),(3,NULL,5,''),(4,2,8,NULL);
\echo q1 constants: 8 NULL 5
SELECT COALESCE(8, 3/0), CASE 4 WHEN 5 THEN 9/0 END, CASE WHEN true THEN 5 ELSE 7/0 END;
\echo q2 guarded division: NULL 3 NULL 4
SELECT id, CASE WHEN qty <> 0 THEN amount / qty END FROM c19_line ORDER BY id;
\echo q3 shared sub-expression in two guarded columns
SELECT id, CASE WHEN qty > 0 THEN amount / qty ELSE -1 END AS a, CASE WHEN qty > 0 AND amount > 8 THEN amount / qty + 1 ELSE -2 END AS b FROM c19_line ORDER BY id;
\echo q4 COALESCE per row: 0 3 NULL 2
SELECT id, COALESCE(qty, NULLIF(amount, 5) / 0) FROM c19_line ORDER BY id;
\echo q5 guarded cast: 12 NULL NULL NULL
SELECT id, CASE WHEN code ~ '^[0-9]+$' THEN code::int END FROM c19_line ORDER BY id;
\echo q6 NULLIF as the guard: NULL 3 NULL 4
SELECT id, amount / NULLIF(qty, 0) FROM c19_line ORDER BY id;
\echo q7 guard inside an aggregate: expect 7
SELECT sum(CASE WHEN qty = 0 THEN 0 ELSE amount / qty END) FROM c19_line;
\echo q8 unguarded: expect 22012
SELECT id, amount / qty FROM c19_line ORDER BY id;
\echo q9 guarded in ORDER BY: expect 4 2 1 3
SELECT id FROM c19_line ORDER BY CASE WHEN qty = 0 THEN 0 ELSE amount / qty END DESC NULLS LAST, id;
\echo q10 FILTER guards the aggregate argument: expect 7
SELECT sum(amount / qty) FILTER (WHERE qty <> 0) FROM c19_line;
DROP TABLE c19_line;
