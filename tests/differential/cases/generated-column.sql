-- stored generated column is stale after UPDATE or can be written directly
\pset null NULL
CREATE TABLE c29_box (id int PRIMARY KEY, w int, h int, area int GENERATED ALWAYS AS (w * h) STORED CHECK (area < 1000), tag text DEFAULT 'n');
INSERT INTO c29_box (id, w, h) VALUES (1,2,3),(2,4,5),(3,NULL,9);
\echo q1 expect 6 20 NULL
SELECT id, area FROM c29_box ORDER BY 1;
\echo q2 recomputed on update of either column: expect 60 24
UPDATE c29_box SET w = 20 WHERE id = 1 RETURNING area;
UPDATE c29_box SET h = h + 1 WHERE id = 2 RETURNING area;
\echo q3 direct writes: expect 428C9 428C9, DEFAULT is allowed
UPDATE c29_box SET area = 7 WHERE id = 1;
INSERT INTO c29_box (id, w, h, area) VALUES (4, 1, 1, 99);
INSERT INTO c29_box (id, w, h, area) VALUES (4, 1, 1, DEFAULT) RETURNING area;
\echo q4 CHECK sees the new value: expect 23514 and the old row
UPDATE c29_box SET w = 500 WHERE id = 2;
SELECT w, area FROM c29_box WHERE id = 2;
\echo q5 upsert recomputes: expect 90
INSERT INTO c29_box (id, w, h) VALUES (1, 9, 10) ON CONFLICT (id) DO UPDATE SET w = EXCLUDED.w, h = EXCLUDED.h RETURNING area;
\echo q6 NULL passes the CHECK: expect NULL stays
UPDATE c29_box SET tag = 'z' WHERE id = 3 RETURNING id, area, tag;
\echo q7 filter and order on it: expect 2 1
SELECT id FROM c29_box WHERE area > 20 ORDER BY area;
\echo q8 added later to existing rows
ALTER TABLE c29_box ADD COLUMN half numeric GENERATED ALWAYS AS (w / 2.0) STORED;
SELECT id, round(half, 1) FROM c29_box ORDER BY 1;
\echo q9 dropping the base column is refused: expect 2BP01
ALTER TABLE c29_box DROP COLUMN w;
DROP TABLE c29_box;
