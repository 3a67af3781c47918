-- Found by the fuzzer: memory: stopped at 4098 MB resident.
CREATE TABLE a2 (k bigserial PRIMARY KEY, c1 timestamptz, c2 uuid, c3 text, c4 double precision, c5 bigint, c6 int[]);
CREATE TABLE a3 (k bigint PRIMARY KEY, c1 int, c2 text, c3 bigint, c4 int, c5 numeric, c6 numeric);
CREATE VIEW v4 (c0, c1, c2, c3, c4, c5, c6) AS SELECT k, c1, c2, c3, c4, c5, c6 FROM a3 WHERE k IS NOT NULL;
CREATE VIEW v5 (c0, c1, c2, c3, c4, c5, c6) AS SELECT k, c1, c2, c3, c4, c5, c6 FROM a2 WHERE k IS NOT NULL;
SELECT ascii(repeat(('2020-02-29 12:00:00+02'::timestamptz)::text, (CASE  WHEN true THEN t65.relnatts::int WHEN true THEN t65.relnatts::int END))), NULL::bool, to_date(left(current_setting('search_path'), NULL::int), repeat(nullif(t65.relname::text, '{1,2}'), (t65.relnatts::int + t65.relnatts::int))), string_to_array(repeat((CASE  WHEN (t65.relname::text ~ t65.relname::text) THEN (t65.relname::text || t65.relnatts::int) WHEN (t65.relnatts::int < t65.relnatts::int) THEN jsonb_typeof('null'::jsonb) WHEN ('null'::jsonb = '[]'::jsonb) THEN t65.relname::text ELSE (CASE  WHEN false THEN t65.relname::text ELSE t65.relname::text END) END), 1000000), 'a') FROM pg_class AS t65;
