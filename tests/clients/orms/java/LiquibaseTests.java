import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Map;
import liquibase.CatalogAndSchema;
import liquibase.Contexts;
import liquibase.LabelExpression;
import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.UpdateSummaryEnum;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.DiffGeneratorFactory;
import liquibase.diff.DiffResult;
import liquibase.diff.compare.CompareControl;
import liquibase.exception.LiquibaseException;
import liquibase.resource.DirectoryResourceAccessor;
import liquibase.snapshot.DatabaseSnapshot;
import liquibase.snapshot.SnapshotControl;
import liquibase.snapshot.SnapshotGeneratorFactory;
import liquibase.structure.core.Table;
import liquibase.ui.LoggerUIService;

/** Liquibase: change logs up and down, what it finds in the catalog, and differences. */
final class LiquibaseTests {
    private static final String CHANGES = """
        databaseChangeLog:
          - changeSet:
              id: 1
              author: suite
              changes:
                - createTable:
                    tableName: customer
                    columns:
                      - column: {name: id, type: bigint, autoIncrement: true, constraints: {primaryKey: true}}
                      - column: {name: email, type: varchar(80), constraints: {nullable: false, unique: true}}
                      - column: {name: balance, type: "numeric(12, 2)", defaultValueNumeric: 0}
                      - column: {name: made, type: timestamp, defaultValueComputed: CURRENT_TIMESTAMP}
                - createTable:
                    tableName: purchase
                    columns:
                      - column: {name: id, type: int, constraints: {primaryKey: true}}
                      - column: {name: customer, type: bigint, constraints: {nullable: false}}
                      - column: {name: paid, type: boolean, defaultValueBoolean: false}
                - addForeignKeyConstraint:
                    baseTableName: purchase
                    baseColumnNames: customer
                    constraintName: purchase_customer
                    referencedTableName: customer
                    referencedColumnNames: id
                    onDelete: CASCADE
                - createIndex:
                    tableName: purchase
                    indexName: purchase_by_customer
                    columns:
                      - column: {name: customer}
          - changeSet:
              id: 2
              author: suite
              changes:
                - insert: {tableName: customer, columns: [{column: {name: email, value: a@example.org}}]}
                - addColumn: {tableName: customer, columns: [{column: {name: note, type: text}}]}
                - createSequence: {sequenceName: numbers, startValue: 100, incrementBy: 5}
                - createView: {viewName: paying, selectQuery: "SELECT customer FROM purchase WHERE paid"}
              rollback:
                - sql: DROP VIEW paying
                - dropSequence: {sequenceName: numbers}
                - dropColumn: {tableName: customer, columnName: note}
                - delete: {tableName: customer}
          - changeSet:
              id: 3
              author: suite
              preConditions:
                - onFail: MARK_RAN
                - not:
                    - columnExists: {tableName: customer, columnName: name}
              changes:
                - renameColumn: {tableName: customer, oldColumnName: email, newColumnName: name}
                - modifyDataType: {tableName: customer, columnName: name, newDataType: text}
                - addNotNullConstraint: {tableName: purchase, columnName: paid, defaultNullValue: "false"}
              rollback:
                - renameColumn: {tableName: customer, oldColumnName: name, newColumnName: email}
        """;

    static void addTo(Suite suite) {
        suite.add("update_and_roll_back", schema -> with(schema, liquibase -> {
            liquibase.update(2, new Contexts(), new LabelExpression());
            liquibase.tag("two");
            Suite.same(1, liquibase.listUnrunChangeSets(new Contexts(), new LabelExpression()).size());
            liquibase.update(new Contexts(), new LabelExpression());
            Suite.same("a@example.org", Suite.value("SELECT name FROM " + schema + ".customer"));
            Suite.same("3", Suite.value("SELECT count(*) FROM " + schema + ".databasechangelog"));
            liquibase.rollback("two", new Contexts());
            Suite.same("a@example.org", Suite.value("SELECT email FROM " + schema + ".customer"));
            liquibase.rollback(1, "");
            Suite.same("0", Suite.value("SELECT count(*) FROM " + schema + ".customer"));
            liquibase.update(new Contexts(), new LabelExpression());
            liquibase.validate();
            liquibase.forceReleaseLocks();
            Suite.same(0, liquibase.listLocks().length);
        }));
        suite.add("sql_of_an_update", schema -> with(schema, liquibase -> {
            Writer script = new StringWriter();
            liquibase.update(new Contexts(), new LabelExpression(), script);
            Suite.run("SET search_path = " + schema + "; " + script);
            Suite.same("100", Suite.value("SELECT nextval('" + schema + ".numbers')"));
        }));
        suite.add("a_failed_change_is_undone", schema -> with(schema, liquibase -> {
            liquibase.update(1, new Contexts(), new LabelExpression());
            Suite.run("CREATE VIEW " + schema + ".paying AS SELECT 1 AS one");
            Suite.run("ALTER TABLE " + schema + ".customer ADD note int");
            Suite.fails(LiquibaseException.class, () -> {
                liquibase.update(new Contexts(), new LabelExpression());
                return null;
            });
            Suite.same("0", Suite.value("SELECT count(*) FROM " + schema + ".customer"));
        }));
        suite.add("snapshot", schema -> with(schema, liquibase -> {
            liquibase.update(new Contexts(), new LabelExpression());
            DatabaseSnapshot found = snapshot(liquibase.getDatabase());
            Table purchase = found.get(new Table(null, null, "purchase"));
            Suite.same("[id, customer, paid]", purchase.getColumns().stream().map(column -> column.getName()).toList().toString());
            Suite.same("purchase_pkey", purchase.getPrimaryKey().getName());
            Suite.same("purchase_customer", purchase.getOutgoingForeignKeys().get(0).getName());
            Suite.same("importedKeyCascade", purchase.getOutgoingForeignKeys().get(0).getDeleteRule().name());
            Suite.holds(purchase.getIndexes().stream().anyMatch(index -> index.getName().equals("purchase_by_customer")), "the index");
            Suite.same(false, purchase.getColumn("paid").isNullable());
        }));
        suite.add("no_difference_from_itself", schema -> with(schema, liquibase -> {
            liquibase.update(new Contexts(), new LabelExpression());
            Database database = liquibase.getDatabase();
            DiffResult result = DiffGeneratorFactory.getInstance()
                .compare(snapshot(database), snapshot(database), CompareControl.STANDARD);
            Suite.holds(result.areEqual(), "differences: " + result.getChangedObjects() + result.getMissingObjects());
        }));
    }

    private interface Work {
        void run(Liquibase liquibase) throws Exception;
    }

    private static DatabaseSnapshot snapshot(Database database) throws Exception {
        CatalogAndSchema schema = database.getDefaultSchema();
        return SnapshotGeneratorFactory.getInstance().createSnapshot(schema, database, new SnapshotControl(database));
    }

    private static void with(String schema, Work work) throws Exception {
        Path folder = Files.createTempDirectory("liquibase");
        Files.writeString(folder.resolve("changes.yaml"), CHANGES);
        Scope.child(Map.of(Scope.Attr.ui.name(), new LoggerUIService()), () -> {
            try (Connection connection = Suite.connect()) {
                Database database =
                    DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
                database.setDefaultSchemaName(schema);
                connection.createStatement().execute("SET search_path = " + schema);
                Liquibase liquibase = new Liquibase("changes.yaml", new DirectoryResourceAccessor(folder), database);
                liquibase.setShowSummary(UpdateSummaryEnum.OFF);
                work.run(liquibase);
            }
        });
    }
}
