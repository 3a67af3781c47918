-- outer filter pushed into LEFT JOIN LATERAL and the NULL-extended row survives
\pset null NULL
CREATE TABLE c07_team (id int, base int);
CREATE TABLE c07_goal (team_id int, minute int);
INSERT INTO c07_team VALUES (1,10),(2,20),(3,30);
INSERT INTO c07_goal VALUES (1,5),(1,80),(3,44);
\echo q1 expect 1 3
SELECT t.id FROM c07_team t LEFT JOIN LATERAL (SELECT min(minute) m FROM c07_goal g WHERE g.team_id = t.id HAVING count(*) > 0) l ON true WHERE l.m IS NOT NULL ORDER BY 1;
\echo q2 expect 3
SELECT t.id FROM c07_team t LEFT JOIN LATERAL (SELECT minute FROM c07_goal g WHERE g.team_id = t.id ORDER BY minute LIMIT 1) l ON true WHERE l.minute > 10 ORDER BY 1;
\echo q3 expect 2
SELECT t.id FROM c07_team t LEFT JOIN LATERAL (SELECT minute FROM c07_goal g WHERE g.team_id = t.id ORDER BY minute LIMIT 1) l ON true WHERE l.minute IS NULL ORDER BY 1;
\echo q4 VALUES in LATERAL with a correlated scalar filter
SELECT t.id, y FROM c07_team t, LATERAL (VALUES (t.base + 1), (t.base + 2)) v(y) WHERE (SELECT v.y < 22) ORDER BY 1,2;
\echo q5 LATERAL generate_series with per-row bound
SELECT t.id, count(s.k) FROM c07_team t LEFT JOIN LATERAL generate_series(1, t.id - 1) AS s(k) ON true GROUP BY t.id ORDER BY 1;
\echo q6 chained lateral
SELECT t.id, a.x, b.y FROM c07_team t CROSS JOIN LATERAL (SELECT t.base * 2 AS x) a CROSS JOIN LATERAL (SELECT a.x + t.id AS y) b ORDER BY 1;
DROP TABLE c07_team, c07_goal;
