"""Numeric votes without content, with selected instances, without power, or with the answer looked up."""

import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
import sympy as sp
import torch
from hypothesis import assume
from hypothesis import strategies as st
from msgspec.structs import replace as updated
from torch import Tensor

from derivations.calculus.sums import normal, total
from derivations.calculus.variables import Variable, index, positive, scalar, simplex, size, vector
from derivations.domains import Index, Nonnegative
from derivations.records.claims import Layer, Outcome
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Fails, Relation
from evidence import bridge
from evidence.harness import Formula, Reading, Vote, assert_sound, compare_rounds, vote_on
from evidence.registry import CASES, confirms, load
from evidence.rounds import Rounds

x, y, z = scalar("x"), positive("y"), scalar("z", Nonnegative)
m = size("m")
j, l = index("j", m), index("l", m)  # noqa: E741
k = index("k", m, other_than=(j,))
n = size("n")
i = index("i", n)
a, r, c = vector("a", m), simplex("r", m), simplex("c", n)
ALL = st.floats(-2, 2, allow_nan=False).map(lambda value: {"x": value})
UNIT = st.floats(0.5, 2).map(lambda value: {"y": value})
Route = Callable[[dict[str, Any]], Any]


def number(value: Any) -> Tensor:
    return torch.as_tensor(value, dtype=torch.float64)


def supports(
    statement: Relation,
    route: Route | None,
    on: Any = ALL,
    tolerance: Any = 1e-9,
    twins: dict[str, Relation] | None = None,
    count: int = 8,
    **more: Any,
) -> bool:
    """Whether a vote by one route supports the statement and refutes all twins."""

    def check(point: dict[str, Any]) -> Reading:
        routes = {} if route is None else {"own": route(point)}
        return Reading(point, routes, tolerance, **more)

    wrong = {"a twin": Equation(statement.sides[0], statement.sides[1] + 1)} if twins is None else twins
    vote = Vote("eot.46", Layer.TORCH)
    try:
        twins = {name: Formula(twin) for name, twin in wrong.items()}
        compare_rounds(vote, Formula(statement), twins, Rounds(check, on, count))
    except (ValueError, RuntimeError, KeyError, IndexError):
        return False
    killed = {name for name, by in vote.killed.items() if by == vote.routes}
    return vote.outcome is Outcome.HOLDS and killed == set(wrong)


SQUARE = Equation(x**2, x * x + 0)


def test_control_an_honest_vote() -> None:
    assert supports(Equation((x + 1) ** 2, x**2 + 2 * x + 1), lambda p: number((p["x"] + 1) ** 2))
    assert supports(AtLeast(x**2 + 1, 2 * x), lambda p: number(p["x"] ** 2 + 1), twins={"a twin": AtLeast(x**2 + 1, 9 * x + 9)})


FALSE = Equation(x**2, x)  # which holds at 0 and 1
Attack = tuple[Relation, Route | None, dict[str, Any]]


def seen(*values: float) -> Any:
    return st.sampled_from([{"x": value} for value in values])


@pytest.mark.parametrize(
    ("values", "tolerance"),
    [([value / 1e6 for value in range(1, 9)], 1e-20), ([2.0**-n for n in range(9)], 1e-5), ([1.0, 2.0, 0.0, 1e-9, 1e-8], 1e-5)],
    ids=["small numbers", "some small numbers", "zeros"],
)
def test_control_honest_votes_on_small_numbers(values: list[float], tolerance: float) -> None:
    assert supports(SQUARE, lambda p: number(p["x"] ** 2), seen(*values), tolerance)


def test_control_an_honest_vote_for_0() -> None:
    assert supports(
        Equation((x + 1) ** 2 - x * (x + 2) - 1, 0), lambda p: number((p["x"] + 1) ** 2 - p["x"] * (p["x"] + 2) - 1)
    )


SMALL = seen(*(value / 10**6 for value in range(1, 9)))  # where x² and x are nearly the same
ALONE = ALL.map(lambda p: p | {"m": 1, "r": number([1.0])})  # the only law on one key


def with_answer(ask: Callable[[dict[str, Any]], Any]) -> Any:
    """Instances that contain the derivation's answer."""
    return ALL.map(lambda p: p | {"answer": float(ask(p))})


@st.composite
def composed(draw: st.DrawFn) -> dict[str, Any]:
    point = draw(ALL)
    return point | {"answer": float(bridge.evaluate(x, point, []))}


