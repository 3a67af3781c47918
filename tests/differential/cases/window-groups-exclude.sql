-- RANGE INTERVAL, GROUPS and EXCLUDE frames are wrong or missing
\pset null NULL
CREATE TABLE c15_tick (id int, at timestamp, px int);
INSERT INTO c15_tick VALUES (1,'2023-09-10 06:00',5),(2,'2023-09-10 06:00',8),(3,'2023-09-11 06:00',13),(4,'2023-09-13 18:00',21),(5,'2023-09-14 01:00',34);
\echo q1 one-day range
SELECT id, sum(px) OVER (ORDER BY at RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) AS s FROM c15_tick ORDER BY id;
\echo q2 groups
SELECT id, sum(px) OVER (ORDER BY at GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM c15_tick ORDER BY id;
\echo q3 exclude current row: sum of the others
SELECT id, sum(px) OVER (ORDER BY at, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS s FROM c15_tick ORDER BY id;
\echo q4 exclude ties and group
SELECT id, count(*) OVER (ORDER BY at RANGE UNBOUNDED PRECEDING EXCLUDE TIES) AS t, count(*) OVER (ORDER BY at RANGE UNBOUNDED PRECEDING EXCLUDE GROUP) AS g FROM c15_tick ORDER BY id;
\echo q5 filter in a window aggregate, and a named window
SELECT id, count(*) FILTER (WHERE px > 7) OVER w AS c, lag(px, 1, -1) OVER w AS p, nth_value(px, 2) OVER w AS n FROM c15_tick WINDOW w AS (ORDER BY id) ORDER BY id;
\echo q6 ranking with ties
SELECT id, rank() OVER (ORDER BY at) r, dense_rank() OVER (ORDER BY at) d, ntile(2) OVER (ORDER BY id) n, round(percent_rank() OVER (ORDER BY at)::numeric, 2) p, cume_dist() OVER (ORDER BY at) c FROM c15_tick ORDER BY id;
\echo q7 window over an aggregate
SELECT at::date AS d, sum(px) AS s, sum(sum(px)) OVER (ORDER BY at::date) AS run FROM c15_tick GROUP BY at::date ORDER BY 1;
\echo q8 window function in WHERE: expect 42P20
SELECT id FROM c15_tick WHERE row_number() OVER (ORDER BY id) = 1;
DROP TABLE c15_tick;
