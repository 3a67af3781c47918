// The client: nested writes, both ways to load relations, filters, batches, upserts, groups, pages, errors, transactions, raw queries.
'use strict'
const assert = require('node:assert/strict')
const { PrismaPg } = require('@prisma/adapter-pg')
const { rows, schema, url } = require('../node/harness')
const { done, generated } = require('./project')

let db
const code = (wanted) => (error) => error.code === wanted
const disconnect = async () => db?.$disconnect()

const queries = {
  async generate_and_connect() {
    await done('generate')
    const { PrismaClient } = generated()
    const adapter = new PrismaPg({ connectionString: url, options: `-c search_path=${schema}`, max: 4 }, { schema })
    db = new PrismaClient({ adapter, errorFormat: 'minimal' })
    assert.deepEqual(await db.author.findMany({ select: { email: true, version: true } }), [{ email: 'old@x', version: 1 }])
  },
  async nested_writes() {
    const one = { title: 'one', topics: { create: { name: 'sql' } } }
    const two = { title: 'two', topics: { connectOrCreate: { where: { name: 'sql' }, create: { name: 'sql' } } } }
    const { id } = await db.author.create({ data: { email: 'a@x', profile: { create: { text: 'known' } }, books: { create: [one, two] } } })
    const key = (title) => ({ authorId_title: { authorId: id, title } })
    await db.topic.create({ data: { name: 'joins', upper: { connect: { name: 'sql' } }, books: { connect: key('one') } } })
    await db.book.update({ where: key('two'), data: { topics: { set: [] }, sold: { increment: 3 } } })
    const select = { name: true, parent: true, _count: { select: { books: true, lower: true } } }
    const counted = await db.topic.findMany({ select, orderBy: { name: 'asc' } })
    assert.deepEqual(counted.map(({ name, parent, _count }) => [name, parent, _count.books, _count.lower]), [['joins', 'sql', 1, 0], ['sql', null, 1, 1]])
  },
  async every_type() {
    const photo = Uint8Array.of(0, 255)
    const facts = { born: 1950, langs: ['en', 'de'] }
    const data = { kind: 'boss', facts, tags: ['p', 'q'], fee: '12.5', born: new Date('1950-02-03'), photo, reads: 2n ** 40n }
    const made = await db.author.update({ where: { email: 'a@x' }, data })
    assert.match(made.ref, /^[0-9a-f-]{36}$/)
    assert.deepEqual([made.kind, made.facts, made.tags, made.fee.toString(), made.reads], ['boss', facts, ['p', 'q'], '12.5', 2n ** 40n])
    assert.deepEqual([made.born, [...made.photo], made.rank, made.score, made.note], [data.born, [0, 255], 5, 1.5, 'none'])
    assert.ok(Math.abs(made.made - made.seen) < 60_000)
  },
  async relations_by_join_and_by_query() {
    const read = (relationLoadStrategy) => db.author.findMany({
      relationLoadStrategy,
      orderBy: [{ books: { _count: 'desc' } }, { email: 'asc' }],
      include: {
        profile: { select: { text: true } },
        _count: { select: { books: { where: { sold: { gt: 0 } } } } },
        books: { orderBy: { title: 'desc' }, take: 2, include: { topics: { orderBy: { name: 'asc' }, include: { upper: true } } } },
      },
    })
    const queried = await read('query')
    assert.deepEqual(queried.map((author) => [author.email, author._count.books]), [['a@x', 1], ['old@x', 0]])
    const uppers = queried[0].books.map((book) => [book.title, ...book.topics.map((topic) => topic.upper?.name)])
    assert.deepEqual(uppers, [['two'], ['one', 'sql', undefined]])
    assert.deepEqual(await read('join'), queried)
  },
  async filters() {
    const { ref } = await db.author.findUniqueOrThrow({ where: { email: 'a@x' } })
    const given = {
      'a@x': [
        { email: { contains: 'A@', mode: 'insensitive' }, NOT: { kind: 'guest' } },
        { OR: [{ email: { startsWith: 'a' } }, { fee: { gt: 100 } }], kind: { in: ['boss', 'guest'] } },
        { facts: { path: ['born'], equals: 1950 } },
        { facts: { path: ['born'], gte: 1940 }, AND: { facts: { path: ['langs'], array_contains: ['de'] } } },
        { facts: { path: ['langs', '0'], string_starts_with: 'e' } },
        { tags: { has: 'p' } },
        { tags: { hasEvery: ['p', 'q'] }, NOT: { tags: { hasSome: ['r'] } } },
        { books: { some: { sold: { gt: 2 }, topics: { none: {} } } } },
        { profile: { is: { text: { endsWith: 'own' } } } },
        { reads: { gte: 2n ** 33n }, born: { lt: new Date('1960-01-01') }, photo: Uint8Array.of(0, 255) },
        { ref, id: { notIn: [-1, -2] } },
      ],
      'old@x': [
        { tags: { isEmpty: true } },
        { books: { every: { sold: 3 } } },
        { profile: null },
        { profile: { isNot: { text: 'known' } } },
        { made: { lte: new Date(Date.now() + 60_000) }, score: { equals: db.author.fields.score }, fee: null },
      ],
    }
    for (const [email, all] of Object.entries(given)) {
      for (const where of all) {
        const found = await db.author.findMany({ where, select: { email: true } })
        assert.deepEqual(found, [{ email }], `where ${Object.keys(where)}`)
      }
    }
  },
  async batches_of_rows() {
    const { id } = await db.author.findUniqueOrThrow({ where: { email: 'a@x' } })
    const data = ['one', 'three', 'four'].map((title, at) => ({ authorId: id, title, sold: at }))
    assert.deepEqual(await db.book.createMany({ data, skipDuplicates: true }), { count: 2 })
    const [five] = await db.book.createManyAndReturn({ data: [{ authorId: id, title: 'five', sold: 5 }], include: { author: true } })
    assert.deepEqual([five.title, five.author.email], ['five', 'a@x'])
    const grown = await db.book.updateManyAndReturn({ where: { sold: { in: [1, 2] } }, data: { sold: { multiply: 10 } }, select: { sold: true } })
    assert.deepEqual(grown.map((book) => book.sold).sort(), [10, 20])
    assert.deepEqual(await db.book.updateMany({ where: { title: { in: ['four', 'five'] } }, data: { sold: 4 }, limit: 1 }), { count: 1 })
    assert.deepEqual(await db.book.updateMany({ where: { author: { email: 'a@x' } }, data: { sold: { increment: 1 } } }), { count: 5 })
  },
  async more_parameters_than_a_statement_has() {
    const loans = Array.from({ length: 40_000 }, (_, at) => ({ day: new Date(Date.UTC(2000, 0, 1 + at)), place: 'hall' }))
    assert.deepEqual(await db.loan.createMany({ data: loans }), { count: 40_000 })
    assert.equal((await db.loan.findMany({ where: { day: { in: loans.map((loan) => loan.day) } } })).length, 40_000)
    assert.deepEqual(await db.loan.deleteMany({ where: { day: { gte: new Date('2000-01-05') } } }), { count: 39_996 })
  },
  async upserts() {
    const count = async (place) => {
      const key = { day: new Date('2000-01-01'), place }
      return (await db.loan.upsert({ where: { day_place: key }, create: key, update: { count: { increment: 5 } } })).count
    }
    assert.deepEqual([await count('hall'), await count('yard'), await count('yard')], [6, 1, 6])
    assert.deepEqual((await Promise.all([1, 2, 3, 4].map(() => count('gate')))).sort((x, y) => x - y), [1, 6, 11, 16])
    const profile = { upsert: { create: { text: 'new' }, update: { text: 'newer' } } }
    const changed = await db.author.upsert({ where: { email: 'old@x' }, create: { email: 'old@x' }, update: { profile }, include: { profile: true } })
    assert.equal(changed.profile.text, 'new')
  },
  async groups_and_aggregates() {
    const sold = await db.book.aggregate({ _count: true, _sum: { sold: true }, _min: { title: true }, where: { author: { email: 'a@x' } } })
    assert.deepEqual([sold._count, sold._min.title], [5, 'five'])
    const { _avg, _sum } = await db.author.aggregate({ _avg: { fee: true, reads: true }, _sum: { fee: true, reads: true } })
    assert.deepEqual([_avg.fee.toString(), _avg.reads, _sum.fee.toString(), _sum.reads], ['12.5', 2 ** 39, '12.5', 2n ** 40n])
    const groups = await db.loan.groupBy({
      by: ['place'],
      _count: { _all: true },
      _sum: { count: true },
      having: { count: { _sum: { gt: 6 } } },
      orderBy: { _count: { place: 'desc' } },
    })
    assert.deepEqual(groups.map((group) => [group.place, group._count._all, group._sum.count]), [['hall', 4, 9], ['gate', 1, 16]])
    assert.deepEqual(await db.author.count({ select: { _all: true, fee: true, born: true } }), { _all: 2, fee: 1, born: 1 })
  },
  async pages() {
    const seen = []
    for (let page, from = {}; (page = await db.book.findMany({ take: 2, orderBy: { id: 'asc' }, ...from })).length > 0;) {
      seen.push(...page.map((book) => book.title))
      from = { cursor: { id: page.at(-1).id }, skip: 1 }
    }
    assert.deepEqual(seen.sort(), ['five', 'four', 'one', 'three', 'two'])
    const order = [{ sold: 'desc' }, { title: 'asc' }]
    const last = (await db.book.findMany({ orderBy: order })).at(-1)
    assert.deepEqual((await db.book.findMany({ take: -2, orderBy: order, cursor: { id: last.id } })).at(-1), last)
    const distinct = await db.loan.findMany({ distinct: ['place'], orderBy: [{ place: 'asc' }, { day: 'desc' }], skip: 1, take: 2 })
    assert.deepEqual(distinct.map((loan) => [loan.place, loan.day.getUTCDate()]), [['hall', 4], ['yard', 1]])
    const unpaid = await db.author.findMany({ orderBy: { fee: { sort: 'desc', nulls: 'last' } }, skip: 1 })
    assert.deepEqual(unpaid.map((author) => author.email), ['old@x'])
  },
  async errors() {
    const violated = (wanted, index) => ({ code: got, meta }) => got === wanted && meta.driverAdapterError.cause.constraint.index === index
    await assert.rejects(db.author.create({ data: { email: 'a@x' } }), violated('P2002', 'Author_email_key'))
    await assert.rejects(db.book.create({ data: { title: 'x', authorId: 999 } }), violated('P2003', 'book_author_id_fkey'))
    await assert.rejects(db.author.create({ data: { email: 'x'.repeat(121) } }), code('P2000'))
    await assert.rejects(db.author.update({ where: { email: 'a@x' }, data: { fee: '123456789.5' } }), code('P2020'))
    await assert.rejects(db.author.update({ where: { email: 'none' }, data: { note: '' } }), code('P2025'))
    await assert.rejects(db.author.findUniqueOrThrow({ where: { email: 'none' } }), code('P2025'))
    await assert.rejects(db.$queryRaw`SELECT 1 / ${0}::int`, ({ meta }) => meta.driverAdapterError.cause.originalCode === '22012')
  },
  async transactions() {
    const before = await db.book.count()
    await assert.rejects(db.$transaction(async (t) => {
      await t.book.deleteMany()
      assert.equal(await t.book.count(), 0)
      throw new Error('back')
    }), /back/)
    await assert.rejects(db.$transaction([db.book.deleteMany(), db.author.create({ data: { email: 'a@x' } })]), code('P2002'))
    assert.equal(await db.book.count(), before)
    const [count, made] = await db.$transaction([db.book.count(), db.topic.create({ data: { name: 'kept' } })], { isolationLevel: 'Serializable' })
    assert.deepEqual([count, made.name], [before, 'kept'])
  },
  async a_transaction_that_takes_too_long() {
    await assert.rejects(db.$transaction(async (t) => {
      await t.topic.create({ data: { name: 'late' } })
      await new Promise((go) => setTimeout(go, 400))
      await t.topic.count()
    }, { timeout: 200 }), code('P2028'))
    assert.equal(await db.topic.count({ where: { name: 'late' } }), 0)
  },
  async optimistic_updates() {
    const { id, version } = await db.author.findUniqueOrThrow({ where: { email: 'a@x' } })
    const change = () => db.author.updateMany({ where: { id, version }, data: { note: 'mine', version: { increment: 1 } } })
    const changed = await Promise.all([change(), change(), change()])
    assert.deepEqual(changed.map((done) => done.count).sort(), [0, 0, 1])
    await assert.rejects(db.author.update({ where: { id, version }, data: { note: 'late' } }), code('P2025'))
  },
  async a_conflict_of_transactions() {
    const where = { email: 'a@x' }
    await assert.rejects(db.$transaction(async (t) => {
      await t.author.findUnique({ where })
      await db.author.update({ where, data: { note: 'other' } })
      await t.author.update({ where, data: { note: 'conflict' } })
    }, { isolationLevel: 'RepeatableRead' }), code('P2034'))
    assert.equal((await db.author.findUnique({ where })).note, 'other')
  },
  async raw_queries() {
    const { Prisma } = generated()
    const [row] = await db.$queryRaw`SELECT email, fee, reads, made, born, photo, tags, facts, kind FROM "Author"
      WHERE email IN (${Prisma.join(['a@x', 'b@x'])}) AND reads > ${5n} AND made < ${new Date(Date.now() + 60_000)} AND kind = ${'boss'}::"Kind"
      AND tags = ${['p', 'q']} AND facts @> ${{ born: 1950 }}::jsonb AND photo = ${Uint8Array.of(0, 255)}`
    assert.deepEqual([row.fee.toString(), row.reads, row.made instanceof Date, row.born], ['12.5', 2n ** 40n, true, new Date('1950-02-03')])
    assert.deepEqual([[...row.photo], row.tags, row.facts.born, row.kind], [[0, 255], ['p', 'q'], 1950, 'boss'])
    assert.equal(await db.$executeRaw`UPDATE "Author" SET note = ${'raw'}, fee = ${new Prisma.Decimal('1.25')} WHERE id > ${0}`, 2)
    const unsafe = await db.$queryRawUnsafe('SELECT $1::int + $2 AS n, $3::text AS t, $4::bool AS b', 40, 2, null, true)
    assert.deepEqual(unsafe, [{ n: 42, t: null, b: true }])
  },
  async cascades() {
    await db.topic.delete({ where: { name: 'sql' } })
    const renamed = await db.topic.update({ where: { name: 'joins' }, data: { name: 'unions' } })
    assert.equal(renamed.parent, null)
    assert.equal(await db.topic.count({ where: { name: 'unions', books: { some: { title: 'one' } } } }), 1)
    const gone = await db.author.delete({ where: { email: 'a@x' }, include: { profile: true } })
    assert.equal(gone.profile.text, 'known')
    assert.deepEqual([await db.book.count(), await db.profile.count(), await db.topic.count()], [0, 1, 2])
    assert.deepEqual(await rows('SELECT * FROM "_BookToTopic"'), [])
  },
}

module.exports = { disconnect, queries }
