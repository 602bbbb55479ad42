"""Inequalities of one variable by Taylor's theorem: consequences of derivatives are proved, and nothing else."""

from collections.abc import Callable

import pytest
import sympy as sp

from derivations.calculus.functions import xlogx
from derivations.calculus.powers import plus
from derivations.calculus.sums import total
from derivations.calculus.variables import index, positive, scalar, size, vector
from derivations.domains import Nonnegative
from derivations.relations import AtLeast, Taylor

m = size("m")
l = index("l", m)  # noqa: E741
s = vector("s", m)
x, y, t, a, w = scalar("x"), scalar("y"), positive("t"), positive("a"), scalar("w", Nonnegative)

PROVED = {
    "exp above its tangent anywhere": AtLeast(sp.exp(x), sp.exp(y) * (1 + x - y), taylor=Taylor(x, y)),
    "exp above its cubic": AtLeast(sp.exp(x), 1 + x + x**2 / 2 + x**3 / 6, taylor=Taylor(x, 0, 4)),
    "exp above its square on one side": AtLeast(sp.exp(w), 1 + w + w**2 / 2, taylor=Taylor(w, 0, 3)),
    "t log t": AtLeast(t * sp.log(t), t - 1, taylor=Taylor(t, 1)),
    "t log t around another point": AtLeast(t * sp.log(t / a), t - a, taylor=Taylor(t, a)),
    "Pinsker's lemma": AtLeast(t * sp.log(t) - t + 1, 3 * (t - 1) ** 2 / (2 * (t + 2)), taylor=Taylor(t, 1)),
    "log from below": AtLeast(sp.log(1 + w), w - w**2 / 2, taylor=Taylor(w, 0, 3)),
    "log from above": AtLeast(w, sp.log(1 + w), taylor=Taylor(w, 0, 1)),
    "softplus above its tangent": AtLeast(sp.log(1 + sp.exp(x)), sp.log(2) + x / 2, taylor=Taylor(x, 0)),
    "and below a parabola": AtLeast(sp.log(2) + x / 2 + x**2 / 8, sp.log(1 + sp.exp(x)), taylor=Taylor(x, 0)),
    "a root below its tangent": AtLeast((1 + t) / 2, sp.sqrt(t), taylor=Taylor(t, 1)),
    "a value at the point that is positive": AtLeast(sp.exp(x), x, strict=True, taylor=Taylor(x, 0)),
    "of any length": AtLeast(total(l, sp.exp(x * s[l])), m + x * total(l, s[l]), taylor=Taylor(x, 0)),
    "with a hypothesis of another variable": AtLeast(y * x**2, 0, given=(AtLeast(y, 0),), taylor=Taylor(x, 0)),
}

FALSE = {
    "one order too few": AtLeast(sp.exp(x), 1 + x + x**2 / 2, taylor=Taylor(x, 0, 3)),
    "a derivative that does not vanish": AtLeast(sp.exp(x), 1 + 2 * x, taylor=Taylor(x, 0)),
    "a derivative of odd order": AtLeast(sp.exp(x), 1 + x + x**2 / 2, taylor=Taylor(x, 0, 4)),
    "a negative value at the point": AtLeast(x**2, 1, taylor=Taylor(x, 0)),
    "a constant that is too good": AtLeast(t * sp.log(t) - t + 1, 2 * (t - 1) ** 2 / (t + 2), taylor=Taylor(t, 1)),
    "a parabola that is too narrow": AtLeast(sp.log(2) + x / 2 + x**2 / 9, sp.log(1 + sp.exp(x)), taylor=Taylor(x, 0)),
    "concave": AtLeast(sp.log(t), t - 1, taylor=Taylor(t, 1)),
    "a kink": AtLeast(sp.Abs(x), 2 * x**2, taylor=Taylor(x, 0)),
    "half a kink": AtLeast(plus(x), x**2 + x / 2, taylor=Taylor(x, 0)),
    "a root without a slope": AtLeast(sp.sqrt(w), w, taylor=Taylor(w, 0, 1)),
    "another sign of a sum": AtLeast(total(l, s[l] * x**2), 0, taylor=Taylor(x, 0)),
    "strict where there is equality": AtLeast(sp.exp(x), 1 + x, strict=True, taylor=Taylor(x, 0)),
    "a first order on both sides": AtLeast(sp.exp(x), 1, taylor=Taylor(x, 0, 1)),
}

UNPROVED = {
    "a hypothesis that restricts the variable": AtLeast(x, x**2, given=(AtLeast(1, x), AtLeast(x, 0)), taylor=Taylor(x, 0)),
    "no slope at 0": AtLeast(xlogx(w) + 1, 0, taylor=Taylor(w, 0, 1)),
    "a point of another statement's variables": AtLeast(sp.exp(x), 1 + x, taylor=Taylor(x, y)),
}

REFUSED: dict[str, Callable[[], Taylor]] = {
    "no scalar": lambda: Taylor(s[l], 0),
    "a size": lambda: Taylor(m, 1),
    "a vector": lambda: Taylor(s.label, 0),
    "a point outside": lambda: Taylor(t, 0),
    "a point of open sign": lambda: Taylor(t, y),
    "the variable itself": lambda: Taylor(x, x),
    "no real point": lambda: Taylor(x, sp.oo),
    "order 0": lambda: Taylor(x, 0, 0),
    "half an order": lambda: Taylor(x, 0, sp.Rational(3, 2)),
}


@pytest.mark.parametrize("name", PROVED)
def test_consequences_of_derivatives_are_proved(name: str) -> None:
    assert not PROVED[name].explain()
    assert PROVED[name].refute() is None


@pytest.mark.parametrize("name", FALSE)
def test_false_inequalities_are_refuted(name: str) -> None:
    assert not FALSE[name].prove()
    assert FALSE[name].refute() is not None


@pytest.mark.parametrize("name", UNPROVED)
def test_inequalities_that_do_not_follow_stay_undecided(name: str) -> None:
    assert not UNPROVED[name].prove()


@pytest.mark.parametrize("name", REFUSED)
def test_an_invalid_point_or_order_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected .* got"):
        REFUSED[name]()
