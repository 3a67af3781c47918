// What the suites of object-relational mappers share: named tests in their order, one line each, as run.py reads them.
'use strict'
const { Client } = require('pg')

const TEST_MS = 40_000

/** The value of a `--name value` argument. */
function argument(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : process.argv[at + 1]
}

const url = argument('url')
const schema = `pc_orms_${process.pid}`

/** The server's address in the parts that configurations want. */
const parts = (() => {
  const { hostname, port, username, password, pathname } = new URL(url)
  return { host: hostname, port: Number(port || 5432), user: username || 'postgres', password, database: pathname.slice(1) || username }
})()

/** The rows of a statement, by node-postgres. */
async function rows(text, values) {
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Runs tests `{ name: function }` in a schema of their own, and `close` after them; ends the process. */
async function main(client, tests, close = async () => {}) {
  let failed = 0
  await rows(`CREATE SCHEMA ${schema}`)
  for (const [name, run] of Object.entries(tests)) {
    if (!`=${name}=`.includes(argument('match', ''))) continue
    let timer
    const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`no answer within ${TEST_MS} ms`)), TEST_MS) })
    try {
      await Promise.race([run(), late])
      console.log(`ok ${client} ${name}`)
    } catch (error) {
      failed++
      console.log(`FAIL ${client} ${name}: ${String(error.message).split('\n')[0]}`)
      console.log(`${error.stack}\n${error.sql ?? error.query ?? ''}`.replace(/^/gm, '    '))
    } finally {
      clearTimeout(timer)
    }
  }
  await close()
  await rows(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  process.exit(failed ? 1 : 0)
}

module.exports = { argument, main, parts, rows, schema, url }
