"""SQLAlchemy's own plugin; the requirements are those that its source distribution has for PostgreSQL."""

import pytest

pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403
from sqlalchemy.dialects.postgresql import provision  # noqa: E402

# The suite does without these where the catalog does not name them, but would make them on every connection.
provision._extensions = []
