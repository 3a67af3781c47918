# ActiveRecord: migrations up and down, associations, upserts, locks, and the schema that it dumps and loads again.
require 'active_record'
require 'json'
require 'logger'
require 'stringio'
require 'timeout'
require 'uri'

def argument(name)
  at = ARGV.index("--#{name}")
  at && ARGV[at + 1]
end

URL = URI(argument('url'))
SCHEMA = "pc_rails_#{$$}".freeze
CONNECTION = { adapter: 'postgresql', host: URL.host, port: URL.port || 5432, username: URL.user || 'postgres', password: URL.password,
               database: URL.path[1..], pool: 5 }.freeze
ActiveRecord::Migration.verbose = false
ActiveRecord::Base.establish_connection(CONNECTION)
ActiveRecord::Base.connection.execute("CREATE SCHEMA #{SCHEMA}")
ActiveRecord::Base.establish_connection(CONNECTION.merge(schema_search_path: SCHEMA))

class First < ActiveRecord::Migration[6.1]
  def change
    reversible do |way|
      way.up { execute "CREATE TYPE kind AS ENUM ('staff', 'guest')" }
      way.down { execute 'DROP TYPE kind' }
    end
    create_table :authors do |t|
      t.string :email, limit: 80, null: false, index: { unique: true }
      t.column :kind, :kind, null: false, default: 'guest'
      t.jsonb :facts, null: false, default: {}
      t.text :tags, array: true, default: []
      t.decimal :fee, precision: 10, scale: 2, default: 1.5
      t.uuid :ref, default: -> { 'gen_random_uuid()' }
      t.integer :rank, default: 7, limit: 2
      t.boolean :active, default: true, null: false
      t.date :born
      t.timestamps
      t.index :kind, where: "kind = 'staff'", name: 'authors_staff'
    end
    create_table :books do |t|
      t.references :author, null: false, foreign_key: { on_delete: :cascade }
      t.string :title, null: false, default: 'untitled', comment: 'as printed'
      t.string :note
      t.integer :sold, null: false, default: 0
      t.integer :lock_version, default: 0
      t.index 'lower(title)', name: 'books_by_title'
      t.index %i[author_id title], unique: true
    end
    add_check_constraint :books, 'sold >= 0', name: 'books_sold'
  end
end

class Second < ActiveRecord::Migration[6.1]
  def up
    add_column :books, :isbn, :string, limit: 13
    add_index :books, :isbn, unique: true
    change_column :books, :note, :text
    change_column_default :books, :sold, 1
    rename_column :books, :sold, :copies
    change_column_null :authors, :rank, false
  end

  def down
    rename_column :books, :copies, :sold
    change_column_default :books, :sold, 0
    change_column :books, :note, :string
    remove_index :books, :isbn
    remove_column :books, :isbn
  end
end

class Third < ActiveRecord::Migration[6.1]
  disable_ddl_transaction!

  def change
    add_index :books, :copies, algorithm: :concurrently
  end
end

class Author < ActiveRecord::Base
  has_many :books
  scope :about, ->(key, value) { where('facts @> ?', { key => value }.to_json) }
end

class Book < ActiveRecord::Base
  belongs_to :author
end

def migrator
  steps = [First, Second, Third].each_with_index.map do |step, at|
    ActiveRecord::MigrationProxy.new(step.name, at + 1, '', '').tap { |proxy| proxy.define_singleton_method(:migration) { step.new(step.name, at + 1) } }
  end
  ->(way, to = nil) { ActiveRecord::Migrator.new(way, steps, ActiveRecord::SchemaMigration, to).migrate }
end

def dumped
  ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, out = StringIO.new)
  out.string
end

def equal(got, expected)
  raise "expected #{expected.inspect}, got #{got.inspect}" unless got == expected
end

def raises(kind)
  yield
rescue kind => error
  error
else
  raise "expected #{kind}, nothing was raised"
end

