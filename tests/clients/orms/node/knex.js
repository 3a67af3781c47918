// Knex: migrations with their lock, the schema builder, queries, upserts, locks.
'use strict'
const assert = require('node:assert/strict')
const knex = require('knex')
const { main, schema, url } = require('./harness')

const db = knex({ client: 'pg', connection: url, searchPath: [schema], pool: { min: 0, max: 4 } })
const steps = {
  first: {
    async up(on) {
      await on.schema.createTable('author', (t) => {
        t.increments('id')
        t.string('email', 80).notNullable().unique()
        t.enu('kind', ['staff', 'guest'], { useNative: true, enumName: 'author_kind' }).notNullable().defaultTo('guest')
        t.jsonb('facts').defaultTo('{}')
        t.specificType('tags', 'text[]')
        t.decimal('fee', 10, 2)
        t.uuid('ref').defaultTo(on.fn.uuid())
        t.timestamps(true, true)
        t.index(['kind'], 'author_staff', { predicate: on.whereRaw("kind = 'staff'") })
      })
      await on.schema.createTable('book', (t) => {
        t.bigIncrements('id')
        t.integer('author_id').notNullable().references('author.id').onDelete('CASCADE').deferrable('deferred')
        t.text('title').checkLength('>', 0)
        t.integer('sold').notNullable().defaultTo(0)
        t.unique(['author_id', 'title'])
      })
    },
    async down(on) {
      await on.schema.dropTable('book').dropTable('author').raw('DROP TYPE author_kind')
    },
  },
  second: {
    async up(on) {
      await on.schema.alterTable('book', (t) => {
        t.string('isbn', 13).comment('as printed')
        t.renameColumn('sold', 'copies')
        t.dropUnique(['author_id', 'title'])
        t.unique(['author_id', 'title'], { indexName: 'book_once', useConstraint: false })
        t.text('title').notNullable().alter()
        t.setNullable('author_id')
      })
    },
    async down(on) {
      await on.schema.alterTable('book', (t) => {
        t.dropColumn('isbn')
        t.renameColumn('copies', 'sold')
        t.dropIndex([], 'book_once')
        t.unique(['author_id', 'title'])
      })
    },
  },
}
const migrationSource = {
  getMigrations: async () => Object.keys(steps),
  getMigrationName: (name) => name,
  getMigration: async (name) => steps[name],
}

main('knex', {
  async migrate_up_down_up() {
    assert.deepEqual((await db.migrate.latest({ migrationSource }))[1], ['first', 'second'])
    assert.deepEqual((await db.migrate.latest({ migrationSource }))[1], [])
    await db.migrate.down({ migrationSource })
    assert.equal(await db.schema.hasColumn('book', 'sold'), true)
    await db.migrate.latest({ migrationSource })
    assert.equal(await db.schema.hasColumn('book', 'isbn'), true)
    assert.equal(await db.schema.hasTable('nothing'), false)
  },
  async column_info() {
    const of = await db('book').columnInfo()
    assert.deepEqual([of.title.type, of.title.nullable, of.isbn.maxLength, of.copies.defaultValue], ['text', false, 13, '0'])
  },
  async insert_and_read() {
    const [author] = await db('author').insert({ email: 'a@x', tags: ['p', 'q'], facts: { born: 1950 }, fee: '1.5' }).returning('*')
    assert.deepEqual([author.kind, author.tags, author.facts, author.fee], ['guest', ['p', 'q'], { born: 1950 }, '1.50'])
    await db.batchInsert('book', [...Array(25).keys()].map((n) => ({ author_id: author.id, title: `t${n}`, copies: n })), 10)
    const found = await db('book as b').join('author as a', 'a.id', 'b.author_id').where('b.copies', '>', 20)
      .whereJsonPath('a.facts', '$.born', '=', 1950).orderBy('b.copies', 'desc').select('b.title', 'a.email').limit(2)
    assert.deepEqual(found, [{ title: 't24', email: 'a@x' }, { title: 't23', email: 'a@x' }])
    const [sums] = await db('book').sum({ all: 'copies' }).countDistinct({ n: 'title' })
    assert.deepEqual(sums, { all: '300', n: '25' })
    assert.equal((await db.with('w', db('book').where('copies', '<', 3)).from('w').select('*')).length, 3)
  },
  async upserts() {
    const [author] = await db('author').select('id')
    const given = [{ author_id: author.id, title: 'new', copies: 1 }, { author_id: author.id, title: 't1', copies: 100 }, { author_id: author.id, title: 'newer', copies: 2 }]
    const merged = await db('book').insert(given).onConflict(['author_id', 'title']).merge(['copies']).returning(['title', 'copies'])
    assert.deepEqual(merged, given.map(({ title, copies }) => ({ title, copies })))
    assert.deepEqual(await db('author').insert({ email: 'a@x' }).onConflict().ignore().returning('id'), [])
  },
  async errors() {
    await assert.rejects(db('author').insert({ email: 'a@x' }), { code: '23505', constraint: 'author_email_unique', detail: 'Key (email)=(a@x) already exists.' })
    await assert.rejects(db('book').insert({ author_id: 999, title: 'x' }), { code: '23503', constraint: 'book_author_id_foreign' })
  },
  async transactions_and_locks() {
    await db.transaction(async (t) => {
      const [mine] = await t('book').orderBy('id').limit(1).forUpdate().skipLocked()
      const [free] = await db('book').orderBy('id').limit(1).forUpdate().skipLocked()
      assert.notEqual(free.id, mine.id)
      await assert.rejects(async () => db('book').where('id', mine.id).forUpdate().noWait(), { code: '55P03' })
      await assert.rejects(t.transaction(async (inner) => { await inner('book').delete(); throw new Error('back') }), /back/)
      assert.equal(Number((await t('book').count({ n: '*' }))[0].n), 27)
    })
  },
  async roll_everything_back() {
    await db.migrate.rollback({ migrationSource }, true)
    assert.equal(await db.schema.hasTable('author'), false)
  },
}, () => db.destroy())
