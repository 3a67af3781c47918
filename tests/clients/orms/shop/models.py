"""The models of the shop, with every kind of field, index and constraint that applications use."""

import uuid

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower


class Author(models.Model):
    email = models.EmailField(unique=True)
    kind = models.CharField(max_length=10, choices=[("staff", "Staff"), ("guest", "Guest")], default="guest", db_index=True)
    facts = models.JSONField(default=dict)
    tags = ArrayField(models.CharField(max_length=20), default=list)
    fee = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    ref = models.UUIDField(default=uuid.uuid4, unique=True)
    user = models.ForeignKey(User, models.SET_NULL, null=True)
    born = models.DateField(null=True)
    made = models.DateTimeField(auto_now_add=True)
    worked = models.DurationField(null=True)
    photo = models.BinaryField(default=b"")

    class Meta:
        ordering = ["email"]
        constraints = [
            models.CheckConstraint(condition=models.Q(fee__gte=0), name="shop_author_fee"),
            models.UniqueConstraint(Lower("email"), name="shop_author_lower_email"),
        ]
        indexes = [models.Index(fields=["kind"], condition=models.Q(kind="staff"), name="shop_author_staff")]


class Topic(models.Model):
    slug = models.SlugField(primary_key=True)


class Book(models.Model):
    author = models.ForeignKey(Author, models.CASCADE, related_name="books")
    title = models.TextField(db_comment="as printed")
    copies = models.PositiveIntegerField(default=0, db_default=0)
    shown = models.GeneratedField(expression=models.functions.Upper("title"), output_field=models.TextField(), db_persist=True)
    topics = models.ManyToManyField(Topic)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["author", "title"], name="shop_book_once", deferrable=models.Deferrable.DEFERRED)]
        indexes = [models.Index("copies", models.F("title").desc(), name="shop_book_copies")]
