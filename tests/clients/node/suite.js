// node-postgres: parametrised and named statements, types, errors, transactions, pools, cancelling.
'use strict'
const assert = require('node:assert/strict')
const { Client, Pool, types } = require('pg')

const TEST_MS = 40_000
const CLIENT = 'node'
const tests = []
const test = (name, run) => tests.push({ name, run })

/** The value of a `--name value` argument. */
function argument(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : process.argv[at + 1]
}

const url = argument('url')

/** A name that belongs to this run alone. */
const unique = (stem) => `pc_${CLIENT}_${process.pid}_${stem}`

async function connected(run, options = {}) {
  const client = new Client({ connectionString: url, ...options })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

/** A table `(id int primary key, v text)` with so many rows; gone when `run` is. */
async function withNumbers(client, rows, run) {
  const name = unique(`t${Math.trunc(performance.now() * 1000)}`)
  await client.query(`CREATE TABLE ${name} (id integer PRIMARY KEY, v text)`)
  try {
    await client.query(`INSERT INTO ${name} SELECT g, 'v' || g FROM generate_series(1, ${rows}) AS s(g)`)
    await run(name)
  } finally {
    await client.query('ROLLBACK').catch(() => {})
    await client.query(`DROP TABLE ${name}`)
  }
}

test('simple_query', () => connected(async (c) => {
  const result = await c.query("SELECT 1 AS one, 'x' AS two")
  assert.deepEqual(result.rows, [{ one: 1, two: 'x' }])
  assert.deepEqual(result.fields.map((f) => [f.name, f.dataTypeID]), [['one', 23], ['two', 25]])
  assert.deepEqual([result.command, result.rowCount], ['SELECT', 1])
}))

test('several_statements', () => connected(async (c) => {
  const results = await c.query('SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c')
  assert.deepEqual(results.map((r) => r.rows[0]), [{ a: 1 }, { b: 2 }, { c: 3 }])
}))

test('parameters', () => connected((c) => withNumbers(c, 10, async (t) => {
  const one = await c.query(`SELECT v FROM ${t} WHERE id = $1`, [3])
  assert.deepEqual(one.rows, [{ v: 'v3' }])
  const many = await c.query(`SELECT id FROM ${t} WHERE id = ANY($1) ORDER BY id LIMIT $2`, [[2, 4, 6], 2])
  assert.deepEqual(many.rows.map((r) => r.id), [2, 4])
  const typed = await c.query('SELECT $1::int + 1 AS i, $2::text AS t, $3::bool AS b, $4::text AS n, $5::jsonb AS j',
    [41, "it's", true, null, { a: [1] }])
  assert.deepEqual(typed.rows, [{ i: 42, t: "it's", b: true, n: null, j: { a: [1] } }])
  const changed = await c.query(`UPDATE ${t} SET v = $1 WHERE id < $2`, ['x', '4'])
  assert.deepEqual([changed.command, changed.rowCount], ['UPDATE', 3])
  const inserted = await c.query(`INSERT INTO ${t} VALUES ($1, $2) RETURNING *`, [100, null])
  assert.deepEqual(inserted.rows, [{ id: 100, v: null }])
})))

test('row_mode_array', () => connected(async (c) => {
  const result = await c.query({ text: 'SELECT 1 AS a, 2 AS a', rowMode: 'array' })
  assert.deepEqual(result.rows, [[1, 2]])
}))

test('named_prepared_statements', () => connected((c) => withNumbers(c, 10, async (t) => {
  for (let i = 1; i <= 10; i++) {
    const result = await c.query({ name: 'by-key', text: `SELECT v FROM ${t} WHERE id = $1`, values: [i] })
    assert.equal(result.rows[0].v, `v${i}`)
  }
})))

test('binary_results', () => connected(async (c) => {
  const result = await c.query({ text: 'SELECT 7::int AS i, true AS b, $1::text AS t', values: ['ü'], binary: true })
  assert.deepEqual(result.rows, [{ i: 7, b: true, t: 'ü' }])
}))

test('queued_queries', () => connected(async (c) => {
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => c.query('SELECT $1::int AS i', [i])))
  assert.deepEqual(results.map((r) => r.rows[0].i), Array.from({ length: 50 }, (_, i) => i))
}))

