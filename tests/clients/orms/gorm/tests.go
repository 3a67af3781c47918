package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"gorm.io/datatypes"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

var tests = []test{
	{"migrate_twice", migrateTwice},
	{"migrate_changes", migrateChanges},
	{"migrator", migrator},
	{"create_with_associations", createWithAssociations},
	{"preload_and_joins", preloadAndJoins},
	{"association_mode", associationMode},
	{"upserts", upserts},
	{"errors_are_translated", errorsAreTranslated},
	{"hooks", hooks},
	{"transactions_and_savepoints", transactionsAndSavepoints},
	{"locks", locks},
	{"soft_delete", softDelete},
	{"batches", batches},
	{"scopes_and_queries", scopesAndQueries},
	{"json", jsonQueries},
	{"composite_keys_and_returning", compositeKeys},
	{"raw_and_rows", rawAndRows},
	{"prepared_and_simple_protocol", preparedAndSimple},
	{"views_and_drop", viewsAndDrop},
}

func models() []any {
	return []any{&author{}, &address{}, &book{}, &group{}, &note{}, &entry{}}
}

func migrateTwice(db *gorm.DB) {
	must(db.AutoMigrate(models()...))
	said.changes()
	must(db.AutoMigrate(models()...))
	equal(said.changes(), []string(nil), "changes of a second migration")
}

// migrateChanges migrates a table to a new form of its model, and again.
func migrateChanges(db *gorm.DB) {
	type before struct {
		ID   uint
		Name string `gorm:"size:10;default:x"`
		Note string `gorm:"comment:old"`
		N    int32
	}
	type after struct {
		ID    uint
		Name  string  `gorm:"size:40;not null;default:y;unique"`
		Note  string  `gorm:"comment:new;index"`
		N     int64   `gorm:"check:things_n,n >= 0"`
		Added float64 `gorm:"not null;default:2.5"`
	}
	things := db.Table("things")
	must(things.AutoMigrate(&before{}))
	must(things.Create(&before{Name: "a", N: 3}).Error)
	must(db.Table("things").AutoMigrate(&after{}))
	said.changes()
	must(db.Table("things").AutoMigrate(&after{}))
	equal(said.changes(), []string(nil), "changes of a second migration")
	var read after
	must(db.Table("things").First(&read).Error)
	equal(read, after{1, "a", "", 3, 2.5}, "row")
	equal(db.Table("things").Create(&after{Name: "b", N: -1}).Error != nil, true, "check")
}

func migrator(db *gorm.DB) {
	m := db.Migrator()
	equal(m.HasTable(&author{}) && m.HasTable("memberships") && !m.HasTable("nothing"), true, "tables")
	equal(m.HasIndex(&author{}, "authors_rank") && m.HasConstraint(&author{}, "authors_kind") && m.HasConstraint(&author{}, "Books"), true, "parts")
	columns, err := m.ColumnTypes(&author{})
	must(err)
	types := map[string]string{}
	for _, column := range columns {
		kind, _ := column.ColumnType()
		length, _ := column.Length()
		nullable, _ := column.Nullable()
		unique, _ := column.Unique()
		key, _ := column.PrimaryKey()
		value, _ := column.DefaultValue()
		comment, _ := column.Comment()
		types[column.Name()] = fmt.Sprint(kind, length, nullable, unique, key, value, comment)
	}
	equal(types["email"], "character varying(80)80 false false falsewhere letters go", "email")
	equal(types["kind"], "character varying(10)10 true false falseguest", "kind")
	equal(types["fee"], "numeric(10,2)0 true false false1.5", "fee")
	equal(types["born"], "date32 true false false", "born")
	equal(types["id"], "bigint64 false false true", "id")
	indexes, err := m.GetIndexes(&author{})
	must(err)
	found := map[string]string{}
	for _, index := range indexes {
		unique, _ := index.Unique()
		key, _ := index.PrimaryKey()
		found[index.Name()] = fmt.Sprint(index.Columns(), " ", unique, key)
	}
	equal(found, map[string]string{
		"authors_email": "[email] true false", "authors_rank": "[rank] false false", "idx_authors_deleted_at": "[deleted_at] false false",
	}, "indexes")
	must(m.RenameColumn(&note{}, "text", "body"))
	must(m.RenameColumn(&note{}, "body", "text"))
	must(m.DropIndex(&author{}, "authors_rank"))
	must(m.CreateIndex(&author{}, "authors_rank"))
	must(m.RenameIndex(&author{}, "authors_rank", "authors_by_rank"))
	must(m.RenameIndex(&author{}, "authors_by_rank", "authors_rank"))
	must(m.AlterColumn(&entry{}, "Of"))
	all, err := m.GetTables()
	must(err)
	equal(len(all), 8, "number of tables")
}

