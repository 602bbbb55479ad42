"""Each condition of definedness separately, and expressions outside of the calculus."""

import pytest
import sympy as sp

from derivations.calculus.defined import Condition, Sense, conditions, shown, strangers, undefined
from derivations.calculus.functions import Partial, derivative, kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable, Vector, index, interior, positive, scalar, size, vector
from derivations.domains import Real
from tests.derivations.calculus.grammar import B, C, a, b, c, h, i, j, k, l, m, n, q, x, y, z

v, t, u = scalar("v"), positive("t"), interior("u", m)
half, two, three = sp.Rational(1, 2), sp.Integer(2), sp.Integer(3)

# every condition, in words
ASKED: dict[str, tuple[sp.Expr, list[str]]] = {
    "a variable": (x, []),
    "an entry at its index": (a[j], []),
    "an entry at its first place": (a[1], ["1 is an integer"]),
    "an entry at its second": (a[2], ["2 is an integer", "2 is an index in range"]),
    "an entry at its last place": (a[m], ["m is an integer"]),
    "an entry after its last": (a[m + 1], ["m + 1 is an integer", "m + 1 is an index in range"]),
    "an entry before its first": (a[0], ["0 is an integer", "0 is an index in range"]),
    "an entry at a real place": (a[y], ["y is an integer", "y is an index in range"]),
    "an entry at an index of another range": (a[h], ["h is an integer", "h is an index in range"]),
    "an entry of a matrix": (
        C[h, i],
        ["h is an integer", "h is an index in range", "i is an integer", "i is an index in range"],
    ),
    "a sum": (total(l, a[l]), ["1 is an integer", "m is an integer", "0 ≥ 0", "0 ≥ 0"]),
    "a sum from 2": (sp.Sum(x, (l, 2, m)), ["2 is an integer", "m is an integer", "1 ≥ 0", "0 ≥ 0"]),
    "a sum beyond its range": (sp.Sum(x, (l, 1, n)), ["1 is an integer", "n is an integer", "0 ≥ 0", "m - n ≥ 0"]),
    "a summand": (sp.Sum(1 / x, (l, 1, m)), ["x ≠ 0", "1 is an integer", "m is an integer", "0 ≥ 0", "0 ≥ 0"]),
    "a reciprocal": (1 / x, ["x ≠ 0"]),
    "a square": (x**2, []),
    "a root": (sp.sqrt(x), ["x ≥ 0"]),
    "a root in a denominator": (1 / sp.sqrt(x), ["x > 0"]),
    "a real power": (x**v, ["x > 0"]),
    "a nonnegative power": (x ** z[j], ["x ≥ 0"]),
    "a size as a power": (x**m, []),
    "a difference of sizes as a power": (x ** (m - n), ["x ≠ 0"]),
    "a log": (sp.log(x), ["x > 0"]),
    "xlogx": (xlogx(x), ["x ≥ 0"]),
    "kl": (kl(x, v), ["x ≥ 0", "v > 0"]),
    "pinsker": (pinsker(x, v), ["x ≥ 0", "v > 0"]),
    "a divergence": (bregman(x, v, y), ["x ≥ 0", "v ≥ 0", "y - 1 > 0"]),
    "a reciprocal that is kept": (reciprocal(x), ["x ≠ 0"]),
    "a sign": (sp.sign(x), ["x ≠ 0"]),
    "a modulus": (sp.Abs(x), []),
    "a positive part": (plus(x), []),
    "an argument of a function": (sp.exp(1 / x), ["x ≠ 0"]),
    "a derivative, of what it is, by what, and itself": (Partial(sp.sqrt(x), x), ["x ≥ 0", "x > 0"]),
    "a derivative at a kink": (Partial(sp.Abs(x), x), ["x ≠ 0"]),
}


@pytest.mark.parametrize("name", ASKED)
def test_conditions_of_an_expression(name: str) -> None:
    expr, expected = ASKED[name]
    assert list(map(str, conditions(expr))) == expected


LACKING: dict[str, tuple[sp.Expr, list[str]]] = {
    "twice the same": (1 / x + 1 / x**2, ["x ≠ 0"]),
    "an integer": (a[1] + total(l, a[l]), []),
    "no integer": (a[y], ["y is an integer", "y is an index in range"]),
    "a positive": (sp.log(y) + sp.sqrt(z[j]) + 1 / b[j], []),
    "by its normal form": (sp.log((x + 1) * (x + 1) - x**2 - 2 * x), []),
    "by its normal form over a common factor": (1 / (y * total(l, q[l]) - y * 0), []),
    "once a common factor is gone": (sp.log((a[j] * y + t * y) / (a[j] + t)), ["t + a[j] ≠ 0"]),
    "what may be 0": (sp.log(z[j]), ["z[j] > 0"]),
    "a divergence": (sp.sqrt(total(l, xlogx(q[l]) - q[l] * sp.log(u[l]))), []),
    "a divergence that may be 0": (
        sp.log(total(l, xlogx(q[l]) - q[l] * sp.log(u[l]))),
        ["Σ_l(-log(u[l])*q[l] + xlogx(q[l])) > 0"],
    ),
    "a divergence that may be 0, below": (
        1 / total(l, xlogx(q[l]) - q[l] * sp.log(u[l])),
        ["Σ_l(-log(u[l])*q[l] + xlogx(q[l])) ≠ 0"],
    ),
    "a variance and more": (sp.log(m * total(l, a[l] ** 2) - total(l, a[l]) ** 2 + t), []),
}


