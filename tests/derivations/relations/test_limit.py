"""Entries that move alone: written as a variable of their own, also where a sum runs over them."""

import pytest
import sympy as sp

from derivations import index, scalar, size, total, vector
from derivations.calculus.sums import equal
from derivations.relations.limit import _moved

n, m = size("n"), size("m")
j, k = index("j", n), index("k", n)
apart = index("i", n, other_than=(k,))
s, u, t = vector("s", n), vector("u", n), scalar("t")


def test_an_entry_is_taken_out_of_the_sums_that_run_over_it() -> None:
    for expr, value in ((total(j, s[j]), lambda s_k: s_k), (total(j, u[j] * s[j] ** 2), lambda s_k: u[k] * s_k**2)):
        moved = _moved(expr, s[k], t)
        assert equal(moved.xreplace({t: s[k]}), expr)
        assert equal(moved - moved.xreplace({t: sp.S.Zero}), value(t))


def test_what_does_not_move_stays() -> None:
    others = total(j, u[j]) + u[k]
    assert _moved(others, s[k], t) == others
    assert _moved(s[k] + 1, s[k], t) == t + 1
    assert _moved(s[apart], s[k], t) == s[apart]
    assert _moved(s[k], s[apart], t) == s[k]


def test_what_may_or_may_not_move_is_refused() -> None:
    with pytest.raises(ValueError, match="expected indices that are k or declared different from it, got j"):
        _moved(s[j], s[k], t)
    with pytest.raises(ValueError, match="expected an entry at an index"):
        _moved(s[k], s[1], t)
    with pytest.raises(ValueError, match="expected sums over the whole range"):
        _moved(sp.Sum(s[j], (j, 2, n)), s[k], t)