func rank(n int16) *int16 { return &n }

func createWithAssociations(db *gorm.DB) {
	born := time.Date(1950, 2, 3, 0, 0, 0, 0, time.UTC)
	one := author{
		Email: "a@x", Kind: "staff", Facts: datatypes.JSON(`{"born": 1950}`), Rank: rank(3), Photo: []byte{0, 255}, Born: &born,
		Books: []book{{Title: "one"}, {Title: "two", Sold: 2}}, Address: &address{City: "Bonn"},
		Groups: []group{{Code: "g1"}, {Code: "g2"}}, Notes: []note{{Text: "first"}},
	}
	must(db.Create(&one).Error)
	equal([]any{one.ID, one.Fee, one.Active, one.Books[1].ID, *one.Address.AuthorID}, []any{uint(1), 1.5, true, int64(2), uint(1)}, "returned")
	two := author{Email: "b@x", Groups: []group{{Code: "g2"}}}
	must(db.Create(&two).Error)
	var read author
	must(db.First(&read, "email = ?", "a@x").Error)
	equal([]any{string(read.Facts), read.Photo, read.Born.Format("2006-01-02"), read.Kind}, []any{`{"born": 1950}`, []byte{0, 255}, "1950-02-03", "staff"}, "read")
	must(db.Take(&two).Error)
	equal(two.Kind, "guest", "default")
}

func preloadAndJoins(db *gorm.DB) {
	var all []author
	must(db.Preload(clause.Associations).Preload("Books.Notes").Order("id").Find(&all).Error)
	equal([]int{len(all), len(all[0].Books), len(all[0].Groups), len(all[0].Notes), len(all[1].Groups)}, []int{2, 2, 2, 1, 1}, "preloaded")
	var some []author
	must(db.Preload("Books", "sold > ?", 1).Preload("Groups", func(db *gorm.DB) *gorm.DB { return db.Order("groups.code DESC") }).Find(&some, "id = 1").Error)
	equal([]string{some[0].Books[0].Title, some[0].Groups[0].Code}, []string{"two", "g2"}, "with conditions")
	var joined []author
	must(db.Joins("Address").Where(`"Address"."city" = ?`, "Bonn").Find(&joined).Error)
	equal([]any{len(joined), joined[0].Address.City}, []any{1, "Bonn"}, "joined")
	var books []book
	must(db.InnerJoins("Author", db.Where(&author{Kind: "staff"})).Order("books.title DESC").Find(&books).Error)
	equal([]string{books[0].Title, books[1].Title, books[0].Author.Email}, []string{"two", "one", "a@x"}, "inner joined")
	var totals []struct {
		Email string
		N     int64
		Sold  int64
	}
	totalled := db.Model(&book{}).Select("author_id, count(*) AS n, sum(sold) AS sold").Group("author_id").Having("count(*) > ?", 1)
	must(db.Model(&author{}).Select("email, n, sold").Joins("JOIN (?) AS t ON t.author_id = authors.id", totalled).Scan(&totals).Error)
	equal(fmt.Sprint(totals), "[{a@x 2 2}]", "totals")
}

func associationMode(db *gorm.DB) {
	var one author
	must(db.First(&one, 1).Error)
	groups := func() *gorm.Association { return db.Model(&one).Association("Groups") }
	must(groups().Append(&group{Code: "g3"}))
	equal(groups().Count(), int64(3), "appended")
	must(groups().Delete(&group{Code: "g1"}))
	must(groups().Replace(&group{Code: "g3"}, &group{Code: "g4"}))
	var left []group
	must(groups().Find(&left, "code <> ?", "g3"))
	equal(fmt.Sprint(left), "[{g4 []}]", "left")
	must(db.Model(&one).Association("Address").Clear())
	var city address
	must(db.First(&city).Error)
	equal(city.AuthorID == nil, true, "cleared")
	must(db.Model(&one).Association("Address").Replace(&city))
}

