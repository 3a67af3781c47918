import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Flyway, Liquibase and Hibernate: runs the tests of one of them, each in a schema of its own, and prints one line a test. */
public final class Suite {
    private static final int TEST_SECONDS = 60;

    static String url;
    static String user = "postgres";
    static String password = "";

    /** A test gets an empty schema. */
    interface Test {
        void run(String schema) throws Exception;
    }

    private final String client;
    private final Map<String, Test> tests = new LinkedHashMap<>();

    private Suite(String client) {
        this.client = client;
    }

    void add(String name, Test test) {
        tests.put(name, test);
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);
        String match = "";
        Suite suite = null;
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            switch (arguments[i]) {
                case "--url" -> take(URI.create(arguments[i + 1]));
                case "--match" -> match = arguments[i + 1];
                case "--client" -> suite = new Suite(arguments[i + 1]);
                default -> { }
            }
        }
        switch (suite.client) {
            case "flyway" -> FlywayTests.addTo(suite);
            case "liquibase" -> LiquibaseTests.addTo(suite);
            default -> HibernateTests.addTo(suite);
        }
        int failed = 0;
        for (Map.Entry<String, Test> each : suite.tests.entrySet()) {
            if (("=" + each.getKey() + "=").contains(match) && !suite.passes(each.getKey(), each.getValue())) {
                failed++;
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(failed == 0 ? 0 : 1);
    }

    private static void take(URI given) {
        int port = given.getPort() < 0 ? 5432 : given.getPort();
        url = "jdbc:postgresql://" + given.getHost() + ":" + port + given.getPath();
        if (given.getUserInfo() != null) {
            String[] parts = given.getUserInfo().split(":", 2);
            user = parts[0];
            password = parts.length > 1 ? parts[1] : "";
        }
    }

    private boolean passes(String name, Test test) throws InterruptedException {
        String schema = "pc_" + client + "_" + ProcessHandle.current().pid() + "_" + name;
        ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
            Thread made = new Thread(work);
            made.setDaemon(true);
            return made;
        });
        try {
            thread.submit(() -> {
                run("CREATE SCHEMA " + schema);
                try {
                    test.run(schema);
                } finally {
                    run("DROP SCHEMA " + schema + " CASCADE");
                }
                return null;
            }).get(TEST_SECONDS, TimeUnit.SECONDS);
            System.out.println("ok " + client + " " + name);
            return true;
        } catch (TimeoutException late) {
            System.out.println("FAIL " + client + " " + name + ": no answer within " + TEST_SECONDS + " s");
        } catch (ExecutionException failure) {
            Throwable why = failure.getCause();
            System.out.println("FAIL " + client + " " + name + ": " + String.valueOf(why).lines().findFirst().orElse(""));
            for (Throwable each = why; each != null; each = each.getCause()) {
                String.valueOf(each).lines().forEach(line -> System.out.println("    " + line));
            }
        }
        return false;
    }

    static Connection connect() throws Exception {
        return DriverManager.getConnection(url, user, password);
    }

    static void run(String sql) throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first value of the first row, as text. */
    static String value(String sql) throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getString(1) : null;
        }
    }

    static void same(Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    static void holds(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Runs what must fail with an error of this kind, also as a cause. */
    static <E extends Throwable> E fails(Class<E> kind, Callable<?> work) {
        try {
            work.call();
        } catch (Throwable error) {
            for (Throwable each = error; each != null; each = each.getCause()) {
                if (kind.isInstance(each)) {
                    return kind.cast(each);
                }
            }
            throw new AssertionError("failed otherwise", error);
        }
        throw new AssertionError("did not fail");
    }
}