@pytest.mark.parametrize("name", LACKING)
def test_conditions_that_are_not_shown(name: str) -> None:
    expr, expected = LACKING[name]
    assert list(map(str, undefined(expr))) == expected


def test_an_entry_has_one_index_per_axis() -> None:
    with pytest.raises(ValueError, match="argument"):
        list(conditions(sp.Indexed(Vector(B.label, shape=(m, m)), j)))


def test_facts_show_conditions() -> None:
    expr = sp.log(x) + 1 / v + sp.sqrt(x - 1)
    facts = ((x - 1, False, ()), (v, None, ()))
    assert sorted(map(str, undefined(expr))) == ["v ≠ 0", "x - 1 ≥ 0", "x > 0"]
    assert undefined(expr, facts) == []


def test_a_condition_without_a_normal_form_is_not_shown() -> None:
    assert not shown(Condition(derivative(plus(x) * y, x), Sense.POSITIVE))
    assert not shown(Condition(sp.Integer(1), Sense.INDEX))  # required only where it is not manifest


e = sp.Symbol("e")
foreign = sp.IndexedBase(sp.Symbol("a"), shape=(m,))
plain = sp.IndexedBase(a.label, shape=(m,))
longer = Vector(a.label, shape=(n,))
bare = Vector(a.label)
STRANGE: dict[str, tuple[sp.Expr, list[object]]] = {
    "nothing": (x + sp.E * sp.pi + sp.Rational(1, 3) - 7, []),
    "every operation": (total(l, xlogx(z[l]) + kl(q[l], u[l]) + plus(a[l]) + sp.Abs(x) * delta(l, j)) + reciprocal(y), []),
    "more operations": (bregman(y, t, two) + pinsker(y, t) + derivative(x**2, x) + sp.log(y) ** sp.exp(x), []),
    "a plain symbol": (e + x, [e]),
    "a float": (sp.Float("0.5") * x, [sp.Float("0.5")]),
    "infinity": (sp.oo, [sp.oo]),
    "a sum that was kept from being evaluated": (sp.Add(1, 2, evaluate=False) * x, [sp.Add(1, 2, evaluate=False)]),
    "a factor in front of a sum": (sp.Mul(2, x + 1, evaluate=False), []),
    "the imaginary unit": (sp.I * x, [sp.I]),
    "another function": (sp.sin(x), [sp.sin(x)]),
    "a sign": (sp.sign(x), [sp.sign(x)]),
    "in an entry": (a[e], [e]),
    "in a summand": (sp.Sum(e, (l, 1, m)), [e]),
    "in an end of a sum": (sp.Sum(x, (l, 1, e)), [e]),
    "a bound symbol that is no index": (sp.Sum(x, (e, 1, m)), [e]),
    "a bound size": (sp.Sum(x, (n, 1, m)), [n]),
    "an entry of a plain vector": (foreign[j], [foreign[j]]),
    "an entry of a vector made by SymPy": (plain[j], [plain[j]]),
    "an entry of a vector of another length": (longer[h], [longer[h]]),
    "an entry of a vector of no length": (bare[j], [bare[j]]),
    "an entry of a vector with too many places": (
        sp.Indexed(Vector(B.label, shape=(m, m)), j),
        [sp.Indexed(Vector(B.label, shape=(m, m)), j)],
    ),
    "a delta of real numbers": (delta(x, v), [delta(x, v)]),
    "a delta of one": (delta(j, y), [delta(j, y)]),
    "a delta of sums of indices": (delta(j, i + 1), []),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strangers(name: str) -> None:
    expr, expected = STRANGE[name]
    assert list(strangers(expr)) == expected


class Impostor(Variable):
    """A variable of another class."""

    __slots__ = ()


def test_a_variable_is_identified_by_name_and_domain() -> None:
    other = sp.Symbol.__xnew__(Impostor, "x", positive=True)
    other._domain = x.domain
    assert list(strangers(other)) == [other]
    assert list(strangers(sp.Integer(3) * Variable("x", Real()))) == []
    double = sp.Symbol.__xnew__(Variable, "x", positive=True)  # not the one that is known, and with other assumptions
    double._domain = x.domain
    assert list(strangers(double)) == [double]
    assert list(strangers(Vector(double, shape=(m,))[j])) != []


def test_an_index_is_in_range_only_by_its_declaration() -> None:
    one, many = index("one", sp.S.One), size("many")
    assert undefined(vector("o", sp.S.One)[one]) == []
    assert undefined(vector("o", many + 2)[2]) == []
    assert [condition.sense for condition in undefined(vector("o", many)[2])] == [Sense.INDEX]
    assert undefined(total(k, b[k]) * three * half) == []
    assert undefined(c[n]) == []
