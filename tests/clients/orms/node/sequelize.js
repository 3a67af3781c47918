// Sequelize: sync, migrations by its query interface, associations, upserts, locks, what it reads back.
'use strict'
const assert = require('node:assert/strict')
const { DataTypes, Op, Sequelize, UniqueConstraintError, ForeignKeyConstraintError } = require('sequelize')
const { main, rows, schema, url } = require('./harness')

const db = new Sequelize(url, { logging: false, schema, dialectOptions: { options: `-c search_path=${schema}` } })
const Author = db.define('author', {
  email: { type: DataTypes.STRING(80), allowNull: false, unique: true },
  kind: { type: DataTypes.ENUM('staff', 'guest'), defaultValue: 'guest' },
  facts: DataTypes.JSONB,
  tags: { type: DataTypes.ARRAY(DataTypes.STRING(20)), defaultValue: [] },
  fee: DataTypes.DECIMAL(10, 2),
  ref: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
}, { paranoid: true, indexes: [{ fields: ['kind'], where: { kind: 'staff' }, name: 'author_staff' }] })
const Book = db.define('book', { title: DataTypes.TEXT, sold: { type: DataTypes.INTEGER, defaultValue: 0 } }, {
  version: true, indexes: [{ unique: true, fields: ['authorId', 'title'] }],
})
Author.hasMany(Book, { foreignKey: { allowNull: false }, onDelete: 'CASCADE' })
Book.belongsTo(Author)

