"""Why a test fails, from what it says: what Pando leaves out has a name here, anything else speaks for itself."""

import re

RULES = [
    (r"TEMP(ORARY)? tables are not supported", "There are no temporary tables."),
    (r"(CREATE|DROP) TYPE is not supported", "There are no enums and composite types."),
    (r"DOMAIN is not supported", "There are no domains."),
    (r"LISTEN|NOTIFY", "There is no LISTEN and NOTIFY."),
    (r"(CREATE|DROP) (FUNCTION|PROCEDURE)|found: do\b", "There are no functions of one's own and no PL/pgSQL."),
    (r"lo_create|lo_creat|lo_open|large object", "There are no large objects."),
    (r"EXTENSION", "There are no extensions."),
    (r"FOREIGN KEY|foreign key", "There are no foreign keys."),
    (r"UNIQUE", "There are no UNIQUE constraints."),
    (r"CHECK constraint", "There are no CHECK constraints."),
    (r"(CREATE|UNIQUE) INDEX|secondary index", "There are no secondary indexes."),
    (r"(?i)serializable", "The highest isolation is snapshot isolation."),
    (r"TRIGGER", "There are no triggers."),
    (r"(?i)unsupported sql type \"?([a-z0-9_(]+)", "A type that Pando lacks: {}"),
    (r"type \"?([a-z0-9_]+)\"? does not exist", "A type that Pando lacks: {}"),
    (r"it never ended|Timeout", "It waits until its time is over."),
]

# Places, counters and addresses, which differ from run to run.
_CHANGING = re.compile(r"0x[0-9a-f]+|\b\d{3,}\b|[0-9a-f]{16,}")


# Where PostgreSQL's message is in what a test prints: in psycopg's and asyncpg's exceptions, or as Go shows it.
_SAID = re.compile(
    r"ERROR: .*"
    r"|(?<=Message:\")[^\"]+"
    r"|(?<=Received unexpected error:)\s+\S.*"
    r"|(?<=Error:)\s+(?!Received|Expected nil)\S.*"
    r"|(?:asyncpg|psycopg|sqlalchemy)\S*(?:Error|Exception|errors\S*)\W.*"
    r"|_test\.go:\d+: \S.*"
)

# What the reasons begin with that are a test's own words.
SAYS = "It says: "


def reason(why):
    """A reason for the list."""
    for pattern, text in RULES:
        if match := re.search(pattern, why):
            return text.format(*match.groups())
    said = _SAID.search(why)
    line = said[0] if said else next((line for line in why.splitlines() if line.strip()), "no reason given")
    line = re.sub(r"^_test\.go:\d+: ", "", line).split("\\n")[0].strip()
    return SAYS + _CHANGING.sub("…", line)[:110].strip()
