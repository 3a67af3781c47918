// Command suite runs GORM's tests against a server; it prints one line a test.
package main

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

const testTime = 40 * time.Second

var (
	url    = flag.String("url", "", "the server")
	match  = flag.String("match", "", "only tests whose name contains this")
	schema = fmt.Sprintf("pc_gorm_%d", os.Getpid())
	said   = &statements{}
)

// test is one named check; tests run in their order, each with what those before it have left.
type test struct {
	name string
	run  func(db *gorm.DB)
}

func main() {
	flag.Parse()
	db := open("")
	must(db.Exec("CREATE SCHEMA " + schema).Error)
	db = open(schema)
	failed := 0
	for _, each := range tests {
		if !strings.Contains("="+each.name+"=", *match) {
			continue
		}
		if why := outcome(each, db); why != "" {
			failed++
			fmt.Printf("FAIL gorm %s: %s\n", each.name, strings.ReplaceAll(why, "\n", "\n    "))
		} else {
			fmt.Printf("ok gorm %s\n", each.name)
		}
	}
	must(db.Exec("DROP SCHEMA " + schema + " CASCADE").Error)
	if failed > 0 {
		os.Exit(1)
	}
}

// open connects with a search path, which an empty one leaves as it is.
func open(path string) *gorm.DB {
	address := *url + "?sslmode=disable"
	if path != "" {
		address += "&search_path=" + path
	}
	settings := &gorm.Config{Logger: logger.New(said, logger.Config{LogLevel: logger.Info}), TranslateError: true}
	db, err := gorm.Open(postgres.Open(address), settings)
	must(err)
	return db
}

// statements keeps what GORM has logged.
type statements struct{ texts []string }

func (s *statements) Printf(format string, values ...any) {
	s.texts = append(s.texts, fmt.Sprintf(format, values...))
}

// changes says which definitions were changed since the last call of it.
func (s *statements) changes() (found []string) {
	for _, text := range s.texts {
		for _, word := range []string{"CREATE ", "ALTER ", "DROP ", "COMMENT "} {
			if at := strings.Index(text, word); at >= 0 && !strings.Contains(text, "SELECT") {
				found = append(found, text[at:])
				break
			}
		}
	}
	s.texts = nil
	return found
}

// outcome runs a test and says why it failed; one that hangs is left behind.
func outcome(each test, db *gorm.DB) string {
	done := make(chan string, 1)
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				last := said.texts[max(0, len(said.texts)-3):]
				done <- fmt.Sprintf("%v\n%s\n%s", problem, strings.Join(last, "\n"), debug.Stack())
			} else {
				done <- ""
			}
		}()
		each.run(db)
	}()
	select {
	case why := <-done:
		return why
	case <-time.After(testTime):
		return "no answer within " + testTime.String()
	}
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
