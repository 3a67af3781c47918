// TypeORM: synchronize without a second difference, generated migrations, relations, upserts, locks, query builders.
'use strict'
const assert = require('node:assert/strict')
const { DataSource, EntitySchema, In, Raw } = require('typeorm')
const { main, parts, rows, schema } = require('./harness')

const Author = new EntitySchema({
  name: 'author',
  columns: {
    id: { type: 'int', primary: true, generated: 'increment' },
    email: { type: 'varchar', length: 80, unique: true },
    kind: { type: 'enum', enum: ['staff', 'guest'], default: 'guest' },
    facts: { type: 'jsonb', nullable: true },
    tags: { type: 'text', array: true, default: '{}' },
    fee: { type: 'numeric', precision: 10, scale: 2, nullable: true },
    ref: { type: 'uuid', generated: 'uuid' },
    born: { type: 'date', nullable: true },
    made: { type: 'timestamptz', createDate: true },
    gone: { type: 'timestamptz', deleteDate: true },
    version: { type: 'int', version: true },
  },
  indices: [{ name: 'author_staff', columns: ['kind'], where: "kind = 'staff'" }],
  checks: [{ name: 'author_fee', expression: '"fee" >= 0' }],
  relations: { books: { type: 'one-to-many', target: 'book', inverseSide: 'author', cascade: true } },
})
const Book = new EntitySchema({
  name: 'book',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'identity' },
    title: { type: 'text' },
    sold: { type: 'int', default: 0, comment: 'copies' },
  },
  uniques: [{ name: 'book_once', columns: ['author', 'title'] }],
  relations: {
    author: { type: 'many-to-one', target: 'author', inverseSide: 'books', onDelete: 'CASCADE', nullable: false },
    topics: { type: 'many-to-many', target: 'topic', joinTable: true },
  },
})
const Topic = new EntitySchema({ name: 'topic', columns: { name: { type: 'varchar', primary: true } } })

const source = (entities) => new DataSource({ type: 'postgres', ...parts, username: parts.user, schema, entities, logging: false,
  extra: { options: `-c search_path=${schema}` }, installExtensions: false, uuidExtension: 'pgcrypto' })
const db = source([Author, Book, Topic])
const [authors, books] = ['author', 'book'].map((name) => ({ get it() { return db.getRepository(name) } }))

/** The statements that would make the schema that of the entities. */
const difference = async (of) => (await of.driver.createSchemaBuilder().log()).upQueries.map((query) => query.query)

