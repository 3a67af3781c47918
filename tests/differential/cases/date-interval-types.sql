-- date minus date is an interval instead of an integer; interval fields and text wrong
\pset null NULL
SET TIME ZONE 'UTC';
CREATE TABLE c45_stay (id int, ci date, co date, a timestamp, b timestamp);
INSERT INTO c45_stay VALUES (1,'2024-02-27','2024-03-02','2024-05-17 21:40:09','2024-07-03 06:15:30'),(2,'2023-12-31','2024-01-01','2024-01-01 00:00','2024-01-01 00:00:00.000001');
\echo q1 nights: expect 4 1 and type integer
SELECT id, co - ci, pg_typeof(co - ci) FROM c45_stay ORDER BY 1;
\echo q2 timestamp difference in days and time, never months
SELECT id, b - a FROM c45_stay ORDER BY 1;
\echo q3 fields of an interval are not totals
SELECT extract(day FROM b - a), extract(hour FROM b - a), extract(minute FROM INTERVAL '2 hours 5 minutes'), extract(epoch FROM INTERVAL '2 hours 5 minutes') / 60 FROM c45_stay WHERE id = 1;
\echo q4 comparison uses 30-day months: t t f
SELECT INTERVAL '1 month' = INTERVAL '30 days', INTERVAL '1 day' = INTERVAL '24 hours', INTERVAL '1 year' = INTERVAL '365 days';
\echo q5 output text
SELECT INTERVAL '2 mons 3 days 00:00:00.000004', INTERVAL '-1 day +2 hours', INTERVAL '90 minutes', INTERVAL '1.5 months', INTERVAL '14 months', INTERVAL '0';
\echo q6 justify
SELECT justify_hours(INTERVAL '27 hours'), justify_days(INTERVAL '35 days'), justify_interval(INTERVAL '1 month -1 hour');
\echo q7 arithmetic
SELECT INTERVAL '7 minutes' * 3, INTERVAL '1 hour' / 3, INTERVAL '1 day' * 0.5, -INTERVAL '2 days', DATE '2024-01-01' + 45, DATE '2024-01-01' + TIME '03:04', 7 + DATE '2024-01-01';
\echo q8 ordering and aggregates of intervals
SELECT sum(b - a), max(b - a), avg(b - a) FROM c45_stay;
\echo q9 extract returns numeric and week numbering
SELECT extract(week FROM DATE '2024-12-30'), extract(isoyear FROM DATE '2024-12-30'), extract(dow FROM DATE '2024-12-29'), extract(isodow FROM DATE '2024-12-29'), extract(quarter FROM DATE '2024-12-30'), extract(second FROM TIMESTAMP '2024-01-01 00:00:01.250'), pg_typeof(extract(year FROM DATE '2024-01-01'));
\echo q10 truncation: Monday week, quarter, decade
SELECT date_trunc('week', DATE '2024-12-29'), date_trunc('quarter', TIMESTAMP '2024-08-23 04:44'), date_trunc('decade', TIMESTAMP '2024-08-23'), date_trunc('hour', INTERVAL '3 days 04:05:06');
\echo q11 formatting and parsing
SELECT to_char(TIMESTAMP '2024-08-04 15:07:09', 'FMDay DD Mon YYYY HH12:MI:SS AM Q IW'), to_date('04/08/24', 'DD/MM/YY'), to_timestamp('2024-8-4 7', 'YYYY-MM-DD HH24')::timestamp, to_char(1234567.891, 'FM9,999,999.00'), to_char(-5, 'S099'), to_char(0.5, '990.00%');
\echo q12 overlaps and date_bin: t f 2024-01-01 00:45
SELECT (DATE '2024-01-01', DATE '2024-01-10') OVERLAPS (DATE '2024-01-09', DATE '2024-01-12'), (DATE '2024-01-01', DATE '2024-01-10') OVERLAPS (DATE '2024-01-10', DATE '2024-01-12'), date_bin('15 minutes', TIMESTAMP '2024-01-01 00:52', TIMESTAMP '2024-01-01');
DROP TABLE c45_stay;
