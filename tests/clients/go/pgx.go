package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The ways in which pgx sends a query.
var modes = map[string]pgx.QueryExecMode{
	"cache_statement": pgx.QueryExecModeCacheStatement,
	"cache_describe":  pgx.QueryExecModeCacheDescribe,
	"describe_exec":   pgx.QueryExecModeDescribeExec,
	"exec":            pgx.QueryExecModeExec,
	"simple":          pgx.QueryExecModeSimpleProtocol,
}

var pgxTests = append([]test{
	{"connection_information", pgxInformation},
	{"batch", pgxBatch},
	{"batch_with_an_error", pgxBatchError},
	{"copy_from", pgxCopyFrom},
	{"transactions", pgxTransactions},
	{"errors", pgxErrors},
	{"notices", pgxNotices},
	{"types_of_go", pgxTypes},
	{"collect_rows", pgxCollect},
	{"load_type", pgxLoadType},
	{"cancel_by_context", pgxCancel},
	{"pool", pgxPool},
	{"multiple_results", pgxMultiple},
	{"pipeline", pgxPipeline},
	{"close_rows_early", pgxCloseEarly},
}, pgxModes()...)

func pgxConnect(ctx context.Context) *pgx.Conn {
	c, err := pgx.Connect(ctx, *url)
	must(err)
	return c
}

// pgxNumbers makes a table of numbers; the function it returns drops it.
func pgxNumbers(ctx context.Context, c *pgx.Conn, stem string, rows int) (string, func()) {
	table := name(stem)
	_, err := c.Exec(ctx, "CREATE TABLE "+table+" (id integer PRIMARY KEY, v text)")
	must(err)
	_, err = c.Exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT g, 'v' || g FROM generate_series(1, %d) AS s(g)", table, rows))
	must(err)
	return table, func() {
		other := pgxConnect(context.Background())
		defer other.Close(context.Background())
		_, err := other.Exec(context.Background(), "DROP TABLE "+table)
		must(err)
	}
}