main('typeorm', {
  async synchronize_and_no_second_difference() {
    await db.initialize()
    await db.synchronize()
    assert.deepEqual(await difference(db), [])
  },
  async a_change_is_its_difference_and_is_undone() {
    const changed = new EntitySchema({ name: 'topic', columns: {
      name: { type: 'varchar', length: 40, primary: true },
      rank: { type: 'smallint', nullable: false, default: 1 },
    }, indices: [{ name: 'topic_rank', columns: ['rank'], unique: true }] })
    const other = source([Author, Book, changed])
    await other.initialize()
    const log = await other.driver.createSchemaBuilder().log()
    const runner = other.createQueryRunner()
    assert.ok(log.upQueries.length > 0)
    for (const { query, parameters } of log.upQueries) await runner.query(query, parameters)
    assert.deepEqual(await difference(other), [])
    for (const { query, parameters } of log.downQueries.reverse()) await runner.query(query, parameters)
    await runner.release()
    await other.destroy()
    assert.deepEqual(await difference(db), [])
  },
  async save_with_relations() {
    const topic = await db.getRepository('topic').save({ name: 'sql' })
    const saved = await authors.it.save({ email: 'a@x', kind: 'staff', facts: { born: 1950 }, tags: ['p', 'q'], fee: '12.5', born: '1950-02-03',
      books: [{ title: 'one', topics: [topic] }, { title: 'two', topics: [] }] })
    assert.match(saved.ref, /^[0-9a-f-]{36}$/)
    const read = await authors.it.findOne({ where: { email: 'a@x' }, relations: { books: { topics: true } }, order: { books: { title: 'ASC' } } })
    assert.deepEqual([read.fee, read.tags, read.facts, read.born, read.version], ['12.50', ['p', 'q'], { born: 1950 }, '1950-02-03', 1])
    assert.deepEqual(read.books.map((book) => [book.title, book.sold, book.topics.length]), [['one', 0, 1], ['two', 0, 0]])
  },
  async queries() {
    const [page, count] = await books.it.findAndCount({ take: 1, skip: 1, order: { title: 'DESC' }, relations: { author: true } })
    assert.deepEqual([count, page[0].title, page[0].author.email], [2, 'one', 'a@x'])
    assert.equal(await authors.it.countBy({ facts: Raw((column) => `${column} @> '{"born": 1950}'`), kind: In(['staff', 'guest']) }), 1)
    const sums = await books.it.createQueryBuilder('b').innerJoin('b.author', 'a').select('a.email', 'email').addSelect('count(*)', 'n')
      .groupBy('a.email').having('count(*) > :n', { n: 1 }).getRawMany()
    assert.deepEqual(sums, [{ email: 'a@x', n: '2' }])
  },
  async upserts() {
    const { id } = await authors.it.findOneByOrFail({ email: 'a@x' })
    await authors.it.upsert([{ email: 'b@x', kind: 'guest' }, { email: 'a@x', kind: 'guest' }], ['email'])
    assert.deepEqual((await authors.it.findOneByOrFail({ id })).kind, 'guest')
    const result = await books.it.createQueryBuilder().insert().values([{ title: 'three', author: { id }, sold: 3 }, { title: 'one', author: { id }, sold: 9 }])
      .orUpdate(['sold'], ['authorId', 'title']).returning(['title', 'sold']).execute()
    assert.deepEqual(result.raw.map(({ title, sold }) => [title, sold]), [['three', 3], ['one', 9]])
    await books.it.createQueryBuilder().insert().values({ title: 'one', author: { id } }).orIgnore().execute()
  },
  async errors() {
    await assert.rejects(authors.it.insert({ email: 'a@x' }), { code: '23505', table: 'author', detail: 'Key (email)=(a@x) already exists.' })
    await assert.rejects(books.it.insert({ title: 'none', author: { id: 999 } }), { code: '23503' })
    await assert.rejects(authors.it.update({ email: 'a@x' }, { fee: '-1' }), { code: '23514', constraint: 'author_fee' })
  },
  async transactions_and_locks() {
    await assert.rejects(db.transaction('SERIALIZABLE', async (t) => {
      await t.getRepository('book').update({}, { sold: 100 }).catch(() => t.query('UPDATE book SET sold = 100'))
      throw new Error('back')
    }), /back/)
    await db.transaction(async (t) => {
      const [mine] = await t.getRepository('book').find({ take: 1, order: { id: 'ASC' }, lock: { mode: 'pessimistic_write' } })
      await db.transaction(async (other) => {
        const free = await other.getRepository('book').find({ lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' } })
        assert.ok(free.length === 2 && free.every((book) => book.id !== mine.id))
      })
      await t.getRepository('book').increment({ id: mine.id }, 'sold', 5)
    })
    assert.deepEqual((await books.it.find({ order: { title: 'ASC' } })).map((book) => book.sold), [14, 3, 0])
  },
  async soft_delete_and_streams() {
    await authors.it.softDelete({ email: 'b@x' })
    assert.equal(await authors.it.count(), 1)
    assert.equal(await authors.it.count({ withDeleted: true }), 2)
    await authors.it.restore({ email: 'b@x' })
  },
  async drop_everything() {
    await db.dropDatabase()
    assert.deepEqual(await rows('SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1', [schema]), [])
  },
}, () => db.destroy())
