"""Corrections that do not answer the print, and twins unrelated to the claim."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count

import pytest
import sympy as sp

from derivations.calculus.functions import kl
from derivations.calculus.sums import total
from derivations.calculus.variables import positive, vector
from derivations.records.claims import Verdict
from derivations.register.entry import Entry
from derivations.relations import (
    AtLeast,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    Relation,
    StrictUnlessEqual,
    UniqueMinimum,
)
from tests.attacks.entries import HONEST, Twins, disbelieved, entry, mend, uncorrected, verdict_on
from tests.attacks.vocabulary import K3, a, h, l, m, one, r, t, u, w, x, y

FALSE = Equation((x + 1) ** 2, x**2 + 1)
HALVES = [Fraction(1, 2), Fraction(1, 2)]
three = vector("o", sp.Integer(3))


def mended(*repair: Relation, printed: Relation = FALSE, twins: Twins | None = None, under: str | None = None) -> Entry:
    return entry(Fails(printed), repair=repair, twins=twins, under=under)


CORRECTIONS: dict[str, Callable[[], Entry]] = {
    "D3: x = x": lambda: mended(Equation(x, x)),
    "D3: the left side is the left side": lambda: mended(Equation((x + 1) ** 2, (x + 1) ** 2)),
    "D3: the left side is itself up to the names of indices": lambda: mended(
        Equation(total(l, u[l] * a[l]), total(h, u[h] * a[h])), printed=Equation(total(l, u[l] * a[l]), 1)
    ),
    "D3: 0 = 0": lambda: mended(Equation(0, 0)),
    "D3: 1 + 1 = 2": lambda: mended(Equation(one + one, 2)),
    "D3: another true statement": lambda: mended(Equation((y + 1) ** 2, y**2 + 2 * y + 1)),
    "D3: another true statement about x": lambda: mended(Equation((x - 1) ** 2, x**2 - 2 * x + 1)),
    "D3: of the same name and another domain": lambda: mended(
        Equation((positive("x") + 1) ** 2, positive("x") ** 2 + 2 * positive("x") + 1)
    ),
    "D3: the print again": lambda: mended(FALSE),
    "D3: the print again, as written otherwise": lambda: mended(Equation((x + 1) ** 2, 1 + x * x)),
    "D3: a disproof": lambda: mended(Fails(Equation((x + 1) ** 2, x**2 - 1))),
    "D3: the same disproof": lambda: mended(Fails(FALSE)),
    "D3: false": lambda: mended(Equation((x + 1) ** 2, x**2 + 3 * x + 1)),
    "D3: false at large sizes only": lambda: mended(Equation((x + 1) ** 2, x**2 + 2 * x + 1 + K3 * y)),
    "D3: undecided": lambda: mended(Equation((x + 1) ** 2, sp.sqrt((x**2 + 2 * x + 1) ** 2))),
    "D3: undefined": lambda: mended(Equation((x + 1) ** 2, (x + 1) ** 2 * (x**2 + x) / x - x * (x + 1) ** 2)),
    "D4: under what never holds": lambda: mended(
        Equation((x + 1) ** 2, x**2 + 2 * x + 1, given=(AtLeast(x, 1), AtLeast(-1, x)))
    ),
    "D4: by a premise that nobody proves": lambda: mended(
        Follows((AtLeast(2 * (x + 1) ** 2, 2),), AtLeast((x + 1) ** 2, 1), (sp.Rational(1, 2),))
    ),
    "D3: a step before it is false": lambda: mended(AtLeast(x, 0), Equation((x + 1) ** 2, x**2 + 2 * x + 1)),
    "D3: no step": lambda: _without_steps(),
    "D3: for a statement that holds": lambda: entry(HONEST, repair=(Equation((x + 1) ** 2, 1 + 2 * x + x**2),)),
    "F17: more than itself by what is ≥ 0": lambda: mended(AtLeast((x + 1) ** 2 + y, (x + 1) ** 2)),
    "F17: less than itself by a square, which is below": lambda: mended(AtLeast((x + 1) ** 2, (x + 1) ** 2 - w**2)),
    "F17: the limit of itself and of what vanishes": lambda: mended(Limit((x + 1) ** 2 + 1 / t, t, sp.oo, (x + 1) ** 2)),
    "F17: a sum, more than itself": lambda: mended(
        AtLeast(total(l, a[l] * u[l]) + y, total(h, u[h] * a[h])), printed=Equation(total(l, a[l] * u[l]), 0)
    ),
    "C: itself and what is of lower order": lambda: mended(Expansion((x + 1) ** 2 + t, (x + 1) ** 2, t, 0)),
    "C: itself times an exponential": lambda: mended(
        Expansion((x + 1) ** 2 * sp.exp(t), (x + 1) ** 2 + (x + 1) ** 2 * t, t, 1)
    ),
    "C: what follows from a square": lambda: mended(
        AtLeast(w**2, 0), Follows((AtLeast(w**2, 0),), AtLeast((x + 1) ** 2 + 2 * w**2, (x + 1) ** 2), (sp.Integer(2),))
    ),
    "C: strictly more than itself": lambda: mended(
        StrictUnlessEqual((x + 1) ** 2 + kl(y, (y + t) / 2) + kl(t, (y + t) / 2), (x + 1) ** 2, y, t, (y + t) / 2, (one, one))
    ),
    "C: itself times a mass": lambda: mended(Equation((x + 1) ** 2 * total(l, u[l]), (x + 1) ** 2)),
    "C: itself, and on the right times a mass": lambda: mended(Equation((x + 1) ** 2, (x + 1) ** 2 * total(l, u[l]))),
    "C: the value of a minimum that is added to both": lambda: mended(
        UniqueMinimum(lambda q: (x + 1) ** 2 + total(l, kl(q(l), u[l])), lambda key: u[key], m, one)
    ),
    "D3: a limit whose value moves": lambda: mended(Limit(t * x, t, sp.oo, t * x), printed=Limit(t * x, t, sp.oo, sp.S.Zero)),
}


def _without_steps() -> Entry:
    made = mended(HONEST)
    mend(made)
    return made


@pytest.mark.parametrize("name", CORRECTIONS)
def test_does_not_answer(name: str) -> None:
    assert uncorrected(CORRECTIONS[name])


def test_control_an_answer() -> None:
    assert verdict_on(mended(HONEST)).verdict is Verdict.CORRECTED


def test_a_correction_for_three_keys_is_no_correction_for_every_size() -> None:
    printed = Equation(total(l, a[l]), 0)
    own = Equation((three[1] + three[2]) ** 2, three[1] ** 2 + 2 * three[1] * three[2] + three[2] ** 2)
    made = entry(Fails(printed), repair=(own,))
    assert verdict_on(made).verdict is not Verdict.CORRECTED


def twinned(**twins: Callable[[], Relation]) -> Entry:
    return entry(HONEST, twins=twins)


def stateful(*values: Relation) -> Callable[[], Relation]:
    calls = count()
    return lambda: values[min(next(calls), len(values) - 1)]


def exploding() -> Relation:
    raise RuntimeError("an accident")


WRONG = Equation((x + 1) ** 2, x**2 + 1)
TWIN: dict[str, Callable[[], Entry]] = {
    "D2: none": twinned,
    "D2: one": lambda: twinned(a=lambda: WRONG),
    "D2: the claim itself": lambda: twinned(a=lambda: WRONG, b=lambda: HONEST),
    "D2: the claim itself, as written otherwise": lambda: twinned(
        a=lambda: WRONG, b=lambda: Equation(x**2 + 2 * x + 1, (x + 1) ** 2)
    ),
    "D2: the same twice": lambda: twinned(a=lambda: WRONG, b=lambda: WRONG),
    "D2: the same twice, as written otherwise": lambda: twinned(a=lambda: WRONG, b=lambda: Equation((x + 1) ** 2, 1 + x * x)),
    "D2: about other variables": lambda: twinned(a=lambda: WRONG, b=lambda: Equation(y, w)),
    "D2: about no variable": lambda: twinned(a=lambda: WRONG, b=lambda: Equation(0, 1)),
    "D2: true": lambda: twinned(a=lambda: WRONG, b=lambda: AtLeast((x + 1) ** 2, 0)),
    "D2: undecided": lambda: twinned(
        a=lambda: WRONG, b=lambda: Equation((x + 1) ** 2 + sp.sqrt(x**4 + 2 * x**2 + 1), 2 * x**2 + 2 * x + 2)
    ),
    "D2: a disproof": lambda: twinned(a=lambda: WRONG, b=lambda: Fails(HONEST)),
    "D2: the disproof of a false one": lambda: twinned(a=lambda: WRONG, b=lambda: Fails(WRONG)),
    "D2: dead outside of the domain": lambda: entry(
        AtLeast(y + 1, 1, strict=True), twins={"a": lambda: AtLeast(y, 1), "b": lambda: AtLeast(y, 0, at={y: -1})}
    ),
    "D2: dead at a mass that is none": lambda: entry(
        Equation(total(l, r[l] + u[l]), 2),
        twins={
            "a": lambda: Equation(total(l, r[l] + u[l]), 1),
            "b": lambda: Equation(total(l, r[l] + u[l]), 2, at={m: 2, r.label: [1, 1], u.label: HALVES}),
        },
    ),
    "D2: dead at another size": lambda: entry(
        Equation(total(l, r[l] + u[l]), 2),
        twins={
            "a": lambda: Equation(total(l, r[l] + u[l]), 1),
            "b": lambda: Equation(total(l, r[l] + u[l]), 2, at={m: 3, u.label: HALVES}),
        },
    ),
    "D2: dead at an unknown key": lambda: twinned(a=lambda: WRONG, b=lambda: Equation((x + 1) ** 2, x**2, at={w: 1})),
    "D2: no relation": lambda: twinned(a=lambda: WRONG, b=lambda: False),  # type: ignore[arg-type,return-value]
    "D2: nothing": lambda: twinned(a=lambda: WRONG, b=lambda: None),  # type: ignore[arg-type,return-value]
    "D2: an accident": lambda: twinned(a=lambda: WRONG, b=exploding),
    "D2: undefined everywhere": lambda: twinned(a=lambda: WRONG, b=lambda: Equation((x + 1) ** 2, sp.log(-(x**2) - 1))),
    "D2: about no point": lambda: twinned(
        a=lambda: WRONG, b=lambda: Equation((x + 1) ** 2, x**2, given=(AtLeast(x, 1), AtLeast(-1, x)))
    ),
    "D2: for a false print, the print itself": lambda: entry(
        Fails(WRONG), repair=(HONEST,), twins={"a": lambda: Equation((x + 1) ** 2, 2 * x), "b": lambda: WRONG}
    ),
    "F18: less by one than another, on both sides": lambda: twinned(
        a=lambda: WRONG, b=lambda: Equation((x + 1) ** 2 - 1, x**2)
    ),
    "F18: less by one than another, sides exchanged": lambda: twinned(
        a=lambda: WRONG, b=lambda: Equation(x**2, (x + 1) ** 2 - 1)
    ),
    "F18: another, over a variable that it does not show": lambda: twinned(
        a=lambda: WRONG, b=lambda: Equation((x + 1) ** 2, x**2 + 1, about=(w,))
    ),
    "D2: one name twice": lambda: _named_twice(),
    "D2: a relation of the author's": lambda: twinned(a=lambda: WRONG, b=lambda: _Dead((x + 1) ** 2, x**2 + 2 * x + 1)),
}


class _Dead(Equation):
    """A true statement that pretends to be refuted."""

    def refute(self):  # type: ignore[no-untyped-def]
        return WRONG.refute()

    def counterexample(self):  # type: ignore[no-untyped-def]
        return WRONG.counterexample()


def _named_twice() -> Entry:
    made = twinned(a=lambda: WRONG)
    made.twin("a", lambda: Equation((x + 1) ** 2, x**2))
    return made


@pytest.mark.parametrize("name", TWIN)
def test_is_no_twin(name: str) -> None:
    made = TWIN[name]
    if name in ("D2: none", "D2: one"):  # the verdict's rule requires two twins; this one is fine
        assert verdict_on(made()).verdict is Verdict.OPEN
    else:
        assert disbelieved(made) or uncorrected(made)


def test_a_twin_that_changes_between_calls_is_called_once() -> None:
    made = twinned(a=lambda: WRONG, b=stateful(Equation((x + 1) ** 2, x**2), HONEST))
    verdict, shown = verdict_on(made).verdict, made.twins["b"]()
    assert verdict is not Verdict.PROVED or shown.refute() is not None


def test_control_twins() -> None:
    assert verdict_on(entry(HONEST)).verdict is Verdict.PROVED
