// Where Prisma's command line finds what it needs.
'use strict'

module.exports = {
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
  datasource: { url: process.env.PRISMA_URL },
}
