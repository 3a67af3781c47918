#!/usr/bin/env python3
"""Records what PostgreSQL 15 answers: writes tests/postgresql.tsv, which tests/postgresql.rs replays.

    python3 postgresql.py SEED CASES psql -h HOST -U USER DATABASE > postgresql.tsv

A line is the name of a function, its arguments and PostgreSQL's answer, separated by tabs. An error is an exclamation mark,
its SQLSTATE and message; of long answers only the ends are kept. CASES is how many calls of each function have random arguments; more come from a list of edges.
The function pg_temp.answer is created in the session, nothing else.
"""

import random
import subprocess
import sys


def windows(function):
    window = "(order by place rows between 2 preceding and current row)"
    rows = "select place, %s(x) over %s as result from unnest({0}::numeric[]) with ordinality as numbers (x, place)" % (function, window)
    return "(select string_agg(coalesce(result::text, 'null'), ' ' order by place) from (%s) as windows)" % rows


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
    # Of each number and the two before it: numbers leave the state again.
    "sum_of_three": ("l", windows("sum")),
    "avg_of_three": ("l", windows("avg")),
    "stddev_samp_of_three": ("l", windows("stddev_samp")),
    "var_pop_of_three": ("l", windows("var_pop")),
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

# Calls at the limits.
CALLS = """
add 9e131071 1e131071
add 5e131071 -5e131071
sub 1e131071 1e-16383
mul 1e131071 10
mul 1e131071 1e-16383
mul 1e-16383 0.5
mul 1e-16383 0.4
mul 1e-9000 3e-9000
mul 9e100000 9e31071
mul 9e100000 9e31070
mul 123456789e-16383 123.456
div 1 3e131071
div 1e131071 3
div 1e131071 1e-1
div 1e-16383 7
div 7 1e-16383
div 1e-2000 3e-2001
div 1e-2000 3e2001
div 99999999 99999999
div 10000 9999
div 9999 10000
div 1 10001
rem 1e131071 7
rem 1e131071 1e-16383
div_trunc 1e131071 1e-1
div_trunc 1e131071 7
gcd 1e131071 1e100000
gcd 123456789e300 987654321e290
lcm 1e131071 3
lcm 2e131071 7
round 9e131071 -131071
round 9e131071 -131072
round 4e131071 -131072
round 1 50000
round 123 -2147483648
round 123 2147483647
trunc 9e131071 -131072
trunc 1.5 2147483647
trunc 1.5 -2147483648
sqrt 1e131071
sqrt 2e131070
sqrt 2e-16383
sqrt 1e-1000
sqrt 99999999999999999999999999999999999999999999999999
exp 5999.999
exp 6000
exp -5999.999
exp -6000
exp 5998.5
exp 1e131071
exp -1e131071
exp 1e-16383
exp 1e-500
exp 0.01
exp 0.0100000001
ln 1e131071
ln 9.99e131071
ln 1e-16383
ln 1e-900
ln 1.1
ln 0.9
ln 1.10000000000001
ln 0.89999999999
ln 2.718281828459045235360287471352662497757
log10 1e131071
log10 1e-16383
log10 1000
log10 0.001
log10 1e50
log 1 5
log 1.0 1
log 2 1e131071
log 1e131071 2
log 0.5 1e-16383
log 1e-900 1e900
log 1.0000000001 7
log Infinity 5
log 5 Infinity
log Infinity Infinity
log -1 NaN
log 0 5
log 5 0
log 0 -5
log -5 0
log 0 Infinity
log -Infinity 5
power 10 131071
power 10 131072
power 10 -131071
power 10 -16
power 10 -17
power 2 435411
power 2 435412
power 2 -435412
power 0.5 435411
power 1.0000001 1000000000
power 1.0000001 2147483647
power 1.0000001 -2147483648
power 0.9999999 2147483647
power -1 2147483647
power -1 2147483648
power -1 4294967295
power 1 99999999999999999999
power 1.000000000001 99999999999
power 0 0
power 0 1
power 0 0.5
power 0 1e30
power 0 -1
power 0 -0.5
power 0.00 3
power -8 0.5
power -8 3
power -8 -3
power -2.5 99999999999
power 2 1e30
power 0.5 1e30
power 2 6000.5
power 2 8600.5
power 2 8656.17
power 2 8700.5
power 2 -8600.5
power 2 -9000.5
power 1e131071 1
power 1e131071 2
power 1e65000 2
power 1e65000 3
power 1e65536 2
power 1e-16383 2
power 1e-16383 -2
power 1e-16383 -10
power 1e-16383 0.5
power 1e131071 0.01
power 1.5 1.5
power 123.45e-10 3
power 2.0000000000000000000000001 3
power NaN 0
power NaN 0.0
power NaN 1
power 1 NaN
power 1.0 NaN
power 0 NaN
power Infinity 0
power Infinity 2
power Infinity -2
power Infinity 0.5
power -Infinity 2
power -Infinity 3
power -Infinity 3.0
power -Infinity 30000
power -Infinity -3
power -Infinity 0.5
power -Infinity Infinity
power -Infinity -Infinity
power 0 Infinity
power 0 -Infinity
power 1 Infinity
power -1 Infinity
power -1 -Infinity
power 0.5 Infinity
power 0.5 -Infinity
power -0.5 Infinity
power 2 Infinity
power -2 Infinity
power -2 -Infinity
factorial 0
factorial 1
factorial 20
factorial 33
factorial 34
factorial 35
factorial 500
factorial 5000
factorial 32177
factorial 32178
factorial 9223372036854775807
factorial -9223372036854775808
width_bucket 5 1 2 2147483647
width_bucket 0 1 2 2147483647
width_bucket 1.5 1 2 2147483647
width_bucket Infinity 1 2 5
width_bucket -Infinity 1 2 5
width_bucket -Infinity 2 1 5
width_bucket 1 NaN 2 5
width_bucket NaN 1 2 5
width_bucket 1 Infinity 2 5
width_bucket 1 1 2 0
width_bucket NaN 1 1 -1
width_bucket 1 1 1.0 3
width_bucket 1 3 0 3
width_bucket 6 1e37 0 97
with_precision Infinity 5 2
with_precision NaN 5 2
with_precision -Infinity 5 -2
with_precision 0.0099 2 3
with_precision 0.00999 2 4
with_precision 9999.5 4 0
with_precision 9999.4 4 0
with_precision 12345678 3 -5
with_precision 12350000 3 -5
with_precision 99950000 3 -5
with_precision 0.00123 3 5
with_precision 0 3 1000
with_precision 1e131071 1000 -1000
wire 1e131071
wire 1e-16383
wire 1234e-16383
wire 10000
wire 100000000.00001
from_f64 1e308
from_f64 5e-324
from_f64 123456789012345678
from_f64 0.1
from_f64 1e15
from_f64 999999999999999.5
from_f64 0.00001
from_f32 3.4e38
from_f32 1e-45
from_f32 16777217
from_f32 0.1
from_f32 1234567
to_f64 1e308
to_f64 1.7976931348623157e308
to_f64 1.7976931348623159e308
to_f64 2.4e-324
to_f64 2.5e-324
to_f64 9007199254740993
to_f64 0.1000000000000000055511151231257827
to_f32 3.4028235e38
to_f32 3.4028236e38
to_f32 1.4e-45
to_f32 7e-46
to_f32 16777217
to_f32 7.038531e-26
sum {9e131071,9e131071}
sum {9e131071,-9e131071}
sum {NaN,Infinity}
sum {Infinity,-Infinity}
sum {Infinity,1}
avg {9e131071,9e131071}
avg {Infinity,1}
avg {0,0,0}
avg {0.00,0}
avg {1e-16383,1}
var_samp {Infinity}
var_pop {Infinity}
var_pop {NaN,1}
var_samp {1}
var_samp {1,1,1}
var_samp {1e-16383,1}
var_samp {1e131071,1}
stddev_pop {1e70000,1e-1000}
stddev_pop {1e131071,1}
stddev_samp {1e-9000,3e-9000,5}
"""


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
    for call in CALLS.strip().split("\n"):
        name, *arguments = call.split(" ")
        yield name, arguments


def shortened(answer):
    """Long answers are their length and both ends, for this file to stay small."""
    return answer if len(answer) <= 400 else "#%d %s %s" % (len(answer), answer[:40], answer[-40:])


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
        print("\t".join([name] + arguments + [shortened(answer)]))


main()
