-- jsonb kept as text: key order, duplicates, equality, negative index, NULL kinds
\pset null NULL
CREATE TABLE c53_d (id int, j jsonb, t json);
INSERT INTO c53_d VALUES
(1,'{"b":2, "a":1, "a":3, "tags":["x","y",null], "n":{"k":"v"}}','{"b":2, "a":1, "a":3}'),
(2,'{"a": 3, "tags":["x","y",null], "n":{"k":"v"},"b":2.0}','{}'),
(3,'null','null'),(4,NULL,NULL),(5,'[1, "two", {"a": null}, 1.50, true]','[ ]');
\echo q1 canonical text; json keeps its input
SELECT id, j, t FROM c53_d ORDER BY 1;
\echo q2 equality and distinct ignore order, spaces and trailing zeros of numbers: expect t, then 4
SELECT (SELECT j FROM c53_d WHERE id = 1) = (SELECT j FROM c53_d WHERE id = 2);
SELECT count(DISTINCT j) + count(*) FILTER (WHERE j IS NULL) FROM c53_d;
\echo q3 access: negative index, missing, JSON null versus SQL NULL
SELECT j->-1, j->>-1, j->7, j->2->'a', j->2->>'a', j->2->'a' IS NULL, j->2->>'a' IS NULL, j->'a' FROM c53_d WHERE id = 5;
SELECT j->'tags'->>0, j#>>'{n,k}', j#>'{tags,-2}', j->>'zz', j->'a', j->>'a' FROM c53_d WHERE id = 1;
\echo q4 containment and existence
SELECT id FROM c53_d WHERE j @> '{"tags":["y"]}' ORDER BY 1;
SELECT id FROM c53_d WHERE j ? 'n' AND j ?| ARRAY['zz','b'] AND j ?& ARRAY['a','b'] ORDER BY 1;
SELECT '[1,2,2]'::jsonb @> '[2,1]', '{"a":[1]}'::jsonb @> '{"a":[]}', '[1,[2]]'::jsonb @> '[2]', '"x"'::jsonb <@ '["x"]';
\echo q5 edit
SELECT j || '{"c":1,"a":9}', j - 'tags', j - ARRAY['a','b'], j #- '{n,k}', jsonb_set(j, '{n,z}', '5'), jsonb_set(j, '{q,z}', '5'), jsonb_insert(j, '{tags,0}', '"w"') FROM c53_d WHERE id = 1;
\echo q6 expand
SELECT key, value FROM c53_d, jsonb_each_text(j) WHERE id = 2 ORDER BY key;
SELECT ord, e FROM c53_d, jsonb_array_elements(j) WITH ORDINALITY a(e, ord) WHERE id = 5 ORDER BY ord;
SELECT e FROM c53_d, jsonb_array_elements_text(j->'tags') e WHERE id = 1 ORDER BY e;
\echo q7 array functions on an object: expect 22023
SELECT jsonb_array_length(j) FROM c53_d WHERE id = 1;
\echo q8 build and aggregate
SELECT jsonb_build_object('k', NULL, 'd', DATE '2024-01-02', 'n', 1.50, 'a', ARRAY[1,NULL]), json_build_array(1, 'x', NULL), to_jsonb('q"t'::text);
SELECT jsonb_agg(id ORDER BY id DESC), json_object_agg(id, j->'a' ORDER BY id), jsonb_agg(j->>'a' ORDER BY id) FILTER (WHERE id < 3), json_agg(id) FILTER (WHERE id > 99) FROM c53_d;
SELECT row_to_json(r) FROM (SELECT id, 'x'::text AS s, NULL::int AS n, true AS b FROM c53_d WHERE id = 1) r;
\echo q9 types and order
SELECT id, jsonb_typeof(j) FROM c53_d ORDER BY 1;
SELECT v FROM (VALUES ('{"a":1}'::jsonb),('[1,2]'),('3'),('"s"'),('true'),('null'),('[]'),('{}'),('10')) t(v) ORDER BY v;
\echo q10 cast and compare numbers
SELECT (j->>'a')::int + 1, (j->'b')::numeric, (j->'a')::int = 3 FROM c53_d WHERE id = 1;
\echo q11 bad input: expect 22P02 22P02 22P05
SELECT '{"a":1,}'::jsonb;
SELECT '{a:1}'::json;
SELECT '"\u0000"'::jsonb;
\echo q12 unicode and escapes
SELECT '"\u00e9\ud83d\ude00\n"'::jsonb, '"\u00e9"'::jsonb ->> 0, '"\u00e9"'::jsonb #>> '{}', to_json('é'::text);
\echo q13 path queries
SELECT jsonb_path_query(j, '$[*] ? (@ > 1)') FROM c53_d WHERE id = 5;
SELECT j @? '$.tags[*] ? (@ == "y")', j @@ '$.a == 3', jsonb_path_query_array(j, '$.tags[*]') FROM c53_d WHERE id = 1;
DROP TABLE c53_d;
