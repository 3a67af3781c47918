import java.net.URI;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Arrays;

/** For wire_bench.py: how many milliseconds a query's rows take, the median of runs in a warm virtual machine. */
public final class Fetch {
    private static final int WARM = 4;
    private static final int RUNS = 5;

    private Fetch() {}

    /** Arguments: URL, query (bigint, text, double, date), how many rows must come, fetch size (0 is all). */
    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[0]);
        String[] who = url.getUserInfo() == null ? new String[] {"postgres"} : url.getUserInfo().split(":", 2);
        String address = "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath();
        try (Connection connection = DriverManager.getConnection(address, who[0], who.length > 1 ? who[1] : "")) {
            connection.setAutoCommit(false);
            double[] times = new double[RUNS];
            for (int i = -WARM; i < RUNS; i++) {
                long started = System.nanoTime();
                long rows = read(connection, arguments[1], Integer.parseInt(arguments[3]));
                if (rows != Long.parseLong(arguments[2])) {
                    throw new IllegalStateException(rows + " rows came");
                }
                if (i >= 0) {
                    times[i] = (System.nanoTime() - started) / 1e6;
                }
            }
            Arrays.sort(times);
            System.out.println(times[RUNS / 2]);
        }
    }

    private static long read(Connection connection, String query, int fetchSize) throws Exception {
        long rows = 0;
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setFetchSize(fetchSize);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    if (row.getLong(1) <= 0 || row.getString(2).isEmpty() || row.getDouble(3) <= 0 || row.getObject(4, Date.class) == null) {
                        throw new IllegalStateException("a wrong row");
                    }
                    rows++;
                }
            }
        }
        connection.commit();
        return rows;
    }
}
