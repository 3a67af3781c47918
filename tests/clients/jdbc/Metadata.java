import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;

/** DatabaseMetaData: what every tool on JDBC asks before it shows anything. */
final class Metadata {
    private Metadata() {}

    private static final String COLUMNS = "a integer NOT NULL, b varchar(20) NOT NULL DEFAULT 'none', c numeric(12,3), d timestamptz, e text[], PRIMARY KEY (b, a)";

    static void addTo(Suite suite) {
        suite.add("metadata_tables", Metadata::tables);
        suite.add("metadata_columns", Metadata::columns);
        suite.add("metadata_serial_column", Metadata::serial);
        suite.add("metadata_primary_keys", Metadata::primaryKeys);
        suite.add("metadata_index_info", Metadata::indexInfo);
        suite.add("metadata_type_info", Metadata::typeInfo);
        suite.add("metadata_schemas_and_catalogs", Metadata::schemas);
        suite.add("metadata_foreign_keys", Metadata::foreignKeys);
        suite.add("metadata_privileges", Metadata::privileges);
        suite.add("metadata_best_row_identifier", Metadata::bestRow);
        suite.add("metadata_functions", Metadata::functions);
        suite.add("metadata_words", Metadata::words);
    }

    /** Two tables and a view in a schema of their own. */
    private record Things(String schema) implements AutoCloseable {
        static Things make(Connection c, String stem) throws Exception {
            Things things = new Things(Suite.name(stem));
            Suite.execute(c, "CREATE SCHEMA " + things.schema);
            Suite.execute(c, "CREATE TABLE " + things.schema + ".things (" + COLUMNS + ")");
            Suite.execute(c, "COMMENT ON TABLE " + things.schema + ".things IS 'all of it'");
            Suite.execute(c, "COMMENT ON COLUMN " + things.schema + ".things.c IS 'a number'");
            Suite.execute(c, "CREATE TABLE " + things.schema + ".ser (id serial PRIMARY KEY, v text)");
            Suite.execute(c, "CREATE VIEW " + things.schema + ".seen AS SELECT a, b FROM " + things.schema + ".things");
            return things;
        }

        @Override
        public void close() throws Exception {
            try (Connection c = Suite.connect()) {
                Suite.execute(c, "DROP SCHEMA " + schema + " CASCADE");
            }
        }
    }

    /** Some columns of each row, joined by blanks. */
    private static List<String> lines(ResultSet rows, String... names) throws Exception {
        List<String> lines = new ArrayList<>();
        try (rows) {
            while (rows.next()) {
                List<String> values = new ArrayList<>();
                for (String name : names) {
                    values.add(String.valueOf(rows.getString(name)));
                }
                lines.add(String.join(" ", values));
            }
        }
        return lines;
    }

    private static void tables(Connection c) throws Exception {
        try (Things things = Things.make(c, "tables")) {
            DatabaseMetaData about = c.getMetaData();
            String[] names = {"TABLE_NAME", "TABLE_TYPE", "REMARKS"};
            List<String> all = lines(about.getTables(null, things.schema, "%", new String[] {"TABLE", "VIEW"}), names);
            Suite.equal(all, List.of("ser TABLE null", "things TABLE all of it", "seen VIEW null"));
            Suite.equal(lines(about.getTables(null, things.schema, "th%", null), names), List.of("things_pkey INDEX null", "things TABLE all of it"));
            Suite.equal(lines(about.getTables(null, things.schema, "nothing", null), names), List.of());
            Suite.yes(lines(about.getTables(null, "pg_catalog", "pg_class", null), names).contains("pg_class SYSTEM TABLE null"), "pg_class");
            Suite.yes(!lines(about.getTables(null, null, null, null), names).isEmpty(), "everything");
            Suite.yes(lines(about.getTableTypes(), "TABLE_TYPE").contains("TABLE"), "table types");
        }
    }

    private static void columns(Connection c) throws Exception {
        try (Things things = Things.make(c, "columns")) {
            ResultSet rows = c.getMetaData().getColumns(null, things.schema, "things", "%");
            List<String> got = lines(rows, "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE", "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE", "ORDINAL_POSITION", "REMARKS");
            Suite.equal(got, List.of(
                    "a int4 4 10 0 NO 1 null",
                    "b varchar 12 20 0 NO 2 null",
                    "c numeric 2 12 3 YES 3 a number",
                    "d timestamptz 93 35 6 YES 4 null",
                    "e _text 2003 2147483647 0 YES 5 null"));
            rows = c.getMetaData().getColumns(null, things.schema, "things", "b");
            String given = lines(rows, "COLUMN_DEF").get(0);
            Suite.yes(given.startsWith("'none'"), given); // PostgreSQL goes on with ::character varying
        }
    }

