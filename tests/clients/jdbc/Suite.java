import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** pgjdbc's tests: runs those of the other files and prints one line a test. */
public final class Suite {
    private static final int TEST_SECONDS = 40;
    private static final long PROCESS = ProcessHandle.current().pid();

    private static String host;
    private static int port;
    private static String database;
    private static String user = "postgres";
    private static String password;

    /** A test gets a connection of its own, in autocommit. */
    interface Test {
        void run(Connection connection) throws Exception;
    }

    private final Map<String, Test> tests = new LinkedHashMap<>();

    void add(String name, Test test) {
        tests.put(name, test);
    }

    public static void main(String[] arguments) throws Exception {
        String match = "";
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            if (arguments[i].equals("--url")) {
                take(URI.create(arguments[i + 1]));
            } else if (arguments[i].equals("--match")) {
                match = arguments[i + 1];
            }
        }
        Suite suite = new Suite();
        Statements.addTo(suite);
        Transfers.addTo(suite);
        Types.addTo(suite);
        Metadata.addTo(suite);
        int failed = 0;
        for (Map.Entry<String, Test> each : suite.tests.entrySet()) {
            if (("=" + each.getKey() + "=").contains(match) && !suite.passes(each.getKey(), each.getValue())) {
                failed++;
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(failed == 0 ? 0 : 1);
    }

    private static void take(URI url) {
        host = url.getHost();
        port = url.getPort() < 0 ? 5432 : url.getPort();
        database = url.getPath().substring(1);
        if (url.getUserInfo() != null) {
            String[] parts = url.getUserInfo().split(":", 2);
            user = parts[0];
            password = parts.length > 1 ? parts[1] : null;
        }
    }

    private boolean passes(String name, Test test) throws InterruptedException {
        ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
            Thread made = new Thread(work);
            made.setDaemon(true);
            return made;
        });
        try {
            thread.submit(() -> {
                try (Connection connection = connect()) {
                    test.run(connection);
                }
                return null;
            }).get(TEST_SECONDS, TimeUnit.SECONDS);
            System.out.println("ok jdbc " + name);
            return true;
        } catch (TimeoutException late) {
            System.out.println("FAIL jdbc " + name + ": no answer within " + TEST_SECONDS + " s");
        } catch (ExecutionException failure) {
            Throwable why = failure.getCause();
            System.out.println("FAIL jdbc " + name + ": " + String.valueOf(why).lines().findFirst().orElse(""));
            String.valueOf(why).lines().skip(1).forEach(line -> System.out.println("    " + line));
            for (StackTraceElement frame : why.getStackTrace()) {
                System.out.println("    at " + frame);
            }
        }
        return false;
    }

    /** A connection with settings of the driver given as name, value, name, value. */
    static Connection connect(String... settings) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", user);
        if (password != null) {
            properties.setProperty("password", password);
        }
        for (int i = 0; i < settings.length; i += 2) {
            properties.setProperty(settings[i], settings[i + 1]);
        }
        return DriverManager.getConnection("jdbc:postgresql://" + host + ":" + port + "/" + database, properties);
    }

    static String user() {
        return user;
    }

    static String database() {
        return database;
    }

    /** A name that belongs to this run alone. */
    static String name(String stem) {
        return "pc_jdbc_" + PROCESS + "_" + stem;
    }

    /** A table that is dropped at the end of a try block. */
    record Table(String name) implements AutoCloseable {
        @Override
        public void close() throws SQLException {
            try (Connection connection = connect()) {
                execute(connection, "DROP TABLE IF EXISTS " + name);
            }
        }
    }

    static Table table(Connection connection, String stem, String columns) throws SQLException {
        Table table = new Table(name(stem));
        execute(connection, "CREATE TABLE " + table.name() + " (" + columns + ")");
        return table;
    }

    /** A table {@code (id integer primary key, v text)} with so many rows. */
    static Table numbers(Connection connection, String stem, int rows) throws SQLException {
        Table table = table(connection, stem, "id integer PRIMARY KEY, v text");
        execute(connection, "INSERT INTO " + table.name() + " SELECT g, 'v' || g FROM generate_series(1, " + rows + ") AS s(g)");
        return table;
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first column of each row, as text. */
    static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> values = new ArrayList<>();
        try (rows) {
            while (rows.next()) {
                values.add(rows.getString(name));
            }
        }
        return values;
    }

    static List<String> query(Connection connection, String sql) throws SQLException {
        List<String> values = new ArrayList<>();
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getString(1));
            }
        }
        return values;
    }

    static void equal(Object got, Object expected) {
        if (!Objects.deepEquals(got, expected)) {
            throw new AssertionError("expected " + expected + ", got " + got);
        }
    }

    static void yes(boolean fact, String what) {
        if (!fact) {
            throw new AssertionError(what);
        }
    }

    /** What must fail with an SQLSTATE; returns the error. */
    static SQLException fails(String state, Step step) throws Exception {
        try {
            step.run();
        } catch (SQLException error) {
            equal(error.getSQLState(), state);
            return error;
        }
        throw new AssertionError("expected error " + state + ", nothing was thrown");
    }

    interface Step {
        void run() throws Exception;
    }
}
