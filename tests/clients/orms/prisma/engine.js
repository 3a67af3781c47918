#!/usr/bin/env node
// Prisma's schema engine as a program, which is what its command line starts. The program is a download of its own;
// npm has the same engine as WebAssembly.
'use strict'
const { readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { createInterface } = require('node:readline')
const { pathToFileURL } = require('node:url')
const { PrismaPg } = require('@prisma/adapter-pg')
const { bindMigrationAwareSqlAdapterFactory } = require('@prisma/driver-adapter-utils')
const { Pool } = require('pg')

const CHAR = 18
const TEXT = 25

/** The values of each `--name value` argument. */
const values = (name) => process.argv.filter((_, at) => process.argv[at - 1] === `--${name}`)

/** A connection to the schema that a URL names. */
async function connected(url) {
  const schema = new URL(url).searchParams.get('schema')
  const pool = new Pool({ connectionString: url.split('?')[0], options: `-c search_path=${schema}`, max: 1 })
  const query = pool.query.bind(pool)
  // The catalog has columns of the type "char", which this adapter does not know.
  pool.query = async (asked) => {
    const answer = await query(asked)
    for (const field of answer.fields ?? []) if (field.dataTypeID === CHAR) field.dataTypeID = TEXT
    return answer
  }
  const adapter = await new PrismaPg(pool, { schema, disposeExternalPool: true }).connect()
  // The program sends a script as it is; this adapter would cut it at each semicolon.
  adapter.executeScript = (script) => query(script).then(() => {}, (error) => adapter.onError(error))
  return adapter
}

let panic
global.PRISMA_WASM_PANIC_REGISTRY = { set_message: (message) => { panic = message } }

async function engine(url) {
  const folder = dirname(require.resolve('@prisma/schema-engine-wasm'))
  const glue = await import(pathToFileURL(join(folder, 'schema_engine_bg.js')))
  const { instance } = await WebAssembly.instantiate(readFileSync(join(folder, 'schema_engine_bg.wasm')), { './schema_engine_bg.js': glue })
  glue.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  const datamodels = values('datamodels').map((path) => [path, readFileSync(path, 'utf8')])
  const factory = bindMigrationAwareSqlAdapterFactory({ provider: 'postgres', adapterName: '@prisma/adapter-pg', connect: () => connected(url) })
  return glue.SchemaEngine.new(datamodels.length > 0 ? { datamodels } : {}, () => {}, factory)
}

/** Answers requests of JSON-RPC, one a line. */
async function serve(url) {
  const started = engine(url)
  const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line)
    if (!method) continue // It answers `print`.
    try {
      const { stdout, ...result } = await (await started)[method](params) ?? {}
      if (stdout) say({ id: 0, method: 'print', params: { content: stdout } })
      say({ id, result })
    } catch (error) {
      const message = panic ?? error.message
      say({ id, error: { code: 4466, message, data: { is_panic: panic !== undefined, message, error_code: error.code } } })
    }
  }
  process.exit(0)
}

const [{ url }] = values('datasource').map(JSON.parse)
if (process.argv.includes('can-connect-to-database')) connected(url).then((adapter) => adapter.dispose())
else serve(url)
