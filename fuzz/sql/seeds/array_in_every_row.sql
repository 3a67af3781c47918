-- Found by the fuzzer: memory: stopped at 4101 MB resident.
CREATE TABLE a1 (k bigserial PRIMARY KEY, c1 int[]);
INSERT INTO a1 SELECT g.x, ARRAY[g.x, g.x % 5] FROM generate_series(1, 5000) AS g (x);
UPDATE a1 SET c1=(SELECT array_agg(g) FROM generate_series(1, 10000000) g (g));