func upserts(db *gorm.DB) {
	once := clause.OnConflict{
		Columns:   []clause.Column{{Name: "author_id"}, {Name: "title"}},
		DoUpdates: clause.Assignments(map[string]any{"sold": gorm.Expr("books.sold + excluded.sold")}),
	}
	given := []book{{AuthorID: 1, Title: "three", Sold: 3}, {AuthorID: 1, Title: "two", Sold: 7}}
	must(db.Clauses(once).Create(&given).Error)
	equal([]bool{given[0].ID > 2, given[1].ID == 2}, []bool{true, true}, "ids")
	var sold []int
	must(db.Model(&book{}).Order("title").Pluck("sold", &sold).Error)
	equal(sold, []int{0, 3, 9}, "sold")
	ignored := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&book{AuthorID: 1, Title: "one"})
	must(ignored.Error)
	equal(ignored.RowsAffected, int64(0), "ignored")
	must(db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "email"}}, UpdateAll: true}).Create(&author{Email: "b@x", Fee: 7}).Error)
	must(db.Clauses(clause.OnConflict{OnConstraint: "groups_pkey", DoNothing: true}).Create(&group{Code: "g4"}).Error)
	must(db.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "email"}}, DoUpdates: clause.AssignmentColumns([]string{"fee"}),
		Where: clause.Where{Exprs: []clause.Expression{gorm.Expr("authors.fee < ?", 1)}},
	}).Create(&author{Email: "b@x", Fee: 9}).Error)
	var b author
	must(db.First(&b, "email = ?", "b@x").Error)
	equal(b.Fee, 7.0, "fee")
	must(db.Where(author{Email: "c@x"}).Attrs(author{Kind: "staff"}).FirstOrCreate(&author{}).Error)
	must(db.Where(author{Email: "c@x"}).Assign(map[string]any{"fee": 3}).FirstOrCreate(&author{}).Error)
	var c author
	must(db.Last(&c).Error)
	equal([]any{c.Kind, c.Fee}, []any{"staff", 3.0}, "first or create")
	c.Fee = 4
	must(db.Save(&c).Error)
}

func errorsAreTranslated(db *gorm.DB) {
	is := func(err, wanted error) { equal(errors.Is(err, wanted), true, fmt.Sprint(wanted, ": ", err)) }
	is(db.Create(&author{Email: "a@x"}).Error, gorm.ErrDuplicatedKey)
	is(db.Create(&book{AuthorID: 999, Title: "x"}).Error, gorm.ErrForeignKeyViolated)
	is(db.Model(&author{}).Where("id = 1").Update("kind", "other").Error, gorm.ErrCheckConstraintViolated)
	is(db.First(&author{}, 999).Error, gorm.ErrRecordNotFound)
	is(db.Delete(&author{}).Error, gorm.ErrMissingWhereClause)
}

func hooks(db *gorm.DB) {
	equal(errors.Is(db.Create(&author{}).Error, errRefused), true, "refused")
	var two book
	must(db.First(&two, 2).Error)
	must(db.Model(&two).UpdateColumn("sold", gorm.Expr("sold - ?", 1)).Error)
	must(db.Model(&two).Updates(map[string]any{"sold": gorm.Expr("sold + ?", 1)}).Error)
	must(db.Preload("Notes").First(&two).Error)
	equal(len(two.Notes), 1, "notes")
}

func transactionsAndSavepoints(db *gorm.DB) {
	count := func(db *gorm.DB) (n int64) {
		must(db.Model(&group{}).Count(&n).Error)
		return n
	}
	before := count(db)
	undo := errors.New("undo")
	err := db.Transaction(func(tx *gorm.DB) error {
		must(tx.Create(&group{Code: "outer"}).Error)
		equal(tx.Transaction(func(inner *gorm.DB) error {
			must(inner.Create(&group{Code: "inner"}).Error)
			return undo
		}), undo, "inner")
		equal(tx.Transaction(func(inner *gorm.DB) error { return inner.Create(&group{Code: "outer"}).Error }) != nil, true, "fails")
		equal(count(tx), before+1, "inside")
		return undo
	})
	equal([]any{err, count(db)}, []any{undo, before}, "undone")
	tx := db.Begin()
	must(tx.Create(&group{Code: "kept"}).Error)
	must(tx.SavePoint("sp").Error)
	must(tx.Create(&group{Code: "lost"}).Error)
	must(tx.RollbackTo("sp").Error)
	must(tx.Commit().Error)
	equal(count(db), before+1, "committed")
	must(db.Delete(&group{Code: "kept"}).Error)
}

