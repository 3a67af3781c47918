"""Columns that are added, renamed and changed; indexes and constraints; a change of the data."""

import django.db.models.functions.text
import django.utils.timezone
from django.db import migrations, models
from django.db.models.functions import Upper


def count_copies(apps, _editor):
    apps.get_model("shop", "Book").objects.filter(copies=None).update(copies=0)


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.RunPython(count_copies, migrations.RunPython.noop),
        # Django makes no other change of a table whose rows have just been changed in the same transaction.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.AlterModelOptions("author", {"ordering": ["email"]}),
        migrations.RenameField("author", "pay", "fee"),
        migrations.AlterField("author", "fee", models.DecimalField(decimal_places=2, max_digits=10, null=True)),
        migrations.AlterField("author", "email", models.EmailField(max_length=254, unique=True)),
        migrations.AlterField(
            "author",
            "kind",
            models.CharField(choices=[("staff", "Staff"), ("guest", "Guest")], db_index=True, default="guest", max_length=10),
        ),
        migrations.AddField("author", "born", models.DateField(null=True)),
        migrations.AddField("author", "made", models.DateTimeField(auto_now_add=True, default=django.utils.timezone.now), preserve_default=False),
        migrations.AddField("author", "worked", models.DurationField(null=True)),
        migrations.AddField("author", "photo", models.BinaryField(default=b"")),
        migrations.AlterField("book", "title", models.TextField(db_comment="as printed")),
        migrations.AlterField("book", "copies", models.PositiveIntegerField(db_default=0, default=0)),
        migrations.AddField(
            "book",
            "shown",
            models.GeneratedField(db_persist=True, expression=Upper("title"), output_field=models.TextField()),
        ),
        migrations.AddIndex("author", models.Index(condition=models.Q(("kind", "staff")), fields=["kind"], name="shop_author_staff")),
        migrations.AddIndex("book", models.Index("copies", models.OrderBy(models.F("title"), descending=True), name="shop_book_copies")),
        migrations.AddConstraint("author", models.CheckConstraint(condition=models.Q(("fee__gte", 0)), name="shop_author_fee")),
        migrations.AddConstraint(
            "author", models.UniqueConstraint(django.db.models.functions.text.Lower("email"), name="shop_author_lower_email")
        ),
        migrations.AddConstraint(
            "book",
            models.UniqueConstraint(deferrable=models.Deferrable["DEFERRED"], fields=("author", "title"), name="shop_book_once"),
        ),
    ]
