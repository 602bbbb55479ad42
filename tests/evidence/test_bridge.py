"""Formulas as Python code: their values equal those of ball arithmetic, and no sum is computed twice."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from derivations.calculus.balls import enclose
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable, index, positive, scalar, size, vector
from evidence import bridge

m, n = size("m"), size("n")
i, k, l = index("i", m), index("k", m), index("l", m)  # noqa: E741
j = index("j", n)
s, C = vector("s", m), vector("C", m, n)
softmax = sp.exp(s[i]) / total(k, sp.exp(s[k]))
by_columns = total(j, total(i, sp.exp(C[i, j]) / total(k, sp.exp(C[k, j])) * s[i]) ** 2)


@pytest.mark.parametrize(
    "expr",
    [
        total(i, softmax * s[i]),
        by_columns,
        total((i, j), C[i, j] * total(l, s[l] * C[l, j])),
        total(i, s[i] * total(k, s[k] * total(l, s[l] + s[k] * s[i]))),
        total(i, total(k, s[k]) * total(k, s[i] - s[k])),  # two sums over indices of one name
    ],
    ids=str,
)
def test_values_are_those_of_ball_arithmetic(expr: sp.Expr) -> None:
    scores = [Fraction(1, 2), Fraction(-1, 3), Fraction(2)]
    costs = [[Fraction(a * b - 2, 3) for b in range(2)] for a in range(3)]
    exact = enclose(expr, {m: 3, n: 2, s.label: scores, C.label: costs})
    point: dict[str, bridge.Value] = {
        "m": 3,
        "n": 2,
        "s": torch.tensor(np.array(scores, dtype=float)),
        "C": torch.tensor(np.array(costs, dtype=float)),
    }
    assert math.isclose(float(bridge.evaluate(expr, point, [])), float(exact.mid()), rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("expr", "times"),
    [
        (total(i, softmax * s[i] + 1), 10),  # five in the sum of all, five outside of it
        (total(j, total(i, sp.exp(C[i, j] + 1) / total(k, sp.exp(C[k, j] + 1)))), 30),
    ],
)
def test_a_sum_is_computed_once_for_all_values_of_the_indices_in_it(
    expr: sp.Expr, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[float] = []

    def counted(x: float) -> float:
        called.append(x)
        return math.exp(x)

    monkeypatch.setitem(bridge._FUNCTIONS, "exp", counted)
    bridge.compiled.__wrapped__.cache_clear()  # type: ignore[attr-defined]
    values: dict[str, bridge.Value] = {"m": 5, "n": 3, "s": torch.arange(5.0), "C": torch.ones(5, 3)}
    bridge.evaluate(expr, values, [])
    bridge.compiled.__wrapped__.cache_clear()  # type: ignore[attr-defined]
    assert len(called) == times


def test_a_sum_of_an_open_index_is_computed_for_each_of_its_values() -> None:
    free: list[Variable] = [i]
    values = bridge.evaluate(total(k, s[i] * s[k]), {"m": 3, "s": torch.tensor([1.0, 2.0, 3.0])}, free)
    assert values.tolist() == [6.0, 12.0, 18.0]


def test_two_variables_of_one_name_have_no_values() -> None:
    with pytest.raises(ValueError, match=r"^x: expected one variable of a name, got x with different domains in x "):
        bridge.compiled(scalar("x") + positive("x"))


def test_an_index_may_run_over_an_expression_of_sizes() -> None:
    wide, fixed = index("h", m + 1), index("g", sp.Integer(2))
    assert bridge.evaluate(wide * fixed, {"m": 2}, [wide, fixed]).tolist() == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]


def test_indices_that_must_differ_and_one_that_need_not() -> None:
    other = index("g", m, other_than=(i,))
    values = bridge.evaluate(s[i] * s[other] * s[k], {"m": 2, "s": torch.tensor([2.0, 3.0]), "k": 2}, [i, other])
    assert values.isnan().tolist() == [[True, False], [False, True]]
    assert values[0, 1] == 18.0
    assert bridge.clashes([k, other], {"m": 2, "i": 1}).tolist() == [[True, False], [True, False]]


def test_values_may_require_gradients() -> None:
    values = torch.tensor([2.0, 3.0], requires_grad=True)
    assert bridge.evaluate(total(i, s[i]), {"m": 2, "s": values}, []) == 5.0


def test_the_last_entry_is_the_last() -> None:
    values = {"m": 2, "s": torch.tensor([2.0, 3.0])}
    assert bridge.evaluate(s[2], values, []) == 3.0
    for outside in (0, 3):
        with pytest.raises(IndexError, match=r"expected positions within \(2,\), counted from 1, got"):
            bridge.evaluate(s[sp.Integer(outside)] + s[1], values, [])


def test_an_index_must_differ_from_a_fixed_one() -> None:
    other = index("g", m, other_than=(i,))
    values = bridge.evaluate(s[other], {"m": 3, "s": torch.tensor([2.0, 3.0, 4.0]), "i": 1}, [other])
    assert values.isnan().tolist() == [True, False, False]
    assert values[1:].tolist() == [3.0, 4.0]


def test_an_index_may_have_to_differ_from_two() -> None:
    other = index("g", m, other_than=(i, k))
    assert bridge.clashes([other], {"m": 3, "i": 1, "k": 3}).tolist() == [True, False, True]


def test_earlier_evaluations_are_refused_while_a_check_computes() -> None:
    expr, point = s[1] ** 2, {"m": 1, "s": torch.tensor([2.0])}
    assert bridge.evaluate(expr, point, []) == 4.0
    with bridge.closed():
        for ask in (lambda: bridge.evaluate(expr, point, []), lambda: bridge.compiled(expr)):
            with pytest.raises(bridge.OwnFormulaError):
                ask()
        with bridge.closed():
            pass
        with pytest.raises(bridge.OwnFormulaError):
            expr.subs(s[1], 2)
    assert bridge.evaluate(expr, point, []) == 4.0


def test_inner_sums_over_other_symbols_than_indices_are_not_confused() -> None:
    point = {"m": 2, "s": torch.tensor([2.0, 3.0])}
    for bound in (size("h"), scalar("h"), sp.Symbol("e"), sp.Dummy("pi")):
        expr = sp.Sum(total(k, s[k] ** bound), (bound, 1, 3))
        assert bridge.evaluate(expr, point, []) == 5 + 13 + 35


def test_an_index_may_be_summed_over_within_a_sum_over_itself() -> None:
    k_again = sp.Sum(s[k] * sp.Sum(s[k], (k, 1, m)), (k, 1, m))
    assert bridge.evaluate(k_again + sp.Sum(s[k], (k, 1, m)), {"m": 2, "s": torch.tensor([2.0, 3.0])}, []) == 30
    assert bridge.evaluate(s[k] * sp.Sum(s[k], (k, 1, m)), {"m": 2, "s": torch.tensor([2.0, 3.0])}, [k]).tolist() == [10, 15]
