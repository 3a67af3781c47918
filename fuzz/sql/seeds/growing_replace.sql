-- Found by the fuzzer: memory: stopped at 4103 MB resident.
CREATE TABLE a1 (k bigserial PRIMARY KEY, c1 timestamp);
SELECT NULL::uuid WHERE (''IS DISTINCT FROM replace(repeat('a', 100000), 'a', repeat('a', 10000)));
