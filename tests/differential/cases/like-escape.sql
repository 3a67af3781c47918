-- LIKE with backslash, ESCAPE clause, underscore and non-ASCII
\pset null NULL
CREATE TABLE c47_f (id int, p text);
INSERT INTO c47_f VALUES (1,'a_b'),(2,'axb'),(3,'50%'),(4,'50 pct'),(5,'C:\dir\x'),(6,'C:\'),(7,'Über'),(8,'über'),(9,'line1
line2'),(10,NULL),(11,'');
\echo q1 escaped underscore: expect 1
SELECT id FROM c47_f WHERE p LIKE 'a\_b' ORDER BY 1;
\echo q2 escaped percent: expect 3
SELECT id FROM c47_f WHERE p LIKE '%\%' ORDER BY 1;
\echo q3 literal backslash needs two: expect 5 6, then 6
SELECT id FROM c47_f WHERE p LIKE '%\\%' ORDER BY 1;
SELECT id FROM c47_f WHERE p LIKE '%\\' ORDER BY 1;
\echo q4 other escape character, and none: expect 1, then 5
SELECT id FROM c47_f WHERE p LIKE 'a!_b' ESCAPE '!' ORDER BY 1;
SELECT id FROM c47_f WHERE p LIKE 'C:\d%' ESCAPE '' ORDER BY 1;
\echo q5 underscore is one character, not one byte; newline matches: expect 7 8, then 9
SELECT id FROM c47_f WHERE p LIKE '_ber' ORDER BY 1;
SELECT id FROM c47_f WHERE p LIKE 'line1_line2' ORDER BY 1;
\echo q6 ILIKE folds non-ASCII: expect 7 8
SELECT id FROM c47_f WHERE p ILIKE 'ÜB%' ORDER BY 1;
\echo q7 NOT LIKE skips NULL; empty pattern and empty string: expect 10, then 11
SELECT count(*) FROM c47_f WHERE p NOT LIKE 'zzz';
SELECT id FROM c47_f WHERE p LIKE '' ORDER BY 1;
\echo q8 pattern from a column, NULL pattern: f-t table
SELECT a.id, b.id FROM c47_f a JOIN c47_f b ON a.p LIKE b.p WHERE a.id < 3 AND b.id < 3 ORDER BY 1, 2;
SELECT 'x' LIKE NULL, NULL LIKE '%', '' LIKE '%', 'abc' NOT ILIKE 'A_C';
\echo q9 pattern ending in the escape, and a long escape: expect 22025 22025
SELECT 'ab' LIKE 'a\';
SELECT 'a' LIKE 'a' ESCAPE 'xx';
\echo q10 operators, starts_with and prefix operator: t t t f
SELECT 'abc' ~~ 'a%', 'ABC' ~~* 'a%', starts_with('a%b', 'a%'), 'abc' ^@ 'b';
\echo q11 SIMILAR TO: t f t
SELECT 'abc' SIMILAR TO 'a(b|x)c', 'abcd' SIMILAR TO 'abc', 'a.c' SIMILAR TO 'a.c';
\echo q12 pattern built by concatenation from user input: expect 3
SELECT id FROM c47_f WHERE p LIKE replace(replace('50%', '\', '\\'), '%', '\%') ORDER BY 1;
DROP TABLE c47_f;
