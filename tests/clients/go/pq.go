package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/lib/pq"
)

var pqTests = []test{
	{"ping_and_query", pqQuery},
	{"prepared", pqPrepared},
	{"transactions", pqTransactions},
	{"copy_in", pqCopyIn},
	{"arrays_and_nulls", pqArrays},
	{"types", pqTypes},
	{"errors", pqErrors},
	{"column_types", pqColumnTypes},
	{"several_result_sets", pqSeveral},
	{"cancel_by_context", pqCancel},
	{"pool", pqPool},
	{"binary_parameters", pqBinary},
}

func bigInt(n int64) *big.Int { return big.NewInt(n) }

// pqOpen opens the server with TLS off, which lib/pq demands by default.
func pqOpen(more string) *sql.DB {
	db, err := sql.Open("postgres", *url+"?sslmode=disable"+more)
	must(err)
	return db
}

func pqNumbers(ctx context.Context, db *sql.DB, stem string, rows int) (string, func()) {
	table := name(stem)
	_, err := db.ExecContext(ctx, "CREATE TABLE "+table+" (id integer PRIMARY KEY, v text)")
	must(err)
	_, err = db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s SELECT g, 'v' || g FROM generate_series(1, %d) AS s(g)", table, rows))
	must(err)
	return table, func() {
		_, err := db.Exec("DROP TABLE " + table)
		must(err)
		must(db.Close())
	}
}

