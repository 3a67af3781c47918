-- deferred foreign keys crash or are checked too early
\pset null NULL
CREATE TABLE c33_team (id int PRIMARY KEY, captain int NOT NULL);
CREATE TABLE c33_man (id int PRIMARY KEY, team int NOT NULL REFERENCES c33_team (id));
ALTER TABLE c33_team ADD CONSTRAINT c33_cap FOREIGN KEY (captain) REFERENCES c33_man (id) DEFERRABLE INITIALLY DEFERRED;
\echo q1 chicken and egg in one transaction: expect 1 1
BEGIN;
INSERT INTO c33_team VALUES (1, 10);
INSERT INTO c33_man VALUES (10, 1);
COMMIT;
SELECT (SELECT count(*) FROM c33_team), (SELECT count(*) FROM c33_man);
\echo q2 autocommit statement is checked at its end: expect 23503
INSERT INTO c33_team VALUES (2, 20);
\echo q3 violation shows at COMMIT: expect 23503 and nothing kept
BEGIN;
INSERT INTO c33_team VALUES (3, 30);
SELECT count(*) FROM c33_team;
COMMIT;
SELECT count(*) FROM c33_team;
\echo q4 SET CONSTRAINTS IMMEDIATE checks now: expect 23503 at once
BEGIN;
INSERT INTO c33_team VALUES (4, 40);
SET CONSTRAINTS ALL IMMEDIATE;
ROLLBACK;
\echo q5 repaired before commit: expect 2
BEGIN;
INSERT INTO c33_team VALUES (5, 50);
UPDATE c33_team SET captain = 10 WHERE id = 5;
COMMIT;
SELECT count(*) FROM c33_team;
\echo q6 deferrable unique key allows a shift inside the transaction: expect 2 3 4
CREATE TABLE c33_pos (p int UNIQUE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO c33_pos VALUES (1),(2),(3);
UPDATE c33_pos SET p = p + 1;
SELECT p FROM c33_pos ORDER BY 1;
\echo q7 savepoint with deferred violation rolled back: expect commit to succeed, 2
BEGIN;
SAVEPOINT s;
INSERT INTO c33_team VALUES (6, 60);
ROLLBACK TO s;
COMMIT;
SELECT count(*) FROM c33_team;
ALTER TABLE c33_team DROP CONSTRAINT c33_cap;
DROP TABLE c33_man, c33_team, c33_pos;
