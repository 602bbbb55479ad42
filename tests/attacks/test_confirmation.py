"""False statements that no proof decides and no usual sample point refutes, with votes at instances where they hold."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sympy as sp

from derivations.calculus.balls import Close
from derivations.calculus.functions import kl, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import vector
from derivations.domains import Positive
from derivations.records.claims import SUPPORTING_VERDICTS, Evidence, Layer, Outcome, Verdict
from derivations.register.entry import Entry
from derivations.relations import AtLeast, Differs, Equation, Relation, further
from tests.attacks.entries import entry, verdict_on
from tests.attacks.vocabulary import RR, A, a, b, h, i, j, l, m, n, q, t, tau, u, w, x, y

NINTH = sp.Mul(*[m - size for size in range(1, 9)])  # 0 at every size from 1 to 8
TINY, HUGE = sp.Rational(1, 10**9), sp.Integer(10**9)
PLACE = sp.Rational(7, 59)
R = sp.Rational
B, C = vector("B", n, m, kind=Positive), vector("C", m, m)
TRUST = Path(__file__).parents[2] / "docs" / "trust.md"

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
    "false near one temperature, in a sum": lambda: AtLeast(total(l, b[l] * sp.log(b[l])) + m * sp.exp(-1), m * TINY),
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


FAR: dict[str, Callable[[], Relation]] = {
    "sizes: a harmonic sum": lambda: AtLeast(5, total(l, 1 / l)),
    "sizes: a logarithm": lambda: AtLeast(R(47, 10), sp.log(m)),
    "sizes: two norms": lambda: AtLeast(13 * sp.sqrt(total(l, a[l] ** 2)) + R(1, 10), total(l, sp.Abs(a[l]))),
    "sizes: the least sum of squares": lambda: AtLeast(total(l, u[l] ** 2), R(1, 100)),
    "sizes: an entropy": lambda: AtLeast(R(9, 2), -total(l, xlogx(q[l]))),
    "sizes: many more than can be counted": lambda: AtLeast(sp.exp(100), m**2),
    "sizes: a window": lambda: AtLeast((sp.log(m) - sp.log(57)) ** 2 + w**2, TINY),
    "masses: the logarithm of one": lambda: AtLeast(sp.log(u[j]), -40),
    "masses: the mean of their logarithms": lambda: AtLeast(50, -total(l, sp.log(u[l])) / m),
    "masses: a divergence of the uniform law": lambda: AtLeast(300, total(l, kl(1 / m, u[l]))),
    "masses: the inverse of one": lambda: AtLeast(10**20, 1 / u[j]),
    "masses: a quadratic divergence": lambda: AtLeast(HUGE, total(l, q[l] ** 2 / u[l])),
    "masses: a square of logarithms": lambda: AtLeast(20 * (1 + sp.Abs(sp.log(u[j]))), sp.log(u[j]) ** 2),
    "entries: a sum of all": lambda: AtLeast(sp.exp(16), total((i, l), B[i, l])),
    "entries: one beyond a kink": lambda: Equation(plus(a[j] - sp.exp(14)) + w, w),
    "entries: a small one": lambda: AtLeast(B[i, j], sp.exp(-17)),
    "entries: a root of one": lambda: AtLeast(10**5 + w**2, sp.sqrt(sp.Abs(A[i, j]))),
    "entries: all negative": lambda: Equation(plus(-total(l, a[l]) - sp.exp(11)), 0),
    "support: about a root": lambda: Equation(plus(1 - 10**11 * (x - sp.sqrt(3)) ** 2), 0),
    "support: between two kinks": lambda: Equation(plus(x - R(31, 9)) * plus(R(31, 9) + R(1, 1000) - x), 0),
    "support: about a root, for all entries": lambda: Equation(plus(1 - 10**8 * total(l, (a[l] - sp.sqrt(5)) ** 2)) + w, w),
    "support: about a point of a plane": lambda: Equation(plus(1 - 10**8 * ((y - sp.E) ** 2 + (x - y) ** 2)), 0),
    "support: nearly all mass at one": lambda: Equation(plus(q[j] - R(999, 1000)) * plus(R(9999, 10**4) - q[j]), 0),
    "kinks: three that meet": lambda: AtLeast(
        sp.Abs(x - R(23, 57)) + sp.Abs(w + R(5, 41)) + sp.Abs(x + w - R(23, 57) + R(5, 41)), R(1, 10**7)
    ),
    "kinks: two sides of a root": lambda: AtLeast(plus(x - sp.sqrt(2)) + plus(sp.sqrt(2) - x), R(1, 10**8)),
    "kinks: of every entry": lambda: AtLeast(total(l, sp.Abs(a[l] - R(13, 37))), m * R(1, 10**6)),
    "size and mass: logarithms over a root": lambda: AtLeast(60, -total(l, sp.log(u[l])) / sp.sqrt(m)),
    "size and mass: logarithms against a root": lambda: AtLeast(200 * sp.sqrt(m) + m / 5, -total(l, sp.log(u[l]))),
    "size and mass: concentration": lambda: AtLeast(sp.exp(8), m**2 * total(l, q[l] ** 2)),
    "matrices: two norms": lambda: AtLeast(40 * sp.sqrt(total((i, l), A[i, l] ** 2)) + 1, total((i, l), A[i, l])),
    "matrices: a trace": lambda: AtLeast(9, total(j, RR[j, j])),
    "matrices: all entries large": lambda: AtLeast(total((i, l), plus(sp.exp(12) - sp.Abs(A[i, l]))), R(1, 10)),
    "two sizes: a product": lambda: AtLeast((m - n) ** 2 + 3000, m * n / 10),
    "two sizes: logarithms": lambda: AtLeast(6, sp.log(m * n) - sp.log(m + n) / 2),
    "temperatures: a high one": lambda: AtLeast(10**5 + sp.Abs(x), tau * sp.log(1 + tau)),
    "temperatures: a low one": lambda: AtLeast(tau * sp.log(2), sp.exp(-30)),
    "indices: one at a number, of many keys": lambda: AtLeast((j - 7) ** 2 + plus(20 - m), 0, strict=True),
    "indices: two at numbers": lambda: Equation(delta(j, 4) * delta(h, 9), 0),
    "indices: apart by a number": lambda: Equation(delta(j, h + 3) * plus(m - 10), 0),
    "indices: one at a number, with entries": lambda: Equation(delta(j, 6) * plus(m - 20) * plus(a[j]), 0),
    "near-equality: a small addend": lambda: Equation(1 + sp.exp(-700 * (1 + x**2)), 1),
    "near-equality: in an order": lambda: AtLeast(sp.exp(y), sp.exp(y) + sp.exp(-200 - y)),
}
DECLARED: dict[str, Callable[[], Relation]] = {
    "sizes that are dear": lambda: AtLeast(25, total(l, 1 / l)),
    "magnitudes beyond 10^300": lambda: AtLeast(sp.exp(sp.exp(8)), y),
    "a matrix of a special form": lambda: AtLeast(total((j, l), (C[j, l] + C[l, j]) ** 2) + (C[j, h] - 1) ** 2, 0, strict=True),
    "a size and a number that are hit at once": lambda: AtLeast((m - 41) ** 2 * (m - 43) ** 2 + (x - m) ** 2, 0, strict=True),
    "a narrow valley that bends": lambda: AtLeast(10**12 * (x - w**3) ** 2 + (x - sp.sqrt(70)) ** 2, R(1, 10**9)),
}


@pytest.mark.parametrize("name", FAR)
def test_is_refuted_far_from_the_sample(name: str) -> None:
    statement = FAR[name]()
    assert statement.counterexample() is None
    assert not statement.prove()
    failing = further.counterexample(statement)
    assert failing is not None
    assert statement.fails_at(Close(failing.point))


@pytest.mark.parametrize("name", DECLARED)
def test_control_what_is_declared_is_confirmed_still(name: str) -> None:
    statement = DECLARED[name]()
    claim = entry(statement)
    assert verdict_on(claim, vote(claim)).verdict is Verdict.CONFIRMED
    assert f"`{statement}`" in TRUST.read_text(encoding="utf-8")


TRUE: dict[str, Callable[[], Relation]] = {
    "two fourth powers": lambda: AtLeast(x**4 + w**4 + 1, x * w),
    "two exponentials": lambda: AtLeast(sp.exp(x) + sp.exp(-2 * x), sp.Rational(3, 2)),
    "a root of a square": lambda: Equation(sp.sqrt(x**4 + 2 * x**2 + 1), x**2 + 1),
    "the least value of y log y": lambda: AtLeast(y * sp.log(y), -sp.exp(-1)),
}


@pytest.mark.parametrize("name", TRUE)
def test_control_an_undecided_truth_is_confirmed(name: str) -> None:
    claim = entry(TRUE[name]())
    assert verdict_on(claim, vote(claim)).verdict is Verdict.CONFIRMED