func pqCount(ctx context.Context, db *sql.DB, table string) (n int) {
	must(db.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func pqCode(err error) string {
	var e *pq.Error
	if !errors.As(err, &e) {
		panic(fmt.Sprintf("not an error of the server: %v", err))
	}
	return string(e.Code)
}

func pqQuery(ctx context.Context) {
	db := pqOpen("")
	must(db.PingContext(ctx))
	table, drop := pqNumbers(ctx, db, "query", 10)
	defer drop()
	var v string
	must(db.QueryRowContext(ctx, "SELECT v FROM "+table+" WHERE id = $1", 3).Scan(&v))
	equal(v, "v3", "v")
	equal(errors.Is(db.QueryRowContext(ctx, "SELECT v FROM "+table+" WHERE id = 77").Scan(&v), sql.ErrNoRows), true, "no rows")
	result, err := db.ExecContext(ctx, "UPDATE "+table+" SET v = $1 WHERE id < $2", "x", 4)
	must(err)
	affected, err := result.RowsAffected()
	must(err)
	equal(affected, int64(3), "affected")
	var id int
	must(db.QueryRowContext(ctx, "INSERT INTO "+table+" VALUES ($1, $2) RETURNING id", 20, nil).Scan(&id))
	equal(id, 20, "returning")
}

func pqPrepared(ctx context.Context) {
	db := pqOpen("")
	table, drop := pqNumbers(ctx, db, "prepared", 10)
	defer drop()
	statement, err := db.PrepareContext(ctx, "SELECT v FROM "+table+" WHERE id = $1")
	must(err)
	defer statement.Close()
	for i := 1; i <= 10; i++ {
		var v string
		must(statement.QueryRowContext(ctx, i).Scan(&v))
		equal(v, fmt.Sprint("v", i), "v")
	}
}

func pqTransactions(ctx context.Context) {
	db := pqOpen("")
	table, drop := pqNumbers(ctx, db, "tx", 10)
	defer drop()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must(err)
	_, err = tx.ExecContext(ctx, "DELETE FROM "+table)
	must(err)
	must(tx.Rollback())
	equal(pqCount(ctx, db, table), 10, "count")
	tx, err = db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	must(err)
	_, err = tx.ExecContext(ctx, "DELETE FROM "+table)
	equal(pqCode(err), "25006", "code")
	must(tx.Rollback())
	tx, err = db.BeginTx(ctx, nil)
	must(err)
	_, err = tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE id = 1")
	must(err)
	must(tx.Commit())
	equal(pqCount(ctx, db, table), 9, "count")
}

// CopyIn prepares a COPY statement, which pq sends by the simple protocol.
func pqCopyIn(ctx context.Context) {
	db := pqOpen("")
	table, drop := pqNumbers(ctx, db, "copy", 0)
	defer drop()
	tx, err := db.BeginTx(ctx, nil)
	must(err)
	statement, err := tx.PrepareContext(ctx, pq.CopyIn(table, "id", "v"))
	must(err)
	for i := range 2000 {
		_, err = statement.ExecContext(ctx, i, fmt.Sprint("tab\t", i))
		must(err)
	}
	_, err = statement.ExecContext(ctx)
	must(err)
	must(statement.Close())
	must(tx.Commit())
	equal(pqCount(ctx, db, table), 2000, "count")
}

func pqArrays(ctx context.Context) {
	db := pqOpen("")
	table, drop := pqNumbers(ctx, db, "arrays", 10)
	defer drop()
	rows, err := db.QueryContext(ctx, "SELECT id FROM "+table+" WHERE id = ANY($1) ORDER BY id", pq.Array([]int{2, 4, 99}))
	must(err)
	var ids []int
	for rows.Next() {
		var id int
		must(rows.Scan(&id))
		ids = append(ids, id)
	}
	must(rows.Err())
	equal(ids, []int{2, 4}, "ids")
	var texts []string
	var nothing sql.NullString
	must(db.QueryRowContext(ctx, "SELECT $1::text[], $2::text", pq.Array([]string{"a b", `q"\`, ""}), nil).Scan(pq.Array(&texts), &nothing))
	equal(texts, []string{"a b", `q"\`, ""}, "texts")
	equal(nothing.Valid, false, "NULL")
}

func pqTypes(ctx context.Context) {
	db := pqOpen("")
	defer db.Close()
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
	var (
		b      bool
		i      int64
		f      float64
		s, n   string
		bytes  []byte
		ts, tz time.Time
		day    time.Time
	)
	row := db.QueryRowContext(ctx, "SELECT $1::boolean, $2::bigint, $3::float8, $4::text, $5::numeric(8,2), $6::bytea, $7::timestamp, $8::timestamptz, $9::date",
		true, int64(-1)<<62, 0.1, "ünï", "1.50", []byte{0, 255}, "2024-05-06 07:08:09.123456", at, "2024-02-29")
	must(row.Scan(&b, &i, &f, &s, &n, &bytes, &ts, &tz, &day))
	equal([]any{b, i, f, s, n, bytes}, []any{true, int64(-1) << 62, 0.1, "ünï", "1.50", []byte{0, 255}}, "values")
	equal([]bool{ts.Equal(at), tz.Equal(at)}, []bool{true, true}, "times")
	equal(day.Format("2006-01-02"), "2024-02-29", "date")
}

func pqErrors(ctx context.Context) {
	db := pqOpen("")
	table, drop := pqNumbers(ctx, db, "errors", 3)
	defer drop()
	_, err := db.ExecContext(ctx, "INSERT INTO "+table+" VALUES (1, 'x')")
	var e *pq.Error
	equal(errors.As(err, &e), true, "an error of the server")
	equal([]string{string(e.Code), e.Code.Name(), e.Detail, e.Table, e.Constraint},
		[]string{"23505", "unique_violation", "Key (id)=(1) already exists.", table, table + "_pkey"}, "fields")
	_, err = db.ExecContext(ctx, "SELECT nope, $1::int", 1)
	equal(pqCode(err), "42703", "code")
}

func pqColumnTypes(ctx context.Context) {
	db := pqOpen("")
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT 1 AS i, 'x'::varchar(7) AS v, 1.5::numeric(8,2) AS n, now() AS t")
	must(err)
	defer rows.Close()
	kinds, err := rows.ColumnTypes()
	must(err)
	equal([]string{kinds[0].DatabaseTypeName(), kinds[1].DatabaseTypeName(), kinds[2].DatabaseTypeName(), kinds[3].DatabaseTypeName()},
		[]string{"INT4", "VARCHAR", "NUMERIC", "TIMESTAMPTZ"}, "types")
	length, _ := kinds[1].Length()
	precision, scale, _ := kinds[2].DecimalSize()
	equal([]int64{length, precision, scale}, []int64{7, 8, 2}, "modifiers")
}

func pqSeveral(ctx context.Context) {
	db := pqOpen("")
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT 1; SELECT 2, 3")
	must(err)
	defer rows.Close()
	equal([]bool{rows.Next(), rows.Next(), rows.NextResultSet(), rows.Next()}, []bool{true, false, true, true}, "result sets")
	var a, b int
	must(rows.Scan(&a, &b))
	equal([]int{a, b}, []int{2, 3}, "second")
}

func pqCancel(ctx context.Context) {
	db := pqOpen("")
	defer db.Close()
	short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stop()
	started := time.Now()
	_, err := db.ExecContext(short, "SELECT pg_sleep(20)")
	equal(err != nil && time.Since(started) < 5*time.Second, true, "ended early")
	must(db.PingContext(ctx))
}

func pqPool(ctx context.Context) {
	db := pqOpen("")
	defer db.Close()
	db.SetMaxOpenConns(5)
	var group sync.WaitGroup
	problems := make(chan error, 100)
	for i := range 100 {
		group.Go(func() {
			var got int
			err := db.QueryRowContext(ctx, "SELECT $1::int", i).Scan(&got)
			if err == nil && got != i {
				err = fmt.Errorf("%d instead of %d", got, i)
			}
			problems <- err
		})
	}
	group.Wait()
	close(problems)
	for err := range problems {
		must(err)
	}
}

// binary_parameters sends parameters without asking for their types first.
func pqBinary(ctx context.Context) {
	db := pqOpen("&binary_parameters=yes")
	table, drop := pqNumbers(ctx, db, "binary", 10)
	defer drop()
	var v string
	var bytes []byte
	must(db.QueryRowContext(ctx, "SELECT v, $2::bytea FROM "+table+" WHERE id = $1", 3, []byte{0, 255}).Scan(&v, &bytes))
	equal(v, "v3", "v")
	equal(bytes, []byte{0, 255}, "bytes")
}