func locks(db *gorm.DB) {
	must(db.Transaction(func(tx *gorm.DB) error {
		var mine, free book
		skip := clause.Locking{Strength: clause.LockingStrengthUpdate, Options: clause.LockingOptionsSkipLocked}
		must(tx.Clauses(skip).Order("id").First(&mine).Error)
		must(db.Clauses(skip).Order("id").First(&free).Error)
		equal(free.ID > mine.ID, true, "the next")
		err := db.Clauses(clause.Locking{Strength: "SHARE", Options: clause.LockingOptionsNoWait}).First(&book{}, mine.ID).Error
		equal(strings.Contains(fmt.Sprint(err), "55P03"), true, fmt.Sprint(err))
		of := clause.Locking{Strength: "UPDATE", Table: clause.Table{Name: "books"}}
		must(tx.Clauses(of).Joins("JOIN authors ON authors.id = books.author_id").Find(&[]book{}).Error)
		return nil
	}))
	var group sync.WaitGroup
	problems := make(chan error, 8)
	for range 8 {
		group.Go(func() {
			problems <- db.Transaction(func(tx *gorm.DB) error {
				var one book
				if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&one, 1).Error; err != nil {
					return err
				}
				return tx.Model(&book{}).Where("id = 1").UpdateColumn("sold", one.Sold+1).Error
			})
		})
	}
	group.Wait()
	close(problems)
	for err := range problems {
		must(err)
	}
	var one book
	must(db.First(&one, 1).Error)
	equal(one.Sold, 8, "counted")
}

func softDelete(db *gorm.DB) {
	count := func(db *gorm.DB) (n int64) {
		must(db.Model(&author{}).Count(&n).Error)
		return n
	}
	must(db.Where("email = ?", "c@x").Delete(&author{}).Error)
	equal([]int64{count(db), count(db.Unscoped())}, []int64{2, 3}, "hidden")
	must(db.Unscoped().Model(&author{}).Where("email = ?", "c@x").Update("deleted_at", nil).Error)
	equal(count(db), int64(3), "again")
	var gone []author
	must(db.Unscoped().Clauses(clause.Returning{}).Where("email = ?", "c@x").Delete(&gone).Error)
	equal([]any{len(gone), gone[0].Kind, count(db.Unscoped())}, []any{1, "staff", int64(2)}, "gone")
}

func batches(db *gorm.DB) {
	many := make([]entry, 1000)
	for i := range many {
		many[i] = entry{Year: 2000 + i%10, Number: i, Amount: money{Cents: int64(i)}, Of: datatypes.Date(time.Date(2024, 1, 1+i%20, 0, 0, 0, 0, time.UTC))}
	}
	must(db.CreateInBatches(&many, 300).Error)
	equal(many[7].Amount.Currency, "EUR", "default")
	notes := make([]note, 700)
	for i := range notes {
		notes[i] = note{OwnerType: "nobody", Text: fmt.Sprint(i)}
	}
	must(db.Session(&gorm.Session{CreateBatchSize: 250}).Create(&notes).Error)
	equal(notes[699].ID-notes[0].ID, uint(699), "ids")
	seen, steps := int64(0), 0
	var read []note
	done := db.Where("owner_type = ?", "nobody").FindInBatches(&read, 150, func(tx *gorm.DB, batch int) error {
		seen, steps = seen+tx.RowsAffected, batch
		return nil
	})
	must(done.Error)
	equal([]int64{seen, int64(steps)}, []int64{700, 5}, "batches")
	changed := db.Model(&entry{}).Where("year = ?", 2003).Updates(entry{Amount: money{Currency: "USD"}})
	equal(changed.RowsAffected, int64(100), "changed")
	removed := db.Where(map[string]any{"year": []int{2001, 2002}}).Delete(&entry{})
	equal(removed.RowsAffected, int64(200), "removed")
}

func inYear(year int) func(*gorm.DB) *gorm.DB {
	return func(db *gorm.DB) *gorm.DB { return db.Where("year = ?", year) }
}

func scopesAndQueries(db *gorm.DB) {
	var n int64
	must(db.Model(&entry{}).Scopes(inYear(2003)).Not("number > ?", 500).Where(db.Where("number < ?", 100).Or("number = ?", 493)).Count(&n).Error)
	equal(n, int64(11), "scoped")
	var numbers []int
	must(db.Model(&entry{}).Scopes(inYear(2004)).Order(clause.OrderByColumn{Column: clause.Column{Name: "number"}, Desc: true}).Limit(3).Offset(1).Pluck("number", &numbers).Error)
	equal(numbers, []int{984, 974, 964}, "page")
	must(db.Model(&entry{}).Distinct("amount_currency").Order("amount_currency").Pluck("amount_currency", new([]string)).Error)
	var currencies []string
	must(db.Raw("SELECT DISTINCT amount_currency FROM entries ORDER BY 1").Scan(&currencies).Error)
	equal(currencies, []string{"EUR", "USD"}, "distinct")
	pairs := [][]any{{2003, 3}, {2004, 4}, {2004, 5}}
	must(db.Model(&entry{}).Where("(year, number) IN ?", pairs).Count(&n).Error)
	equal(n, int64(2), "pairs")
	biggest := db.Model(&entry{}).Select("max(amount_cents)").Where("year = e.year")
	must(db.Table("entries AS e").Where("amount_cents = (?)", biggest).Count(&n).Error)
	equal(n, int64(8), "biggest of each year")
	var found map[string]any
	must(db.Model(&entry{}).Where("number = @n AND year BETWEEN @low AND @high", map[string]any{"n": 13, "low": 2000, "high": 2005}).Take(&found).Error)
	equal(fmt.Sprintln(found["year"], found["amount_cents"], found["amount_currency"]), "2003 13 USD\n", "map")
}

