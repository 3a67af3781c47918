-- Npgsql (.NET, also Power BI): loads all types at the first connection of a pool, in one message of several statements.

-- query version
SELECT version()

-- query types
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
FROM (
    SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind,
           elem.oid AS elemtypoid, elem.typname AS elemtypname, elemcls.relkind AS elemrelkind,
           CASE WHEN elemproc.proname = 'array_recv' THEN 'a' ELSE elem.typtype END AS elemtyptype
    FROM (
        SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid,
               CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
               CASE WHEN proc.proname = 'array_recv' THEN typ.typelem
                    WHEN typ.typtype = 'r' THEN rngsubtype
                    WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid)
                    WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemtypoid
        FROM pg_type AS typ
        LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
        LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
        LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)
    ) AS typ
    LEFT JOIN pg_type AS elem ON elem.oid = typ.elemtypoid
    LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elem.typrelid)
    LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elem.typreceive
) AS t
JOIN pg_namespace AS ns ON (ns.oid = t.typnamespace)
WHERE t.typtype IN ('b', 'r', 'm', 'e', 'd') OR (t.typtype = 'c' AND t.relkind = 'c') OR (t.typtype = 'p' AND t.typname IN ('record', 'void'))
   OR (t.typtype = 'a' AND (t.elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR (t.elemtyptype = 'p' AND t.elemtypname IN ('record', 'void'))
       OR (t.elemtyptype = 'c' AND t.elemrelkind = 'c')))
ORDER BY CASE WHEN t.typtype IN ('b', 'e', 'p') THEN 0 WHEN t.typtype = 'r' THEN 1 WHEN t.typtype = 'm' THEN 2 WHEN t.typtype = 'c' THEN 3
              WHEN t.typtype = 'd' AND t.elemtyptype <> 'a' THEN 4 WHEN t.typtype = 'a' THEN 5 WHEN t.typtype = 'd' AND t.elemtyptype = 'a' THEN 6 END

-- query the_types_that_must_be_there
SELECT t.typname, t.oid, a.oid FROM pg_type t JOIN pg_type a ON a.typelem = t.oid AND a.oid = t.typarray JOIN pg_proc p ON p.oid = a.typreceive AND p.proname = 'array_recv'
WHERE t.typname IN ('bool', 'int4', 'text', 'timestamptz', 'uuid')

-- query composites
SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ
JOIN pg_namespace AS ns ON (ns.oid = typ.typnamespace) JOIN pg_class AS cls ON (cls.oid = typ.typrelid) JOIN pg_attribute AS att ON (att.attrelid = typ.typrelid)
WHERE (typ.typtype = 'c' AND cls.relkind = 'c') AND attnum > 0 AND NOT attisdropped ORDER BY typ.oid, att.attnum

-- query enums
SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid ORDER BY oid, enumsortorder

-- query reset_of_a_pooled_connection
DISCARD ALL

-- query schema_of_a_reader
-- rows: [["{database}", "a", "NO", "int4", "32", "0", null], ["{database}", "b", "NO", "varchar", null, null, "20"], ["{database}", "c", "YES", "numeric", "12", "3", null], ["{database}", "d", "YES", "timestamptz", null, null, null], ["{database}", "e", "YES", "_text", null, null, null], ["{database}", "f", "YES", "float8", "53", null, null]]
SELECT cols.table_catalog, cols.column_name, cols.is_nullable, cols.udt_name, cols.numeric_precision, cols.numeric_scale, cols.character_maximum_length
FROM information_schema.columns cols WHERE cols.table_schema = '{schema}' AND cols.table_name = 'things' ORDER BY ordinal_position
