-- LEFT JOIN weakened to a JOIN under NOT(... AND ...)
\pset null NULL
CREATE TABLE c05_item (id int PRIMARY KEY, label_id int);
CREATE TABLE c05_label (id int PRIMARY KEY, name text);
INSERT INTO c05_item VALUES (1,NULL),(2,10),(3,11),(4,99);
INSERT INTO c05_label VALUES (10,'red'),(11,'blue');
\echo q1 everything that is not labelled red, expect 1 3 (4 is unknown, dropped)
SELECT i.id FROM c05_item i LEFT JOIN c05_label l ON l.id = i.label_id WHERE NOT (i.label_id IS NOT NULL AND l.name = 'red') ORDER BY 1;
\echo q2 De Morgan form, same rows
SELECT i.id FROM c05_item i LEFT JOIN c05_label l ON l.id = i.label_id WHERE i.label_id IS NULL OR l.name <> 'red' ORDER BY 1;
\echo q3 filter on both sides of the key, expect 1
SELECT count(*) FROM c05_item i LEFT OUTER JOIN c05_label l ON l.id = i.label_id WHERE i.label_id = 10 AND l.id = 10;
\echo q4 restriction in ON keeps all left rows, expect 1 2 3 4 with one name
SELECT i.id, l.name FROM c05_item i LEFT JOIN c05_label l ON l.id = i.label_id AND i.id = 3 ORDER BY 1;
\echo q5 anti join by IS NULL, expect 1 4
SELECT i.id FROM c05_item i LEFT JOIN c05_label l ON l.id = i.label_id WHERE l.id IS NULL ORDER BY 1;
\echo q6 coalesce over the nullable side, expect 1 4 plus blue
SELECT i.id, coalesce(l.name,'none') FROM c05_item i LEFT JOIN c05_label l ON l.id = i.label_id WHERE coalesce(l.name,'none') <> 'red' ORDER BY 1;
DROP TABLE c05_item, c05_label;
