#!/usr/bin/env python3
"""Records what PostgreSQL 15 answers: writes tests/postgresql.tsv, which tests/postgresql.rs replays.

    python3 postgresql.py SEED CASES psql -h HOST -U USER DATABASE > postgresql.tsv

A line is the name of a function, its arguments and PostgreSQL's answer, separated by tabs. An error is an exclamation mark,
its SQLSTATE and message. CASES is how many calls of each function have random arguments; more come from a list of edges.
The function pg_temp.answer is created in the session, nothing else.
"""

import random
import subprocess
import sys

# Each function with the types of its arguments, and its call in SQL. n: a number, m: a moderate number, p: a positive one,
# t: any text, i: a small integer, f: a floating point number, l: a list of numbers.
FUNCTIONS = {
    "parse": ("t", "{0}::numeric"),
    "add": ("nn", "{0}::numeric + {1}::numeric"),
    "sub": ("nn", "{0}::numeric - {1}::numeric"),
    "mul": ("nn", "{0}::numeric * {1}::numeric"),
    "div": ("nn", "{0}::numeric / {1}::numeric"),
    "rem": ("nn", "{0}::numeric % {1}::numeric"),
    "div_trunc": ("nn", "div({0}::numeric, {1}::numeric)"),
    "cmp": ("nn", "numeric_cmp({0}::numeric, {1}::numeric)"),
    "gcd": ("nn", "gcd({0}::numeric, {1}::numeric)"),
    "lcm": ("nn", "lcm({0}::numeric, {1}::numeric)"),
    "neg": ("n", "-{0}::numeric"),
    "abs": ("n", "abs({0}::numeric)"),
    "signum": ("n", "sign({0}::numeric)"),
    "ceil": ("n", "ceil({0}::numeric)"),
    "floor": ("n", "floor({0}::numeric)"),
    "inc": ("n", "numeric_inc({0}::numeric)"),
    "round": ("ni", "round({0}::numeric, {1})"),
    "trunc": ("ni", "trunc({0}::numeric, {1})"),
    "scale": ("n", "scale({0}::numeric)"),
    "min_scale": ("n", "min_scale({0}::numeric)"),
    "trim_scale": ("n", "trim_scale({0}::numeric)"),
    "to_i64": ("n", "{0}::numeric::bigint"),
    "to_i32": ("n", "{0}::numeric::integer"),
    "to_i16": ("n", "{0}::numeric::smallint"),
    "to_f64": ("n", "{0}::numeric::double precision"),
    "to_f32": ("n", "{0}::numeric::real"),
    "from_f64": ("f", "{0}::double precision::numeric"),
    "from_f32": ("f", "{0}::real::numeric"),
    "wire": ("n", "encode(numeric_send({0}::numeric), 'hex')"),
    "with_precision": ("nqs", "{0}::numeric::numeric({1}, {2})"),
    "sqrt": ("p", "sqrt({0}::numeric)"),
    "exp": ("e", "exp({0}::numeric)"),
    "ln": ("p", "ln({0}::numeric)"),
    "log10": ("p", "log({0}::numeric)"),
    "log": ("pp", "log({0}::numeric, {1}::numeric)"),
    "power": ("me", "power({0}::numeric, {1}::numeric)"),
    "factorial": ("i", "factorial({0}::bigint)"),
    "width_bucket": ("mmmi", "width_bucket({0}::numeric, {1}::numeric, {2}::numeric, {3})"),
    "sum": ("l", "(select sum(x) from unnest({0}::numeric[]) x)"),
    "avg": ("l", "(select avg(x) from unnest({0}::numeric[]) x)"),
    "var_samp": ("l", "(select var_samp(x) from unnest({0}::numeric[]) x)"),
    "var_pop": ("l", "(select var_pop(x) from unnest({0}::numeric[]) x)"),
    "stddev_samp": ("l", "(select stddev_samp(x) from unnest({0}::numeric[]) x)"),
    "stddev_pop": ("l", "(select stddev_pop(x) from unnest({0}::numeric[]) x)"),
}

SPECIAL = ["NaN", "Infinity", "-Infinity"]
EDGES = SPECIAL + [
    "0", "0.0", "0.000", "1", "1.0", "-1", "-1.00", "2", "0.5", "-0.5", "1.5", "-2.5", "10", "100", "0.1", "0.01",
    "10000", "9999", "9999.9999", "0.9", "1.1", "1.00000000000000000001", "0.99999999999999999999", "0.0001", "0.00001",
    "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728", "340282366920938463463374607431768211456",
    "9223372036854775807.4", "9223372036854775807.5", "-9223372036854775808.5", "2147483647.5", "-2147483648.4", "32767.49", "-32768.5",
    "99999999999999999999999999999999999999", "1e38", "1e39", "1e-38", "1e-39", "1e200", "-1e200", "1e-200", "4.9e-324", "1.8e308", "3.5e38",
]
TEXTS = SPECIAL + [
    "", " ", ".", "+", "-", "1.", ".5", "+1", "- 1", " 1 ", "1 2", "1e5", "1E+5", "1e-5", "1e", "1e+", "1e 5", "1.5e3", "0e-5", "0e200000", "1e131072", "1e-16384",
    "inf", "+inf", "-inf", "-infinity", "nan", "-nan", "infx", "1_000", "0x1", "1..2", "007.50", "-0.0", "1e1000000000", "1e99999999999999999999",
]


