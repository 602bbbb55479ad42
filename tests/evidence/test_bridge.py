"""Formulas as Python code: their values are those of ball arithmetic, and no sum is computed twice."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from derivations.calculus.balls import enclose
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable, index, size, vector
from evidence import bridge

m, n = size("m"), size("n")
i, k, l = index("i", m), index("k", m), index("l", m)  # noqa: E741
j = index("j", n)
s, C = vector("s", m), vector("C", m, n)
softmax = sp.exp(s[i]) / total(k, sp.exp(s[k]))
by_columns = total(j, total(i, sp.exp(C[i, j]) / total(k, sp.exp(C[k, j])) * s[i]) ** 2)


@pytest.mark.parametrize("expr", [
    total(i, softmax * s[i]), by_columns, total((i, j), C[i, j] * total(l, s[l] * C[l, j])),
    total(i, s[i] * total(k, s[k] * total(l, s[l] + s[k] * s[i]))),
    total(i, total(k, s[k]) * total(k, s[i] - s[k])),        # two sums over indices of one name
], ids=str)
def test_values_are_those_of_ball_arithmetic(expr: sp.Expr) -> None:
    scores = [Fraction(1, 2), Fraction(-1, 3), Fraction(2)]
    costs = [[Fraction(a * b - 2, 3) for b in range(2)] for a in range(3)]
    exact = enclose(expr, {m: 3, n: 2, s.label: scores, C.label: costs})
    point: dict[str, bridge.Value] = {"m": 3, "n": 2, "s": torch.tensor(np.array(scores, dtype=float)),
                                      "C": torch.tensor(np.array(costs, dtype=float))}
    assert math.isclose(float(bridge.evaluate(expr, point, [])), float(exact.mid()), rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize(("expr", "times"), [
    (total(i, softmax * s[i] + 1), 10),                      # five in the sum of all, five outside of it
    (total(j, total(i, sp.exp(C[i, j] + 1) / total(k, sp.exp(C[k, j] + 1)))), 30),
])
def test_a_sum_is_computed_once_for_all_values_of_the_indices_in_it(
    expr: sp.Expr, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[float] = []

    def counted(x: float) -> float:
        called.append(x)
        return math.exp(x)

    monkeypatch.setitem(bridge._FUNCTIONS, "exp", counted)
    bridge.compiled.__wrapped__.cache_clear()                # type: ignore[attr-defined]
    values: dict[str, bridge.Value] = {"m": 5, "n": 3, "s": torch.arange(5.0), "C": torch.ones(5, 3)}
    bridge.evaluate(expr, values, [])
    bridge.compiled.__wrapped__.cache_clear()                # type: ignore[attr-defined]
    assert len(called) == times


def test_a_sum_of_an_index_that_is_left_open_is_computed_for_each_of_its_values() -> None:
    free: list[Variable] = [i]
    values = bridge.evaluate(total(k, s[i] * s[k]), {"m": 3, "s": torch.tensor([1.0, 2.0, 3.0])}, free)
    assert values.tolist() == [6.0, 12.0, 18.0]
