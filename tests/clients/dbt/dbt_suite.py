"""dbt: a project that is seeded, run, tested, snapshotted, documented, and run again after its data have changed."""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg2
from dbt.cli.main import dbtRunner

from harness import Suite, equal

SCHEMA = f"pc_dbt_{os.getpid()}"
EVENTS = [(1, "in", 10), (2, "in", 20), (3, "out", 5)]
FOLDER = Path(tempfile.mkdtemp(prefix="pando-dbt-"))


def rows(t, text):
    connection = psycopg2.connect(t.url.text, options=f"-c search_path={SCHEMA}")
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(text)
        found = cursor.fetchall() if cursor.description else []
    connection.close()
    return found


def project(t):
    """A copy of the project, which tests may change, with a profile for the server."""
    folder = FOLDER / "shop"
    if not folder.exists():
        shutil.copytree(Path(__file__).resolve().parent / "shop", folder)
        (folder / "profiles.yml").write_text(
            "shop:\n  target: it\n  outputs:\n    it:\n      type: postgres\n      threads: 4\n"
            f"      host: {t.url.host}\n      port: {t.url.port}\n      user: {t.url.user}\n      pass: '{t.url.password or ''}'\n"
            f"      dbname: {t.url.database}\n      schema: {SCHEMA}\n"
        )
    return folder


def dbt(t, command, *more, fails=False):
    """Runs a command of dbt; returns each node's name and what became of it."""
    folder = project(t)
    said = []
    runner = dbtRunner(callbacks=[lambda event: said.append(event.info.msg)])
    done = runner.invoke([*command.split(), *more, "--project-dir", str(folder), "--profiles-dir", str(folder), "--log-level", "none"])
    if done.success == fails or done.exception:
        raise AssertionError(f"dbt {command}: {done.exception}\n" + "\n".join(said[-60:]))
    results = getattr(done.result, "results", [])
    return {result.node.name: str(result.status) for result in results if getattr(result, "node", None) and result.node.resource_type != "operation"}


def drop(_url, _statements):
    """Everything is in one schema, which the last test drops."""


suite = Suite("dbt", drop, lambda: shutil.rmtree(FOLDER))


@suite.test
def debug(t):
    dbt(t, "debug")