def digits(count):
    return "".join(random.choice("0123456789") for _ in range(count))


def number(negative=True, moderate=False):
    kind = random.random()
    if kind < 0.08:
        text = random.choice(EDGES).lstrip("-" if not negative else "")
        if not moderate or "e" not in text:
            return text
    if kind < 0.45:
        text = digits(random.randint(1, 5)) + "." + digits(random.randint(1, 4))
    elif kind < 0.6:
        text = digits(random.randint(1, 19))
    elif kind < 0.75:
        text = "0." + "0" * random.randint(0, 12) + digits(random.randint(1, 12))
    elif kind < 0.85:
        text = random.choice(["0.9999", "1.0000", "1.00000000", "0.99999999999"]) + digits(random.randint(1, 9))
    elif kind < 0.95 or moderate:
        text = digits(random.randint(1, 15)) + "." + digits(random.randint(1, 22))
    else:
        text = digits(random.randint(1, 60)) + "." + digits(random.randint(1, 60)) + random.choice(["", "e%d" % random.randint(-90, 90)])
    return ("-" if negative and random.random() < 0.4 else "") + text


def argument(kind):
    if kind == "n":
        return number()
    if kind == "m":
        return number(moderate=True)
    if kind == "p":
        return number(negative=random.random() < 0.03)
    if kind == "e":
        shape = random.random()
        if shape < 0.3:
            return str(random.randint(-40, 60))
        if shape < 0.4:
            return str(random.randint(-3000, 3000))
        if shape < 0.8:
            return "%s%d.%s" % (random.choice(["", "-"]), random.randint(0, 30), digits(random.randint(1, 12)))
        return number(moderate=True)
    if kind == "i":
        return str(random.choice([random.randint(-8, 30), random.randint(-3, 4), random.randint(-100, 200)]))
    if kind == "q":
        return str(random.randint(1, 40))
    if kind == "s":
        return str(random.randint(-8, 24))
    if kind == "f":
        value = random.choice([random.uniform(-10, 10), random.uniform(-1, 1) * 10.0 ** random.randint(-37, 37), float(random.randint(-10**9, 10**9)), random.randint(1, 10**6) / 1000])
        return random.choice([repr(value)] * 12 + ["NaN", "Infinity", "-Infinity", "0", "-0"])
    if kind == "t":
        return random.choice([number(), number(), " %s  " % number(), number() + "e%d" % random.randint(-50, 50), random.choice(TEXTS)])
    scale = random.randint(0, 6)
    rows = [random.choice(["%s%d.%s" % (random.choice(["", "-"]), random.randint(0, 10**6), digits(scale + 1)), str(random.randint(-1000, 1000))]) for _ in range(random.randint(0, 7))]
    if random.random() < 0.3:
        rows = [number() for _ in range(random.randint(0, 5))]
    if random.random() < 0.1 and rows:
        rows = [rows[0]] * len(rows)
    return "{%s}" % ",".join(rows)


def calls(count):
    for name, (kinds, _) in FUNCTIONS.items():
        for _ in range(count):
            yield name, [argument(kind) for kind in kinds]
        if kinds in ("n", "p", "e"):
            for edge in EDGES:
                yield name, [edge]
        if kinds == "t":
            for text in TEXTS:
                yield name, [text]


def main():
    random.seed(int(sys.argv[1]))
    cases = list(calls(int(sys.argv[2])))
    quoted = [[("'%s'" % text) for text in arguments] for _, arguments in cases]
    script = [
        "create function pg_temp.answer(call text) returns text language plpgsql as $$ declare result text; begin"
        " execute 'select (' || call || ')::text' into result; return coalesce(result, 'null');"
        " exception when others then return '!' || sqlstate || ' ' || sqlerrm; end $$;",
        "set statement_timeout = '20s';",
    ]
    for (name, _), arguments in zip(cases, quoted):
        script.append("select pg_temp.answer($call$%s$call$);" % FUNCTIONS[name][1].format(*arguments))
    output = subprocess.run(sys.argv[3:] + ["-qAt"], input="\n".join(script), capture_output=True, text=True, check=True)
    answers = output.stdout.split("\n")[: len(cases)]
    assert len(answers) == len(cases), output.stderr
    for (name, arguments), answer in zip(cases, answers):
        # Answers of thousands of digits tell no more than shorter ones.
        if len(answer) <= 1500:
            print("\t".join([name] + arguments + [answer]))


main()
