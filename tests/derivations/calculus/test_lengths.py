"""Long sums: what is quick stays decided, and an expansion of too many terms is refused in words."""

import time

import pytest
import sympy as sp

from derivations import Equation, positive, scalar, size, vector
from derivations.calculus import lengths, quick, sums
from derivations.calculus.lengths import check_length
from tests.attacks.entries import disbelieved, entry

a, b, p, m = scalar("a"), scalar("b"), positive("p"), size("m")
v = vector("v", 1000)
LONG = sp.Add(*[v[n] for n in range(1, 1001)])


def test_a_long_expansion_is_refused_in_words() -> None:
    refusal = r"^expansion: expected at most 50,000 terms, got a product of sums that may have 500,500$"
    for expr in (LONG**2, LONG**2 / 1000, sp.exp(a) * LONG**2):
        with pytest.raises(ValueError, match=refusal):
            sums.normal(expr)
    with pytest.raises(ValueError, match=r"that may have very many$"):
        sums.normal(sp.Mul(*[a + sp.Symbol(f"x{n}") for n in range(60)]))


def test_a_statement_that_is_too_long_is_not_believed() -> None:
    mean = LONG / 1000
    assert disbelieved(lambda: entry(Equation(mean**2, mean * LONG / 1000)))


@pytest.mark.parametrize(
    "expr",
    [
        a * LONG,
        LONG + a,
        (a + b) ** 100,
        (a + 1) ** 1000,
        sp.Mul(*[a + n for n in range(60)]),
        LONG**-2,
        sp.sqrt(LONG),
        sp.Add(*[v[n] for n in range(1, 301)]) ** 2,
        (1 / p + p + 1) ** 200,
    ],
)
def test_control_expansions_that_are_not_long(expr: sp.Expr) -> None:
    check_length(expr)


@pytest.mark.parametrize("expr", [(a + b + 1) ** 5, (a + 1 / a) ** 4, (a + sp.exp(a) + sp.sqrt(p)) ** 3 * (a - p) ** 2])
def test_the_number_of_terms_is_bounded(expr: sp.Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "MOST_TERMS", len(sp.expand(expr).args) - 1)
    with pytest.raises(ValueError, match=r"^expansion: "):
        check_length(expr)


@pytest.mark.parametrize(
    "terms",
    [
        [p**n for n in range(1, 1001)],
        [a**n for n in range(1001)],
        [v[n] for n in range(1, 1001)],
        [sp.exp(v[n]) for n in range(1, 1001)],
        [v[n] / n for n in range(1, 1001)],
    ],
    ids=["positive powers", "powers", "entries", "exponentials", "fractions"],
)
def test_a_thousand_terms_take_seconds(terms: list[sp.Expr]) -> None:
    start = time.process_time()
    total = sp.Add(*terms)
    assert sums.equal(2 * total, total + total)
    assert sums.equal(sp.exp(total) * sp.exp(a), sp.exp(total + a))
    sums.normal(sp.log(total))
    assert time.process_time() - start < 60


def test_the_sign_of_a_long_sum_is_that_of_its_terms() -> None:
    long = sp.Add(*[p**n for n in range(100)])
    assert long.is_positive
    assert long.is_negative is False
    assert sp.Add(*[(-p) ** n for n in range(100)]).is_negative is None
    for short in (1 + p, 3 + a**2, p**3 + p + 1, p - 2):
        assert quick._monotonic_sign(short) == quick.MONOTONIC_SIGN(short)
