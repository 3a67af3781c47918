// Drizzle: drizzle-kit's push without a second difference, relational queries, upserts, locks.
'use strict'
const assert = require('node:assert/strict')
const { and, desc, eq, gt, relations, sql } = require('drizzle-orm')
const { drizzle } = require('drizzle-orm/node-postgres')
const pg = require('drizzle-orm/pg-core')
const { pushSchema } = require('drizzle-kit/api')
const { Pool } = require('pg')
const { main, rows, schema, url } = require('./harness')

const own = pg.pgSchema(schema)
const kind = own.enum('kind', ['staff', 'guest'])
const author = own.table('author', {
  id: pg.serial().primaryKey(),
  email: pg.varchar({ length: 80 }).notNull().unique(),
  kind: kind().notNull().default('guest'),
  facts: pg.jsonb(),
  tags: pg.text().array(),
  fee: pg.numeric({ precision: 10, scale: 2 }),
  ref: pg.uuid().defaultRandom(),
  made: pg.timestamp({ withTimezone: true }).notNull().defaultNow(),
}, (t) => [pg.index('author_kind').on(t.kind.desc().nullsLast()), pg.check('author_fee', sql`${t.fee} >= 0`)])
const book = own.table('book', {
  id: pg.bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  authorId: pg.integer('author_id').notNull().references(() => author.id, { onDelete: 'cascade' }),
  title: pg.text().notNull(),
  sold: pg.integer().notNull().default(0),
}, (t) => [pg.uniqueIndex('book_once').on(t.authorId, t.title), pg.index('book_sold').on(t.sold).where(sql`${t.sold} > 0`)])
const authorRelations = relations(author, ({ many }) => ({ books: many(book) }))
const bookRelations = relations(book, ({ one }) => ({ author: one(author, { fields: [book.authorId], references: [author.id] }) }))
const tables = { own, kind, author, book, authorRelations, bookRelations }
const pool = new Pool({ connectionString: url, max: 4 })
const db = drizzle(pool, { schema: tables })

/** drizzle-kit says on the console what it does. */
async function push(wanted) {
  const { log } = console
  const write = process.stdout.write
  process.stdout.write = () => true
  console.log = () => {}
  try {
    return await pushSchema(wanted, db, [schema])
  } finally {
    console.log = log
    process.stdout.write = write
  }
}

main('drizzle', {
  async push_and_no_second_difference() {
    const { statementsToExecute, apply } = await push(tables)
    assert.ok(statementsToExecute.length > 0)
    await apply()
    assert.deepEqual((await push(tables)).statementsToExecute, [])
  },
  async insert_and_relational_queries() {
    const [made] = await db.insert(author).values({ email: 'a@x', kind: 'staff', facts: { born: 1950 }, tags: ['p', 'q'], fee: '12.5' }).returning()
    assert.deepEqual([made.kind, made.facts, made.tags, made.fee], ['staff', { born: 1950 }, ['p', 'q'], '12.50'])
    await db.insert(book).values(['one', 'two'].map((title) => ({ authorId: made.id, title })))
    const read = await db.query.author.findFirst({ with: { books: { columns: { title: true }, orderBy: [desc(book.title)] } }, where: eq(author.email, 'a@x') })
    assert.deepEqual(read.books, [{ title: 'two' }, { title: 'one' }])
    const back = await db.query.book.findMany({ with: { author: { columns: { email: true } } }, limit: 1, orderBy: book.id })
    assert.deepEqual(back[0].author, { email: 'a@x' })
  },
  async queries() {
    const totals = db.$with('totals').as(db.select({ id: book.authorId, n: sql`count(*)`.as('n') }).from(book).groupBy(book.authorId))
    const found = await db.with(totals).select({ email: author.email, n: totals.n }).from(author).leftJoin(totals, eq(totals.id, author.id))
      .where(and(sql`${author.tags} @> array['p']`, sql`${author.facts}->>'born' = '1950'`))
    assert.deepEqual(found, [{ email: 'a@x', n: '2' }])
    assert.equal(await db.$count(book, gt(book.sold, 0)), 0)
  },
  async upserts() {
    const [{ id }] = await db.select({ id: author.id }).from(author)
    const given = [{ authorId: id, title: 'three', sold: 3 }, { authorId: id, title: 'one', sold: 9 }, { authorId: id, title: 'four', sold: 4 }]
    const merged = await db.insert(book).values(given).onConflictDoUpdate({ target: [book.authorId, book.title], set: { sold: sql`excluded.sold` } })
      .returning({ authorId: book.authorId, title: book.title, sold: book.sold })
    assert.deepEqual(merged, given)
    assert.deepEqual(await db.insert(author).values({ email: 'a@x' }).onConflictDoNothing().returning(), [])
  },
  async errors() {
    const code = (wanted) => (error) => (error.cause ?? error).code === wanted
    await assert.rejects(db.insert(author).values({ email: 'a@x' }), code('23505'))
    await assert.rejects(db.insert(book).values({ authorId: 999, title: 'x' }), code('23503'))
    await assert.rejects(db.update(author).set({ fee: '-1' }), code('23514'))
  },
  async transactions_and_locks() {
    await db.transaction(async (t) => {
      const [mine] = await t.select().from(book).orderBy(book.id).limit(1).for('update', { skipLocked: true })
      const free = await db.select().from(book).for('update', { skipLocked: true })
      assert.ok(free.length === 3 && free.every((row) => row.id !== mine.id))
      await assert.rejects(t.transaction(async (inner) => { await inner.delete(book); inner.rollback() }))
      await t.update(book).set({ sold: sql`${book.sold} + 5` }).where(eq(book.id, mine.id))
    }, { isolationLevel: 'repeatable read' })
    assert.deepEqual(await db.select({ n: sql`sum(${book.sold})` }).from(book), [{ n: '21' }])
  },
  async prepared_statements() {
    const prepared = db.select({ title: book.title }).from(book).where(eq(book.title, sql.placeholder('title'))).prepare('by_title')
    for (const title of ['one', 'two', 'none']) assert.equal((await prepared.execute({ title })).length, title === 'none' ? 0 : 1)
  },
  async drop_by_push() {
    await rows(`DROP TABLE ${schema}.book`)
    assert.ok((await push(tables)).statementsToExecute.some((text) => text.includes('CREATE TABLE')))
  },
}, () => pool.end())
