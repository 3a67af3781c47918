"""Django: the migrations of its own applications and of `shop`, the ORM, deferred keys, locks, cursors, introspection."""

import datetime as dt
import io
import os
import sys
import threading
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import django
import psycopg
from django.conf import settings

from harness import Suite, Url, contains, equal, raises

SCHEMA = f"pc_django_{os.getpid()}"
URL = Url(sys.argv[sys.argv.index("--url") + 1])

with psycopg.connect(URL.text, autocommit=True) as connection:
    connection.execute(f"CREATE SCHEMA {SCHEMA}")

settings.configure(
    INSTALLED_APPS=[f"django.contrib.{name}" for name in ("auth", "contenttypes", "sessions", "admin", "messages", "postgres")] + ["shop"],
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "NAME": URL.database, "USER": URL.user, "PASSWORD": URL.password or "",
        "HOST": URL.host, "PORT": URL.port, "OPTIONS": {"options": f"-c search_path={SCHEMA}"},
    }},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=True, SECRET_KEY="a", SILENCED_SYSTEM_CHECKS=["admin"],
)  # fmt: skip
django.setup()

from django.contrib.auth.models import Group, Permission, User
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db import IntegrityError, OperationalError, close_old_connections, connection, transaction
from django.db.models import Avg, Case, Count, Exists, F, OuterRef, Q, Subquery, Sum, Value, When, Window
from django.db.models.functions import Coalesce, RowNumber, TruncMonth
from shop.models import Author, Book, Topic

suite = Suite("django", lambda _url, _statements: None)


def said(*command, **options):
    """What a management command prints."""
    out = io.StringIO()
    call_command(*command, stdout=out, stderr=out, **options)
    return out.getvalue()


def indexes(table):
    with connection.cursor() as cursor:
        return connection.introspection.get_constraints(cursor, table)


@suite.test
def migrate(_t):
    """All applications; a second time there is nothing to do, and the models are what the migrations make."""
    contains(said("migrate"), "Applying shop.0002_more... OK", "Applying sessions.0001_initial... OK", "Applying admin.0003")
    contains(said("migrate"), "No migrations to apply.")
    contains(said("makemigrations", check=True, dry_run=True), "No changes detected")


@suite.test
def migrate_down_and_up(_t):
    author = Author.objects.create(email="old@x")
    Book.objects.create(author=author, title="old")
    said("migrate", "shop", "0001")
    said("migrate", "shop")
    equal(Book.objects.get().shown, "OLD")
    said("migrate", "shop", "zero")
    said("migrate", "shop")


@suite.test
def indexes_and_constraints(_t):
    of_author, of_book = indexes("shop_author"), indexes("shop_book")
    assert of_author["shop_author_fee"]["check"] and of_author["shop_author_lower_email"]["unique"]
    equal(of_author["shop_author_staff"]["columns"], ["kind"])
    equal(of_book["shop_book_once"]["columns"], ["author_id", "title"])
    keys = {tuple(found["columns"]): found["foreign_key"] for found in of_book.values() if found["foreign_key"]}
    equal(keys, {("author_id",): ("shop_author", "id")})
    like = [found for name, found in of_author.items() if name.endswith("_like")]
    equal(sorted(found["columns"] for found in like), [["email"], ["kind"]])


@suite.test
def inspectdb(_t):
    contains(said("inspectdb", "shop_book", "shop_author"), "author = models.ForeignKey('ShopAuthor', models.DO_NOTHING",
             "tags = models.TextField()", "fee = models.DecimalField(max_digits=10, decimal_places=2, blank=True, null=True)",
             "ref = models.UUIDField(unique=True)", "email = models.CharField(unique=True, max_length=254)", "facts = models.JSONField()")  # fmt: skip