TESTS = {
  migrate_up_and_down: lambda {
    migrator.call(:up)
    migrator.call(:up)
    equal ActiveRecord::Base.connection.index_exists?(:books, :copies), true
    migrator.call(:down, 1)
    equal Book.connection.column_exists?(:books, :sold), true
    migrator.call(:up)
    [Author, Book].each(&:reset_column_information)
  },
  columns_have_their_defaults: lambda {
    author = Author.new
    equal [author.kind, author.facts, author.tags, author.fee, author.rank, author.active], ['guest', {}, [], 1.5, 7, true]
    equal [Book.new.title, Book.new.copies], ['untitled', 1]
    equal Author.columns_hash['fee'].sql_type, 'numeric(10,2)'
  },
  create_and_read: lambda {
    author = Author.create!(email: 'a@x', kind: 'staff', facts: { born: 1950 }, tags: %w[p q], born: Date.new(1950, 2, 3))
    %w[one two].each { |title| author.books.create!(title: title) }
    read = Author.includes(:books).find_by!(email: 'a@x')
    equal [read.facts, read.tags, read.born, read.books.map(&:title).sort], [{ 'born' => 1950 }, %w[p q], Date.new(1950, 2, 3), %w[one two]]
    equal read.reload.ref.length, 36
    equal Author.about('born', 1950).count, 1
    equal Author.where('? = ANY (tags)', 'q').joins(:books).group(:email).count, { 'a@x' => 2 }
    equal Book.order(:title).pluck(:title, :copies), [['one', 1], ['two', 1]]
    equal Book.find_each(batch_size: 1).map(&:title).sort, %w[one two]
  },
  upserts: lambda {
    author = Author.first
    rows = [['three', 3], ['one', 9], ['four', 4]].map { |title, copies| { author_id: author.id, title: title, copies: copies } }
    result = Book.upsert_all(rows, unique_by: %i[author_id title], returning: %w[title copies])
    equal result.rows, [['three', 3], ['one', 9], ['four', 4]]
    equal Author.insert_all([{ email: 'a@x', rank: 1, created_at: Time.now, updated_at: Time.now }]).rows, []
  },
  errors_have_their_classes: lambda {
    raises(ActiveRecord::RecordNotUnique) { Author.create!(email: 'a@x') }
    raises(ActiveRecord::InvalidForeignKey) { Book.insert({ author_id: 999, title: 'x' }) }
    raises(ActiveRecord::NotNullViolation) { Author.create!(email: nil) }
    raises(ActiveRecord::StatementInvalid) { Book.update_all(copies: -1) }
    raises(ActiveRecord::ValueTooLong) { Author.create!(email: 'x' * 81) }
  },
  transactions_and_locks: lambda {
    Book.transaction do
      Book.update_all(copies: 100)
      Book.transaction(requires_new: true) { Book.delete_all; raise ActiveRecord::Rollback }
      equal Book.count, 4
      raise ActiveRecord::Rollback
    end
    equal Book.sum(:copies), 17
    Book.transaction do
      mine = Book.order(:id).lock('FOR UPDATE SKIP LOCKED').first
      free = Thread.new { ActiveRecord::Base.connection_pool.with_connection { Book.transaction { Book.lock('FOR UPDATE SKIP LOCKED').pluck(:id) } } }.value
      equal [free.length, free.include?(mine.id)], [3, false]
      mine.with_lock { mine.increment!(:copies) }
    end
    stale = Book.find(Book.first.id)
    Book.first.update!(copies: 3)
    raises(ActiveRecord::StaleObjectError) { stale.update!(copies: 4) }
  },
  advisory_locks: lambda {
    equal Book.connection.get_advisory_lock(7), true
    equal Book.connection.release_advisory_lock(7), true
  },
  the_dumped_schema_is_what_it_makes: lambda {
    before = dumped
    raise before unless before.include?('add_foreign_key "books", "authors", on_delete: :cascade') && before.include?('t.check_constraint')
    raise before unless before.include?('default: "untitled"') && before.include?('t.index "lower((title)::text)"')
    Book.connection.drop_table(:books)
    text = before[/create_table "books".*?^  end$/m]
    ActiveRecord::Schema.define { eval(text); add_foreign_key 'books', 'authors', on_delete: :cascade } # rubocop:disable Security/Eval
    equal dumped[/create_table "books".*?^  end$/m], text
  },
  migrate_to_nothing: lambda {
    migrator.call(:down, 0)
    equal Book.connection.tables.sort, %w[ar_internal_metadata schema_migrations]
  },
}.freeze

failed = 0
TESTS.each do |name, test|
  next unless "=#{name}=".include?(argument('match') || '')

  begin
    Timeout.timeout(40) { test.call }
    puts "ok rails #{name}"
  rescue StandardError, Timeout::Error => error
    failed += 1
    puts "FAIL rails #{name}: #{error.class}: #{error.message.lines.first}"
    puts [error.message, *error.backtrace.first(12)].join("\n").gsub(/^/, '    ')
  end
  $stdout.flush
end
ActiveRecord::Base.connection.execute("DROP SCHEMA IF EXISTS #{SCHEMA} CASCADE")
exit(failed.zero? ? 0 : 1)