func jsonQueries(db *gorm.DB) {
	var n int64
	must(db.Model(&author{}).Where(datatypes.JSONQuery("facts").HasKey("born")).Count(&n).Error)
	equal(n, int64(1), "has key")
	must(db.Model(&author{}).Where(datatypes.JSONQuery("facts").Equals(1950, "born")).Count(&n).Error)
	equal(n, int64(1), "equals")
	must(db.Model(&author{}).Where("id = 1").UpdateColumn("facts", datatypes.JSONSet("facts").Set("{died}", 2001)).Error)
	must(db.Model(&author{}).Where("facts @> ?", `{"died": 2001}`).Count(&n).Error)
	equal(n, int64(1), "contains")
}

func compositeKeys(db *gorm.DB) {
	one := entry{Year: 1999, Number: 1, Amount: money{Cents: 5}}
	must(db.Create(&one).Error)
	must(db.Model(&one).Clauses(clause.Returning{Columns: []clause.Column{{Name: "amount_cents"}}}).Update("amount_cents", gorm.Expr("amount_cents * 2")).Error)
	equal(one.Amount.Cents, int64(10), "returned")
	one.Amount.Currency = "CHF"
	must(db.Save(&one).Error)
	read := entry{Year: 1999, Number: 1}
	must(db.First(&read).Error)
	equal(read.Amount, money{10, "CHF"}, "read")
	must(db.Delete(&read).Error)
}

func rawAndRows(db *gorm.DB) {
	rows, err := db.Model(&entry{}).Where("year = 2005").Order("number").Rows()
	must(err)
	n := 0
	for rows.Next() {
		var each entry
		must(db.ScanRows(rows, &each))
		n += each.Number
	}
	must(rows.Close())
	equal(n, 50000, "sum")
	changed := db.Exec("UPDATE entries SET amount_cents = ? WHERE year = ?", gorm.Expr("amount_cents + 1"), 2006)
	must(changed.Error)
	equal(changed.RowsAffected, int64(100), "changed")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	equal(db.WithContext(ctx).Exec("SELECT pg_sleep(10)").Error != nil, true, "cancelled")
	tables, err := gorm.G[entry](db).Where("year = ?", 2007).Count(context.Background(), "*")
	must(err)
	equal(tables, int64(100), "generics")
}

func preparedAndSimple(db *gorm.DB) {
	prepared := db.Session(&gorm.Session{PrepareStmt: true})
	for id := range 3 {
		must(prepared.Find(&[]book{}, "id = ?", id).Error)
	}
	dry := db.Session(&gorm.Session{DryRun: true}).Find(&[]book{}, 1).Statement
	equal(dry.SQL.String(), `SELECT * FROM "books" WHERE "books"."id" = $1`, "dry run")
	simple := open(schema + "&default_query_exec_mode=simple_protocol")
	var one author
	must(simple.Preload("Books").First(&one, "email = ? AND fee > ? AND photo = ?", "a@x", 0.5, []byte{0, 255}).Error)
	equal(len(one.Books), 3, "books")
	must(simple.Migrator().AutoMigrate(models()...))
}

func viewsAndDrop(db *gorm.DB) {
	must(db.Migrator().CreateView("sellers", gorm.ViewOption{Replace: true, Query: db.Model(&author{}).Where("id IN (?)", db.Model(&book{}).Select("author_id"))}))
	var emails []string
	must(db.Table("sellers").Pluck("email", &emails).Error)
	equal(emails, []string{"a@x"}, "view")
	must(db.Migrator().DropView("sellers"))
	must(db.Migrator().DropConstraint(&author{}, "authors_kind"))
	must(db.Migrator().DropColumn(&author{}, "Photo"))
	must(db.Migrator().DropTable("things", "memberships", &note{}, &entry{}, &address{}, &book{}, &group{}, &author{}))
	all, err := db.Migrator().GetTables()
	must(err)
	equal(all, []string(nil), "tables")
}