def printed_and_run(point: dict[str, Any]) -> float:
    return float(sp.lambdify(x, x)(point["x"]))


class LateTensor(Tensor):
    """A tensor that evaluates the derivation when it is compared."""

    def detach(self) -> Tensor:
        return bridge.evaluate(x, {"x": float(Tensor.detach(self))}, [])


def by_answer(point: dict[str, Any]) -> Tensor:
    return number(point["answer"])


VOTES: dict[str, Callable[[], Attack]] = {
    "C1: the formula is nowhere defined": lambda: (Equation(x, sp.log(-sp.Abs(x) - 1)), lambda p: number(7.0), {}),
    "C1: the formula overflows": lambda: (
        Equation(x, sp.exp(sp.exp(x + 20)) - sp.exp(sp.exp(x + 20) + 1)),
        lambda p: number(7.0),
        {},
    ),
    "C1: the formula is undefined at most draws": lambda: (
        Equation(sp.sqrt(x) ** 2, sp.sqrt(x)),
        lambda p: number(1.0),
        {"on": seen(1, -1, -2, -3)},
    ),
    "C1: the formula is undefined where it would fail": lambda: (
        Equation(x**2, x + sp.sqrt((1 - x) * x) / 10**9),
        lambda p: number(p["x"] ** 2),
        {"on": seen(0, 1, 2, 3)},
    ),
    "C1: the route is not a number": lambda: (FALSE, lambda p: number(math.nan), {}),
    "C1: the route is infinite": lambda: (FALSE, lambda p: number(math.inf), {}),
    "C1: the route is not a number where it would fail": lambda: (
        FALSE,
        lambda p: number(p["x"] if p["x"] in (0, 1) else math.nan),
        {"on": seen(0, 1, 2, 3)},
    ),
    "C2: a tolerance of 1": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": 1.0}),
    "C2: a tolerance of 10¹²": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": 1e12}),
    "C2: an infinite tolerance": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": math.inf}),
    "C2: a tolerance that is no number": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": math.nan}),
    "C2: no tolerance": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": 0.0}),
    "C2: a negative tolerance": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": -1e-9}),
    "C2: a true tolerance": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": True}),
    "C2: a tolerance in words": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"tolerance": "1e-9"}),
    "C2: a tolerance that makes room for the error": lambda: (
        Equation(x**2, x**2 + sp.Rational(1, 4)),
        lambda p: number(p["x"] ** 2),
        {"tolerance": 0.3, "twins": {"a twin": Equation(x**2, x**2 + 100)}},
    ),
    "C3: no routes": lambda: (FALSE, None, {}),
    "C3: a route without numbers": lambda: (FALSE, lambda p: torch.zeros(0, dtype=torch.float64), {}),
    "C3: a route that is nothing": lambda: (FALSE, lambda p: None, {}),
    "C3: a route of integers": lambda: (FALSE, lambda p: torch.tensor(1), {}),
    "C3: a route of truth values": lambda: (FALSE, lambda p: torch.tensor(True), {}),
    "C3: a complex route": lambda: (FALSE, lambda p: torch.tensor(1j), {}),
    "C3: a route that broadcasts": lambda: (
        Equation(a[j], a[j] + 1),
        lambda p: number([5.0]),
        {"on": st.just({"m": 3, "a": number([4.0, 4.0, 4.0])})},
    ),
    "C3: a route with an axis too many": lambda: (Equation(x, x + 1), lambda p: number([[p["x"]]]), {}),
    "C4: nothing is drawn": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"on": st.nothing()}),
    "C4: an empty sample": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"on": seen(2).filter(lambda p: False)}),
    "C4: the failing half is filtered away": lambda: (
        FALSE,
        lambda p: number(p["x"] ** 2),
        {"on": seen(0, 1, 2, 3, 4, 5, 6).filter(lambda p: p["x"] < 2)},
    ),
    "C4: one point, again and again": lambda: (FALSE, lambda p: number(p["x"] ** 2), {"on": st.just({"x": 1.0})}),
    "C4: the failing half is assumed away": lambda: (
        FALSE,
        assuming(lambda p: p["x"] in (0.0, 1.0)),
        {"on": seen(0, 1, 2, 3, 4, 5)},
    ),
    "C4: all is assumed away": lambda: (FALSE, assuming(lambda p: False), {}),
    "C5: two variables of one name": lambda: (
        Equation(x + positive("x"), 2 * x),
        lambda p: number(2 * p["x"]),
        {"on": seen(1, 2, 3)},
    ),
    "C5: a twin's variable of the same name": lambda: (
        SQUARE,
        lambda p: number(p["x"] ** 2),
        {"twins": {"a twin": Equation(positive("x") ** 2, -positive("x"))}},
    ),
    "C7: the route is the derivation's formula": lambda: (FALSE, lambda p: bridge.evaluate(x, p, []), {}),
    "C7: the route is the derivation's formula, compiled": lambda: (
        FALSE,
        lambda p: number(bridge.compiled(sp.sympify(x))[1](p["x"])),
        {},
    ),
    "C7: the route is the catalogue's formula": lambda: (
        FALSE,
        lambda p: bridge.evaluate(x + 0 * len(entries()["eot.46"].twins), p, []),
        {},
    ),
    "the point leaves the domain": lambda: (
        Equation(y, -y),
        lambda p: number(-p["y"]),
        {"on": st.floats(-2, -1).map(lambda value: {"y": value})},
    ),
    "the point leaves the domain, not much": lambda: (
        AtLeast(-z, 0),
        lambda p: number(-p["z"]),
        {"on": st.floats(-1, 0).map(lambda value: {"z": value}), "twins": {"a twin": AtLeast(-z, 5)}},
    ),
    "a mass that is none": lambda: (
        Equation(total(l, r[l] ** 2), 2),
        lambda p: (p["r"] ** 2).sum(),
        {"on": st.just({"m": 2, "r": number([1.0, 1.0])})},
    ),
    "a length that is none": lambda: (
        Equation(total(l, a[l]), 3),
        lambda p: number(3.0),
        {"on": st.just({"m": 1, "a": number([3.0, 5.0])})},
    ),
    "a variable is missing": lambda: (Equation(x + y, x), lambda p: number(p["x"]), {}),
    "k = j": lambda: (
        Equation(a[k], a[j]),
        lambda p: p["a"][0],
        {"on": st.just({"m": 2, "a": number([1.0, 2.0]), "j": 1, "k": 1})},
    ),
    "an index that is none": lambda: (
        Equation(a[j], a[1]),
        lambda p: p["a"][-1],
        {"on": st.just({"m": 2, "a": number([1.0, 2.0]), "j": 0})},
    ),
    "a size that is none": lambda: (
        Equation(total(l, x), 0),
        lambda p: number(0.0),
        {"on": st.floats(1, 2).map(lambda v: {"m": 0, "x": v})},
    ),
    "a side that is neither left nor right": lambda: (FALSE, lambda p: number(p["x"]), {"computed": "middle"}),
    "no twin dies": lambda: (SQUARE, lambda p: number(p["x"] ** 2), {"twins": {"a twin": Equation(x**2, sp.Abs(x) ** 2)}}),
    "a twin dies by one route only": lambda: (
        SQUARE,
        lambda p: number(p["x"] ** 2),
        {"twins": {"a twin": Equation(x**2, x**2 + sp.Rational(5, 10**9))}},
    ),
    "a twin dies where its formula is not defined": lambda: (
        SQUARE,
        lambda p: number(p["x"] ** 2),
        {"twins": {"a twin": Equation(x**2, x**2 + sp.log(-(x**2) - 1))}},
    ),
    "a strict inequality that is an equality": lambda: (
        AtLeast(x**2, sp.Abs(x) ** 2, strict=True),
        lambda p: number(p["x"] ** 2),
        {"twins": {"a twin": AtLeast(x**2, x**2 + 1)}},
    ),
    "an inequality in the wrong direction": lambda: (
        AtLeast(x, x**2 + 5),
        lambda p: number(p["x"]),
        {"twins": {"a twin": AtLeast(x, x**2 + 9)}},
    ),
    "a route that changes from draw to draw": lambda: (FALSE, alternating(), {"on": seen(0, 1, 2)}),
    "F15: the answer is drawn": lambda: (FALSE, by_answer, {"on": with_answer(lambda p: bridge.evaluate(x, p, []))}),
    "F15: the answer is drawn, compiled": lambda: (
        FALSE,
        by_answer,
        {"on": with_answer(lambda p: bridge.compiled(x)[1](p["x"]))},
    ),
    "F15: the answer is drawn in a composite": lambda: (FALSE, by_answer, {"on": composed()}),
    "F15: the answer is drawn after another draw": lambda: (
        FALSE,
        by_answer,
        {"on": ALL.flatmap(lambda p: st.just(p | {"answer": float(bridge.evaluate(x, p, []))}))},
    ),
    "F15: only what suits the answer is drawn": lambda: (
        FALSE,
        lambda p: number(p["x"] ** 2),
        {"on": seen(0, 1, 2, 3, -1).map(lambda p: {"x": 1.0} if bridge.evaluate(x**2 - x, p, []) else p)},
    ),
    "F15: SymPy has drawn the answer": lambda: (FALSE, by_answer, {"on": with_answer(lambda p: x.subs(x, p["x"]))}),
    "F15: SymPy has drawn it by another name": lambda: (
        FALSE,
        by_answer,
        {"on": with_answer(lambda p: (x + 1).replace(x, sp.Float(p["x"])) - 1)},
    ),
    "F15: SymPy has printed it": lambda: (FALSE, by_answer, {"on": with_answer(printed_and_run)}),
    "F15: the route asks once it is read": lambda: (FALSE, lambda p: number(p["x"]).as_subclass(LateTensor), {}),
    "F16: numbers of 1e-6, a tolerance of 1e-3": lambda: (
        FALSE,
        lambda p: number(p["x"] ** 2),
        {"on": SMALL, "tolerance": 1e-3},
    ),
    "F16: numbers of 1e-6, a tolerance of their size": lambda: (
        FALSE,
        lambda p: number(p["x"] ** 2),
        {"on": SMALL, "tolerance": 1e-5},
    ),
    "F16: small numbers, and a large one where it holds": lambda: (
        FALSE,
        lambda p: number(p["x"] ** 2),
        {"on": seen(1, 0.01, 0.02, 0.03, 0.04, -0.01), "tolerance": 0.05},
    ),
    "F16: small numbers, and zeros": lambda: (
        FALSE,
        lambda p: number(p["x"] ** 2),
        {"on": seen(0, 1e-6, -1e-6, 2e-6, -2e-6, 3e-6), "tolerance": 1e-3},
    ),
    "F16: what is nearly 0 is 0": lambda: (Equation(x, 0), lambda p: number(p["x"]), {"on": SMALL, "tolerance": 1e-3}),
    "F16: small numbers in an inequality": lambda: (
        AtLeast(x**2, x),
        lambda p: number(p["x"] ** 2),
        {"on": SMALL, "tolerance": 1e-3, "twins": {"a twin": AtLeast(x**2, x + 1)}},
    ),
    "F22: one key": lambda: (
        Equation(x * total(l, r[l] ** 2), x),
        lambda p: number(p["x"]) * (p["r"] ** 2).sum(),
        {"on": ALONE},
    ),
    "F22: one key beside two queries": lambda: (
        Equation(x * total(l, r[l] ** 2) * total(i, c[i]), x),
        lambda p: number(p["x"]) * (p["r"] ** 2).sum() * p["c"].sum(),
        {"on": ALONE.map(lambda p: p | {"n": 2, "c": number([0.5, 0.5])})},
    ),
    "F22: one key at each open index": lambda: (Equation(x * r[j], x), lambda p: number(p["x"]) * p["r"], {"on": ALONE}),
}


