"""False statements that no proof decides and no usual sample point refutes, with votes at instances where they hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from derivations.calculus.powers import plus
from derivations.calculus.sums import total
from derivations.claims import SUPPORTING_VERDICTS, Evidence, Layer, Outcome, Verdict
from derivations.entry import Entry
from derivations.relations import AtLeast, Differs, Equation, Relation
from tests.attacks.entries import entry, verdict_on
from tests.attacks.vocabulary import a, b, j, l, m, n, t, w, x, y

NINTH = sp.Mul(*[m - size for size in range(1, 9)])          # 0 at every size from 1 to 8
TINY, HUGE = sp.Rational(1, 10**9), sp.Integer(10**9)
PLACE = sp.Rational(7, 59)

RARE: dict[str, Callable[[], Relation]] = {
    "false beyond a million": lambda: Equation(plus(x - 10**6) + w, w),
    "false beyond a million, for an entry": lambda: Equation(total(l, plus(a[l] - 10**6)), 0),
    "false below minus a million": lambda: AtLeast(x, -HUGE),
    "false for a positive number beyond a million": lambda: AtLeast(HUGE, y),
    "false below a millionth": lambda: AtLeast(y + sp.Abs(x), sp.Rational(1, 10**7)),
    "false beyond a number that is not written out": lambda: Equation(plus(x - sp.exp(14)) + w, w),
    "false where a logarithm is large": lambda: Equation(plus(sp.log(y) - 14) + w, w),
    "false where a root is large": lambda: AtLeast(1000 + w**2, sp.sqrt(y)),
    "false where an exponential is small": lambda: AtLeast(y, sp.exp(-60)),
    "false for nine keys": lambda: Equation(NINTH * x + w, w),
    "false for nine keys, as an order": lambda: AtLeast(w**2, NINTH * (1 + x**2)),
    "false for many keys and one query": lambda: AtLeast(30 * n, m**2),
    "false at one number": lambda: Differs(x, 1000 * PLACE),
    "false, and tried where it holds": lambda: Equation(sp.Abs(x) ** 3, x**3, at={x: 2}),
    "an inequality that is false, and tried where it holds": lambda: AtLeast(sp.exp(x), 2, at={x: 2}),
    "false near a root of 2": lambda: AtLeast((x**2 - 2) ** 2, TINY),
    "false near a root of 2, for all entries": lambda: AtLeast(total(l, (a[l] ** 2 - 2) ** 2), m * TINY),
    "false near one number": lambda: AtLeast(HUGE * (x - PLACE) ** 2 + w**2, TINY),
    "false near one number, strictly": lambda: AtLeast(HUGE * (x - PLACE) ** 2 + w**2, TINY, strict=True),
    "false where two numbers are nearly equal": lambda: AtLeast((y - 3 * t) ** 2 + (y - 2) ** 2, TINY),
    "false where an entry is nearly another": lambda: AtLeast((a[j] - w / 3) ** 2 + (w - 2) ** 2, TINY, given=(AtLeast(w, 1),)),
    "false near one temperature": lambda: AtLeast(y * sp.log(y) + sp.exp(-1), TINY),
    "false near one temperature, in a sum": lambda: AtLeast(
        total(l, b[l] * sp.log(b[l])) + m * sp.exp(-1), m * TINY),
}


def claimed(statement: Relation) -> Entry:
    """A claim with twins that a vote refutes although the kernel may not."""
    left, right = statement.sides
    wrong = {f"by {k}": lambda k=k: Equation(left, right - k) for k in (10**3, 10**4)}
    return entry(statement, twins=wrong)


def vote(claim: Entry) -> Evidence:
    """A vote that supports the statement and refutes its twins."""
    return Evidence(claim.id, Layer.TORCH, Outcome.HOLDS, "32 drawn instances", refuted_twins=tuple(claim.twins))


@pytest.mark.parametrize("name", RARE)
def test_is_refuted_and_not_confirmed(name: str) -> None:
    statement = RARE[name]()
    assert statement.counterexample() is None
    claim = claimed(statement)
    judgement = verdict_on(claim, vote(claim))
    assert judgement.verdict not in SUPPORTING_VERDICTS
    assert verdict_on(claim).cause.witness is not None


TRUE: dict[str, Callable[[], Relation]] = {
    "means": lambda: AtLeast((y + t) / 2, sp.sqrt(y * t)),
    "two exponentials": lambda: AtLeast(sp.exp(x) + sp.exp(-2 * x), sp.Rational(3, 2)),
    "a root of a square": lambda: Equation(sp.sqrt(x**4 + 2 * x**2 + 1), x**2 + 1),
    "the least value of y log y": lambda: AtLeast(y * sp.log(y), -sp.exp(-1)),
}


@pytest.mark.parametrize("name", TRUE)
def test_control_an_undecided_truth_is_confirmed(name: str) -> None:
    claim = entry(TRUE[name]())
    assert verdict_on(claim, vote(claim)).verdict is Verdict.CONFIRMED
