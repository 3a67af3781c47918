-- Found by the fuzzer: dead: signal: 6 (SIGABRT): fatal runtime error: stack overflow, aborting.
CREATE TABLE a1(c4 interval);
CREATE VIEW v2()AS SELECT FROM a1;
CREATE OR REPLACE VIEW v2 AS SELECT FROM v2;
(SELECT FROM v2);
