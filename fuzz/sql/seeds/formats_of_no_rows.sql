-- Found by the fuzzer: protocol: the connection is lost: the connection was closed.
CREATE TABLE a1 (k bigserial PRIMARY KEY, c1 date, c2 bigint DEFAULT (0::bigint)::text::bigint);
INSERT INTO a1 SELECT g.x, CASE WHEN g.x % 4 > 0 THEN '2020-01-01'::date + g.x % 400 END, g.x * 1000000007::bigint % 101 FROM generate_series(1, 3) AS g (x);
DELETE FROM a1 AS d WHERE true;
SELECT 'a' FROM unnest(ARRAY['a']) WITH ORDINALITY AS f86 (x, o) FULL JOIN a1 AS t87 ON true WHERE starts_with('a', to_char(NULL::timestamp, f86.x));
