-- Found by the fuzzer: memory: stopped at 4102 MB resident.
CREATE TABLE a3 (k bigint PRIMARY KEY, c1 text, c2 int, c3 int[], c4 numeric);
INSERT INTO a3 (k, c3) SELECT g42.x, min((SELECT array_agg(g) FROM generate_series(1, 10000000) AS g (g))) FROM generate_series(1, 9223372036854775807) AS g42 (x) GROUP BY g42.x LIMIT NULL OFFSET 100;
-- Relatives of it: an allocation of 650 GB failed and ended the server, and offsets of more than 32 bits panicked.
SELECT count(m) FROM (SELECT min((SELECT array_agg(g) FROM generate_series(1, 10000000) AS g (g))) m FROM generate_series(1, 10000) x (x) GROUP BY x) y;
SELECT count(m) FROM (SELECT (SELECT repeat('x', 10000000)) m, x FROM generate_series(1, 10000) x OFFSET 1) y;
SELECT count(m) FROM (SELECT repeat('x', 10000000) m, x FROM generate_series(1, 10000) x OFFSET 1) y;
SELECT max(k) FROM (SELECT array_position((SELECT array_agg(g) FROM generate_series(1, 10000000) AS g (g)), x) k FROM generate_series(1, 10000) x (x)) z;
SELECT length(max(CASE WHEN x > 5 THEN (SELECT repeat('x', 10000000)) ELSE 'a' END)) FROM generate_series(1, 10000) x (x);
