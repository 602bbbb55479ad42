"""The single edits of an expression: all of them, with what each makes of it."""

import re
from collections.abc import Mapping, Sequence

import pytest
import sympy as sp

from derivations import delta, derivative, index, interior, kl, positive, scalar, simplex, size, total, vector, xlogx
from derivations.calculus.edits import edits
from derivations.calculus.powers import plus
from derivations.calculus.variables import Variable

n, m = size("n"), size("m")
i, j, k = index("i", n), index("j", n), index("k", m)
x, y, t = scalar("x"), positive("y"), positive("t")
s, q, r, K = vector("s", n), simplex("q", n), interior("r", n), vector("K", n, n)
L = vector("L", n, m)

WHOLE = {
    "sign: the sign of all of it": lambda expr: -expr,
    "factor: twice as much": lambda expr: 2 * expr,
    "factor: half as much": lambda expr: expr / 2,
}
EDITED: list[tuple[sp.Expr, Sequence[Variable], Mapping[str, str]]] = [
    (
        x + 1,
        [x],
        {
            "factor: 1 counts twice": "x + 2",
            "factor: x counts twice": "2*x + 1",
            "sign: the sign of 1": "x - 1",
            "sign: the sign of x": "1 - x",
            "term: 1 is lost": "x",
            "term: x is lost": "1",
        },
    ),
    (sp.Integer(3), [], {"constant: 4 for 3": "4"}),
    (
        x * y,
        [x, y],
        {
            "lost: y is lost once": "x",
            "scalar: 2·y for y throughout": "2*x*y",
            "scalar: divided by y": "x",
            "scalar: times y": "x*y**2",
            "scalar: y² for y throughout": "x*y**2",
        },
    ),
    (x**2, [], {"coefficient: 1 for 2": "x", "exponent: the exponent 3 for 2 of x": "x**3", "exponent: x is not squared": "x"}),
    (1 / x, [], {"exponent: the exponent -2 for -1 of x": "x**(-2)"}),
    (
        sp.sqrt(y),
        [],
        {"coefficient: 1 for 1/2": "y", "exponent: the exponent 3/2 for 1/2 of y": "y**(3/2)", "lost: y is lost once": "1"},
    ),
    (
        s[i] * K[i, j],
        [i, j, k],
        {
            "index: K[i, j] is transposed": "K[j, i]*s[i]",
            "index: i and j are exchanged": "K[j, i]*s[j]",
            "index: i for j in K[i, j]": "K[i, i]*s[i]",
            "index: j for i in K[i, j]": "K[j, j]*s[i]",
            "index: j for i in s[i]": "K[i, j]*s[j]",
        },
    ),
    (L[i, k], [i, j, k], {"index: j for i in L[i, k]": "L[j, k]"}),
    (delta(i, j), [], {"delta: δ[i,j] is 1": "1"}),
    (
        total(i, s[i]),
        [j, n],
        {
            "bound: no sum over i, but j, in Σ_i(s[i])": "s[j]",
            "index: j for i in s[i]": "Sum(s[j], (i, 1, n))",
            "mean: a mean over i for Σ_i(s[i])": "Sum(s[i], (i, 1, n))/n",
            "size: divided by n": "Sum(s[i], (i, 1, n))/n",
            "size: times n": "n*Sum(s[i], (i, 1, n))",
        },
    ),
    (sp.exp(x), [], {"function: x for exp(x)": "x"}),
    (sp.exp(y), [], {"function: log(y) for exp(y)": "log(y)", "lost: y is lost once": "E"}),
    (sp.log(y), [], {"function: exp for log in log(y)": "exp(y)", "lost: y is lost once": "0"}),
    (xlogx(q[i]), [], {"function: exp for log in xlogx(q[i])": "exp(q[i])*q[i]"}),
    (plus(x), [], {"function: x for (x)₊": "x"}),
    (sp.Abs(x), [], {"function: x for Abs(x)": "x"}),
    (kl(r[i], q[i]), [], {"function: the arguments of kl(r[i] ‖ q[i]) are exchanged": "kl(q[i], r[i])"}),
    (kl(q[i], r[i]), [], {}),
    (x / 2, [], {"coefficient: 1 for 1/2": "x"}),
    (2 * x * y, [], {"coefficient: 1 for 2": "x*y", "lost: y is lost once": "2*x"}),
    (
        derivative(x**2 * y, x),
        [],
        {
            "coefficient: 1 for 2": "Partial(x*y, x)",
            "exponent: the exponent 3 for 2 of x": "Partial(x**3*y, x)",
            "exponent: x is not squared": "Partial(x*y, x)",
            "lost: y is lost once": "Partial(x**2, x)",
        },
    ),
    (
        x + y + t + s[i] + 1,
        [],
        {
            "factor: 1 counts twice": "t + x + y + s[i] + 2",
            "factor: s[i] counts twice": "t + x + y + 2*s[i] + 1",
            "factor: t counts twice": "2*t + x + y + s[i] + 1",
            "factor: x counts twice": "t + 2*x + y + s[i] + 1",
            "lost: t is lost once": "x + y + s[i] + 2",
            "lost: y is lost once": "t + x + s[i] + 2",
            "sign: the sign of 1": "t + x + y + s[i] - 1",
            "sign: the sign of s[i]": "t + x + y - s[i] + 1",
            "sign: the sign of t": "-t + x + y + s[i] + 1",
            "sign: the sign of x": "t - x + y + s[i] + 1",
            "term: 1 is lost": "t + x + y + s[i]",
            "term: s[i] is lost": "t + x + y + 1",
            "term: t is lost": "x + y + s[i] + 1",
            "term: x is lost": "t + y + s[i] + 1",
        },
    ),
    (
        x - total(i, s[i]),
        [],
        {
            "factor: -Σ_i(s[i]) counts twice": "x - 2*Sum(s[i], (i, 1, n))",
            "factor: x counts twice": "2*x - Sum(s[i], (i, 1, n))",
            "mean: a mean over i for Σ_i(s[i])": "x - Sum(s[i], (i, 1, n))/n",
            "sign: the sign of -Σ_i(s[i])": "x + Sum(s[i], (i, 1, n))",
            "sign: the sign of x": "-x - Sum(s[i], (i, 1, n))",
            "term: -Σ_i(s[i]) is lost": "x",
            "term: x is lost": "-Sum(s[i], (i, 1, n))",
        },
    ),
]


@pytest.mark.parametrize(("expr", "names", "expected"), EDITED, ids=[str(expr) for expr, _, _ in EDITED])
def test_every_edit_of_an_expression(expr: sp.Expr, names: Sequence[Variable], expected: Mapping[str, str]) -> None:
    made = {f"{each.sort}: {each.name}": each.made(expr) for each in edits(expr, names)}
    assert {name: made.pop(name) for name in WHOLE} == {name: edit(expr) for name, edit in WHOLE.items()}
    assert {name: re.sub(r"#\w+", "", str(new)) for name, new in made.items()} == expected


def test_a_long_part_is_cut_in_the_name_of_its_edit() -> None:
    short, long = scalar("a" * 40), scalar("b" * 41)
    names = [each.name for each in edits(short + long, [])]
    assert f"{'a' * 40} is lost" in names
    assert f"{'b' * 39}… is lost" in names