    private static void serial(Connection c) throws Exception {
        try (Things things = Things.make(c, "serial")) {
            List<String> got = lines(c.getMetaData().getColumns(null, things.schema, "ser", "id"), "COLUMN_NAME", "TYPE_NAME", "IS_AUTOINCREMENT");
            Suite.equal(got, List.of("id serial YES"));
        }
    }

    private static void primaryKeys(Connection c) throws Exception {
        try (Things things = Things.make(c, "pk")) {
            List<String> got = lines(c.getMetaData().getPrimaryKeys(null, things.schema, "things"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME");
            Suite.equal(got.stream().sorted().toList(), List.of("a 2 things_pkey", "b 1 things_pkey"));
        }
    }

    private static void indexInfo(Connection c) throws Exception {
        try (Things things = Things.make(c, "index")) {
            ResultSet rows = c.getMetaData().getIndexInfo(null, things.schema, "things", false, true);
            List<String> got = lines(rows, "INDEX_NAME", "NON_UNIQUE", "ORDINAL_POSITION", "COLUMN_NAME", "TYPE");
            Suite.equal(got, List.of("things_pkey f 1 b 3", "things_pkey f 2 a 3"));
        }
    }

    private static void typeInfo(Connection c) throws Exception {
        List<String> got = lines(c.getMetaData().getTypeInfo(), "TYPE_NAME", "DATA_TYPE");
        for (String expected : List.of("int4 4", "int8 -5", "text 12", "bool -7", "timestamptz 93", "numeric 2", "uuid 1111", "_int4 2003")) {
            Suite.yes(got.contains(expected), expected + " is not in " + got);
        }
    }

    private static void schemas(Connection c) throws Exception {
        try (Things things = Things.make(c, "schemas")) {
            DatabaseMetaData about = c.getMetaData();
            List<String> all = lines(about.getSchemas(), "TABLE_SCHEM");
            Suite.yes(all.containsAll(List.of("public", "pg_catalog", "information_schema", things.schema)), all.toString());
            Suite.equal(lines(about.getSchemas(null, things.schema), "TABLE_SCHEM", "TABLE_CATALOG"), List.of(things.schema + " " + Suite.database()));
            Suite.yes(lines(about.getCatalogs(), "TABLE_CAT").contains(Suite.database()), "catalogs");
        }
    }

    private static void foreignKeys(Connection c) throws Exception {
        try (Things things = Things.make(c, "fk")) {
            DatabaseMetaData about = c.getMetaData();
            Suite.equal(lines(about.getImportedKeys(null, things.schema, "things"), "FK_NAME"), List.of());
            Suite.equal(lines(about.getExportedKeys(null, things.schema, "things"), "FK_NAME"), List.of());
            Suite.equal(lines(about.getCrossReference(null, things.schema, "things", null, things.schema, "ser"), "FK_NAME"), List.of());
        }
    }

    private static void privileges(Connection c) throws Exception {
        try (Things things = Things.make(c, "privileges")) {
            List<String> got = lines(c.getMetaData().getTablePrivileges(null, things.schema, "things"), "PRIVILEGE", "GRANTEE");
            Suite.yes(got.contains("SELECT " + Suite.user()), got.toString());
            c.getMetaData().getColumnPrivileges(null, things.schema, "things", "%").close();
        }
    }

    private static void bestRow(Connection c) throws Exception {
        try (Things things = Things.make(c, "best")) {
            ResultSet rows = c.getMetaData().getBestRowIdentifier(null, things.schema, "things", DatabaseMetaData.bestRowSession, false);
            Suite.equal(lines(rows, "COLUMN_NAME", "TYPE_NAME").stream().sorted().toList(), List.of("a int4", "b varchar"));
            Suite.equal(lines(c.getMetaData().getVersionColumns(null, things.schema, "things"), "COLUMN_NAME"), List.of("ctid"));
        }
    }

    private static void functions(Connection c) throws Exception {
        DatabaseMetaData about = c.getMetaData();
        about.getProcedures(null, null, "no_such_procedure").close();
        about.getProcedureColumns(null, null, "no_such_procedure", null).close();
        about.getFunctions(null, null, "no_such_function").close();
        about.getFunctionColumns(null, null, "no_such_function", null).close();
        about.getUDTs(null, null, "%", null).close();
    }

    private static void words(Connection c) throws Exception {
        DatabaseMetaData about = c.getMetaData();
        Suite.yes(!about.getSQLKeywords().isEmpty(), "keywords");
        Suite.yes(about.getMaxColumnNameLength() >= 63, "name length");
        Suite.yes(about.getMaxConnections() > 0, "connections");
        Suite.equal(about.getUserName(), Suite.user());
        int level = about.getDefaultTransactionIsolation(); // the first in PostgreSQL
        Suite.yes(level == Connection.TRANSACTION_READ_COMMITTED || level == Connection.TRANSACTION_REPEATABLE_READ, "isolation " + level);
        about.getClientInfoProperties().close();
    }
}
