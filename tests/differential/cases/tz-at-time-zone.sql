-- AT TIME ZONE gives a zoned instead of a naive value; timestamptz to timestamp/date ignores the session zone
\pset null NULL
SET TIME ZONE 'UTC';
CREATE TABLE c43_e (id int, at timestamptz, wall timestamp);
INSERT INTO c43_e VALUES (1,'2023-06-15 16:45:00Z','2023-06-15 16:45:00'),(2,'2023-02-01 04:20:00Z','2023-02-01 04:20:00'),(3,'2023-06-15 22:59:59.5-05','2023-12-31 23:59:59.5');
\echo q1 aware to naive: expect 11:45, 22:20 the day before, 22:59:59.5
SELECT id, at AT TIME ZONE 'America/Chicago' FROM c43_e ORDER BY 1;
\echo q2 naive to aware
SELECT id, wall AT TIME ZONE 'America/Chicago' FROM c43_e ORDER BY 1;
\echo q3 types
SELECT pg_typeof(at AT TIME ZONE 'Asia/Tokyo'), pg_typeof(wall AT TIME ZONE 'Asia/Tokyo'), pg_typeof('2023-06-15 12:00Z'::timestamptz), pg_typeof(at - at), pg_typeof(at::date) FROM c43_e WHERE id = 1;
\echo q4 local calendar day of an event: expect 2023-06-16 2023-02-01 2023-06-16
SELECT id, (at AT TIME ZONE 'Asia/Tokyo')::date FROM c43_e ORDER BY 1;
\echo q5 session zone shows in output, in casts and in literals
SET TIME ZONE 'America/Chicago';
SELECT id, at, at::timestamp, at::date, wall::timestamptz FROM c43_e ORDER BY 1;
SELECT count(*) FROM c43_e WHERE at = '2023-06-15 11:45:00';
SELECT date_trunc('day', at), date_trunc('day', at, 'UTC') FROM c43_e WHERE id = 2;
\echo q6 epoch does not depend on the session zone: expect 1686847500 1686847500
SELECT extract(epoch FROM at)::bigint, extract(epoch FROM wall)::bigint FROM c43_e WHERE id = 1;
\echo q7 fixed offsets: sign of AT TIME ZONE with an interval and with a POSIX name
SET TIME ZONE 'UTC';
SELECT at AT TIME ZONE INTERVAL '+05:30', at AT TIME ZONE '+05:30', at AT TIME ZONE 'UTC+3' FROM c43_e WHERE id = 1;
\echo q8 numeric zone and zone conversion twice gives the same instant: expect t t t
SET TIME ZONE -7;
SELECT at, at = ((at AT TIME ZONE 'Asia/Kolkata') AT TIME ZONE 'Asia/Kolkata') FROM c43_e ORDER BY id;
SET TIME ZONE 'UTC';
\echo q9 comparison of aware and naive uses the session zone: expect 1 2
SELECT id FROM c43_e WHERE at = wall ORDER BY 1;
\echo q10 unknown zone: expect 22023
SELECT now() AT TIME ZONE 'Mars/Olympus';
\echo q11 grouping by local month
SELECT to_char(at AT TIME ZONE 'America/Chicago', 'YYYY-MM') AS m, count(*) FROM c43_e GROUP BY 1 ORDER BY 1;
DROP TABLE c43_e;
RESET TIME ZONE;
