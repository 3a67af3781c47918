// Prisma: its migrations first, then its client on the schema that they leave.
'use strict'
const { main } = require('../node/harness')
const { migrations } = require('./migrations')
const { disconnect, queries } = require('./queries')

main('prisma', { ...migrations, ...queries }, disconnect)