func pgxCount(ctx context.Context, c *pgx.Conn, table string) (n int) {
	must(c.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func pgxInformation(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	equal(c.PgConn().ParameterStatus("server_encoding"), "UTF8", "server_encoding")
	equal(c.PgConn().ParameterStatus("standard_conforming_strings"), "on", "standard_conforming_strings")
	equal(c.PgConn().PID() > 0, true, "a process id")
	must(c.Ping(ctx))
}

// pgxModes makes a test of each way to send a query.
func pgxModes() (tests []test) {
	for label, mode := range modes {
		tests = append(tests, test{"query_" + label, func(ctx context.Context) { pgxQuery(ctx, label, mode) }})
	}
	return tests
}

func pgxQuery(ctx context.Context, label string, mode pgx.QueryExecMode) {
	config, err := pgx.ParseConfig(*url)
	must(err)
	config.DefaultQueryExecMode = mode
	c, err := pgx.ConnectConfig(ctx, config)
	must(err)
	defer c.Close(ctx)
	table, drop := pgxNumbers(ctx, c, label, 10)
	defer drop()
	for i := 1; i <= 10; i++ {
		var v string
		must(c.QueryRow(ctx, "SELECT v FROM "+table+" WHERE id = $1", i).Scan(&v))
		equal(v, fmt.Sprint("v", i), "v")
	}
	tag, err := c.Exec(ctx, "UPDATE "+table+" SET v = $1 WHERE id < $2", "it's ü", 4)
	must(err)
	equal(tag.String(), "UPDATE 3", "tag")
	var id int64
	var v *string
	must(c.QueryRow(ctx, "INSERT INTO "+table+" VALUES ($1, $2) RETURNING id, v", 50, nil).Scan(&id, &v))
	equal(v == nil && id == 50, true, "returning")
	var at time.Time
	var n float64
	must(c.QueryRow(ctx, "SELECT $1::timestamptz, $2::float8", time.Unix(1e9, 5000).UTC(), math.Pi).Scan(&at, &n))
	equal(at.UTC(), time.Unix(1e9, 5000).UTC(), "timestamptz")
	equal(n, math.Pi, "float8")
	var bytes []byte
	must(c.QueryRow(ctx, "SELECT $1::bytea", []byte{0, 255, '\''}).Scan(&bytes))
	equal(bytes, []byte{0, 255, '\''}, "bytea")
	_, err = c.Exec(ctx, "SELECT * FROM no_such_table WHERE a = $1", 1)
	equal(pgxCode(err), "42P01", "code")
	equal(pgxCount(ctx, c, table), 11, "count")
}

func pgxCode(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		panic(fmt.Sprintf("not an error of the server: %v", err))
	}
	return e.Code
}

func pgxBatch(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	table, drop := pgxNumbers(ctx, c, "batch", 10)
	defer drop()
	batch := &pgx.Batch{}
	for i := 1; i <= 10; i++ {
		batch.Queue("SELECT v FROM "+table+" WHERE id = $1", i)
	}
	batch.Queue("INSERT INTO "+table+" VALUES ($1, $2)", 99, "x")
	batch.Queue("SELECT count(*) FROM " + table)
	results := c.SendBatch(ctx, batch)
	for i := 1; i <= 10; i++ {
		var v string
		must(results.QueryRow().Scan(&v))
		equal(v, fmt.Sprint("v", i), "v")
	}
	tag, err := results.Exec()
	must(err)
	equal(tag.String(), "INSERT 0 1", "tag")
	var n int
	must(results.QueryRow().Scan(&n))
	equal(n, 11, "count")
	must(results.Close())
}

// A batch is one implicit transaction: an error undoes what came before it.
func pgxBatchError(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	table, drop := pgxNumbers(ctx, c, "batch_error", 10)
	defer drop()
	batch := &pgx.Batch{}
	batch.Queue("DELETE FROM "+table+" WHERE id = $1", 1)
	batch.Queue("INSERT INTO "+table+" VALUES ($1, 'again')", 5)
	batch.Queue("DELETE FROM " + table)
	equal(pgxCode(c.SendBatch(ctx, batch).Close()), "23505", "code")
	equal(pgxCount(ctx, c, table), 10, "count")
}

func pgxCopyFrom(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	table := name("copy")
	_, err := c.Exec(ctx, "CREATE TABLE "+table+" (id bigint PRIMARY KEY, s text, f float8, at timestamptz, n numeric(10,2), l integer[])")
	must(err)
	defer c.Exec(ctx, "DROP TABLE "+table)
	rows := make([][]any, 5000)
	for i := range rows {
		var s any
		if i%2 == 0 {
			s = fmt.Sprint("s", i)
		}
		rows[i] = []any{int64(i), s, float64(i) / 4, time.Unix(int64(i), 0), pgtype.Numeric{Int: bigInt(int64(i)), Exp: -2, Valid: true}, []int32{1, 2}}
	}
	copied, err := c.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "s", "f", "at", "n", "l"}, pgx.CopyFromRows(rows))
	must(err)
	equal(copied, int64(5000), "copied")
	var n, withText int
	var sum float64
	must(c.QueryRow(ctx, "SELECT count(*), count(s), sum(n)::float8 FROM "+table).Scan(&n, &withText, &sum))
	equal([]any{n, withText, sum}, []any{5000, 2500, 124975.0}, "what was copied")
	_, err = c.CopyFrom(ctx, pgx.Identifier{"public", table}, []string{"id"}, pgx.CopyFromRows([][]any{{int64(7000)}, {int64(7)}}))
	equal(pgxCode(err), "23505", "code")
}