@suite.test
def seed(t):
    equal(dbt(t, "seed"), {"customers": "success", "orders": "success"})
    equal(rows(t, "SELECT id, email, vip FROM customers ORDER BY id")[2], (3, "o'neil, c@example.com", None))
    equal(rows(t, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attnum > 0"),
          [("integer",), ("integer",), ("text",), ("numeric(10,2)",), ("timestamp without time zone",)])  # fmt: skip


@suite.test
def run(t):
    done = dbt(t, "run --exclude batches")
    equal({name for name, status in done.items() if status != "success"}, set())
    equal(rows(t, "SELECT customer_id, orders, total::text, latest::text FROM totals ORDER BY 1"),
          [(1, 1, "12.50", "2024-03-01"), (2, 1, "100.00", "2024-03-03"), (3, 0, "0", None)])  # fmt: skip
    equal(rows(t, "SELECT n, label, day::text, days, part, last_day::text, seven FROM scratch ORDER BY n")[1],
          (2, "row 2", "2024-01-03 00:00:00", 60, "b", "2024-02-29", 7))  # fmt: skip
    equal(rows(t, "SELECT count(*), min(date_day)::text, max(date_day)::text FROM spine"), [(10, "2024-01-01 00:00:00", "2024-01-10 00:00:00")])
    equal(rows(t, "SELECT sum(paid)::text, sum(placed)::text, sum(returned)::text FROM by_status"), [("112.50", "0.99", "7.25")])
    for model in INCREMENTAL:
        equal(rows(t, f"SELECT id, kind, n FROM {model} ORDER BY at"), EVENTS, model)


INCREMENTAL = ("appended", "replaced", "replaced_one", "merged", "merged_partly")


@suite.test
def configurations_are_in_the_catalog(t):
    equal(rows(t, "SELECT indisunique, indnatts::int FROM pg_index WHERE indrelid = 'totals'::regclass ORDER BY 2"), [(True, 1), (False, 2)])
    equal(rows(t, "SELECT obj_description('totals'::regclass), col_description('stg_orders'::regclass, 1)"),
          [("What each customer's paid orders come to.", 'It\'s "the" number.')])  # fmt: skip
    equal(rows(t, "SELECT contype, count(*)::int FROM pg_constraint WHERE conrelid = 'agreed'::regclass GROUP BY 1 ORDER BY 1"),
          [("c", 1), ("f", 1), ("p", 1), ("u", 1)])  # fmt: skip
    equal(rows(t, "SELECT has_table_privilege('public', 'totals', 'SELECT'), relpersistence FROM pg_class WHERE oid = 'scratch'::regclass"), [(True, "u")])


@suite.test
def test(t):
    done = dbt(t, "test")
    equal({name for name, status in done.items() if status != "pass"}, {"not_null_totals_latest"})
    equal(done["not_null_totals_latest"], "warn")
    equal(rows(t, f"SELECT customer_id FROM {SCHEMA}_dbt_test__audit.not_null_totals_latest"), [(3,)])


@suite.test
def a_test_that_fails(t):
    rows(t, "INSERT INTO orders VALUES (10, 1, 'lost', 1, now())")
    done = dbt(t, "test", "--select", "stg_orders", fails=True)
    equal({name.split("__")[0] for name, status in done.items() if status == "fail"},
          {"unique_stg_orders_order_id", "accepted_values_stg_orders_status"})  # fmt: skip
    rows(t, "DELETE FROM orders WHERE status = 'lost'")


@suite.test
def snapshot(t):
    equal(set(dbt(t, "snapshot").values()), {"success"})
    equal(rows(t, "SELECT id FROM customers_checked WHERE dbt_valid_to IS NULL ORDER BY 1"), [(1,), (2,), (3,)])
    rows(t, "UPDATE customers SET email = 'bob@new' WHERE id = 2; DELETE FROM customers WHERE id = 3")
    rows(t, "UPDATE orders SET status = 'paid', ordered_at = '2024-04-01' WHERE id = 13; DELETE FROM orders WHERE id = 10")
    dbt(t, "snapshot")
    equal(rows(t, "SELECT id, email, dbt_valid_to IS NULL FROM customers_checked ORDER BY id, dbt_valid_from, dbt_valid_to"),
          [(1, "ann@example.com", True), (2, "bob@example.com", False), (2, "bob@new", True), (3, "o'neil, c@example.com", False)])  # fmt: skip
    equal(rows(t, "SELECT id, status, dbt_is_deleted, dbt_valid_to = '9999-12-31' FROM orders_stamped WHERE id IN (10, 12, 13) ORDER BY id, dbt_valid_from"),
          [(10, "paid", "False", False), (10, "paid", "True", True), (12, "paid", "False", True),
           (13, "placed", "False", False), (13, "paid", "False", True)])  # fmt: skip
    dbt(t, "snapshot")
    equal(rows(t, "SELECT count(*)::int FROM customers_checked"), [(4,)])


@suite.test
def run_again(t):
    """Later events come, one of them with the number of an earlier one."""
    dbt(t, "seed", "--full-refresh")
    dbt(t, "run --exclude batches", "--vars", "{until: 5}")
    later = [(3, "out", 6), (4, "in", 40)]
    equal(rows(t, "SELECT id, kind, n FROM appended ORDER BY at"), EVENTS + later)
    for model in INCREMENTAL[1:]:
        equal(rows(t, f"SELECT id, kind, n FROM {model} ORDER BY id"), EVENTS[:2] + later, model)
    equal(rows(t, "SELECT at::text FROM merged_partly WHERE id = 3"), [("2024-01-03 00:00:00",)])
    equal(rows(t, "SELECT count(*)::int, sum(orders)::int FROM totals"), [(3, 2)])


@suite.test
def columns_that_come_later(t):
    dbt(t, "run", "--vars", "{until: 5, more: extra}", "--select", "merged", "replaced", "appended")
    names = "SELECT attname FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
    equal([len(rows(t, names.format(model))) for model in ("appended", "replaced", "merged")], [4, 5, 5])
    dbt(t, "run", "--vars", "{until: 5}", "--select", "merged", "replaced")
    equal([len(rows(t, names.format(model))) for model in ("replaced", "merged")], [5, 4])


@suite.test
def batches(t):
    """Microbatches: a day each, and again the days that are looked back on."""
    dbt(t, "run", "--select", "moments", "batches", "--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04", "--vars", "{until: 4}")
    equal(rows(t, "SELECT count(*)::int, sum(twice)::int FROM batches"), [(12, 132)])
    dbt(t, "run", "--select", "batches", "--event-time-start", "2024-01-03", "--event-time-end", "2024-01-05", "--vars", "{until: 4}")
    equal(rows(t, "SELECT count(*)::int, sum(twice)::int FROM batches"), [(16, 240)])


@suite.test
def full_refresh_and_materialized_view(t):
    rows(t, "INSERT INTO orders VALUES (20, 2, 'paid', 1, '2025-01-01')")
    equal(rows(t, "SELECT max(at)::text FROM latest"), [("2024-03-04 13:45:10",)])
    dbt(t, "run", "--full-refresh", "--vars", "{until: 2}", "--select", "appended", "merged")
    dbt(t, "run", "--select", "latest")
    equal(rows(t, "SELECT max(at)::text FROM latest"), [("2025-01-01 00:00:00",)])
    equal(rows(t, "SELECT count(*)::int FROM appended UNION ALL SELECT count(*) FROM merged"), [(2,), (2,)])
    model = project(t) / "models" / "latest.sql"
    model.write_text(model.read_text().replace("'columns': ['customer_id']", "'columns': ['customer_id', 'at'], 'unique': true"))
    dbt(t, "run", "--select", "latest")
    equal(rows(t, "SELECT indisunique FROM pg_index WHERE indrelid = 'latest'::regclass"), [(True,)])


@suite.test
def kinds_that_change(t):
    """A table becomes a view, a view a table, and a view a materialized one."""
    models = project(t) / "models"
    for name, kind in (("scratch", "view"), ("stg_orders", "table"), ("spine", "materialized_view")):
        path = models / f"{name}.sql"
        path.write_text(path.read_text().replace("unlogged=true", "").replace("'table'", f"'{kind}'").replace("'view'", f"'{kind}'"))
    dbt(t, "run", "--select", "scratch", "stg_orders", "spine", "totals")
    equal(rows(t, "SELECT relname, relkind FROM pg_class WHERE relname IN ('scratch', 'stg_orders', 'spine') AND relnamespace = current_schema::regnamespace "
                  "ORDER BY 1"), [("scratch", "v"), ("spine", "m"), ("stg_orders", "r")])  # fmt: skip


@suite.test
def docs_generate(t):
    dbt(t, "docs generate")
    catalog = json.loads((project(t) / "target" / "catalog.json").read_text())
    totals = catalog["nodes"]["model.shop.totals"]
    equal((totals["metadata"]["type"], totals["metadata"]["comment"], totals["metadata"]["owner"]),
          ("BASE TABLE", "What each customer's paid orders come to.", t.url.user))  # fmt: skip
    equal([(column["name"], column["type"]) for column in totals["columns"].values()],
          [("customer_id", "integer"), ("email", "character varying(80)"), ("vip", "boolean"), ("orders", "bigint"), ("total", "numeric"),
           ("latest", "date")])  # fmt: skip
    equal({node: entry["metadata"]["type"] for node, entry in catalog["nodes"].items() if node.endswith(("scratch", "spine"))},
          {"model.shop.scratch": "VIEW", "model.shop.spine": "MATERIALIZED VIEW"})  # fmt: skip
    equal(catalog["errors"], None)


@suite.test
def operations_and_sources(t):
    rows(t, "CREATE TABLE arrivals (id int, at timestamptz); INSERT INTO arrivals VALUES (1, now() - interval '1 hour')")
    equal(dbt(t, "source freshness"), {"arrivals": "pass"})
    rows(t, "UPDATE arrivals SET at = at - interval '1 day'")
    equal(dbt(t, "source freshness"), {"arrivals": "warn"})
    dbt(t, "run-operation columns_of --args", "{model: totals}")
    dbt(t, "show --inline", "select * from {{ ref('totals') }}")
    dbt(t, "compile")
    dbt(t, "build", "--select", "+totals")
    equal(rows(t, "SELECT command FROM runs ORDER BY id DESC LIMIT 1"), [("build",)])


@suite.test
def clean_up(t):
    rows(t, f"DROP SCHEMA IF EXISTS {SCHEMA}_dbt_test__audit CASCADE; DROP SCHEMA {SCHEMA} CASCADE")


if __name__ == "__main__":
    suite.main()
