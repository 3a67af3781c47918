import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;

/** Fetch size, COPY, cancelling. */
final class Transfers {
    private Transfers() {}

    static void addTo(Suite suite) {
        suite.add("fetch_size", Transfers::fetchSize);
        suite.add("fetch_size_two_at_once", Transfers::fetchSizeTwo);
        suite.add("fetch_size_closed_early", Transfers::fetchSizeClosed);
        suite.add("adaptive_fetch", Transfers::adaptive);
        suite.add("copy_in", Transfers::copyIn);
        suite.add("copy_in_gives_up", Transfers::copyGivesUp);
        suite.add("copy_out", Transfers::copyOut);
        suite.add("cancel", Transfers::cancel);
        suite.add("query_timeout", Transfers::queryTimeout);
        suite.add("many_rows", Transfers::manyRows);
    }

    private static final String SERIES = "SELECT g, 'v' || g FROM generate_series(1, 1000) AS s(g) ORDER BY 1";

    /** Without autocommit the driver reads a named portal in parts. */
    private static void fetchSize(Connection c) throws Exception {
        c.setAutoCommit(false);
        try (PreparedStatement p = c.prepareStatement(SERIES)) {
            for (int size : new int[] {1, 7, 100, 1000, 5000}) {
                p.setFetchSize(size);
                int expected = 1;
                try (ResultSet rows = p.executeQuery()) {
                    while (rows.next()) {
                        Suite.equal(rows.getInt(1), expected);
                        Suite.equal(rows.getString(2), "v" + expected++);
                    }
                }
                Suite.equal(expected, 1001);
            }
        }
        c.commit();
    }

    /** Two portals are open and other statements run between their parts. */
    private static void fetchSizeTwo(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "two", 0)) {
            c.setAutoCommit(false);
            try (Statement one = c.createStatement(); Statement two = c.createStatement()) {
                one.setFetchSize(10);
                two.setFetchSize(15);
                try (ResultSet a = one.executeQuery(SERIES); ResultSet b = two.executeQuery(SERIES)) {
                    for (int i = 1; i <= 200; i++) {
                        Suite.yes(a.next() && b.next(), "rows");
                        Suite.equal(a.getInt(1), b.getInt(1));
                        if (i % 50 == 0) {
                            Suite.execute(c, "INSERT INTO " + t.name() + " VALUES (" + i + ", 'x')");
                        }
                    }
                }
            }
            c.commit();
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("4"));
            c.commit();
        }
    }

    private static void fetchSizeClosed(Connection c) throws Exception {
        c.setAutoCommit(false);
        for (int i = 0; i < 20; i++) {
            try (Statement s = c.createStatement()) {
                s.setFetchSize(5);
                try (ResultSet rows = s.executeQuery("SELECT g FROM generate_series(1, 1000000) AS s(g)")) {
                    Suite.yes(rows.next(), "row");
                }
            }
        }
        c.commit();
        Suite.equal(Suite.query(c, "SELECT 1"), List.of("1"));
        c.commit();
    }

    private static void adaptive(Connection ignored) throws Exception {
        try (Connection c = Suite.connect("defaultRowFetchSize", "10", "adaptiveFetch", "true", "maxResultBuffer", "1M")) {
            c.setAutoCommit(false);
            Suite.equal(Suite.query(c, SERIES).size(), 1000);
            c.commit();
        }
    }

    private static void copyIn(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "copy_in", 0)) {
            CopyManager copy = c.unwrap(PGConnection.class).getCopyAPI();
            Suite.equal(copy.copyIn("COPY " + t.name() + " FROM STDIN", new StringReader("1\ta\n2\t\\N\n")), 2L);
            byte[] csv = "id,v\n3,\"a, ü\"\n4,\n".getBytes(StandardCharsets.UTF_8);
            Suite.equal(copy.copyIn("COPY " + t.name() + " FROM STDIN (FORMAT csv, HEADER)", new ByteArrayInputStream(csv)), 2L);
            Suite.equal(Suite.query(c, "SELECT coalesce(v, '-') FROM " + t.name() + " ORDER BY id"), List.of("a", "-", "a, ü", "-"));
            Suite.fails("22P02", () -> copy.copyIn("COPY " + t.name() + " FROM STDIN", new StringReader("x\ta\n")));
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("4"));
        }
    }

    private static void copyGivesUp(Connection c) throws Exception {
        try (Suite.Table t = Suite.numbers(c, "copy_gives_up", 0)) {
            CopyIn copy = c.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY " + t.name() + " FROM STDIN");
            byte[] row = "1\ta\n".getBytes(StandardCharsets.UTF_8);
            copy.writeToCopy(row, 0, row.length);
            copy.cancelCopy();
            Suite.equal(Suite.query(c, "SELECT count(*) FROM " + t.name()), List.of("0"));
        }
    }

    private static void copyOut(Connection c) throws Exception {
        CopyManager copy = c.unwrap(PGConnection.class).getCopyAPI();
        StringWriter out = new StringWriter();
        long rows = copy.copyOut("COPY (" + SERIES + " LIMIT 3) TO STDOUT (FORMAT csv, HEADER false)", out);
        Suite.equal(rows, 3L);
        Suite.equal(out.toString(), "1,v1\n2,v2\n3,v3\n");
    }

    private static void cancel(Connection c) throws Exception {
        try (Statement s = c.createStatement()) {
            new Timer(true).schedule(new TimerTask() {
                @Override
                public void run() {
                    try {
                        s.cancel();
                    } catch (SQLException error) {
                        throw new IllegalStateException(error);
                    }
                }
            }, 400);
            Suite.fails("57014", () -> s.executeQuery("SELECT pg_sleep(20)"));
        }
        Suite.equal(Suite.query(c, "SELECT 1"), List.of("1"));
    }

    private static void queryTimeout(Connection c) throws Exception {
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            Suite.fails("57014", () -> s.executeQuery("SELECT pg_sleep(20)"));
        }
        Suite.equal(Suite.query(c, "SELECT 1"), List.of("1"));
    }

    private static void manyRows(Connection c) throws Exception {
        long sum = 0;
        try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery("SELECT g, repeat('x', 100) FROM generate_series(1, 100000) AS s(g)")) {
            while (rows.next()) {
                sum += rows.getLong(1) + rows.getString(2).length();
            }
        }
        Suite.equal(sum, 5000050000L + 10000000L);
    }
}