func pgxTransactions(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	table, drop := pgxNumbers(ctx, c, "tx", 10)
	defer drop()
	must(pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE id = 1"); err != nil {
			return err
		}
		inner := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "DELETE FROM "+table)
			must(err)
			return errors.New("undo this")
		})
		equal(inner != nil, true, "the inner block's error")
		return nil
	}))
	equal(pgxCount(ctx, c, table), 9, "count")
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	must(err)
	_, err = tx.Exec(ctx, "DELETE FROM "+table)
	equal(pgxCode(err), "25006", "code")
	equal(errors.Is(tx.Commit(ctx), pgx.ErrTxCommitRollback), true, "COMMIT of a failed transaction says ROLLBACK")
}

func pgxErrors(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	table, drop := pgxNumbers(ctx, c, "errors", 3)
	defer drop()
	_, err := c.Exec(ctx, "INSERT INTO "+table+" VALUES (1, 'x')")
	var e *pgconn.PgError
	equal(errors.As(err, &e), true, "an error of the server")
	equal([]string{e.Severity, e.Code, e.Detail, e.SchemaName, e.TableName, e.ConstraintName},
		[]string{"ERROR", "23505", "Key (id)=(1) already exists.", "public", table, table + "_pkey"}, "fields")
	_, err = c.Exec(ctx, "SELECT $1::int, nope", 1)
	errors.As(err, &e)
	equal([]any{e.Code, e.Position}, []any{"42703", int32(17)}, "position")
	equal(pgxCount(ctx, c, table), 3, "the connection goes on")
}

func pgxNotices(ctx context.Context) {
	config, err := pgx.ParseConfig(*url)
	must(err)
	var heard []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { heard = append(heard, n.Severity+" "+n.Message) }
	c, err := pgx.ConnectConfig(ctx, config)
	must(err)
	defer c.Close(ctx)
	_, err = c.Exec(ctx, "DROP TABLE IF EXISTS no_such_table")
	must(err)
	equal(heard, []string{`NOTICE table "no_such_table" does not exist, skipping`}, "notices")
}

