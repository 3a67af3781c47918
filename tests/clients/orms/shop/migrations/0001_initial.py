"""The first tables. The rest comes in the second migration."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        migrations.CreateModel("Topic", [("slug", models.SlugField(primary_key=True, serialize=False))]),
        migrations.CreateModel(
            "Author",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.CharField(max_length=40)),
                ("kind", models.TextField(default="guest")),
                ("facts", models.JSONField(default=dict)),
                ("tags", django.contrib.postgres.fields.ArrayField(models.CharField(max_length=20), default=list, size=None)),
                ("pay", models.DecimalField(decimal_places=1, max_digits=6, null=True)),
                ("ref", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("user", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            "Book",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="books", to="shop.author")),
                ("title", models.CharField(max_length=200)),
                ("copies", models.IntegerField(null=True)),
                ("topics", models.ManyToManyField(to="shop.topic")),
            ],
        ),
    ]
