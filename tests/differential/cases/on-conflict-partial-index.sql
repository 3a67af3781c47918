-- unique partial index (soft delete) is used as arbiter for rows outside its predicate
\pset null NULL
CREATE TABLE c27_user (id int PRIMARY KEY, email text, gone date);
CREATE UNIQUE INDEX c27_live ON c27_user (lower(email)) WHERE gone IS NULL;
INSERT INTO c27_user VALUES (1,'Ina@x.test',NULL);
\echo q1 second live account: expect 23505
INSERT INTO c27_user VALUES (2,'ina@X.test',NULL);
\echo q2 soft-deleted duplicates are fine, then re-registering works
INSERT INTO c27_user VALUES (3,'ina@x.test','2024-01-01'),(4,'ina@x.test','2024-02-01');
UPDATE c27_user SET gone = '2024-03-01' WHERE id = 1;
INSERT INTO c27_user VALUES (5,'INA@x.test',NULL);
SELECT id FROM c27_user WHERE gone IS NULL;
\echo q3 reviving an old account collides: expect 23505
UPDATE c27_user SET gone = NULL WHERE id = 3;
\echo q4 upsert through the partial index: expect row 5 updated
INSERT INTO c27_user VALUES (6,'ina@x.test',NULL) ON CONFLICT (lower(email)) WHERE gone IS NULL DO UPDATE SET email = EXCLUDED.email RETURNING id, email;
\echo q5 row outside the predicate is inserted, not updated: expect 7
INSERT INTO c27_user VALUES (7,'ina@x.test','2024-04-01') ON CONFLICT (lower(email)) WHERE gone IS NULL DO UPDATE SET email = 'never' RETURNING id;
\echo q6 target without the predicate finds no arbiter: expect 42P10
INSERT INTO c27_user VALUES (8,'ina@x.test',NULL) ON CONFLICT (lower(email)) DO NOTHING;
\echo q7 NULL addresses never collide: expect 2
INSERT INTO c27_user VALUES (9,NULL,NULL),(10,NULL,NULL);
SELECT count(*) FROM c27_user WHERE email IS NULL;
\echo q8 plain UNIQUE with NULLs, and NULLS NOT DISTINCT: expect 2, then 23505
CREATE TABLE c27_n (a int, b int, UNIQUE (a, b));
INSERT INTO c27_n VALUES (1,NULL),(1,NULL);
SELECT count(*) FROM c27_n;
CREATE TABLE c27_m (a int, b int, UNIQUE NULLS NOT DISTINCT (a, b));
INSERT INTO c27_m VALUES (1,NULL),(1,NULL);
\echo q9 final state
SELECT id, email, gone FROM c27_user ORDER BY id;
DROP TABLE c27_user, c27_n, c27_m;
