-- Writes the other files of this folder from a PostgreSQL 15 server: psql -XAtq -f make.sql (in this folder).
\set ON_ERROR_STOP on
-- functions.txt: the names of the functions of Pando.
CREATE TEMPORARY TABLE functions_here (n text);
\copy functions_here FROM functions.txt

-- relations.txt: schema.relation, oid and kind, then `column type` for each column; an exclamation mark means NOT NULL.
\o relations.txt
SELECT format('%s.%s %s %s: %s', n.nspname, c.relname, c.oid, c.relkind, string_agg(
         format('%s %s%s', a.attname,
           CASE WHEN a.atttypid::regtype::text LIKE 'information_schema.%'
                THEN substr(a.atttypid::regtype::text, 20)
                ELSE replace(a.atttypid::regtype::text, 'timestamp with time zone', 'timestamptz') END,
           CASE WHEN a.attnotnull THEN '!' ELSE '' END),
         ', ' ORDER BY a.attnum))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')
  AND NOT (n.nspname = 'information_schema' AND (c.relkind = 'r' OR c.relname LIKE '\_%'))
  AND c.oid < 16384
GROUP BY n.nspname, c.relname, c.oid, c.relkind
ORDER BY n.nspname DESC, c.relname COLLATE "C";

-- The types of Pando and those that clients look up, with their input and output functions.
CREATE TEMPORARY VIEW kept_type AS
SELECT t.oid AS type, t.* FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE coalesce(e.typname, t.typname) IN (
  'bool', 'bytea', 'char', 'name', 'int8', 'int2', 'int2vector', 'int4', 'regproc', 'text', 'oid', 'tid', 'xid',
  'cid', 'oidvector', 'json', 'jsonb', 'float4', 'float8', 'unknown', 'bpchar', 'varchar', 'date', 'time',
  'timestamp', 'timestamptz', 'interval', 'timetz', 'bit', 'varbit', 'numeric', 'refcursor', 'uuid', 'regclass',
  'regtype', 'regnamespace', 'regrole', 'regprocedure', 'regoper', 'record', 'void', 'cstring', 'any',
  'anyarray', 'anyelement', 'anyenum', 'anynonarray', 'trigger', 'event_trigger', 'aclitem', 'pg_node_tree',
  'internal');

\pset fieldsep '\t'
\pset null '\\N'
\t off
\pset footer off
\o ../../../../deparse/src/data/pg_type.tsv
SELECT oid, typname, typlen, typbyval, typtype, typcategory, typispreferred, typisdefined, typdelim, typelem,
  typarray, typsubscript::oid, typinput::oid, typoutput::oid, typreceive::oid, typsend::oid, typmodin::oid,
  typmodout::oid, typanalyze::oid, typalign, typstorage, typcollation
FROM kept_type ORDER BY oid;

\o pg_proc.tsv
SELECT oid, proname, prolang, prokind, prosecdef, proleakproof, proisstrict, proretset, provolatile, proparallel,
  pronargs, pronargdefaults, provariadic, prorettype, proargtypes, prosrc
FROM pg_proc p
WHERE NOT EXISTS (SELECT FROM unnest(proargtypes || prorettype) AS u(t) WHERE t NOT IN (SELECT type FROM kept_type))
  AND proargnames IS NULL
  AND (proname IN (SELECT n FROM functions_here)
    OR proname IN ('domain_in', 'domain_recv', 'enum_in', 'enum_out', 'enum_recv', 'enum_send')
    OR oid IN (SELECT unnest(ARRAY[typsubscript, typinput, typoutput, typreceive, typsend, typmodin, typmodout,
                                   typanalyze]::oid[]) FROM kept_type))
ORDER BY oid;

\o pg_keywords.tsv
SELECT word, catcode, barelabel, catdesc, baredesc FROM pg_get_keywords() ORDER BY word;

\o pg_opclass.tsv
SELECT oid, opcmethod, opcname, opcfamily, opcintype, opcdefault, opckeytype
FROM pg_opclass
WHERE opcmethod = 403 AND opcintype IN (SELECT type FROM kept_type) ORDER BY oid;

\o pg_cast.tsv
SELECT oid, castsource, casttarget, castfunc, castcontext, castmethod
FROM pg_cast
WHERE castsource IN (SELECT type FROM kept_type) AND casttarget IN (SELECT type FROM kept_type)
ORDER BY oid;
