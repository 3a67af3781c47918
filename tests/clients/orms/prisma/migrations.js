// Migrations without a second difference, down and up again, failed and resolved; introspection.
'use strict'
const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { rows } = require('../node/harness')
const { difference, done, migration, prisma, script, write } = require('./project')

const first = readFileSync(join(__dirname, 'schema.prisma'), 'utf8')
const changes = [
  ['  guest\n', '  guest\n  boss\n'],
  ['VarChar(80)', 'VarChar(120)'],
  ['reads   BigInt    @default(0)', 'reads  BigInt    @default(7)\n  note    String    @default("none")'],
  ['rank    Int       @default(-1) @db.SmallInt', 'rank    Int       @default(5)'],
  ['  active  Boolean   @default(true)\n', ''],
  ['score   Float?', 'score   Float     @default(1.5)'],
  ['[kind, made(sort: Desc)]', '[kind, made(sort: Desc)], map: "by_kind"'],
]
const second = changes.reduce((text, [from, to]) => {
  assert.ok(text.includes(from), from)
  return text.replace(from, to)
}, first)

/** A line of a schema, however its columns are aligned. */
const flat = (text) => text.replace(/ +/g, ' ')

const migrations = {
  async a_migration_and_no_second_difference() {
    await migration('1_first', first, '--from-empty')
    assert.match(await done('migrate', 'deploy'), /All migrations have been successfully applied/)
    assert.equal(await difference(first), '')
  },
  async nothing_more_to_deploy() {
    assert.match(await done('migrate', 'status'), /Database schema is up to date/)
    assert.match(await done('migrate', 'deploy'), /No pending migrations/)
  },
  async a_second_migration_changes_columns() {
    await rows(`INSERT INTO "Author" (email, kind, score, seen) VALUES ('old@x', 'staff', 2, now())`)
    await migration('2_second', second, '--from-config-datasource')
    await Promise.all([done('migrate', 'deploy'), done('migrate', 'deploy')])
    assert.equal(await difference(second), '')
    const [row] = await rows('SELECT kind, score, note, reads, rank FROM "Author"')
    assert.deepEqual(row, { kind: 'staff', score: 2, note: 'none', reads: '0', rank: -1 })
    assert.deepEqual(await rows('SELECT migration_name AS name, applied_steps_count AS steps FROM _prisma_migrations ORDER BY 1'),
      [{ name: '1_first', steps: 1 }, { name: '2_second', steps: 1 }])
  },
  async down_by_a_script() {
    write('first.prisma', first)
    write('down.sql', await script('--from-schema', 'schema.prisma', '--to-schema', 'first.prisma'))
    await done('db', 'execute', '--file', 'down.sql')
    assert.equal(await difference(first), '')
  },
  async up_by_push() {
    assert.match(await done('db', 'push', '--accept-data-loss'), /in sync/)
    assert.equal(await difference(second), '')
    assert.match(await done('db', 'push'), /already in sync/)
  },
  async a_failed_migration() {
    write('migrations/3_bad/migration.sql', 'CREATE TABLE half (id int);\nSELECT 1 / 0;\n')
    assert.match((await prisma('migrate', 'deploy')).said, /division by zero/)
    assert.match((await prisma('migrate', 'deploy')).said, /P3009/)
  },
  async a_failed_migration_is_resolved() {
    await done('migrate', 'resolve', '--rolled-back', '3_bad')
    write('migrations/3_bad/migration.sql', 'CREATE TABLE half (id int);\nDROP TABLE half;\n')
    await done('migrate', 'deploy')
    const tried = await rows(`SELECT rolled_back_at IS NULL AS kept, finished_at IS NULL AS failed, logs ~ 'division by zero' AS logged
      FROM _prisma_migrations WHERE migration_name = '3_bad' ORDER BY started_at`)
    assert.deepEqual(tried, [{ kept: false, failed: true, logged: true }, { kept: true, failed: false, logged: null }])
  },
  async introspection_gives_the_same_schema() {
    const pulled = await done('db', 'pull', '--print')
    const lines = new Set(flat(pulled).split('\n'))
    // It knows no implicit tables between two, and no default rules of foreign keys.
    const missing = flat(second).split('\n').filter((line) => !lines.has(line) && !/^\/\/| (Book|Topic)\[\]$|SetNull/.test(line))
    assert.deepEqual(missing, [])
    assert.equal(await difference(pulled), '')
  },
}

module.exports = { migrations }