def assuming(condition: Callable[[dict[str, Any]], bool]) -> Route:
    def route(point: dict[str, Any]) -> Tensor:
        assume(condition(point))
        return number(point["x"] ** 2)

    return route


def alternating() -> Route:
    calls = count()
    return lambda p: number(p["x"] if next(calls) % 2 else p["x"] ** 2)


@pytest.mark.parametrize("name", VOTES)
def test_is_not_believed(name: str) -> None:
    statement, route, more = VOTES[name]()
    assert not supports(statement, route, **more)


def test_routes_that_come_and_go() -> None:
    """A route that is omitted where it would fail does not count."""
    calls = count()

    def check(point: dict[str, Any]) -> Reading:
        good = {"good": number(point["x"])}
        return Reading(point, good if next(calls) % 2 else good | {"bad": number(point["x"])}, 1e-9)

    vote = Vote("eot.46", Layer.TORCH)
    with pytest.raises((ValueError, ExceptionGroup)):
        compare_rounds(vote, Formula(Equation(x, x + 0 * y)), {}, Rounds(check, ALL, 20))


@pytest.mark.parametrize(
    ("statement", "on", "tolerance", "reason"),
    [
        (FALSE, SMALL, 1e-3, r"^tolerance: expected less than 0\.1 of the largest .*, got 0 of 8, and 0\.001 beside "),
        (
            Equation(x * total(l, r[l]), x),
            ALONE,
            1e-9,
            "expected a size of at least 2 at some instance, got m = 1 at every one",
        ),
    ],
)
def test_the_reason_for_rejecting_a_vote_is_shown(statement: Relation, on: Any, tolerance: float, reason: str) -> None:
    vote = Vote("eot.46", Layer.TORCH)
    compare_rounds(vote, Formula(statement), {}, Rounds(lambda p: Reading(p, {"own": number(p["x"])}, tolerance), on, 8))
    assert vote.outcome is Outcome.INCONCLUSIVE
    assert re.search(reason, vote.why_not), vote.why_not


