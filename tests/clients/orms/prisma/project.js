// A Prisma project in a folder that is gone afterwards, and what its command line does there.
'use strict'
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { schema, url } = require('../node/harness')

const packages = dirname(dirname(require.resolve('prisma/package.json')))
const folder = fs.mkdtempSync(join(tmpdir(), 'pando-prisma-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true }))
fs.symlinkSync(packages, join(folder, 'node_modules'))
fs.copyFileSync(join(__dirname, 'prisma.config.js'), join(folder, 'prisma.config.js'))

const environment = {
  ...process.env,
  CHECKPOINT_DISABLE: '1',
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  PRISMA_SCHEMA_ENGINE_BINARY: join(__dirname, 'engine.js'),
  PRISMA_URL: `${url}?schema=${schema}`,
}

/** Writes a file of the project. */
function write(path, text) {
  fs.mkdirSync(dirname(join(folder, path)), { recursive: true })
  fs.writeFileSync(join(folder, path), text)
}

/** Runs the command line; its exit code, what it answers, and that with everything else it says. */
function prisma(...words) {
  const program = join(packages, 'prisma', 'build', 'index.js')
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], { cwd: folder, env: environment }, (error, out, more) => {
      resolve({ code: error?.code ?? 0, out, said: out + more })
    })
  })
}

/** The answer, where the command has to succeed. */
async function done(...words) {
  const { code, out, said } = await prisma(...words)
  assert.equal(code, 0, said)
  return out
}

/** The script that leads from one schema to another, both given as the command line wants it. */
const script = (...ends) => done('migrate', 'diff', '--script', ...ends)

/** How the database differs from a schema; nothing when it does not. */
async function difference(text) {
  write('wanted.prisma', text)
  const { code, said } = await prisma('migrate', 'diff', '--exit-code', '--from-config-datasource', '--to-schema', 'wanted.prisma')
  return code === 0 ? '' : said
}

/** Makes a schema that of the project, and writes the migration that leads to it. */
async function migration(name, text, ...from) {
  write('schema.prisma', text)
  write('migrations/migration_lock.toml', 'provider = "postgresql"\n')
  write(`migrations/${name}/migration.sql`, await script(...from, '--to-schema', 'schema.prisma'))
}

/** The client that the project has generated. */
const generated = () => require(join(folder, 'client'))

module.exports = { difference, done, generated, migration, prisma, script, write }