@suite.test
def users_groups_and_sessions(_t):
    user = User.objects.create_superuser("root", "r@x", "secret")
    group = Group.objects.create(name="editors")
    group.permissions.set(Permission.objects.filter(content_type__app_label="shop"))
    user.groups.add(group)
    equal(user.has_perm("shop.add_book"), True)
    equal(Permission.objects.filter(group__user=user, codename__startswith="add").count(), 3)
    store = SessionStore()
    store["cart"] = [1, 2]
    store.save()
    equal(SessionStore(store.session_key)["cart"], [1, 2])
    SessionStore.clear_expired()


@suite.test
def create_and_read(_t):
    author = Author.objects.create(email="a@x", kind="staff", facts={"born": 1950, "in": ["x"]}, tags=["p", "q"], fee="12.5",
                                   born=dt.date(1950, 2, 3), worked=dt.timedelta(days=2, hours=3), photo=b"\x00\xff",
                                   user=User.objects.get())  # fmt: skip
    Author.objects.create(email="b@x")
    read = Author.objects.select_related("user").get(tags__contains=["p"], facts__born=1950)
    equal((read.fee, read.tags, read.worked, bytes(read.photo)), (Decimal("12.50"), ["p", "q"], dt.timedelta(days=2, hours=3), b"\x00\xff"))
    equal(read.user.username, "root")
    book = Book.objects.create(author=author, title="one")
    equal(book.shown, "ONE")
    book.topics.set([Topic.objects.create(slug="sql"), Topic.objects.create(slug="art")])
    equal([topic.slug for topic in book.topics.order_by("slug")], ["art", "sql"])
    equal(Author.objects.filter(email__iexact="A@X", tags__overlap=["q"], tags__len=2, facts__has_key="in").count(), 1)
    equal(Author.objects.filter(Q(email__istartswith="B") | Q(email__regex="^z")).get().email, "b@x")


@suite.test
def bulk_create_with_conflicts(_t):
    author = Author.objects.get(email="a@x")
    Author.objects.bulk_create([Author(email="b@x"), Author(email="c@x")], ignore_conflicts=True)
    given = [Author(email="c@x", kind="staff"), Author(email="d@x"), Author(email="b@x", fee=3)]
    made = Author.objects.bulk_create(given, update_conflicts=True, unique_fields=["email"], update_fields=["kind", "fee"])
    for each in made:
        equal(Author.objects.get(pk=each.pk).email, each.email)
    found = Author.objects.filter(email__in=["b@x", "c@x", "d@x"]).values_list("email", "kind", "fee")
    equal(list(found), [("b@x", "guest", Decimal(3)), ("c@x", "staff", None), ("d@x", "guest", None)])
    Book.objects.bulk_create([Book(author=author, title=f"t{n}", copies=n) for n in range(50)], batch_size=20)
    books = list(Book.objects.filter(copies__gt=45))
    for book in books:
        book.copies += 100
    equal(Book.objects.bulk_update(books, ["copies"]), 4)
    equal(Author.objects.update_or_create(email="e@x", defaults={"kind": "staff"})[1], True)
    equal(Author.objects.get_or_create(email="e@x")[1], False)


@suite.test
def queries(_t):
    by_author = Author.objects.annotate(n=Count("books"), sold=Coalesce(Sum("books__copies"), 0)).filter(n__gt=0).order_by("-n")
    equal([(author.email, author.n, author.sold) for author in by_author], [("a@x", 51, 1225 + 400)])
    newest = Book.objects.filter(author=OuterRef("pk")).order_by("-copies").values("title")[:1]
    equal(Author.objects.annotate(best=Subquery(newest)).get(email="a@x").best, "t49")
    equal(Author.objects.filter(~Exists(Book.objects.filter(author=OuterRef("pk")))).count(), 4)
    ranked = Book.objects.annotate(rank=Window(RowNumber(), partition_by="author", order_by=F("copies").desc())).filter(rank__lte=2)
    equal([book.title for book in ranked.order_by("rank")], ["t49", "t48"])
    cases = Case(When(copies__gt=100, then=Value("many")), default=Value("few"))
    equal(list(Book.objects.values(size=cases).annotate(n=Count("pk")).order_by("n").values_list("size", "n")), [("many", 4), ("few", 47)])
    equal(Author.objects.annotate(month=TruncMonth("made")).values("month").distinct().count(), 1)
    equal(Book.objects.aggregate(Avg("copies"))["copies__avg"].__class__, float)
    titles = Book.objects.filter(copies=1).values_list("title").union(Book.objects.filter(copies=2).values_list("title"))
    equal(sorted(titles), [("t1",), ("t2",)])
    equal(len(Author.objects.prefetch_related("books__topics").get(email="a@x").books.all()), 51)
    equal(Book.objects.filter(title="t1").explain().__class__, str)