def test_control_one_key_among_others() -> None:
    laws = [number([1.0]), number([0.5, 0.5])]
    points = st.sampled_from([{"x": float(v), "m": v % 2 + 1, "r": laws[v % 2]} for v in range(8)])
    assert supports(Equation(x * total(l, r[l]), x), lambda p: number(p["x"]) * p["r"].sum(), points)


@pytest.mark.parametrize(
    "route",
    [assuming(lambda p: p["x"] > 1), lambda p: 1 / 0, lambda p: bridge.evaluate(x, p, [])],
    ids=["left", "an error", "a look-up"],
)
def test_control_the_formula_is_available_after_draws_end_or_fail(route: Route) -> None:
    with suppress(ZeroDivisionError):
        supports(FALSE, route)
    assert float(bridge.evaluate(x + 1, {"x": 2.0}, [])) == 3 == x.subs(x, 3)


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CASE = "eot.46"


@pytest.fixture
def case() -> Any:
    load([CASE])
    return CASES[Layer.TORCH][CASE]


def test_a_case_that_is_not_the_registered_one(case: Any) -> None:
    with pytest.raises(ValueError, match="registered"):
        vote_on(replace(case, printed=lambda instance: None), quick=True)


def test_a_second_case_for_the_claim(case: Any) -> None:
    with pytest.raises(ValueError, match="already has a torch check"):
        confirms(Layer.TORCH, CASE, on=case.strategy)(case.printed)


