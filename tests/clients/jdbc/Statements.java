import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** Statements, transactions, prepared statements, batches, generated keys, errors. */
final class Statements {
    private Statements() {}

    static void addTo(Suite suite) {
        suite.add("connect", Statements::connect);
        suite.add("simple_statements", Statements::simpleStatements);
        suite.add("several_results", Statements::severalResults);
        suite.add("query_modes", Statements::queryModes);
        suite.add("prepared_at_once", c -> prepared("1"));
        suite.add("prepared_after_five", c -> prepared("5"));
        suite.add("prepared_never", c -> prepared("0"));
        suite.add("parameter_metadata", Statements::parameterMetadata);
        suite.add("result_metadata", Statements::resultMetadata);
        suite.add("transactions", Statements::transactions);
        suite.add("savepoints", Statements::savepoints);
        suite.add("autosave", Statements::autosave);
        suite.add("isolation_and_read_only", Statements::isolation);
        suite.add("generated_keys", Statements::generatedKeys);
        suite.add("batch", c -> batch("false"));
        suite.add("batch_rewritten", c -> batch("true"));
        suite.add("batch_fails", Statements::batchFails);
        suite.add("errors", Statements::errors);
        suite.add("warnings", Statements::warnings);
        suite.add("changed_table_under_a_prepared_statement", Statements::changedTable);
        suite.add("updatable_result_set", Statements::updatable);
        suite.add("max_rows_and_scrolling", Statements::scrolling);
    }

    private static void connect(Connection c) throws Exception {
        DatabaseMetaData about = c.getMetaData();
        Suite.equal(about.getDatabaseProductName(), "PostgreSQL");
        Suite.yes(about.getDatabaseMajorVersion() >= 14, about.getDatabaseProductVersion());
        Suite.equal(c.getCatalog(), Suite.database());
        Suite.equal(c.getSchema(), "public");
        Suite.yes(c.isValid(5), "isValid");
        try (Connection other = Suite.connect("ApplicationName", "pc", "currentSchema", "pg_catalog", "options", "-c statement_timeout=9s")) {
            Suite.equal(Suite.query(other, "SHOW application_name"), List.of("pc"));
            Suite.equal(Suite.query(other, "SHOW search_path"), List.of("pg_catalog"));
            Suite.equal(Suite.query(other, "SHOW statement_timeout"), List.of("9s"));
            other.setSchema("public");
            Suite.equal(other.getSchema(), "public");
            other.setClientInfo("ApplicationName", "renamed");
            Suite.equal(Suite.query(other, "SHOW application_name"), List.of("renamed"));
        }
    }