@suite.test
def cursors(_t):
    """`iterator` makes a cursor WITH HOLD outside a transaction, and another one within."""
    equal(sum(book.copies for book in Book.objects.iterator(chunk_size=7)), 1625)
    with transaction.atomic():
        equal(sum(book.copies for book in Book.objects.iterator(chunk_size=7)), 1625)


@suite.test
def keys_are_deferred(_t):
    with raises(IntegrityError), transaction.atomic():
        Book.objects.create(author_id=999_999, title="nobody's")
        equal(Book.objects.filter(author_id=999_999).count(), 1)
    with transaction.atomic():
        first, second = Book.objects.filter(title__in=["t1", "t2"]).order_by("title")
        Book.objects.filter(pk=first.pk).update(title="t2")
        Book.objects.filter(pk=second.pk).update(title="t1")
    with raises(IntegrityError), transaction.atomic():
        Author.objects.create(email="A@X")
    with raises(IntegrityError), transaction.atomic():
        Author.objects.update(fee=-1)


@suite.test
def locks(_t):
    """Workers that skip what others have locked take each job once; NOWAIT is refused at once."""
    taken, at_once = [], threading.Barrier(4)

    def work():
        with transaction.atomic():
            jobs = Book.objects.select_for_update(skip_locked=True, of=("self",)).select_related("author").order_by("pk")[:5]
            taken.extend(book.pk for book in jobs)
            at_once.wait(20)
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    equal((len(taken), len(set(taken))), (20, 20))
    refused = []

    def other():
        try:
            with transaction.atomic():
                Book.objects.select_for_update(nowait=True).get(title="t1")
        except OperationalError as error:
            refused.append(error.__cause__.sqlstate)
        connection.close()

    with transaction.atomic():
        Book.objects.select_for_update().get(title="t1")
        worker = threading.Thread(target=other)
        worker.start()
        worker.join()
    equal(refused, ["55P03"])


@suite.test
def transactions(_t):
    with transaction.atomic():
        Book.objects.filter(title="t3").update(copies=F("copies") + 1)
        with raises(ZeroDivisionError), transaction.atomic():
            Book.objects.all().delete()
            raise ZeroDivisionError
        seen = []
        transaction.on_commit(lambda: seen.append(Book.objects.get(title="t3").copies))
    equal(seen, [4])


@suite.test
def dump_load_and_reset_sequences(_t):
    text = said("dumpdata", "shop", indent=1)
    path = HERE / f".{SCHEMA}.json"
    try:
        path.write_text(text)
        Author.objects.all().delete()
        equal(Book.objects.count(), 0)
        said("loaddata", str(path))
    finally:
        path.unlink()
    with connection.cursor() as cursor:
        cursor.execute(said("sqlsequencereset", "shop", no_color=True))
    equal(Book.objects.create(author=Author.objects.get(email="a@x"), title="last").pk > 51, True)
    said("flush", interactive=False)
    equal(Author.objects.count(), 0)


@suite.test
def drop_everything(_t):
    connection.close()
    close_old_connections()
    with psycopg.connect(URL.text, autocommit=True) as drops:
        drops.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


if __name__ == "__main__":
    suite.main()
