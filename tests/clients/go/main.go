// Command suite runs pgx's or lib/pq's tests against a server; it prints one line a test.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"
)

const testTime = 40 * time.Second

// test is one named check of one client.
type test struct {
	name string
	run  func(ctx context.Context)
}

var (
	url    = flag.String("url", "", "the server")
	client = flag.String("client", "pgx", "pgx or pq")
	match  = flag.String("match", "", "only tests whose name contains this")
)

func main() {
	flag.Parse()
	tests := map[string][]test{"pgx": pgxTests, "pq": pqTests}[*client]
	failed := 0
	for _, each := range tests {
		if !strings.Contains("="+each.name+"=", *match) {
			continue
		}
		if why := outcome(each); why != "" {
			failed++
			fmt.Printf("FAIL %s %s: %s\n", *client, each.name, strings.ReplaceAll(why, "\n", "\n    "))
		} else {
			fmt.Printf("ok %s %s\n", *client, each.name)
		}
	}
	if failed > 0 || len(tests) == 0 {
		os.Exit(1)
	}
}

// outcome runs a test and says why it failed; a client that hangs is left behind.
func outcome(each test) string {
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	defer cancel()
	done := make(chan string, 1)
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				done <- fmt.Sprint(problem)
			} else {
				done <- ""
			}
		}()
		each.run(ctx)
	}()
	select {
	case why := <-done:
		return why
	case <-time.After(testTime + time.Second):
		return "no answer within " + testTime.String()
	}
}

// name makes a name that belongs to this run alone.
func name(stem string) string {
	return fmt.Sprintf("pc_%s_%d_%s", *client, os.Getpid(), stem)
}

// must ends the test at an error.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("%T: %v", err, err))
	}
}

// equal ends the test at a difference.
func equal(got, expected any, what string) {
	if !reflect.DeepEqual(got, expected) {
		panic(fmt.Sprintf("%s: expected %#v, got %#v", what, expected, got))
	}
}