    private static void simpleStatements(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "simple", 10); Statement s = c.createStatement()) {
            Suite.equal(s.executeUpdate("UPDATE " + t.name() + " SET v = 'x' WHERE id < 4"), 3);
            Suite.equal(s.executeUpdate("CREATE TABLE IF NOT EXISTS " + t.name() + " (a int)"), 0);
            try (ResultSet rows = s.executeQuery("SELECT count(*) FROM " + t.name() + " WHERE v = 'x'")) {
                Suite.yes(rows.next(), "a row");
                Suite.equal(rows.getLong(1), 3L);
                Suite.yes(!rows.next(), "one row");
            }
        }
    }

    private static void severalResults(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "several", 3); Statement s = c.createStatement()) {
            Suite.yes(s.execute("SELECT 1; UPDATE " + t.name() + " SET v = 'x'; SELECT 2"), "first is a result set");
            Suite.yes(!s.getMoreResults(), "second is a count");
            Suite.equal(s.getUpdateCount(), 3);
            Suite.yes(s.getMoreResults(), "third is a result set");
            try (ResultSet rows = s.getResultSet()) {
                rows.next();
                Suite.equal(rows.getInt(1), 2);
            }
        }
    }

    private static void queryModes(Connection ignored) throws Exception {
        for (String mode : List.of("simple", "extended", "extendedForPrepared", "extendedCacheEverything")) {
            try (Connection c = Suite.connect("preferQueryMode", mode); Suite.Table t = Suite.numbers(c, "mode", 5);
                    PreparedStatement p = c.prepareStatement("SELECT v FROM " + t.name() + " WHERE id = ? AND v <> ?")) {
                for (int i = 1; i < 8; i++) {
                    p.setInt(1, i % 5 + 1);
                    p.setString(2, "it's");
                    try (ResultSet rows = p.executeQuery()) {
                        Suite.yes(rows.next(), mode);
                        Suite.equal(rows.getString(1), "v" + (i % 5 + 1));
                    }
                }
            }
        }
    }

    /** With a threshold the statement gets a name on the server, and results come in binary. */
    private static void prepared(String threshold) throws Exception {
        try (Connection c = Suite.connect("prepareThreshold", threshold); Suite.Table t = Suite.numbers(c, "prepared" + threshold, 20)) {
            try (PreparedStatement p = c.prepareStatement("SELECT id, v, id * 1.5::float8, id::bigint FROM " + t.name() + " WHERE id = ?")) {
                for (int i = 1; i <= 20; i++) {
                    p.setInt(1, i);
                    try (ResultSet rows = p.executeQuery()) {
                        Suite.yes(rows.next(), "row");
                        Suite.equal(rows.getInt(1), i);
                        Suite.equal(rows.getString(2), "v" + i);
                        Suite.equal(rows.getDouble(3), i * 1.5);
                        Suite.equal(rows.getLong(4), (long) i);
                    }
                }
            }
            try (PreparedStatement p = c.prepareStatement("INSERT INTO " + t.name() + " VALUES (?, ?)")) {
                for (int i = 100; i < 110; i++) {
                    p.setInt(1, i);
                    p.setObject(2, i % 2 == 0 ? null : "w" + i);
                    Suite.equal(p.executeUpdate(), 1);
                }
            }
            Suite.equal(Suite.query(c, "SELECT count(v) FROM " + t.name()), List.of("25"));
        }
    }

    private static void parameterMetadata(Connection c) throws Exception {
        try (Suite.Table t = Suite.table(c, "parameters", "id bigint PRIMARY KEY, n numeric(8,2), at timestamptz");
                PreparedStatement p = c.prepareStatement("SELECT id FROM " + t.name() + " WHERE id = ? AND n > ? AND at < ?")) {
            ParameterMetaData about = p.getParameterMetaData();
            Suite.equal(about.getParameterCount(), 3);
            Suite.equal(List.of(about.getParameterTypeName(1), about.getParameterTypeName(2), about.getParameterTypeName(3)),
                    List.of("int8", "numeric", "timestamptz"));
        }
    }

    /** Names of tables and columns behind a result are looked up by OID. */
    private static void resultMetadata(Connection c) throws Exception {
        try (Suite.Table t = Suite.table(c, "metadata", "id serial PRIMARY KEY, v varchar(7) NOT NULL, n numeric(8,2)");
                Statement s = c.createStatement(); ResultSet rows = s.executeQuery("SELECT id AS i, v, n, 1 AS one FROM " + t.name())) {
            ResultSetMetaData about = rows.getMetaData();
            Suite.equal(about.getColumnLabel(1), "i");
            Suite.equal(about.getColumnTypeName(2), "varchar");
            Suite.equal(about.getPrecision(2), 7);
            Suite.equal(List.of(about.getPrecision(3), about.getScale(3)), List.of(8, 2));
            Suite.equal(about.getTableName(2), t.name());
            Suite.equal(((org.postgresql.PGResultSetMetaData) about).getBaseSchemaName(2), "public");
            Suite.equal(about.isNullable(2), ResultSetMetaData.columnNoNulls);
            Suite.equal(about.isNullable(3), ResultSetMetaData.columnNullable);
            Suite.yes(about.isAutoIncrement(1), "serial is auto increment");
            Suite.equal(((org.postgresql.PGResultSetMetaData) about).getBaseColumnName(1), "id");
            Suite.equal(about.getTableName(4), "");
        }
    }

    private static void transactions(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "tx", 10)) {
            c.setAutoCommit(false);
            Suite.execute(c, "DELETE FROM " + t.name());
            c.rollback();
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("10"));
            Suite.execute(c, "DELETE FROM " + t.name() + " WHERE id = 1");
            c.commit();
            Suite.fails("22012", () -> Suite.query(c, "SELECT 1/0"));
            Suite.fails("25P02", () -> Suite.query(c, "SELECT 1"));
            c.rollback();
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("9"));
            c.commit();
        }
    }

    private static void savepoints(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "savepoints", 10)) {
            c.setAutoCommit(false);
            Suite.execute(c, "DELETE FROM " + t.name() + " WHERE id = 1");
            Savepoint named = c.setSavepoint("here");
            Suite.execute(c, "DELETE FROM " + t.name());
            c.rollback(named);
            Savepoint unnamed = c.setSavepoint();
            Suite.execute(c, "DELETE FROM " + t.name() + " WHERE id = 2");
            c.releaseSavepoint(unnamed);
            c.commit();
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("8"));
            c.commit();
        }
    }

    /** autosave=always: the driver sets a savepoint before every statement of a transaction. */
    private static void autosave(Connection ignored) throws Exception {
        try (Connection c = Suite.connect("autosave", "always"); Suite.Table t = Suite.numbers(c, "autosave", 5)) {
            c.setAutoCommit(false);
            Suite.execute(c, "DELETE FROM " + t.name() + " WHERE id = 1");
            Suite.fails("22012", () -> Suite.query(c, "SELECT 1/0"));
            Suite.execute(c, "DELETE FROM " + t.name() + " WHERE id = 2");
            c.commit();
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("3"));
            c.commit();
        }
    }

    private static void isolation(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "isolation", 3)) {
            c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            Suite.equal(c.getTransactionIsolation(), Connection.TRANSACTION_REPEATABLE_READ);
            c.setReadOnly(true);
            c.setAutoCommit(false);
            Suite.fails("25006", () -> Suite.execute(c, "DELETE FROM " + t.name()));
            c.rollback();
        }
    }

    private static void generatedKeys(Connection c) throws Exception {
        try (Suite.Table t = Suite.table(c, "keys", "id serial PRIMARY KEY, v text")) {
            try (PreparedStatement p = c.prepareStatement("INSERT INTO " + t.name() + " (v) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                for (int i = 1; i <= 7; i++) {
                    p.setString(1, "v" + i);
                    Suite.equal(p.executeUpdate(), 1);
                    try (ResultSet keys = p.getGeneratedKeys()) {
                        Suite.yes(keys.next(), "a key");
                        Suite.equal(keys.getInt("id"), i);
                        Suite.equal(keys.getString("v"), "v" + i);
                    }
                }
                for (int i = 0; i < 3; i++) {
                    p.setString(1, "batch");
                    p.addBatch();
                }
                Suite.equal(p.executeBatch().length, 3);
                Suite.equal(Suite.column(p.getGeneratedKeys(), "id"), List.of("8", "9", "10"));
            }
            try (PreparedStatement p = c.prepareStatement("INSERT INTO " + t.name() + " (v) VALUES (?), ('two')", new String[] {"id"})) {
                p.setString(1, "one");
                Suite.equal(p.executeUpdate(), 2);
                Suite.equal(Suite.column(p.getGeneratedKeys(), "id"), List.of("11", "12"));
            }
        }
    }

    private static void batch(String rewrite) throws Exception {
        try (Connection c = Suite.connect("reWriteBatchedInserts", rewrite); Suite.Table t = Suite.numbers(c, "batch" + rewrite, 0)) {
            try (PreparedStatement p = c.prepareStatement("INSERT INTO " + t.name() + " (id, v) VALUES (?, ?)")) {
                for (int round = 0; round < 3; round++) {
                    for (int i = 0; i < 1000; i++) {
                        p.setInt(1, round * 1000 + i);
                        p.setString(2, "v" + i);
                        p.addBatch();
                    }
                    Suite.equal(p.executeBatch().length, 1000);
                }
            }
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("3000"));
            try (Statement s = c.createStatement()) {
                s.addBatch("UPDATE " + t.name() + " SET v = 'x' WHERE id < 10");
                s.addBatch("DELETE FROM " + t.name() + " WHERE id < 3");
                Suite.equal(s.executeBatch(), new int[] {10, 3});
            }
        }
    }

    /** One bad row: the whole batch is undone, and the error says which. */
    private static void batchFails(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "batch_fails", 5); PreparedStatement p = c.prepareStatement("INSERT INTO " + t.name() + " VALUES (?, 'b')")) {
            c.setAutoCommit(false);
            for (int id : new int[] {10, 11, 3, 12}) {
                p.setInt(1, id);
                p.addBatch();
            }
            try {
                p.executeBatch();
                throw new AssertionError("a duplicate key was accepted");
            } catch (BatchUpdateException error) {
                Suite.equal(error.getSQLState(), "23505");
            }
            c.rollback();
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("5"));
            c.commit();
        }
    }

    private static void errors(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "errors", 3)) {
            SQLException error = Suite.fails("23505", () -> Suite.execute(c, "INSERT INTO " + t.name() + " VALUES (1, 'x')"));
            ServerErrorMessage fields = ((PSQLException) error).getServerErrorMessage();
            Suite.equal(List.of(fields.getSeverity(), fields.getDetail(), fields.getSchema(), fields.getTable(), fields.getConstraint()),
                    List.of("ERROR", "Key (id)=(1) already exists.", "public", t.name(), t.name() + "_pkey"));
            error = Suite.fails("42703", () -> Suite.query(c, "SELECT nope FROM " + t.name()));
            Suite.equal(((PSQLException) error).getServerErrorMessage().getPosition(), 8);
            Suite.fails("42P01", () -> Suite.query(c, "SELECT * FROM no_such_table"));
            Suite.fails("42601", () -> Suite.query(c, "SELEC 1"));
            try (PreparedStatement p = c.prepareStatement("SELECT ?::int")) {
                p.setString(1, "x");
                Suite.fails("22P02", p::executeQuery);
            }
            Suite.equal(Suite.query(c, "SELECT 1"), List.of("1"));
        }
    }

    private static void warnings(Connection c) throws Exception {
        try (Statement s = c.createStatement()) {
            s.execute("DROP TABLE IF EXISTS no_such_table");
            SQLWarning warning = s.getWarnings();
            Suite.equal(warning.getMessage(), "table \"no_such_table\" does not exist, skipping");
        }
    }

    /** In autocommit the driver prepares again by itself when the server says 0A000 or 26000. */
    private static void changedTable(Connection ignored) throws Exception {
        try (Connection c = Suite.connect("prepareThreshold", "1"); Suite.Table t = Suite.numbers(c, "changed", 3);
                PreparedStatement p = c.prepareStatement("SELECT * FROM " + t.name() + " WHERE id = 1")) {
            p.executeQuery().close();
            p.executeQuery().close();
            try (Connection other = Suite.connect()) {
                Suite.execute(other, "ALTER TABLE " + t.name() + " ADD COLUMN extra integer DEFAULT 7");
            }
            try (ResultSet rows = p.executeQuery()) {
                Suite.yes(rows.next(), "row");
                Suite.equal(rows.getMetaData().getColumnCount(), 3);
                Suite.equal(rows.getInt("extra"), 7);
            }
            Suite.execute(c, "DEALLOCATE ALL");
            p.executeQuery().close();
        }
    }

    /** An updatable result set asks for the primary key and writes single rows. */
    private static void updatable(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "updatable", 3);
                Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet rows = s.executeQuery("SELECT id, v FROM " + t.name() + " ORDER BY id")) {
            rows.next();
            rows.updateString("v", "changed");
            rows.updateRow();
            rows.next();
            rows.deleteRow();
            rows.moveToInsertRow();
            rows.updateInt("id", 50);
            rows.updateString("v", "new");
            rows.insertRow();
            Suite.equal(Suite.query(c, "SELECT v FROM " + t.name() + " ORDER BY id"), List.of("changed", "v3", "new"));
        }
    }

    private static void scrolling(Connection c) throws Exception {
        try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
            s.setMaxRows(5);
            try (ResultSet rows = s.executeQuery("SELECT g FROM generate_series(1, 100) AS s(g) ORDER BY 1")) {
                Suite.yes(rows.last(), "last");
                Suite.equal(rows.getInt(1), 5);
                Suite.yes(rows.absolute(2), "absolute");
                Suite.equal(rows.getInt(1), 2);
            }
        }
    }
}
