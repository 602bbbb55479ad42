"""A vote that could not have failed is refused, because of its comparisons, its discarded draws or its twins."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import Tensor

from derivations.calculus.balls import enclose
from derivations.calculus.functions import derivative
from derivations.calculus.variables import positive, scalar
from derivations.domains import Nonnegative
from derivations.records.claims import Layer, Outcome
from derivations.register.catalogue import ENTRIES, entries
from derivations.register.claiming import claim
from derivations.register.entry import Entry
from derivations.relations import AtLeast, Equation, Fails, Relation
from evidence import harness
from evidence.bridge import OwnFormulaError, evaluate
from evidence.harness import (
    MIN_INSTANCES,
    Formula,
    NotAReadingError,
    Reading,
    Vote,
    assert_sound,
    compare_reading,
    compare_rounds,
    float64,
    vote_on,
)
from evidence.registry import CASES, Case, load
from evidence.rounds import Rounds

x, y = scalar("x"), positive("y")
NUMBERS = st.integers(-50, 50)
SQUARE = Equation(x**2, x**2)
TOLERANCE = 1e-9


def squared(value: int, deviation: float = 0.0) -> Reading:
    return Reading({"x": value}, {"own": float64(float(value**2)) + deviation * TOLERANCE}, TOLERANCE)


def vote_of(
    relation: Relation = SQUARE,
    check: Callable[[Any], Reading] = squared,
    strategy: st.SearchStrategy[Any] = NUMBERS,
    count: int = 20,
    **twins: Relation,
) -> Vote:
    vote = Vote("eot.46", Layer.TORCH)
    formulas = {name: Formula(twin) for name, twin in twins.items()}
    compare_rounds(vote, Formula(relation), formulas, Rounds(check, strategy, count))
    return vote


def test_a_fair_vote_holds() -> None:
    vote = vote_of(doubled=Equation(x**2, 2 * x**2))
    assert (vote.outcome, vote.refuted, vote.why_not) == (Outcome.HOLDS, ("doubled",), "")
    assert "20 drawn instances, 20 numbers compared, worst error 0 of the tolerance" in vote.scope()
    assert vote.drawn.startswith("drawn: x -")


# ── comparisons ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_compared_is_vacuous() -> None:
    vote = vote_of(Equation(x**2, sp.exp(1000 + x**2)))
    assert vote.outcome is Outcome.VACUOUS
    assert vote.instances == 0
    assert vote.incomparable
    assert "not finite" in vote.why_not


def test_a_formula_that_sometimes_overflows_is_reported_and_gives_no_support() -> None:
    softplus = sp.log(sp.exp(x**2) + 1)

    def check(value: int) -> Reading:
        return Reading({"x": value}, {"own": torch.nn.functional.softplus(float64(float(value**2)))}, 1e-6)

    assert vote_of(Equation(softplus, softplus), check, st.integers(-5, 5)).outcome is Outcome.HOLDS
    vote = vote_of(Equation(softplus, softplus), check)
    assert vote.instances
    assert vote.outcome is Outcome.INCONCLUSIVE
    assert "own or the formula is not finite at 1 positions at x = " in vote.why_not


def test_a_route_that_is_not_a_number_supports_nothing() -> None:
    vote = vote_of(check=lambda value: squared(value, torch.nan if value > 40 else 0.0), count=100)
    assert vote.instances
    assert vote.outcome is Outcome.INCONCLUSIVE
    assert "not comparable" in vote.scope()
    assert "own or the formula is not finite at 1 positions at x = " in vote.why_not


def test_positions_that_cannot_be_compared_hide_no_refutation() -> None:
    vote = vote_of(Equation(x**2, x**2 + 1), lambda value: squared(value, torch.nan if value > 0 else 0.0))
    assert vote.outcome is Outcome.REFUTED


# ── one rule for prints and twins ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("deviation", "outcome", "dead"),
    [
        (0.5, Outcome.HOLDS, False),
        (2.0, Outcome.INCONCLUSIVE, False),
        (9.0, Outcome.INCONCLUSIVE, False),
        (11.0, Outcome.REFUTED, True),
    ],
)
def test_between_one_and_ten_tolerances_nothing_is_decided(deviation: float, outcome: Outcome, dead: bool) -> None:
    assert vote_of(check=lambda value: squared(value, deviation)).outcome is outcome
    twin = Equation(x**2, x**2 + sp.Rational(deviation) * sp.Rational(1, 10**9))
    assert (vote_of(strategy=st.integers(-2, 2), twin=twin).refuted == ("twin",)) is dead


@pytest.mark.parametrize(
    "twin",
    [
        Equation(x**2, sp.exp(1000 + x**2)),  # overflows
        Equation(x**2, sp.log(-1 - x**2)),  # is not real
        Equation(x**2, x**2 + 1, given=(AtLeast(x, 51),)),  # is meant elsewhere
    ],
)
def test_a_twin_does_not_die_where_it_has_no_value(twin: Relation) -> None:
    assert vote_of(twin=twin).refuted == ()


def test_every_route_must_refute_a_twin() -> None:
    def check(value: int) -> Reading:
        own = squared(value).routes["own"]
        return Reading({"x": value}, {"own": own, "loose": own}, TOLERANCE)

    vote = vote_of(check=check, doubled=Equation(x**2, 2 * x**2))
    assert vote.refuted == ("doubled",)
    vote.killed["doubled"].remove("loose")
    assert vote.refuted == ()


def test_the_same_routes_speak_everywhere() -> None:
    def sometimes(value: int) -> Reading:
        reading = squared(value)
        return replace(reading, routes={**reading.routes, **({"other": reading.routes["own"]} if value > 0 else {})})

    with pytest.raises(NotAReadingError, match=r"eot.46: routes: expected .* at every instance"):
        vote_of(check=sometimes)


def test_a_twin_with_another_variable_of_the_same_name_is_refused() -> None:
    with pytest.raises(ValueError, match="the twin 'other': expected one variable of a name, got two different ones named x"):
        vote_of(other=Equation(positive("x") ** 2, 2 * positive("x") ** 2))


# ── draws ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def half_assumed(value: int) -> Reading:
    assume(value > 20)
    return squared(value)


@st.composite
def half_drawn(draw: st.DrawFn) -> int:
    value = draw(NUMBERS)
    assume(value > 20)
    return value


@pytest.mark.parametrize(
    ("check", "strategy"),
    [(half_assumed, NUMBERS), (squared, half_drawn()), (squared, NUMBERS.map(int).filter(lambda value: value > 20))],
)
def test_a_vote_that_discards_more_than_half_is_inconclusive(
    check: Callable[[Any], Reading], strategy: st.SearchStrategy[Any]
) -> None:
    vote = vote_of(check=check, strategy=strategy)
    assert vote.discarded > vote.instances
    assert vote.outcome is Outcome.INCONCLUSIVE
    assert "expected at most half of the draws to be discarded" in vote.why_not
    assert f"{vote.discarded} draws discarded" in vote.scope()


def test_a_refutation_counts_despite_discarded_draws() -> None:
    assert vote_of(Equation(x**2, x**2 + 1), check=half_assumed).outcome is Outcome.REFUTED


@pytest.mark.parametrize("strategy", [st.just(3), st.sampled_from([1, 2])])
def test_few_instances_are_not_enough(strategy: st.SearchStrategy[Any]) -> None:
    vote = vote_of(strategy=strategy)
    assert vote.instances < MIN_INSTANCES
    assert vote.outcome is Outcome.INCONCLUSIVE


def test_one_instance_is_enough_where_nothing_varies() -> None:
    vote = vote_of(Equation(sp.Integer(4), sp.Integer(4)), lambda _: Reading({}, {"own": float64(4.0)}, TOLERANCE), st.just(0))
    assert vote.outcome is Outcome.HOLDS


@pytest.mark.parametrize("strategy", [st.nothing(), NUMBERS.map(int).filter(lambda value: value > 50)])
def test_an_empty_strategy_is_an_error_that_names_the_claim(strategy: st.SearchStrategy[Any]) -> None:
    with pytest.raises(NotAReadingError, match=r"eot.46: on: expected a strategy with instances"):
        vote_of(strategy=strategy)


def test_a_check_that_assumes_everything_away_is_an_error() -> None:
    with pytest.raises(NotAReadingError, match=r"eot.46: on: expected"):
        vote_of(check=lambda value: squared(value + assume(False)))


def test_how_tight_an_inequality_was_is_in_the_scope() -> None:
    loose = vote_of(AtLeast(x**2, x**2 - 10**9))
    assert "gap never smaller than 1 of the larger side" in loose.scope()
    assert "gap never smaller than 0 of the larger side" in vote_of(AtLeast(x**2, x**2)).scope()


# ── routes that are the derivation ──────────────────────────────────────────────────────────────────────────────────


OWN = x**2


@pytest.mark.parametrize(
    "look",
    [
        lambda value: float(evaluate(OWN, {"x": value}, [])),
        lambda value: float(OWN.subs(x, value)),
        lambda value: float(OWN.xreplace({x: sp.Integer(value)})),
        lambda value: float(enclose(OWN + sp.Integer(value), {x: value}).mid()) if OWN.evalf() else 0.0,
        lambda value: float(entries()["eot.46"].title == "") + value**2,
        lambda value: float(next(iter(entries().values())).printed() is None) + value**2,
    ],
    ids=["evaluate", "subs", "xreplace", "evalf", "look-up", "printed"],
)
def test_a_route_may_not_ask_the_derivation(look: Callable[[int], float]) -> None:
    with pytest.raises(OwnFormulaError, match="expected routes of its own"):
        vote_of(check=lambda value: Reading({"x": value}, {"own": float64(look(value))}, TOLERANCE))


def test_everything_is_open_again_after_a_check() -> None:
    def fails(value: int) -> Reading:
        raise RuntimeError(value)

    with pytest.raises(RuntimeError):
        vote_of(check=fails)
    assert OWN.subs(x, 3) == 9
    assert "eot.46" in entries()
    assert float(evaluate(OWN, {"x": 2.0}, [])) == 4


# ── cases ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def claim_of_square(monkeypatch: pytest.MonkeyPatch) -> Iterator[Entry]:
    """A claim with two twins and without correction."""
    before = dict(ENTRIES)
    entries()

    @claim("eot.made-up", "identity", title="A square", latex="x^2")
    def square() -> Iterator[Relation]:
        """The derivative of a third of the cube."""
        yield Equation(derivative(x**3 / 3, x), x**2)

    square.twin("doubled", lambda: Equation(derivative(x**3 / 3, x), 2 * x**2))
    square.twin("one more", lambda: Equation(derivative(x**3 / 3, x), x**2 + 1))
    yield square
    ENTRIES.clear()
    ENTRIES.update(before)


def registered(monkeypatch: pytest.MonkeyPatch, entry: Entry, **changes: Any) -> Case:
    case = Case(
        **{
            "claim": entry.id,
            "layer": Layer.TORCH,
            "strategy": NUMBERS,
            "printed": squared,
            "corrected": None,
            "count": 20,
            "module": __name__,
            "line": 1,
        }
        | changes
    )
    monkeypatch.setitem(CASES[case.layer], entry.id, case)
    return case


@pytest.mark.parametrize("layer", [Layer.TORCH, Layer.PRIMAL])
def test_evidence_carries_the_claim_and_the_layer_of_its_check(
    monkeypatch: pytest.MonkeyPatch, claim_of_square: Entry, layer: Layer
) -> None:
    evidence = vote_on(registered(monkeypatch, claim_of_square, layer=layer))
    assert (evidence.claim, evidence.layer, evidence.outcome) == (claim_of_square.id, layer, Outcome.HOLDS)
    assert evidence.refuted_twins == ("doubled", "one more")
    assert_sound(evidence)


def test_a_case_that_is_not_the_registered_one_is_refused(monkeypatch: pytest.MonkeyPatch, claim_of_square: Entry) -> None:
    case = registered(monkeypatch, claim_of_square)
    with pytest.raises(ValueError, match="case: expected the registered torch check"):
        vote_on(replace(case, printed=lambda value: squared(value)))
    with pytest.raises(ValueError, match="case: expected the registered primal check"):
        vote_on(replace(case, layer=Layer.PRIMAL))


def test_a_check_of_a_correction_needs_one(monkeypatch: pytest.MonkeyPatch, claim_of_square: Entry) -> None:
    with pytest.raises(ValueError, match=r"corrected: expected a claim with a correction, got eot.made-up"):
        vote_on(registered(monkeypatch, claim_of_square, corrected=squared))


@pytest.mark.parametrize(
    ("deviation", "outcome"), [(2.0, Outcome.INCONCLUSIVE), (torch.nan, Outcome.VACUOUS), (20.0, Outcome.REFUTED)]
)
def test_only_holding_evidence_is_sound(
    monkeypatch: pytest.MonkeyPatch, claim_of_square: Entry, deviation: float, outcome: Outcome
) -> None:
    evidence = vote_on(registered(monkeypatch, claim_of_square, printed=lambda value: squared(value, deviation)))
    assert evidence.outcome is outcome
    with pytest.raises(AssertionError, match=r"eot.made-up"):
        assert_sound(evidence)


def test_a_print_is_refuted_by_the_same_rule(monkeypatch: pytest.MonkeyPatch, claim_of_square: Entry) -> None:
    claim_of_square.derivation = lambda: iter([Fails(Equation(x**2, x**2 + sp.Rational(5, 10**9), at={x: 1}))])
    claim_of_square.corrected("x^2", "slip")(_correct)  # type: ignore[arg-type]
    evidence = vote_on(registered(monkeypatch, claim_of_square, corrected=squared, strategy=st.integers(-2, 2)))
    assert (evidence.outcome, evidence.correction) == (Outcome.INCONCLUSIVE, Outcome.HOLDS)
    with pytest.raises(AssertionError, match="the print is not refuted: own misses by 5 tolerances"):
        assert_sound(evidence)


def test_a_print_is_looked_at_until_it_is_refuted_and_its_correction_until_its_twins_are(
    monkeypatch: pytest.MonkeyPatch, claim_of_square: Entry
) -> None:
    claim_of_square.derivation = lambda: iter([Fails(Equation(x**2, x**2 + 1, at={x: 1}))])
    claim_of_square.corrected("x^2", "slip")(_correct)  # type: ignore[arg-type]
    calls = []

    def record(
        _vote: Vote,
        formula: Formula,
        twins: dict[str, Formula],
        _rounds: Rounds,
        *,
        refuting: bool = False,
        mutations: object = None,
    ) -> None:
        calls.append((formula.right, set(twins), refuting, mutations is not None))

    monkeypatch.setattr(harness, "compare_rounds", record)
    vote_on(registered(monkeypatch, claim_of_square, corrected=squared))
    assert calls == [(x**2 + 1, set(), True, False), (x**2, {"doubled", "one more"}, False, True)]


def _correct() -> Iterator[Relation]:
    """The square."""
    yield Equation(derivative(x**3 / 3, x), x**2)


def test_a_check_that_is_vacuous_for_a_real_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    load(["eot.46"])
    case = CASES[Layer.TORCH]["eot.46"]

    def blind(instance: Any) -> Reading:
        reading = case.printed(instance)
        routes: dict[str, Tensor] = {name: torch.full_like(route, torch.nan) for name, route in reading.routes.items()}
        return replace(reading, routes=routes)

    monkeypatch.setitem(CASES[Layer.TORCH], "eot.46", broken := replace(case, printed=blind))
    evidence = vote_on(broken, quick=True)
    assert evidence.outcome is Outcome.VACUOUS
    assert evidence.refuted_twins == ()


def test_a_reading_by_hand_needs_no_number_of_instances() -> None:
    vote = Vote("eot.46", Layer.SOURCE)
    compare_reading(vote, Formula(SQUARE), {}, squared(3))
    assert vote.outcome is Outcome.HOLDS


def test_kinds_are_part_of_a_variable() -> None:
    assert scalar("x") != scalar("x", Nonnegative)