def test_a_check_that_reads_the_catalogue(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that evaluates the looked-up formula itself checks nothing."""

    def looking_up(instance: Any) -> Reading:
        formula = entries()[CASE].printed()
        assert formula is not None
        reading = case.printed(instance)
        own = bridge.evaluate(normal(formula.value), reading.point, Formula(formula).axes(reading.point))
        return replace(reading, routes={"own": own})

    cheat = replace(case, printed=looking_up)
    monkeypatch.setitem(CASES[Layer.TORCH], CASE, cheat)
    with pytest.raises((ValueError, RuntimeError)):
        vote_on(cheat, quick=True)


def test_a_case_whose_strategy_reads_the_catalogue(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Asking:
        def map(self, pack: Callable[[Any], Any]) -> Any:
            formula = entries()[CASE].printed()
            return case.strategy.map(lambda row: (row, formula)).map(lambda drawn: pack(drawn[0]))

    cheat = replace(case, strategy=Asking())
    monkeypatch.setitem(CASES[Layer.TORCH], CASE, cheat)
    with pytest.raises(RuntimeError, match="expected routes of its own"):
        vote_on(cheat, quick=True)


@pytest.mark.parametrize("missing", [0, 1])
def test_a_vote_with_a_living_twin_is_not_sound(case: Any, missing: int) -> None:
    evidence = vote_on(case, quick=True)
    alive = tuple(name for n, name in enumerate(evidence.refuted_twins) if n != missing)
    with pytest.raises(AssertionError, match=CASE):
        assert_sound(updated(evidence, refuted_twins=alive))


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.HOLDS])
def test_a_vote_that_does_not_hold_is_not_sound(case: Any, outcome: Outcome) -> None:
    with pytest.raises(AssertionError, match=CASE):
        assert_sound(updated(vote_on(case, quick=True), outcome=outcome))


def test_the_statement_voted_on_is_the_statement_proved() -> None:
    entry = entries()[CASE]
    last = examine(entry).steps[-1]
    printed = entry.printed()
    assert str(Fails(printed) if entry.repair else printed) == last.statement  # type: ignore[arg-type]


def test_one_formula_has_one_variable_of_a_name() -> None:
    with pytest.raises(ValueError, match="x"):
        Formula(Equation(x * positive("x"), 1))
    with pytest.raises(ValueError, match="j"):
        Formula(Equation(a[j], Variable("j", Index((size("n"),)))))
