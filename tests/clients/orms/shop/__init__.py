"""A Django application: authors and their books."""
