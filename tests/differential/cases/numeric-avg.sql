-- avg and division of NUMERIC fail, lose scale or go through float
\pset null NULL
CREATE TABLE c51_inv (id int, net numeric(18,3), qty int, rate numeric, big bigint);
INSERT INTO c51_inv VALUES (1,4,3,0.194,9007199254740993),(2,4,7,0.077,9007199254740993),(3,3,NULL,NULL,2);
\echo q1 repeating decimal: 3.6666666666666667
SELECT avg(net), round(avg(net), 3), pg_typeof(avg(net)) FROM c51_inv;
\echo q2 average of integers is numeric, exact for large bigint
SELECT avg(qty), avg(big), sum(big), pg_typeof(avg(qty)), pg_typeof(sum(big)), pg_typeof(sum(qty)) FROM c51_inv;
\echo q3 division scale
SELECT 1/3::numeric, 2/3.0, 10::numeric/4, 1.0/7, 100000000000000000000/3::numeric, 0.000001/3, 7/2, -7/2, 7 % -3, -7 % 3, mod(7.5, 2);
\echo q4 multiplication keeps all digits
SELECT 0.1 * 0.1, 1.10 * 2.200, net * rate FROM c51_inv WHERE id = 1;
\echo q5 round half away from zero for numeric, half to even for float
SELECT round(0.5), round(1.5), round(2.5), round(-2.5), round(2.5::float8), round(-1.5::float8), round(1234.567, -2), round(2.345, 2), trunc(-2.789, 1), ceil(-0.5), floor(-0.5);
\echo q6 exact sums: t f
SELECT 0.1 + 0.2 = 0.3, 0.1::float8 + 0.2::float8 = 0.3::float8;
\echo q7 VAT total line by line versus at the end: 1.09 1.08
SELECT sum(round(net * rate, 2)), round(sum(net * rate), 2) FROM c51_inv;
\echo q8 scale limits on store: expect 22003, then stored 1.235
INSERT INTO c51_inv (id, net) VALUES (4, 1234567890123456.7);
INSERT INTO c51_inv (id, net) VALUES (5, 1.2345);
SELECT net FROM c51_inv WHERE id = 5;
\echo q9 more than 38 digits
SELECT 12345678901234567890123456789012345678901234567890 + 1, 99999999999999999999::numeric * 99999999999999999999::numeric, 2::numeric ^ 100;
\echo q10 division by zero: expect 22012 for all three kinds
SELECT 1 / 0;
SELECT 1.0 / 0;
SELECT 1::float8 / 0;
\echo q11 trailing zeros, equality, distinct: expect 1 group
SELECT count(DISTINCT v), min(v)::text = max(v)::text FROM (VALUES (1.0), (1.00), (1)) t(v);
SELECT trim_scale(1.500), scale(1.500), 1.500::text, 1e3::numeric, 1.5e-3::numeric;
\echo q12 statistics
SELECT round(stddev_samp(net), 6), round(var_pop(net), 6), round(corr(net, id)::numeric, 6) FROM c51_inv WHERE id < 4;
\echo q13 NaN and infinity numeric: expect NaN|Infinity|NaN t
SELECT 'NaN'::numeric, 'infinity'::numeric, 'infinity'::numeric - 'infinity'::numeric, 'NaN'::numeric > 'infinity'::numeric;
\echo q14 empty set: NULL NULL 0
SELECT avg(net), sum(net), count(net) FROM c51_inv WHERE id > 100;
DROP TABLE c51_inv;
