import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.hibernate.LockOptions;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.cfg.Configuration;
import org.hibernate.exception.ConstraintViolationException;
import org.hibernate.type.SqlTypes;

/** Hibernate: schemas that it makes and checks, associations, queries, locks, batches and types. */
final class HibernateTests {
    enum Kind { NOVEL, POEMS }

    @Entity(name = "Author")
    @Table(name = "author", indexes = @Index(columnList = "name"))
    public static class Author {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) Long id;
        @Column(nullable = false, unique = true, length = 60) String name;
        LocalDate born;
        @OneToMany(mappedBy = "author", cascade = CascadeType.ALL, orphanRemoval = true) List<Book> books = new ArrayList<>();
        @ElementCollection Set<String> prizes = new HashSet<>();
        @Version int version;

        public Author() { }

        Author(String name) {
            this.name = name;
        }

        Book wrote(String title, String price) {
            Book book = new Book();
            book.title = title;
            book.price = new BigDecimal(price);
            book.author = this;
            books.add(book);
            return book;
        }
    }

    @Entity(name = "Book")
    @Table(name = "book")
    public static class Book {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE) Long id;
        String title;
        @Column(precision = 10, scale = 2) BigDecimal price;
        @Enumerated(EnumType.STRING) Kind kind = Kind.NOVEL;
        @ManyToOne(fetch = FetchType.LAZY, optional = false) Author author;
        @ManyToMany Set<Shelf> shelves = new HashSet<>();
    }

    @Entity(name = "Shelf")
    @Table(name = "shelf")
    public static class Shelf {
        @Id @GeneratedValue(strategy = GenerationType.UUID) UUID id;
        Instant built = Instant.parse("2026-01-02T03:04:05.678901Z");
        byte[] picture = {1, 0, -1};
        String[] labels = {"a", "b,c"};
        @JdbcTypeCode(SqlTypes.JSON) Map<String, Integer> sizes = Map.of("height", 7);
        boolean packed;
        double load = 0.1;
        Short row;
    }

    static void addTo(Suite suite) {
        suite.add("schema_is_made_and_found_right", schema -> {
            factory(schema, "create").close();
            factory(schema, "validate").close();
            factory(schema, "update").close();
            Suite.same("5", Suite.value("SELECT count(*) FROM information_schema.tables WHERE table_schema = '" + schema + "'"));
            factory(schema, "create-drop").close();
            Suite.same("0", Suite.value("SELECT count(*) FROM information_schema.tables WHERE table_schema = '" + schema + "'"));
        });
        suite.add("schema_is_extended", schema -> {
            factory(schema, "create").close();
            Suite.run("ALTER TABLE " + schema + ".book DROP COLUMN price");
            factory(schema, "update").close();
            factory(schema, "validate").close();
        });
        suite.add("associations", schema -> with(schema, factory -> {
            Long id = factory.fromTransaction(session -> {
                Author author = new Author("Ada");
                author.wrote("One", "1.50").shelves.add(stored(session, new Shelf()));
                author.wrote("Two", "2.50");
                author.prizes.addAll(Set.of("x", "y"));
                return stored(session, author).id;
            });
            factory.inTransaction(session -> {
                Author author = session.find(Author.class, id);
                Suite.same(2, author.books.size());
                Suite.same(Set.of("x", "y"), new HashSet<>(author.prizes));
                Suite.same(1, author.books.get(0).shelves.size() + author.books.get(1).shelves.size());
                author.books.remove(0);
                author.prizes.remove("x");
            });
            factory.inTransaction(session -> {
                Author author = session.createQuery("from Author a join fetch a.books where a.name = :name", Author.class)
                    .setParameter("name", "Ada").getSingleResult();
                Suite.same(1, author.books.size());
                session.remove(author);
            });
            Suite.same("0", Suite.value("SELECT count(*) FROM " + schema + ".book"));
        }));
        suite.add("queries", schema -> with(schema, factory -> {
            factory.inTransaction(HibernateTests::library);
            factory.inTransaction(session -> {
                Suite.same(List.of("t29", "t28", "t27"), session
                    .createQuery("select title from Book order by price desc, id", String.class).setMaxResults(3).list());
                Suite.same(List.of("t13", "t12"), session
                    .createQuery("select title from Book where price < 15 order by price desc", String.class)
                    .setFirstResult(1).setMaxResults(2).list());
                Object[] row = session.createQuery("select a.name, count(b), sum(b.price), avg(b.price) from Author a "
                    + "left join a.books b group by a.name having count(b) > 0 order by a.name", Object[].class).list().get(1);
                Suite.same("a1 10 145.00", row[0] + " " + row[1] + " " + row[2]);
                Suite.same(10L, session.createQuery("select count(distinct b.id) from Book b where b.author.name like 'a2%' "
                    + "and exists (select 1 from Book c where c.price > b.price) or b.price = 29", Long.class).getSingleResult());
                var builder = session.getCriteriaBuilder();
                var query = builder.createQuery(Book.class);
                var book = query.from(Book.class);
                query.where(builder.in(book.get("title")).value("t1").value("t2"), builder.equal(book.get("kind"), Kind.NOVEL));
                Suite.same(2, session.createQuery(query).list().size());
                Suite.same(3, session.createMutationQuery("update Book set price = price * 2 where price < 3").executeUpdate());
                Suite.same(1, session.createMutationQuery("delete from Book where title = 't0'").executeUpdate());
                Suite.same(1, session.createMutationQuery("insert into Author (name, version) values ('new', 0) "
                    + "on conflict (name) do nothing").executeUpdate());
                Suite.same(0, session.createMutationQuery("insert into Author (name, version) values ('new', 0) "
                    + "on conflict (name) do nothing").executeUpdate());
                Suite.same("t29", session.createNativeQuery("select title from book where price = :p", String.class)
                    .setParameter("p", new BigDecimal("29.00")).getSingleResult());
            });
        }));
        suite.add("types", schema -> with(schema, factory -> {
            Shelf made = new Shelf();
            factory.inTransaction(session -> session.persist(made));
            factory.inTransaction(session -> {
                Shelf found = session.createQuery("from Shelf where id = :id and packed = false and row is null", Shelf.class)
                    .setParameter("id", made.id).getSingleResult();
                Suite.same(made.built, found.built);
                Suite.same(List.of((byte) 1, (byte) 0, (byte) -1), List.of(found.picture[0], found.picture[1], found.picture[2]));
                Suite.same(List.of("a", "b,c"), List.of(found.labels));
                Suite.same(Map.of("height", 7), found.sizes);
                Suite.same(0.1, found.load);
            });
        }));
        suite.add("optimistic_lock", schema -> with(schema, factory -> {
            factory.inTransaction(session -> session.persist(new Author("Ada")));
            Suite.fails(OptimisticLockException.class, () -> {
                factory.inTransaction(session -> {
                    Author mine = session.find(Author.class, 1L);
                    factory.inTransaction(other -> other.find(Author.class, 1L).born = LocalDate.of(1815, 12, 10));
                    mine.name = "Countess";
                });
                return null;
            });
            Suite.same("1815-12-10", Suite.value("SELECT born FROM " + schema + ".author WHERE name = 'Ada'"));
        }));
        suite.add("pessimistic_lock", schema -> with(schema, factory -> {
            factory.inTransaction(session -> List.of("a", "b").forEach(name -> session.persist(new Author(name))));
            factory.inTransaction(session -> {
                session.find(Author.class, 1L, LockModeType.PESSIMISTIC_WRITE);
                factory.inTransaction(other -> {
                    List<Author> free = other.createQuery("from Author order by id", Author.class)
                        .setLockMode(LockModeType.PESSIMISTIC_WRITE)
                        .setHint("jakarta.persistence.lock.timeout", LockOptions.SKIP_LOCKED).list();
                    Suite.same(List.of("b"), free.stream().map(author -> author.name).toList());
                });
                Suite.fails(RuntimeException.class, () -> factory.fromTransaction(other -> other.find(Author.class, 1L,
                    LockModeType.PESSIMISTIC_WRITE, Map.of("jakarta.persistence.lock.timeout", LockOptions.NO_WAIT))));
            });
        }));
        suite.add("constraints", schema -> with(schema, factory -> {
            factory.inTransaction(session -> session.persist(new Author("Ada")));
            ConstraintViolationException error = Suite.fails(ConstraintViolationException.class, () -> {
                factory.inTransaction(session -> session.persist(new Author("Ada")));
                return null;
            });
            Suite.same("23505", error.getSQLState());
            Suite.holds(error.getConstraintName() != null, "the name of the constraint");
            Suite.fails(ConstraintViolationException.class, () -> {
                factory.inTransaction(session ->
                    session.createNativeMutationQuery("insert into book (id, author_id) values (1, 99)").executeUpdate());
                return null;
            });
        }));
        suite.add("batches_and_upserts", schema -> with(schema, factory -> {
            factory.inTransaction(HibernateTests::library);
            try (var session = factory.openStatelessSession()) {
                session.beginTransaction();
                Shelf shelf = new Shelf();
                shelf.id = UUID.randomUUID();
                session.upsert(shelf);
                shelf.packed = true;
                session.upsert(shelf);
                session.getTransaction().commit();
            }
            Suite.same("1", Suite.value("SELECT count(*) FROM " + schema + ".shelf WHERE packed"));
            Suite.same("30", Suite.value("SELECT count(DISTINCT id) FROM " + schema + ".book"));
            factory.inTransaction(session -> session.createQuery("from Book", Book.class).list()
                .forEach(book -> book.title = book.title + "!"));
            Suite.same("30", Suite.value("SELECT count(*) FROM " + schema + ".book WHERE title LIKE '%!'"));
        }));
    }

    private static void library(Session session) {
        for (int a = 0; a < 3; a++) {
            Author author = new Author("a" + a);
            for (int b = 0; b < 10; b++) {
                author.wrote("t" + (a * 10 + b), String.valueOf(a * 10 + b));
            }
            session.persist(author);
        }
    }

    private static <T> T stored(Session session, T entity) {
        session.persist(entity);
        return entity;
    }

    private interface Work {
        void run(SessionFactory factory) throws Exception;
    }

    private static void with(String schema, Work work) throws Exception {
        try (SessionFactory factory = factory(schema, "create")) {
            work.run(factory);
        }
    }

    private static SessionFactory factory(String schema, String action) {
        return new Configuration().addAnnotatedClass(Author.class).addAnnotatedClass(Book.class).addAnnotatedClass(Shelf.class)
            .setProperty("hibernate.connection.url", Suite.url + "?currentSchema=" + schema)
            .setProperty("hibernate.connection.username", Suite.user)
            .setProperty("hibernate.connection.password", Suite.password)
            .setProperty("hibernate.default_schema", schema)
            .setProperty("hibernate.hbm2ddl.auto", action)
            .setProperty("hibernate.hbm2ddl.halt_on_error", "true")
            .setProperty("hibernate.jdbc.batch_size", "20")
            .setProperty("hibernate.jdbc.time_zone", "UTC")
            .setProperty("hibernate.order_inserts", "true")
            .buildSessionFactory();
    }
}
