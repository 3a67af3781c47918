-- Grafana's PostgreSQL data source, shaped like what its query builder asks for its lists of tables and columns.

-- query version
SELECT current_setting('server_version_num')::int / 100 AS version

-- query is_timescale_there
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'

-- query schemas
-- rows: [["{schema}"]]
SELECT schema_name AS name FROM information_schema.schemata
WHERE schema_name NOT IN ('information_schema', 'pg_catalog', 'pg_toast') AND schema_name = '{schema}' ORDER BY schema_name

-- query tables_of_a_schema
-- rows: [["seen"], ["ser"], ["things"]]
SELECT quote_ident(table_name) AS "table" FROM information_schema.tables WHERE quote_ident(table_schema) = '{schema}' ORDER BY 1

-- query tables_in_the_search_path
-- rows: [["seen"], ["ser"], ["things"]]
SELECT CASE WHEN quote_ident(table_schema) IN (
         SELECT CASE WHEN trim(p[i]) = '"$user"' THEN user ELSE trim(p[i]) END
         FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
                              array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
              string_to_array(current_setting('search_path'), ',') p)
       THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables WHERE table_schema = '{schema}' ORDER BY 1

-- query tables_of_all_schemas
SELECT CASE WHEN quote_ident(table_schema) IN ('{schema}') THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache', 'timescaledb_information')
ORDER BY CASE WHEN quote_ident(table_schema) IN ('{schema}') THEN 0 ELSE 1 END, 1

-- query columns_of_a_qualified_table
-- rows: [["a", "integer"], ["b", "character varying"], ["c", "numeric"], ["d", "timestamp with time zone"], ["e", "ARRAY"], ["f", "double precision"]]
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE CASE WHEN array_length(parse_ident('{schema}.{table}'), 1) = 2
      THEN quote_ident(table_schema) = (parse_ident('{schema}.{table}'))[1] AND quote_ident(table_name) = (parse_ident('{schema}.{table}'))[2]
      ELSE quote_ident(table_name) = '{schema}.{table}' END

-- query columns_that_can_be_a_time
-- rows: [["a"], ["d"], ["f"]]
SELECT quote_ident(column_name) FROM information_schema.columns
WHERE table_schema = '{schema}' AND quote_ident(table_name) = '{table}'
  AND data_type IN ('timestamp without time zone', 'timestamp with time zone', 'bigint', 'integer', 'double precision', 'real')
ORDER BY column_name

-- query a_panel
-- rows: [["1704067200", "2.0"]]
SELECT floor(extract(epoch FROM "time") / 60) * 60 AS "time", avg(value) AS value
FROM (VALUES (timestamptz '2024-01-01 00:00:10Z', 1.0::float8), (timestamptz '2024-01-01 00:00:50Z', 3.0)) AS {table}("time", value)
WHERE "time" BETWEEN '2024-01-01T00:00:00Z' AND '2024-01-02T00:00:00Z' GROUP BY 1 ORDER BY 1
