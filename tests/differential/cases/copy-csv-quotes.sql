-- CSV import: quoted empty string becomes NULL, embedded newlines and doubled quotes break rows
\pset null NULL
CREATE TABLE c41_c (id int, name text, note text);
\echo q1 quoted versus bare empty, quoted NULL word, newline, quotes, comma, backslash
COPY c41_c FROM STDIN WITH (FORMAT csv);
1,"",
2,,""
3,"NULL","say ""hi"""
4,"two
lines","a,b"
5,back\slash,\N
6, lead and trail ,"x"y"z"
\.
SELECT id, name, note FROM c41_c WHERE id <> 4 ORDER BY id;
SELECT id, position(E'\n' IN name), length(name), note FROM c41_c WHERE id = 4;
\echo q2 counts: expect name NULL 1, note NULL 1
SELECT count(*) - count(name), count(*) - count(note) FROM c41_c;
\echo q3 written back, NULL and empty stay different
COPY (SELECT id, name, note FROM c41_c ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER);
\echo q4 other delimiter, quote and NULL string
TRUNCATE c41_c;
COPY c41_c FROM STDIN WITH (FORMAT csv, DELIMITER ';', QUOTE '''', NULL 'nil', HEADER);
id;name;note
1;nil;'nil'
2;'it''s';'a;b'
\.
SELECT id, name, note FROM c41_c ORDER BY id;
COPY (SELECT * FROM c41_c ORDER BY id) TO STDOUT WITH (FORMAT csv, FORCE_QUOTE *);
\echo q5 FORCE_NULL and FORCE_NOT_NULL: expect NULL then empty
TRUNCATE c41_c;
COPY c41_c FROM STDIN WITH (FORMAT csv, FORCE_NULL (name), FORCE_NOT_NULL (note));
1,"",
\.
SELECT id, name, note = '' FROM c41_c;
\echo q6 too many and too few columns: expect 22P04 22P04
COPY c41_c FROM STDIN WITH (FORMAT csv);
1,a,b,c
\.
COPY c41_c FROM STDIN WITH (FORMAT csv);
1,a
\.
\echo q7 quoted empty into an int column: expect 22P02, bare empty is NULL
COPY c41_c (id) FROM STDIN WITH (FORMAT csv);
""
\.
COPY c41_c (name, id) FROM STDIN WITH (FORMAT csv);
only,
\.
SELECT id, name FROM c41_c WHERE name = 'only';
\echo q8 unterminated quote: expect 22P04
COPY c41_c FROM STDIN WITH (FORMAT csv);
9,"open,x
\.
DROP TABLE c41_c;
