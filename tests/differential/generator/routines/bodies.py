"""Bodies of PL/pgSQL: blocks, and the statements in them. All of them end: loops are bounded, and nest two deep."""

from __future__ import annotations

from sql_types import TYPES
from tree import Block, Branches, Declaration, Expr, Node, Raw, Step, Steps, column

from .changes import Changes
from .loops import Loops
from .places import Place, fields
from .rows import Rows

# Statements by the names that known.txt can avoid, and how often they come.
_KINDS = {
    "plpgsql assign": 9,
    "plpgsql assign item": 1,
    "plpgsql if": 4,
    "plpgsql case": 2,
    "plpgsql block": 2,
    "plpgsql exception": 3,
    "plpgsql raise": 0.5,
    "plpgsql assert": 0.3,
    "plpgsql exit": 2,
    "plpgsql return": 0.6,
    "plpgsql emit": 3,
    "plpgsql commit": 1.5,
    "plpgsql for range": 1.5,
    "plpgsql while": 1,
    "plpgsql loop": 1,
    "plpgsql for query": 2,
    "plpgsql for execute": 0.7,
    "plpgsql foreach": 1,
    "plpgsql select into": 2,
    "plpgsql record": 1,
    "plpgsql found": 1,
    "plpgsql perform": 1,
    "plpgsql execute": 2,
    "plpgsql cursor": 1,
    "plpgsql insert": 2,
    "plpgsql update": 2,
    "plpgsql delete": 1,
    "plpgsql execute change": 1,
}
# Only where there is room for something inside.
_NESTING = ("if", "case", "block", "exception", "for range", "while", "loop", "for query", "for execute", "foreach", "record", "cursor")
_READING = ("for query", "for execute", "select into", "record", "perform", "cursor")
_CONDITIONS = (
    "division_by_zero", "numeric_value_out_of_range", "unique_violation", "no_data_found", "too_many_rows",
    "data_exception", "SQLSTATE '22P02'", "case_not_found", "raise_exception", "division_by_zero OR not_null_violation",
)  # fmt: skip
# What the subject refuses is to be seen, and not to be taken for another way through the program.
_OTHERS = "feature_not_supported THEN\nRAISE;\nWHEN OTHERS"
_RAISED = (
    "RAISE EXCEPTION 'no';",
    "RAISE division_by_zero;",
    "RAISE SQLSTATE 'AB123';",
    "RAISE EXCEPTION 'no %', 1 USING ERRCODE = '22003';",
    "RAISE USING ERRCODE = 'unique_violation', MESSAGE = 'twice';",
)