// Each type there and back, in binary and in text.
func pgxTypes(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
	for kind, value := range map[string]any{
		"boolean": true, "smallint": int16(-7), "integer": int32(math.MinInt32), "bigint": int64(math.MaxInt64), "real": float32(1.5),
		"double precision": -1e300, "text": "ünï\n\t'", "varchar": "v", "bytea": []byte{0, 1, 255}, "date": time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		"timestamp": at, "timestamptz": at, "integer[]": []int32{1, -2}, "text[]": []string{"a", `q"\`, ""}, "double precision[]": []float64{0.5},
		"numeric(12,3)": pgtype.Numeric{Int: bigInt(-12345), Exp: -3, Valid: true}, "time": pgtype.Time{Microseconds: 86399999999, Valid: true},
		"interval": pgtype.Interval{Months: 14, Days: 3, Microseconds: 4e6, Valid: true}, "uuid": pgtype.UUID{Bytes: [16]byte{1, 15: 9}, Valid: true},
		"json": map[string]any{"a": []any{1.0, nil}},
	} {
		for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
			rows, err := c.Query(ctx, "SELECT $1::"+kind+", NULL::"+kind, pgx.QueryResultFormats{format, format}, value)
			must(err)
			for rows.Next() {
				got, err := rows.Values()
				must(err)
				equal(got[1], nil, kind+" NULL")
				equal(fmt.Sprint(plain(got[0])), fmt.Sprint(plain(value)), fmt.Sprint(kind, " in format ", format))
			}
			must(rows.Err())
		}
	}
}

// plain brings the several Go types of one value to one form.
func plain(value any) any {
	switch v := value.(type) {
	case time.Time:
		return v.UTC()
	case pgtype.UUID:
		return v.Bytes
	case pgtype.Numeric:
		f, err := v.Float64Value()
		must(err)
		return f.Float64
	}
	return value
}

func pgxCollect(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	table, drop := pgxNumbers(ctx, c, "collect", 3)
	defer drop()
	type row struct {
		ID int
		V  string
	}
	rows, err := c.Query(ctx, "SELECT id, v FROM "+table+" ORDER BY id")
	must(err)
	fields := rows.FieldDescriptions()
	equal([]any{fields[0].Name, fields[0].DataTypeOID, fields[1].DataTypeOID}, []any{"id", uint32(23), uint32(25)}, "fields")
	got, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
	must(err)
	equal(got, []row{{1, "v1"}, {2, "v2"}, {3, "v3"}}, "rows")
	rows, err = c.Query(ctx, "SELECT v FROM "+table+" WHERE id = ANY($1) ORDER BY id", []int32{1, 3})
	must(err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(err)
	equal(texts, []string{"v1", "v3"}, "texts")
}

// LoadType asks pg_type for a type that pgx does not know: here the row type of a table.
func pgxLoadType(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	var oid uint32
	must(c.QueryRow(ctx, "SELECT 'pg_catalog.int4'::regtype::oid").Scan(&oid))
	equal(oid, uint32(23), "int4's OID")
	known, err := c.LoadType(ctx, "_int4")
	must(err)
	equal(known.OID, uint32(1007), "the OID of int4's array")
}

// A context that ends closes the connection and cancels the statement.
func pgxCancel(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stop()
	started := time.Now()
	_, err := c.Exec(short, "SELECT pg_sleep(20)")
	equal(err != nil && time.Since(started) < 5*time.Second, true, "ended early")
	other := pgxConnect(ctx)
	defer other.Close(ctx)
	go func() {
		time.Sleep(300 * time.Millisecond)
		must(other.PgConn().CancelRequest(ctx))
	}()
	_, err = other.Exec(ctx, "SELECT pg_sleep(20)")
	equal(pgxCode(err), "57014", "code")
	must(other.Ping(ctx))
}

func pgxPool(ctx context.Context) {
	pool, err := pgxpool.New(ctx, *url+"?pool_max_conns=5")
	must(err)
	defer pool.Close()
	problems := make(chan error, 100)
	for i := range 100 {
		go func() {
			var got int
			err := pool.QueryRow(ctx, "SELECT $1::int", i).Scan(&got)
			if err == nil && got != i {
				err = fmt.Errorf("%d instead of %d", got, i)
			}
			problems <- err
		}()
	}
	for range 100 {
		must(<-problems)
	}
}

func pgxMultiple(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	results, err := c.PgConn().Exec(ctx, "SELECT 1; SELECT 'a', 'b'; SELECT 3 WHERE false").ReadAll()
	must(err)
	equal([]int{len(results), len(results[1].Rows[0]), len(results[2].Rows)}, []int{3, 2, 0}, "results")
}

func pgxPipeline(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	pipeline := c.PgConn().StartPipeline(ctx)
	for i := range 3 {
		pipeline.SendQueryParams("SELECT $1::int", [][]byte{[]byte(fmt.Sprint(i))}, nil, nil, nil)
	}
	must(pipeline.Sync())
	for i := range 3 {
		next, err := pipeline.GetResults()
		must(err)
		read := next.(*pgconn.ResultReader).Read()
		must(read.Err)
		equal(string(read.Rows[0][0]), fmt.Sprint(i), "value")
	}
	_, err := pipeline.GetResults()
	must(err)
	must(pipeline.Close())
}

// Rows that are not read to their end are drained; the connection is usable.
func pgxCloseEarly(ctx context.Context) {
	c := pgxConnect(ctx)
	defer c.Close(ctx)
	rows, err := c.Query(ctx, "SELECT g, repeat('x', 100) FROM generate_series(1, 50000) AS s(g)")
	must(err)
	rows.Next()
	rows.Close()
	must(c.Ping(ctx))
	equal(strings.HasPrefix(rows.CommandTag().String(), "SELECT"), true, "tag")
}
