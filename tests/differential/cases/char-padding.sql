-- char(n) comparison, length and concatenation must ignore trailing blanks
\pset null NULL
CREATE TABLE c49_c (id int, c char(5), v varchar(5), t text);
INSERT INTO c49_c VALUES (1,'ab','ab','ab'),(2,'ab ','ab ','ab '),(3,'ab   ','ab   ','ab   '),(4,NULL,NULL,NULL),(5,'','','');
\echo q1 char ignores trailing blanks: expect 1 2 3; varchar does not: expect 1
SELECT id FROM c49_c WHERE c = 'ab' ORDER BY 1;
SELECT id FROM c49_c WHERE v = 'ab' ORDER BY 1;
\echo q2 char literal with blanks: expect 1 2 3
SELECT id FROM c49_c WHERE c = 'ab ' ORDER BY 1;
\echo q3 length, octets, concatenation, quoting
SELECT id, length(c), octet_length(c), '[' || c || ']', length(v), '[' || v || ']' FROM c49_c ORDER BY 1;
\echo q4 distinct and group: expect 3 groups for char, 5 for varchar
SELECT count(*) FROM (SELECT DISTINCT c FROM c49_c) z;
SELECT count(*) FROM (SELECT v FROM c49_c GROUP BY v) z;
\echo q5 join char with text uses text semantics: expect 1 1
SELECT a.id, b.id FROM c49_c a JOIN c49_c b ON a.c = b.t WHERE a.id = 1 AND b.id IN (1, 2) ORDER BY 1, 2;
\echo q6 LIKE on char sees the stripped or padded value?
SELECT id, c LIKE 'ab', c LIKE 'ab%', c::text LIKE 'ab' FROM c49_c WHERE id <= 2 ORDER BY 1;
\echo q7 too long: expect 22001 22001, blanks are cut silently, explicit cast truncates
INSERT INTO c49_c (id, c) VALUES (6, 'abcdef');
INSERT INTO c49_c (id, v) VALUES (6, 'abcdef');
INSERT INTO c49_c (id, c, v) VALUES (6, 'abc       ', 'abc       ');
SELECT id, length(c), length(v) FROM c49_c WHERE id = 6;
SELECT 'abcdef'::char(3), 'abcdef'::varchar(3), 'äöü'::varchar(2), 'x'::char(3) || 'y';
\echo q8 unique key: expect 23505
CREATE TABLE c49_u (code char(4) PRIMARY KEY);
INSERT INTO c49_u VALUES ('x');
INSERT INTO c49_u VALUES ('x  ');
\echo q9 order: expect empty, ab
SELECT '[' || c || ']' FROM c49_c WHERE id IN (1,5) ORDER BY c;
\echo q10 CSV out keeps the blanks of char
COPY (SELECT c, v FROM c49_c WHERE id = 1) TO STDOUT WITH (FORMAT csv);
DROP TABLE c49_c, c49_u;
