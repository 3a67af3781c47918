-- DISTINCT, ORDER BY and FILTER inside aggregates ignored or combined wrongly
\pset null NULL
CREATE TABLE c55_s (id int, cat text, name text, n int, ok boolean);
INSERT INTO c55_s VALUES (1,'A','pear',3,true),(2,'A','fig',3,false),(3,'B','kiwi',5,true),(4,'A','pear',7,NULL),(5,'B',NULL,NULL,true);
\echo q1 sum distinct with filter: expect 8 and 10
SELECT sum(DISTINCT n) FILTER (WHERE ok), sum(DISTINCT n) FILTER (WHERE cat = 'A'), count(DISTINCT n), count(*) FILTER (WHERE ok) FROM c55_s;
\echo q2 ordered and distinct together per group
SELECT cat, array_agg(DISTINCT id ORDER BY id DESC), string_agg(name, ',' ORDER BY n, name), string_agg(DISTINCT name, '|' ORDER BY name DESC), array_agg(name ORDER BY id) FROM c55_s GROUP BY cat ORDER BY cat;
\echo q3 one ordered aggregate next to a distinct one: both complete
SELECT string_agg(n::text, ',' ORDER BY id), string_agg(DISTINCT n::text, ',') FROM c55_s WHERE cat = 'A';
\echo q4 ORDER BY of another column with DISTINCT: expect 42P10
SELECT array_agg(DISTINCT name ORDER BY id) FROM c55_s;
\echo q5 filter leaves groups with nothing: NULL and 0
SELECT cat, sum(n) FILTER (WHERE n > 6), count(*) FILTER (WHERE n > 6), max(name) FILTER (WHERE ok IS NULL) FROM c55_s GROUP BY cat ORDER BY cat;
\echo q6 string_agg skips NULL values, NULL delimiter, per-row delimiter
SELECT string_agg(name, '-' ORDER BY id), string_agg(name, NULL ORDER BY id), string_agg(name, id::text ORDER BY id) FROM c55_s;
\echo q7 ordered-set and hypothetical aggregates, mode
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n), percentile_cont(ARRAY[0.25,0.75]) WITHIN GROUP (ORDER BY n), mode() WITHIN GROUP (ORDER BY name), rank(4) WITHIN GROUP (ORDER BY n) FROM c55_s;
\echo q8 boolean aggregates and every: f t f
SELECT bool_and(ok), bool_or(ok), every(n > 3) FROM c55_s;
\echo q9 aggregates of no rows and HAVING without GROUP BY
SELECT count(*), sum(n), max(name), bool_and(ok), array_agg(id), string_agg(name, ',') FROM c55_s WHERE false;
SELECT count(*) FROM c55_s HAVING count(*) > 99;
SELECT 1 AS one FROM c55_s HAVING true;
\echo q10 count distinct of a row and of several columns with NULL
SELECT count(DISTINCT (cat, n)), count(DISTINCT cat || coalesce(name, '')) FROM c55_s;
\echo q11 nested aggregate: expect 42803; aggregate in WHERE: expect 42803
SELECT max(count(*)) FROM c55_s GROUP BY cat;
SELECT cat FROM c55_s WHERE count(*) > 1 GROUP BY cat;
\echo q12 group by alias, position, expression; name clash prefers the input column
SELECT upper(cat) AS c, count(*) FROM c55_s GROUP BY c ORDER BY c;
SELECT n % 2 AS id, count(*) FROM c55_s GROUP BY 1 ORDER BY 1 NULLS LAST;
SELECT count(*) FROM (SELECT n % 2 AS id, count(*) FROM c55_s GROUP BY id, n % 2) z;
\echo q13 pivot by FILTER and by CASE agree
SELECT sum(n) FILTER (WHERE cat = 'A') AS a, sum(n) FILTER (WHERE cat = 'B') AS b, sum(CASE WHEN cat = 'A' THEN n END) AS a2 FROM c55_s;
\echo q14 bit aggregates, first by order through array
SELECT bit_or(n), bit_and(n), (array_agg(name ORDER BY n DESC NULLS LAST))[1] FROM c55_s;
DROP TABLE c55_s;
