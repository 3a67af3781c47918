-- LEFT JOIN turned into INNER JOIN when the filter negates IS TRUE
\pset null NULL
CREATE TABLE c03_acct (id int, owner text);
CREATE TABLE c03_flag (acct_id int, score int, active boolean);
INSERT INTO c03_acct VALUES (1,'kim'),(2,'lou'),(3,'max');
INSERT INTO c03_flag VALUES (1,40,true),(2,90,false);
\echo q1 expect kim max
SELECT owner FROM c03_acct a LEFT JOIN c03_flag f ON f.acct_id = a.id WHERE NOT ((f.score > 50) IS TRUE) ORDER BY 1;
\echo q2 expect lou max
SELECT owner FROM c03_acct a LEFT JOIN c03_flag f ON f.acct_id = a.id WHERE f.active IS NOT TRUE ORDER BY 1;
\echo q3 expect lou max
SELECT owner FROM c03_acct a LEFT JOIN c03_flag f ON f.acct_id = a.id WHERE (f.active IS TRUE) = false ORDER BY 1;
\echo q4 expect kim max
SELECT owner FROM c03_acct a LEFT JOIN c03_flag f ON f.acct_id = a.id WHERE COALESCE(f.score > 50, false) = false ORDER BY 1;
\echo q5 expect lou max
SELECT owner FROM c03_acct a LEFT JOIN c03_flag f ON f.acct_id = a.id WHERE CASE WHEN f.score IS NULL THEN true ELSE f.score > 60 END ORDER BY 1;
\echo q6 expect max
SELECT owner FROM c03_acct a LEFT JOIN c03_flag f ON f.acct_id = a.id WHERE (f.score > 50) IS UNKNOWN ORDER BY 1;
\echo q7 expect kim lou max
SELECT owner FROM c03_acct a LEFT JOIN c03_flag f ON f.acct_id = a.id WHERE f.score IS DISTINCT FROM 7 ORDER BY 1;
DROP TABLE c03_acct, c03_flag;
