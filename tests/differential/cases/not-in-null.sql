-- NOT IN keeps rows although the correlated/constant subquery yields NULL
\pset null NULL
CREATE TABLE c01_shop (shop_id int, town text);
CREATE TABLE c01_ban (town text, sku int);
INSERT INTO c01_shop VALUES (1,'Oslo'),(2,'Bergen'),(3,'Voss'),(4,NULL);
INSERT INTO c01_ban VALUES ('Oslo',7),('Bergen',NULL),('Bergen',8),('Voss',9);
\echo q1 correlated, expect 1 4
SELECT shop_id FROM c01_shop s WHERE 9 NOT IN (SELECT sku FROM c01_ban b WHERE b.town = s.town) ORDER BY 1;
\echo q2 constant, expect no rows
SELECT shop_id FROM c01_shop WHERE 5 NOT IN (SELECT sku FROM c01_ban) ORDER BY 1;
\echo q3 value in select list, expect t NULL f f
SELECT shop_id, 7 IN (SELECT sku FROM c01_ban b WHERE b.town = s.town) AS hit FROM c01_shop s ORDER BY 1;
\echo q4 empty subquery keeps the NULL row, expect 1 2 3 4
SELECT shop_id FROM c01_shop WHERE town NOT IN (SELECT town FROM c01_ban WHERE sku > 100) ORDER BY 1;
\echo q5 non-empty subquery drops the NULL row, expect 1 2
SELECT shop_id FROM c01_shop WHERE town NOT IN (SELECT town FROM c01_ban WHERE sku = 9) ORDER BY 1;
\echo q6 inside OR, expect 1
SELECT shop_id FROM c01_shop WHERE 5 NOT IN (SELECT sku FROM c01_ban) OR shop_id = 1 ORDER BY 1;
\echo q7 unknown is visible through IS NULL, expect 4 rows
SELECT count(*) FROM c01_shop WHERE (5 NOT IN (SELECT sku FROM c01_ban)) IS NULL;
\echo q8 two columns, expect 1 3
SELECT shop_id FROM c01_shop WHERE (town, shop_id) NOT IN (SELECT town, sku FROM c01_ban) ORDER BY 1;
\echo q9 extra predicate on the same column, expect no rows
SELECT shop_id FROM c01_shop WHERE shop_id <> 1 AND shop_id NOT IN (SELECT sku FROM c01_ban WHERE sku IS NULL) ORDER BY 1;
DROP TABLE c01_shop, c01_ban;