main('sequelize', {
  async sync_twice_and_alter() {
    await db.sync()
    await db.sync({ alter: true })
    await db.sync({ alter: true })
    const found = await rows("SELECT indexname FROM pg_indexes WHERE schemaname = $1 AND tablename = 'authors' ORDER BY 1", [schema])
    assert.ok(found.some((row) => row.indexname === 'author_staff'))
  },
  async create_with_associations() {
    const author = await Author.create({ email: 'a@x', kind: 'staff', facts: { born: 1950, in: ['x'] }, tags: ['p', 'q'], fee: '12.50',
      books: [{ title: 'one' }, { title: 'two' }] }, { include: [Book] })
    assert.equal(author.books.length, 2)
    const [read] = await Author.findAll({ include: [{ model: Book, where: { title: { [Op.iLike]: 'ON%' } } }] })
    assert.deepEqual([read.facts.born, read.tags, read.fee, read.books.map((book) => book.title)], [1950, ['p', 'q'], '12.50', ['one']])
  },
  async queries() {
    assert.equal(await Author.count({ where: { tags: { [Op.contains]: ['p'] }, facts: { born: 1950 } } }), 1)
    assert.equal(await Author.count({ where: { tags: { [Op.overlap]: ['q', 'z'] } } }), 1)
    const grouped = await Book.findAll({ attributes: ['authorId', [db.fn('COUNT', db.col('id')), 'n']], group: ['authorId'], raw: true })
    assert.equal(grouped[0].n, '2')
    const { count, rows: page } = await Book.findAndCountAll({ limit: 1, offset: 1, order: [['title', 'ASC']], include: [Author] })
    assert.deepEqual([count, page[0].title, page[0].author.email], [2, 'two', 'a@x'])
  },
  async upsert_and_bulk() {
    const [author] = await Author.upsert({ email: 'a@x', kind: 'guest' }, { conflictFields: ['email'] })
    assert.equal(author.kind, 'guest')
    const books = await Book.bulkCreate([{ title: 'three', authorId: author.id, sold: 3 }, { title: 'one', authorId: author.id, sold: 9 }],
      { updateOnDuplicate: ['sold'], conflictAttributes: ['authorId', 'title'], returning: true })
    assert.deepEqual(books.map((book) => [book.title, book.sold]), [['three', 3], ['one', 9]])
    const [found, created] = await Author.findOrCreate({ where: { email: 'b@x' }, defaults: { kind: 'staff' } })
    assert.deepEqual([found.kind, created], ['staff', true])
    assert.deepEqual((await Author.findOrCreate({ where: { email: 'b@x' } }))[1], false)
  },
  async errors_have_their_classes() {
    await assert.rejects(Author.create({ email: 'a@x' }), (error) => {
      assert.ok(error instanceof UniqueConstraintError)
      assert.deepEqual(error.fields, { email: 'a@x' })
      return true
    })
    await assert.rejects(Book.create({ title: 'none', authorId: 999 }), (error) => {
      assert.ok(error instanceof ForeignKeyConstraintError)
      assert.deepEqual([error.index, error.table], ['books_authorId_fkey', 'books'])
      return true
    })
  },
  async transactions_and_locks() {
    await assert.rejects(db.transaction(async (transaction) => {
      await Book.update({ sold: 100 }, { where: {}, transaction })
      throw new Error('back')
    }), /back/)
    await db.transaction(async (transaction) => {
      const [mine] = await Book.findAll({ limit: 1, order: ['id'], lock: transaction.LOCK.UPDATE, skipLocked: true, transaction })
      await db.transaction(async (other) => {
        const free = await Book.findAll({ lock: other.LOCK.UPDATE, skipLocked: true, transaction: other })
        assert.ok(free.length > 0 && free.every((book) => book.id !== mine.id))
      })
      await mine.increment('sold', { by: 5, transaction })
    })
    assert.equal(await Book.sum('sold'), 3 + 9 + 5)
  },
  async soft_delete_and_versions() {
    const author = await Author.findOne({ where: { email: 'b@x' } })
    await author.destroy()
    assert.equal(await Author.count({ where: { email: 'b@x' } }), 0)
    await author.restore()
    const book = await Book.findOne({ order: ['id'] })
    const stale = await Book.findByPk(book.id)
    await book.update({ sold: 1 })
    await assert.rejects(stale.update({ sold: 2 }), { name: 'SequelizeOptimisticLockError' })
  },
  async migrate_up_and_down() {
    const change = db.getQueryInterface()
    const table = { tableName: 'notes', schema }
    await change.createTable(table, { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, text: DataTypes.STRING })
    await change.addColumn(table, 'mood', { type: DataTypes.ENUM('up', 'down'), defaultValue: 'up', allowNull: false })
    await change.changeColumn(table, 'text', { type: DataTypes.TEXT, allowNull: false, defaultValue: '?' })
    await change.renameColumn(table, 'text', 'body')
    await change.addIndex(table, ['body'], { name: 'notes_body', unique: true })
    await change.addColumn(table, 'author', { type: DataTypes.INTEGER })
    await change.addConstraint(table, { type: 'foreign key', fields: ['author'], name: 'notes_author',
      references: { table: { tableName: 'authors', schema }, field: 'id' }, onDelete: 'set null', onUpdate: 'cascade' })
    const columns = await change.describeTable(table)
    assert.deepEqual(Object.keys(columns), ['id', 'mood', 'body', 'author'].sort((a, b) => Object.keys(columns).indexOf(a) - Object.keys(columns).indexOf(b)))
    assert.deepEqual([columns.id.primaryKey, columns.body.type, columns.body.allowNull, columns.mood.special], [true, 'TEXT', false, ['up', 'down']])
    const keys = await change.getForeignKeyReferencesForTable(table)
    assert.deepEqual(keys.map((key) => [key.constraintName, key.referencedTableName]), [['notes_author', 'authors']])
    const indexes = await change.showIndex(table)
    assert.deepEqual(indexes.map((index) => [index.name, index.unique, index.primary]).sort(), [['notes_body', true, false], ['notes_pkey', true, true]])
    await change.removeConstraint(table, 'notes_author')
    await change.removeIndex(table, 'notes_body')
    await change.removeColumn(table, 'mood')
    await change.dropTable(table)
    assert.equal(await change.tableExists(table), false)
  },
}, () => db.close())
