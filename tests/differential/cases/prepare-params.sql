-- placeholder types cannot be inferred (ANY, CASE, VALUES, bare SELECT)
\pset null NULL
CREATE TABLE c39_cnt (name varchar(30) PRIMARY KEY, value bigint NOT NULL, price numeric(8,2), at date, tags text[]);
INSERT INTO c39_cnt VALUES ('zeta',5,1.10,'2024-03-01','{a,b}'),('mid',7,2.20,'2024-03-02','{b}');
\echo q1 bare parameter is text: expect abc
PREPARE p1 AS SELECT $1;
EXECUTE p1('abc');
\echo q2 VALUES with untyped parameters: expect x y
PREPARE p2 AS VALUES ($1, $2);
EXECUTE p2('x', 'y');
\echo q3 ANY over a column and over an array parameter: expect mid zeta, zeta
PREPARE p3 AS SELECT name FROM c39_cnt WHERE $1 = ANY (tags) ORDER BY 1;
EXECUTE p3('b');
PREPARE p3b AS SELECT name FROM c39_cnt WHERE value = ANY ($1) ORDER BY 1;
EXECUTE p3b('{5,6}');
\echo q4 CASE with two parameters inside a cast: expect mid 9, zeta 8
PREPARE p4 AS UPDATE c39_cnt SET value = value + CAST((CASE name WHEN 'zeta' THEN $1 ELSE $2 END) AS bigint) WHERE name IN ('zeta', 'mid');
EXECUTE p4(3, 2);
SELECT name, value FROM c39_cnt ORDER BY 1;
\echo q5 inferred from the target column in INSERT and from the operator
PREPARE p5 AS INSERT INTO c39_cnt (name, value, price, at) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value + $2 RETURNING value;
EXECUTE p5('zeta', 1, '3.333', '2024-04-01');
EXECUTE p5('apt', 1, '3.333', '2024-04-01');
SELECT price, at FROM c39_cnt WHERE name = 'apt';
\echo q6 LIMIT and OFFSET parameters, NULL limit: expect mid; apt mid zeta
PREPARE p6 AS SELECT name FROM c39_cnt ORDER BY 1 LIMIT $1 OFFSET $2;
EXECUTE p6(1, 1);
EXECUTE p6(NULL, 0);
\echo q7 date minus interval and date minus integer parameter: expect 2024-02-26|2024-02-29
PREPARE p7 AS SELECT (at - $1::interval)::date, at - $2::int FROM c39_cnt WHERE name = 'mid';
EXECUTE p7('5 days', 2);
\echo q8 wrong value for the inferred type: expect 22P02
EXECUTE p6('one', 0);
\echo q9 wrong number of parameters: expect 42601
EXECUTE p6(1);
\echo q10 column changed under a prepared star: expect 0A000 for the star, fine for a named column
PREPARE p10 AS SELECT * FROM c39_cnt WHERE name = $1;
PREPARE p11 AS SELECT value FROM c39_cnt WHERE name = $1;
EXECUTE p11('apt');
EXECUTE p10('apt');
ALTER TABLE c39_cnt ADD COLUMN extra int;
EXECUTE p11('apt');
EXECUTE p10('apt');
\echo q11 NULL parameter in comparison and IS NULL test: expect 0, then 3
PREPARE p12 AS SELECT count(*) FROM c39_cnt WHERE ($1::text IS NULL OR name = $1);
EXECUTE p12('none');
EXECUTE p12(NULL);
\echo q12 undetermined type used with an operator: expect 42P18
PREPARE p13 AS SELECT $1 IS NULL AND $2 = $3;
DEALLOCATE p1;
\echo q13 deallocated: expect 26000
EXECUTE p1('x');
DEALLOCATE ALL;
DROP TABLE c39_cnt;
\echo q14 "any" decides no type: expect 42P18
PREPARE p14 AS SELECT jsonb_build_array($1);
PREPARE p14 AS SELECT jsonb_build_object('a', $1);
PREPARE p14 AS SELECT concat($1, 'x');
PREPARE p14 AS SELECT pg_typeof($1);
PREPARE p14 AS SELECT count($1);
PREPARE p14 AS SELECT row($1, $2);
\echo q15 with a type: expect int, [5], ax
PREPARE p15 (int) AS SELECT pg_typeof($1), jsonb_build_array($1);
EXECUTE p15(5);
PREPARE p16 AS SELECT concat($1::text, 'x');
EXECUTE p16('a');
\echo q16 a type that comes too late: expect 42P08
PREPARE p17 AS SELECT $1 IS NULL OR $1::int > 3;
PREPARE p17 AS SELECT $1 IS NULL, $1;
PREPARE p17 AS SELECT pg_typeof($1), $1::int;
\echo q17 that comes first: expect t, f
PREPARE p18 AS SELECT $1::int > 3 OR $1 IS NULL;
EXECUTE p18(4);
EXECUTE p18(2);
\echo q18 or is given: expect t, then t
PREPARE p19 (text) AS SELECT $1 IS NULL OR $1 = 'a';
EXECUTE p19('a');
EXECUTE p19(NULL);
\echo q19 BETWEEN, IN, ANY and CASE name a parameter once: expect t|t|t|2
PREPARE p20 AS SELECT $1 BETWEEN 1 AND $2, $3 IN (1, 2), $4 = ANY ('{1,2}'::int[]), CASE $5::int WHEN 1 THEN 2 END;
EXECUTE p20(1, 2, 1, 2, 1);
\echo q20 in a change: expect 42P08
CREATE TABLE c39_late (k int, v text);
PREPARE p21 AS UPDATE c39_late SET v = 'x' WHERE $1 IS NULL OR k = $1;
DROP TABLE c39_late;
DEALLOCATE ALL;
