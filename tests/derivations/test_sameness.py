"""Which relations are one statement: points tell apart what differs, and normal forms decide the rest."""

import pytest
import sympy as sp

from derivations.calculus import sums
from derivations.calculus.sums import total
from derivations.calculus.variables import index, positive, size, vector
from derivations.relations import AtLeast, Equation, same

m = size("m")
j, k = index("j", m), index("k", m)
s = vector("s", m)
tau = positive("tau")
z = total(k, sp.exp(s[k] / tau))


def test_points_tell_statements_apart_before_normal_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "equal", lambda *_: pytest.fail("a normal form was asked for"))
    assert not same(Equation(z, tau * s[j]), Equation(z, 2 * tau * s[j]))
    assert not same(AtLeast(z, tau), AtLeast(z, 0))
    assert not same(AtLeast(s[j] ** 2, 0), AtLeast(s[j] ** 2, s[j] ** 4 / 10**6))


def test_what_agrees_at_all_points_is_left_to_normal_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Equation(z**2, (tau + 1) ** 2), Equation(z * total(k, sp.exp(s[k] / tau)), tau**2 + 2 * tau + 1)
    assert same(one, other)
    monkeypatch.setattr(sums, "equal", lambda *_: False)
    assert not same(one, other)


def test_a_difference_that_no_point_shows_is_not_sameness() -> None:
    """They differ only far away from the sample points: normal forms, which are not equal, decide."""
    far = s[j] * sums.plus(s[j] - 10**12)
    assert not same(Equation(s[j] + far, 0), Equation(s[j], 0))
