"""Improper claims: trivial, stateful, replaced, or with custom kinds of relations."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
import sympy as sp

from derivations.calculus import sums
from derivations.calculus.sums import total
from derivations.calculus.variables import vector
from derivations.judge import examination
from derivations.judge.verdicts import judge
from derivations.records.claims import SUPPORTING_VERDICTS, Outcome, Statement, Verdict
from derivations.register.claiming import Undecidable, claim, reprint
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Expansion, Fails, Follows, Limit, Relation
from tests.attacks.entries import HONEST, disbelieved, entry, verdict_on
from tests.attacks.test_hostile import OWN
from tests.attacks.vocabulary import K3, a, b, h, j, k, l, m, one, r, t, two, u, w, x, y
from tests.registers import register

Steps = Iterator[Relation]
three = vector("o", sp.Integer(3))


def from_function(derivation: Callable[[], Any], *, twins: bool = True) -> Entry:
    """A claim with this derivation; its twins are about the honest statement."""
    made = entry(HONEST) if twins else entry(HONEST, twins={})
    made.derivation = derivation
    return made


def yields(*values: Any) -> Callable[[], Any]:
    def derivation() -> Any:
        yield from values

    return derivation


def raising(*before: Relation, error: BaseException) -> Callable[[], Steps]:
    def derivation() -> Steps:
        yield from before
        raise error

    return derivation


def endless() -> Steps:
    while True:
        yield HONEST


def returning(value: Any) -> Callable[[], Any]:
    def derivation() -> Any:
        return value

    return derivation


class Duck:
    """An object with the interface of a relation that is none."""

    reason, at, given, quotes, premises, about = "", {}, (), (), (), ()  # type: ignore[var-annotated]
    sides = (x, w)

    def prove(self) -> bool:
        return True

    def refute(self) -> None:
        return None

    counterexample = refute

    def explain(self) -> str:
        return ""

    def general(self) -> bool:
        return True

    def scope(self) -> str:
        return "everything"

    def trivial(self) -> bool:
        return False


LAST: dict[str, Callable[[], Entry]] = {
    "D1: 0 = 0": lambda: entry(HONEST, Equation(0, 0)),
    "D1: 0 = 0 alone": lambda: entry(Equation(0, 0)),
    "D1: 1 + 1 = 2": lambda: entry(Equation(one + one, two)),
    "D1: x = x": lambda: entry(Equation(x, x)),
    "D1: a sum under two names": lambda: entry(Equation(total(l, a[l]), total(h, a[h]))),
    "D1: x − x = 0": lambda: entry(Equation(x - x, 0)),
    "D1: 0 ≥ 0": lambda: entry(AtLeast(0, 0)),
    "D1: x ≥ x": lambda: entry(AtLeast(x, x)),
    "D1: 1 > 0 about m": lambda: entry(AtLeast(m / m, 1, about=(m,))),
    "D1: m/m about all sizes": lambda: entry(Equation(m / m * x, x, about=(m,))),
    "D1: a limit of what does not move": lambda: entry(Limit(x, t, sp.oo, x)),
    "D1: an expansion of itself": lambda: entry(Expansion(sp.exp(t), sp.exp(t), t, 3)),
    "D1: what follows from itself": lambda: entry(HONEST, Follows((AtLeast(x**2, 0),), AtLeast(x**2, 0), (one,))),
    "D4: nothing is left of the domain": lambda: entry(Equation((y - 1) ** 2, y**2 - 2 * y + 1, given=(AtLeast(-1, y),))),
    "D5: undefined everywhere": lambda: entry(Equation(sp.log(-y) - sp.log(-2 * y), -sp.log(2))),
    "D5: undefined somewhere": lambda: entry(Equation(total(l, (r[l] ** 2 + r[l]) / r[l]), m + 1)),
    "no step": lambda: entry(),
    "a step on the way is false": lambda: entry(AtLeast(x, 0), HONEST),
    "a step on the way is undecided": lambda: entry(AtLeast(sp.exp(x), 1 + x + x**3 / 6), HONEST),
    "a step on the way is trivial, and the end undefined": lambda: entry(HONEST, Equation((x**2 + x) / x, x + 1)),
    "a disproof of what is true": lambda: entry(Fails(HONEST)),
    "a disproof of a disproof": lambda: entry(Fails(Fails(HONEST))),
    "a disproof after which nothing is said": lambda: entry(Fails(AtLeast(x, 0)), Equation(0, 0)),
    "false at large sizes only": lambda: entry(Equation((x + 1) ** 2 + K3, x**2 + 2 * x + 1)),
}


@pytest.mark.parametrize("name", LAST)
def test_a_trivial_claim_is_refused(name: str) -> None:
    assert disbelieved(LAST[name])


STEPS: dict[str, Callable[[], Entry]] = {
    "a duck": lambda: from_function(yields(Duck())),
    "a duck on the way": lambda: from_function(yields(Duck(), HONEST)),
    "a truth value": lambda: from_function(yields(True)),
    "an expression": lambda: from_function(yields(HONEST, x)),
    "a SymPy equation": lambda: from_function(yields(sp.Eq(x, x))),
    "a class": lambda: from_function(yields(Equation)),
    "nothing": lambda: from_function(yields(None)),
    "a list for a generator": lambda: from_function(returning([Duck()])),
    "a number for a generator": lambda: from_function(returning(1)),
    "nothing for a generator": lambda: from_function(returning(None)),
    "an accident at the end": lambda: from_function(raising(HONEST, error=RuntimeError("an accident"))),
    "an accident at once": lambda: from_function(raising(error=ZeroDivisionError())),
    "an assertion": lambda: from_function(raising(HONEST, error=AssertionError())),
    "the end of the iteration": lambda: from_function(raising(error=StopIteration())),
    "an exit": lambda: from_function(raising(HONEST, error=SystemExit(0))),
    "a skipped test": lambda: from_function(raising(HONEST, error=pytest.skip.Exception("not today"))),
    "a generator's exit": lambda: from_function(raising(HONEST, error=GeneratorExit())),
    **{name: (lambda make=make: from_function(yields(make()))) for name, make in OWN.items()},
    **{f"{name}, on the way": (lambda make=make: from_function(yields(make(), HONEST))) for name, make in OWN.items()},
    **{
        f"{name}, disproved": (lambda make=make: from_function(yields(Fails(make()))))
        for name, make in OWN.items()
        if "of the author's" in name
    },
}


@pytest.mark.parametrize("name", STEPS)
def test_is_no_step(name: str) -> None:
    assert disbelieved(STEPS[name])


def test_a_derivation_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "MOST_STEPS", 5)
    assert disbelieved(lambda: from_function(endless))


def stateful(*runs: tuple[Relation, ...]) -> Callable[[], Steps]:
    calls = count()

    def derivation() -> Steps:
        yield from runs[min(next(calls), len(runs) - 1)]

    return derivation


@pytest.mark.parametrize("first", [0, 1])
def test_a_changing_derivation_counts_as_first_examined(first: int) -> None:
    """D9: the proved statement is the one that is printed, voted on and shown."""
    lie = Equation((x + 1) ** 2, x**2 + 1)
    made = from_function(stateful(*((HONEST,), (lie,))[:: 1 - 2 * first]))
    judged, printed = verdict_on(made), made.printed()
    assert judged.verdict not in SUPPORTING_VERDICTS or (printed is not None and printed.prove())


def test_a_derivation_that_is_replaced_after_its_examination() -> None:
    made = entry(HONEST)
    assert verdict_on(made).verdict is Verdict.PROVED
    made.derivation = yields(Equation((x + 1) ** 2, x**2 + 1))
    assert verdict_on(made).verdict not in SUPPORTING_VERDICTS


def test_twins_removed_after_registration_still_count() -> None:
    made = entry(HONEST)
    assert verdict_on(made).verdict is Verdict.PROVED
    made.twins = {}
    assert verdict_on(made).verdict not in SUPPORTING_VERDICTS


def printing(id: str = "eot.0", **more: Any) -> Entry:
    @claim(id, "identity", **{"title": "t", "latex": "x", **more})
    def made() -> Steps:
        """A statement."""
        yield HONEST

    return made


BLANK = {"nothing": "", "spaces": " \t\n", "what has no width": "\u200b\ufeff", "no text": 0}
NO_ID = {
    "a path": "eot/../../x.1",
    "markup": "eot.<b>",
    "a space": "eot. 1",
    "no dot": "eot",
    "a dash for a dot": "eot-1",
    "no document": ".1",
    "no number": "eot.",
    "a line more": "eot.1\n",
    "another alphabet": "eоt.1",
    "no text": 1,
    "nothing": "",
}


def repaired(**words: Any) -> Any:
    return printing().corrected(**{"latex": "y", "severity": "slip", **words})(_documented)


REGISTERING: dict[str, Callable[[], Any]] = {
    **{f"F25: an id with {what}": (lambda id=id: printing(id)) for what, id in NO_ID.items()},
    **{
        f"F25: a reprint whose id has {what}": (lambda id=id: reprint(id, of=printing(), latex="x"))
        for what, id in NO_ID.items()
    },
    **{
        f"F25: {what} for the {name}": (lambda name=name, text=text: printing(**{name: text}))
        for what, text in BLANK.items()
        for name in ("title", "latex")
    },
    **{
        f"F25: {what} for the {name} of a reprint": (
            lambda name=name, text=text: reprint("eot.1", **{"of": printing(), "latex": "x", name: text})
        )
        for what, text in BLANK.items()
        for name in ("title", "latex", "statement")
    },
    **{
        f"F25: {what} for the {name} of a correction": (lambda name=name, text=text: repaired(**{name: text}))
        for what, text in BLANK.items()
        for name in ("latex", "under", "replaces")
    },
    "F25: nothing for a hypothesis": lambda: printing(hypotheses=(" ",)),
    "F25: hypotheses of a reprint that are one text": lambda: reprint("eot.1", of=printing(), latex="x", hypotheses="x"),  # type: ignore[arg-type]
    "F25: no title": lambda: printing(title=None),
    "an id twice": lambda: [printing(), printing()],
    "an unknown kind": lambda: claim("eot.0", "fact", title="t", latex="x")(_documented),
    "no words": lambda: claim("eot.0", "identity", title="t", latex="x")(lambda: iter([HONEST])),
    "needs that are one text": lambda: printing(needs="eot.1"),
    "needs that are no texts": lambda: printing(needs=(1,)),
    "hypotheses that are one text": lambda: printing(hypotheses="x > 0"),
    "a reprint under an id that is taken": lambda: reprint("eot.0", of=printing(), latex="x"),
    "D9: a reprint without a hypothesis of the original": lambda: reprint(
        "eot.1", of=printing(hypotheses=("x > 0", "m ≥ 2")), latex="x", hypotheses=("x > 0",)
    ),
    "D9: a reprint without any of the hypotheses": lambda: reprint(
        "eot.1", of=printing(hypotheses=("x > 0",)), latex="x", hypotheses=()
    ),
    "D9: a reprint whose words for a correction have none": lambda: reprint(
        "eot.1", of=printing(), latex="x", correction=Statement("y", "z")
    ),
    "a derivation that is an object": lambda: claim("eot.0", "identity", title="t", latex="x")(_Callable()),
    "a severity that is none": lambda: printing().corrected("y", "harmless")(_documented),  # type: ignore[arg-type]
    "two corrections": lambda: [
        (made := printing()),
        made.corrected("y", "slip")(_documented),
        made.corrected("y", "slip")(_documented),
    ],
}


def _documented() -> Steps:
    """A statement."""
    yield HONEST


class _Callable:
    """A statement."""

    __name__ = "statement"

    def __call__(self) -> Steps:
        yield HONEST

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@pytest.mark.parametrize("name", REGISTERING)
def test_is_not_registered(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    with pytest.raises((ValueError, TypeError)):
        REGISTERING[name]()


GENERAL: dict[str, Relation] = {
    "three keys": Equation((three[1] + three[2]) ** 2, three[1] ** 2 + 2 * three[1] * three[2] + three[2] ** 2),
    "three keys about m": Equation(
        (three[1] + three[2]) ** 2, three[1] ** 2 + 2 * three[1] * three[2] + three[2] ** 2, about=(m,)
    ),
    "three keys with m/m": Equation(
        (three[1] + three[2]) ** 2, m / m * (three[1] ** 2 + 2 * three[1] * three[2] + three[2] ** 2)
    ),
    "three keys with a size": Equation(
        m * (three[1] + three[2]) ** 2, m * (three[1] ** 2 + 2 * three[1] * three[2] + three[2] ** 2)
    ),
    "three keys beside every size": Equation(
        total(l, u[l]) * (three[1] + three[2]) ** 2, three[1] ** 2 + 2 * three[1] * three[2] + three[2] ** 2
    ),
}


@pytest.mark.parametrize("name", GENERAL)
def test_d1_three_keys_are_not_every_size(name: str) -> None:
    assert verdict_on(entry(GENERAL[name])).verdict is not Verdict.PROVED


def test_d6_the_scope_states_that_indices_differ() -> None:
    judged = verdict_on(entry(Equation(sums.delta(j, k) + b[k] ** 2, b[k] ** 2)))
    assert judged.verdict is Verdict.PROVED
    assert "k ≠ j" in judged.cause.evidence[0].scope


@pytest.mark.parametrize("reason", ["", " "])
def test_a_claim_without_statement_needs_a_reason(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)

    def silent() -> Undecidable:
        """A statement."""
        return Undecidable(reason)

    try:
        made = claim("eot.0", "identity", title="t", latex="x")(silent)
    except ValueError:
        return
    evidence = examine(made).evidence
    assert evidence.outcome is Outcome.NOT_APPLICABLE
    assert judge(made.claim, [evidence]).verdict is Verdict.OPEN


def test_control() -> None:
    assert verdict_on(entry(HONEST)).verdict is Verdict.PROVED