test('types', () => connected(async (c) => {
  const t = unique('types')
  const columns = 'id int primary key, b boolean, s smallint, l bigint, r real, d float8, n numeric(12,3), t text, v varchar(10), ' +
    'y bytea, da date, ti time, ts timestamp, tz timestamptz, u uuid, j json, ia int[], ta text[]'
  await c.query(`CREATE TABLE ${t} (${columns})`)
  try {
    const at = new Date('2024-05-06T07:08:09.123Z')
    const values = [1, true, -5, '9007199254740993', 1.5, 0.1, '12.345', 'ünï', 'abc', Buffer.from([0, 255]), '2024-02-29',
      '23:59:59.5', '2024-05-06 07:08:09', at, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', JSON.stringify({ a: [1, null] }), [1, null, 3], ['a b', null, 'q"']]
    await c.query(`INSERT INTO ${t} VALUES (${values.map((_, i) => `$${i + 1}`)})`, values)
    await c.query(`INSERT INTO ${t} (id) VALUES (2)`)
    const { rows } = await c.query(`SELECT * FROM ${t} ORDER BY id`)
    const row = rows[0]
    assert.equal(row.da.getDate(), 29)
    assert.deepEqual({ ...row, da: null, ts: null }, {
      id: 1, b: true, s: -5, l: '9007199254740993', r: 1.5, d: 0.1, n: '12.345', t: 'ünï', v: 'abc', y: Buffer.from([0, 255]), da: null,
      ti: '23:59:59.5', ts: null, tz: at, u: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', j: { a: [1, null] }, ia: [1, null, 3], ta: ['a b', null, 'q"'],
    })
    assert.ok(Object.entries(rows[1]).every(([name, value]) => name === 'id' || value === null))
  } finally {
    await c.query(`DROP TABLE ${t}`)
  }
}))

test('type_parsers_get_text', () => connected(async (c) => {
  const seen = []
  const parsers = { getTypeParser: (oid, format) => (value) => { seen.push([oid, format]); return String(value) } }
  await c.query({ text: "SELECT 1::bigint AS a, interval '1 day 2 hours' AS b", types: parsers })
  assert.deepEqual(seen, [[types.builtins.INT8, 'text'], [types.builtins.INTERVAL, 'text']])
}))

test('errors', () => connected((c) => withNumbers(c, 3, async (t) => {
  await assert.rejects(c.query(`INSERT INTO ${t} VALUES (1, 'again')`), {
    code: '23505', severity: 'ERROR', detail: 'Key (id)=(1) already exists.', table: t, constraint: `${t}_pkey`, schema: 'public',
  })
  await assert.rejects(c.query('SELECT nope'), { code: '42703', position: '8' })
  await assert.rejects(c.query('SELECT nope, $1::int', [1]), { code: '42703' })
  await assert.rejects(c.query('SELEC 1'), { code: '42601' })
  await assert.rejects(c.query('SELECT $1::int', ['x']), { code: '22P02' })
  await assert.rejects(c.query({ name: 'bad', text: 'SELECT * FROM no_such_table WHERE a = $1', values: [1] }), { code: '42P01' })
  assert.equal(Number((await c.query('SELECT 1 AS a')).rows[0].a), 1)
})))

test('error_among_queued', () => connected(async (c) => {
  const outcomes = await Promise.allSettled([c.query('SELECT 1'), c.query('SELECT 1/$1::int', [0]), c.query('SELECT 2 AS a')])
  assert.deepEqual(outcomes.map((o) => o.status), ['fulfilled', 'rejected', 'fulfilled'])
}))

test('notices', () => connected(async (c) => {
  const heard = []
  c.on('notice', (notice) => heard.push([notice.severity, notice.message]))
  await c.query('DROP TABLE IF EXISTS no_such_table')
  assert.deepEqual(heard, [['NOTICE', 'table "no_such_table" does not exist, skipping']])
}))

test('transactions', () => connected((c) => withNumbers(c, 5, async (t) => {
  const count = async () => Number((await c.query(`SELECT count(*) AS n FROM ${t}`)).rows[0].n)
  await c.query('BEGIN')
  await c.query(`DELETE FROM ${t}`)
  await c.query('ROLLBACK')
  assert.equal(await count(), 5)
  await c.query('BEGIN')
  await c.query(`DELETE FROM ${t} WHERE id = 1`)
  await assert.rejects(c.query('SELECT 1/0'), { code: '22012' })
  await assert.rejects(c.query('SELECT 1'), { code: '25P02' })
  assert.equal((await c.query('COMMIT')).command, 'ROLLBACK')
  assert.equal(await count(), 5)
})))

test('pool', async () => {
  const pool = new Pool({ connectionString: url, max: 5 })
  try {
    const results = await Promise.all(Array.from({ length: 100 }, (_, i) => pool.query('SELECT $1::int AS i', [i])))
    assert.deepEqual(results.map((r) => r.rows[0].i), Array.from({ length: 100 }, (_, i) => i))
    const client = await pool.connect()
    client.release()
  } finally {
    await pool.end()
  }
})

test('options_at_connect', () => connected(async (c) => {
  assert.equal((await c.query('SHOW application_name')).rows[0].application_name, 'pc')
  assert.equal((await c.query('SHOW statement_timeout')).rows[0].statement_timeout, '9s')
  assert.equal((await c.query('SHOW search_path')).rows[0].search_path, 'pg_catalog')
}, { application_name: 'pc', statement_timeout: 9000, options: '-c search_path=pg_catalog' }))

test('statement_timeout', () => connected(async (c) => {
  await assert.rejects(c.query('SELECT pg_sleep(20)'), { code: '57014' })
  assert.equal(Number((await c.query('SELECT 1 AS a')).rows[0].a), 1)
}, { statement_timeout: 300 }))

test('cancel', () => connected(async (c) => {
  const rejected = assert.rejects(c.query('SELECT pg_sleep(20)'), { code: '57014' })
  await new Promise((resolve) => setTimeout(resolve, 300))
  await connected((other) => other.query('SELECT pg_cancel_backend($1)', [c.processID]))
  await rejected
}))

test('many_rows', () => connected(async (c) => {
  const { rows } = await c.query("SELECT g AS i, 'row ' || g AS t FROM generate_series(1, 100000) AS s(g) ORDER BY g")
  assert.deepEqual([rows.length, rows[99_999]], [100_000, { i: 100_000, t: 'row 100000' }])
}))

async function main() {
  const match = argument('match', '')
  let failed = 0
  for (const { name, run } of tests.filter((each) => `=${each.name}=`.includes(match))) {
    let timer
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`no answer within ${TEST_MS} ms`)), TEST_MS) })
    try {
      await Promise.race([run(), late])
      console.log(`ok ${CLIENT} ${name}`)
    } catch (error) {
      failed++
      console.log(`FAIL ${CLIENT} ${name}: ${String(error.message).split('\n')[0]}`)
      console.log(String(error.stack).replace(/^/gm, '    '))
    }
    clearTimeout(timer)
  }
  process.exit(failed ? 1 : 0)
}

main()
