import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;
import org.postgresql.util.PGInterval;
import org.postgresql.util.PGobject;

/** Setters and getters of every type, in text and in binary. */
final class Types {
    private Types() {}

    private static final String COLUMNS = "id integer PRIMARY KEY, b boolean, s smallint, l bigint, r real, d double precision, n numeric(12,3), t text, "
            + "v varchar(10), y bytea, da date, ti time, ts timestamp, tz timestamptz, iv interval, u uuid, j json, ia integer[], ta text[]";
    private static final LocalDateTime MOMENT = LocalDateTime.of(2024, 5, 6, 7, 8, 9, 123456000);
    private static final UUID ID = UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");

    static void addTo(Suite suite) {
        suite.add("types_text", c -> all("types_text", "binaryTransfer", "false", "prepareThreshold", "0"));
        suite.add("types_binary", c -> all("types_binary", "prepareThreshold", "1", "binaryTransferEnable", "1700,1082,1083"));
        suite.add("types_as_strings", c -> all("types_strings", "stringtype", "unspecified"));
        suite.add("types_old_dates", Types::oldDates);
    }

    private static void all(String stem, String... settings) throws Exception {
        try (Connection c = Suite.connect(settings); Suite.Table t = Suite.table(c, stem, COLUMNS)) {
            String marks = "?" + ", ?".repeat(18);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO " + t.name() + " VALUES (" + marks + ")")) {
                for (int id = 1; id <= 3; id++) {
                    set(c, p, id);
                    Suite.equal(p.executeUpdate(), 1);
                }
            }
            Suite.execute(c, "INSERT INTO " + t.name() + " (id) VALUES (4)");
            try (PreparedStatement p = c.prepareStatement("SELECT * FROM " + t.name() + " WHERE id = ?")) {
                for (int round = 0; round < 4; round++) {
                    p.setInt(1, round % 3 + 1);
                    try (ResultSet row = p.executeQuery()) {
                        row.next();
                        check(row);
                    }
                }
                p.setInt(1, 4);
                try (ResultSet row = p.executeQuery()) {
                    row.next();
                    for (int i = 2; i <= 19; i++) {
                        Suite.equal(row.getObject(i), null);
                        Suite.yes(row.wasNull(), "wasNull");
                    }
                }
            }
            compare(c, t.name());
        }
    }

    private static void set(Connection c, PreparedStatement p, int id) throws Exception {
        p.setInt(1, id);
        p.setBoolean(2, true);
        p.setShort(3, (short) -7);
        p.setLong(4, Long.MIN_VALUE);
        p.setFloat(5, 1.5f);
        p.setDouble(6, 0.1);
        p.setBigDecimal(7, new BigDecimal("-12.345"));
        p.setString(8, "ünï\n'\\");
        p.setString(9, "short");
        p.setBytes(10, new byte[] {0, 1, -1});
        p.setObject(11, LocalDate.of(2024, 2, 29));
        p.setObject(12, LocalTime.of(23, 59, 59, 999999000));
        p.setObject(13, MOMENT);
        p.setObject(14, MOMENT.atOffset(ZoneOffset.ofHours(2)));
        p.setObject(15, new PGInterval(1, 2, 3, 4, 5, 6.5));
        p.setObject(16, ID);
        PGobject json = new PGobject();
        json.setType("json");
        json.setValue("{\"a\": [1, null]}");
        p.setObject(17, json);
        p.setArray(18, c.createArrayOf("int4", new Integer[] {1, null, 3}));
        p.setArray(19, c.createArrayOf("text", new String[] {"a b", null, "q\"\\", ""}));
    }

    private static void check(ResultSet row) throws Exception {
        Suite.equal(row.getBoolean("b"), true);
        Suite.equal(row.getShort("s"), (short) -7);
        Suite.equal(row.getLong("l"), Long.MIN_VALUE);
        Suite.equal(row.getFloat("r"), 1.5f);
        Suite.equal(row.getDouble("d"), 0.1);
        Suite.equal(row.getBigDecimal("n"), new BigDecimal("-12.345"));
        Suite.equal(row.getString("t"), "ünï\n'\\");
        Suite.equal(row.getString("v"), "short");
        Suite.equal(row.getBytes("y"), new byte[] {0, 1, -1});
        Suite.equal(row.getDate("da"), Date.valueOf("2024-02-29"));
        Suite.equal(row.getObject("da", LocalDate.class), LocalDate.of(2024, 2, 29));
        Suite.equal(row.getObject("ti", LocalTime.class), LocalTime.of(23, 59, 59, 999999000));
        Suite.equal(row.getTime("ti").getClass(), Time.class);
        Suite.equal(row.getTimestamp("ts"), Timestamp.valueOf(MOMENT));
        Suite.equal(row.getObject("ts", LocalDateTime.class), MOMENT);
        Suite.equal(row.getObject("tz", OffsetDateTime.class).toInstant(), MOMENT.atOffset(ZoneOffset.ofHours(2)).toInstant());
        PGInterval interval = (PGInterval) row.getObject("iv");
        Suite.equal(interval.getYears() * 100 + interval.getMonths() * 10 + interval.getDays(), 123);
        Suite.equal(interval.getHours() + interval.getMinutes() + interval.getSeconds(), 15.5);
        Suite.equal(row.getObject("u"), ID);
        Suite.equal(row.getString("j"), "{\"a\": [1, null]}");
        Array numbers = row.getArray("ia");
        Suite.equal(numbers.getBaseTypeName(), "int4");
        Suite.equal(numbers.getArray(), new Integer[] {1, null, 3});
        Suite.equal(row.getArray("ta").getArray(), new String[] {"a b", null, "q\"\\", ""});
    }

    /** Values as parameters of comparisons. */
    private static void compare(Connection c, String table) throws Exception {
        String sql = "SELECT count(*) FROM " + table + " WHERE b = ? AND l < ? AND n = ? AND da = ? AND ts = ? AND tz = ? AND u = ? AND id = ANY(?)";
        try (PreparedStatement p = c.prepareStatement(sql)) {
            p.setBoolean(1, true);
            p.setLong(2, 0);
            p.setBigDecimal(3, new BigDecimal("-12.345"));
            p.setDate(4, Date.valueOf("2024-02-29"));
            p.setTimestamp(5, Timestamp.valueOf(MOMENT));
            p.setObject(6, MOMENT.atOffset(ZoneOffset.ofHours(2)));
            p.setObject(7, ID);
            p.setArray(8, c.createArrayOf("int4", new Integer[] {1, 2, 99}));
            try (ResultSet row = p.executeQuery()) {
                row.next();
                Suite.equal(row.getInt(1), 2);
            }
        }
    }

    private static void oldDates(Connection c) throws Exception {
        try (PreparedStatement p = c.prepareStatement("SELECT ?::date, ?::timestamp")) {
            for (String day : new String[] {"0001-01-01", "1582-10-15", "1969-12-31", "9999-12-31"}) {
                p.setObject(1, LocalDate.parse(day));
                p.setObject(2, LocalDate.parse(day).atTime(1, 2, 3));
                try (ResultSet row = p.executeQuery()) {
                    row.next();
                    Suite.equal(row.getObject(1, LocalDate.class), LocalDate.parse(day));
                    Suite.equal(row.getObject(2, LocalDateTime.class), LocalDate.parse(day).atTime(1, 2, 3));
                }
            }
        }
    }
}