class Bodies:
    """Makes blocks and statements."""

    def __init__(self, rng, schema, expressions, queries, avoided):
        self.rng, self.schema, self.expressions, self.queries = rng, schema, expressions, queries
        self.avoided, self._count = avoided, 0
        owners = (self, Loops(self), Rows(self), Changes(self))
        self._makers = {kind: _maker(kind, owners) for kind in _KINDS if not avoided(kind)}

    # ------------------------------------------------------------------------------------------- blocks

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def variables(self, place: Place, least: int = 1, most: int = 4) -> tuple[list[Node], tuple[Expr, ...], tuple[Expr, ...]]:
        """Declarations, and what they give to assign and to read."""
        rng, declarations, assignable, readable = self.rng, [], [], []
        for _ in range(rng.randint(least, most)):
            if rng.random() < 0.1:
                table, name = rng.choice(self.schema.tables), self.name("row")
                declarations.append(Declaration(name, f"{table.name}%ROWTYPE"))
                assignable += fields(table, name)
                continue
            type_, name = rng.choice(TYPES), self.name("var")
            known = place.within(tuple(assignable)).scope
            value = self.expressions.make(type_, known, rng.choice((0, 0, 1))) if rng.random() < 0.8 else None
            is_constant = value is not None and rng.random() < 0.08
            declarations.append(Declaration(name, f"CONSTANT {type_}" if is_constant else type_, value))
            (readable if is_constant else assignable).append(column(type_, name))
        return declarations, tuple(assignable), tuple(readable)

    def steps(self, place: Place, least: int = 1, most: int = 3) -> Steps:
        return Steps(tuple(self.step(place) for _ in range(self.rng.randint(least, most))))

    def step(self, place: Place) -> Node:
        """One statement that can stand there."""
        while True:
            kind = self.rng.choices(list(_KINDS), list(_KINDS.values()))[0]
            if kind not in self._makers or (place.depth > 2 and kind[8:] in _NESTING):
                continue
            if not place.reads and kind[8:] in _READING:
                continue
            step = self._makers[kind](place)
            if step is not None:
                return step

    def handlers(self, place: Place) -> tuple[Step, ...]:
        """WHEN ... THEN, mostly keeping the SQLSTATE in a text."""
        rng = self.rng
        names = [rng.choice(_CONDITIONS)] if rng.random() < 0.5 else []
        names += [_OTHERS] if rng.random() < 0.8 or not names else []
        inside = place.within(commits=False, in_loop=False)
        return tuple(Step(f"WHEN {name} THEN\n{{}}", (Steps((*self._state(place), *self.steps(inside, 0, 1).steps)),)) for name in names)

    def _state(self, place: Place) -> list[Node]:
        texts = [v for v in place.assignable if v.type == "text"]
        if not texts:
            return []
        target = self.rng.choice(texts).sql()
        if self.rng.random() < 0.3:
            return [Raw(f"{target} := SQLSTATE;")]
        return [Raw(f"GET STACKED DIAGNOSTICS {target} = RETURNED_SQLSTATE;", "get stacked diagnostics")]

    def condition(self, place: Place) -> Expr:
        return self.expressions.condition(place.scope, self.rng.choice((1, 1, 2)))

    def value(self, type_: str, place: Place) -> Expr:
        return self.expressions.make(type_, place.scope, self.rng.choice((0, 1, 1, 2)))

    # --------------------------------------------------------------------------------------- statements

    def _assign(self, place: Place) -> Step | None:
        if not place.assignable:
            return None
        target = self.rng.choice(place.assignable)
        type_ = target.type
        if self.rng.random() < 0.06:
            type_ = self.rng.choice(TYPES)
        return Step(f"{target.sql()} := {{}};", (self.value(type_, place),))

    def _assign_item(self, place: Place) -> Step | None:
        """The first item, since arrays begin at 1."""
        arrays = [v for v in place.assignable if v.type.endswith("[]") and "." not in v.sql()]
        if not arrays:
            return None
        target = self.rng.choice(arrays)
        return Step(f"{target.sql()}[1] := {{}};", (self.value(target.type[:-2], place),), "plpgsql assign item")

    def _if(self, place: Place) -> Step:
        rng, inside = self.rng, place.within()
        elsifs = tuple(
            Step("ELSIF ({}) THEN\n{}\n", (self.condition(place), self.steps(inside, 1, 2))) for _ in range(rng.choice((0, 0, 1, 2)))
        )
        otherwise = (Step("ELSE\n{}\n", (self.steps(inside, 1, 2),)),) if rng.random() < 0.5 else ()
        children = (self.condition(place), self.steps(inside, 1, 2), Branches(elsifs), Branches(otherwise))
        return Step("IF ({}) THEN\n{}\n{}{}END IF;", children)

    def _case(self, place: Place) -> Step:
        """CASE as a statement, which fails where nothing matches and there is no ELSE."""
        rng, inside = self.rng, place.within()
        type_ = self.expressions.type_in(place.scope) if rng.random() < 0.6 else None
        whens = tuple(
            Step("WHEN ({}) THEN\n{}\n", (self.value(type_, place) if type_ else self.condition(place), self.steps(inside, 1, 1)))
            for _ in range(rng.randint(1, 3))
        )
        otherwise = (Step("ELSE\n{}\n", (self.steps(inside, 1, 1),)),) if rng.random() < 0.8 else ()
        if type_ is None:
            return Step("CASE\n{}{}END CASE;", (Branches(whens), Branches(otherwise)), "plpgsql case")
        return Step("CASE ({})\n{}{}END CASE;", (self.value(type_, place), Branches(whens), Branches(otherwise)), "plpgsql case")

    def _block(self, place: Place) -> Block:
        declarations, assignable, readable = self.variables(place, 1, 2)
        return Block(tuple(declarations), self.steps(place.within(assignable, readable), 1, 3))

    def _exception(self, place: Place) -> Block:
        commits = place.commits and self.rng.random() < 0.1  # which fails there
        body = self.steps(place.within(commits=commits), 1, 3)
        if self.rng.random() < 0.3:
            zero = Expr("int4", "(1 / ({} - {}))", (self.value("int4", place), self.value("int4", place)))
            body = Steps((*body.steps, Step("PERFORM {};", (zero,))))
        return Block((), body, self.handlers(place))

    def _raise(self, place: Place) -> Step:
        return Step("IF ({}) THEN\n{}\nEND IF;", (self.condition(place), Steps((Raw(self.rng.choice(_RAISED), "plpgsql raise"),))))

    def _assert(self, place: Place) -> Step:
        return Step("ASSERT {};", (self.condition(place),), "plpgsql assert")

    def _exit(self, place: Place) -> Step | None:
        if not place.in_loop:
            return None
        return Step(f"{self.rng.choice(('EXIT', 'CONTINUE'))} WHEN {{}};", (self.condition(place),), "plpgsql exit")

    def _return(self, place: Place) -> Step:
        leave = Step("RETURN {};", (place.result(place),)) if place.result else Raw("RETURN;")
        return Step("IF ({}) THEN\n{}\nEND IF;", (self.condition(place), Steps((leave,))))

    def _emit(self, place: Place) -> Node | None:
        return place.emits(place) if place.emits else None

    def _commit(self, place: Place) -> Raw | None:
        return Raw(self.rng.choice(("COMMIT;", "COMMIT;", "ROLLBACK;")), "plpgsql commit") if place.commits else None


def _maker(kind: str, owners):
    """The method that makes statements of a kind: `_for_query` for `plpgsql for query`."""
    method = "_" + kind.removeprefix("plpgsql ").replace(" ", "_")
    return next(getattr(owner, method) for owner in owners if hasattr(owner, method))


def summary(variables) -> Step:
    """All variables as one text, from which a reducer can leave out some."""
    shown = tuple(Raw(f", coalesce({v.sql()}::text, '-')") for v in variables)
    return Step("concat_ws('|', 'result'{})", (Branches(shown),))
