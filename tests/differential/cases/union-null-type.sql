-- bare NULL in a UNION branch is typed text, mixed numbers are cast the wrong way
\pset null NULL
CREATE TABLE c21_p (id int, price numeric(6,2), day date, at timestamp, tag varchar(5));
INSERT INTO c21_p VALUES (1,1.25,'2024-06-01','2024-06-02 03:04:05','ab');
\echo q1 expect 31 NULL
SELECT 31 AS ref UNION ALL SELECT NULL ORDER BY 1;
\echo q2 expect 31 NULL
SELECT NULL AS ref UNION ALL SELECT 31 ORDER BY 1;
\echo q3 dbt starter shape, expect the NULL row dropped
WITH seed AS (SELECT 31 AS ref UNION ALL SELECT NULL AS ref) SELECT * FROM seed WHERE ref IS NOT NULL;
\echo q4 int and numeric: expect 0.5 1 and one row for equal values
SELECT 1 AS v UNION SELECT 0.5 UNION SELECT 1.0 ORDER BY v;
\echo q5 nothing is lost by an empty int branch: expect 0.5
SELECT 0.5 AS v UNION ALL SELECT 7 WHERE false;
\echo q6 date with timestamp, varchar with text
SELECT day FROM c21_p UNION ALL SELECT at FROM c21_p ORDER BY 1;
SELECT tag FROM c21_p UNION ALL SELECT 'longer text' ORDER BY 1;
\echo q7 VALUES with NULL first
SELECT v + 1 FROM (VALUES (NULL), (4)) t(v) ORDER BY 1;
\echo q8 int and text column: expect 42804
SELECT id FROM c21_p UNION ALL SELECT tag FROM c21_p;
\echo q9 three branches, two NULLs first: PostgreSQL resolves pairwise, expect 42804
SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT 1;
\echo q10 COALESCE and CASE of timestamp and int: expect 42804 42804
SELECT COALESCE(NULL::timestamp, 1);
SELECT CASE WHEN id = 1 THEN at ELSE 1 END FROM c21_p;
\echo q11 CASE int/numeric/NULL and result types
SELECT pg_typeof(CASE WHEN id = 1 THEN 1 ELSE price END), pg_typeof(COALESCE(NULL, id)), pg_typeof(NULL), pg_typeof(1 + 1.5), pg_typeof(id / 2.0) FROM c21_p;
\echo q12 INTERSECT with typed NULL: expect NULL
SELECT NULL::int AS n INTERSECT SELECT NULL ORDER BY 1;
DROP TABLE c21_p;
