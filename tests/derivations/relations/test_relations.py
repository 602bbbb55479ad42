"""Each relation proves true statements, refutes false ones with a point, and leaves the others undecided."""

from collections.abc import Callable
from dataclasses import fields

import pytest
import sympy as sp

from derivations.calculus.functions import derivative, kl, xlogx
from derivations.calculus.sums import total
from derivations.calculus.variables import index, interior, positive, scalar, simplex, size, vector
from derivations.domains import Nonnegative
from derivations.records import rendering
from derivations.relations import RELATIONS, AtLeast, Entry, Equation, Fails, Follows, Limit, Relation, UniqueMinimum

m, n = size("m"), size("n")
j, l = index("j", m), index("l", m)  # noqa: E741
k = index("k", m, other_than=(j,))
x, w = scalar("x"), scalar("w")
y, tau, t = positive("y"), positive("tau"), positive("t")
z = scalar("z", Nonnegative)
a, s = vector("a", m), vector("s", m)
u, r = interior("u", m), simplex("r", m)
half = sp.Rational(1, 2)


def cross_entropy(plan: Entry) -> sp.Expr:
    return total(l, plan(l) * s[l]) + tau * total(l, xlogx(plan(l)))


def gibbs(sign: int, temperature: sp.Expr) -> Entry:
    return lambda key: sp.exp(sign * s[key] / temperature) / total(l, sp.exp(sign * s[l] / temperature))


def kl_form_of(plan: Entry) -> sp.Expr:
    return tau * total(l, kl(plan(l), u[l])) + x


def minimum(candidate: Entry, factor: sp.Expr = tau, objective: Callable[[Entry], sp.Expr] = cross_entropy) -> UniqueMinimum:
    return UniqueMinimum(objective, candidate, m, factor)


positive_gap, upward = AtLeast(x, w), AtLeast(w, y)

TRUE = {
    "equation": Equation(total(l, u[l] * (a[l] + 1)), total(l, u[l] * a[l]) + 1),
    "derivative": Equation(derivative(total(l, a[l] ** 2), a[j]), 2 * a[j]),
    "square": AtLeast(x**2, 0),
    "gap in normal form": AtLeast(total(l, a[l] ** 2) + y, y / 2),
    "given gap": AtLeast(x**2 + w**2, 2 * x * w, because=(x - w) ** 2),
    "variance": AtLeast(
        total(l, r[l] * a[l] ** 2), total(l, r[l] * a[l]) ** 2, because=total(l, r[l] * (a[l] - total(j, r[j] * a[j])) ** 2)
    ),
    "Gibbs": AtLeast(total(l, xlogx(r[l])), total(l, r[l] * sp.log(u[l])), because=total(l, kl(r[l], u[l]))),
    "strictly": AtLeast(total(l, sp.exp(a[l])), 0, strict=True),
    "strictly above": AtLeast(y + z, z, strict=True),
    "limit": Limit((1 + x / t) ** t, t, sp.oo, sp.exp(x)),
    "limit at 0": Limit(xlogx(t) + x, t, sp.S.Zero, x),
    "limit with a sum": Limit(total(l, a[l]) / t + total(l, u[l]), t, sp.oo, sp.S.One),
    "limit −∞": Limit(sp.log(t), t, sp.S.Zero, -sp.oo),
    "limit ∞": Limit(y * t, t, sp.oo, sp.oo),
    "follows": Follows((positive_gap, upward), AtLeast(2 * x, w + y), (sp.Integer(2), sp.S.One)),
    "follows with slack": Follows((positive_gap,), AtLeast(x + z, w), (sp.S.One,), z),
    "follows strictly": Follows((AtLeast(x, w, strict=True),), AtLeast(x + z, w, strict=True), (sp.S.One,), z),
    "follows strictly by slack": Follows((positive_gap,), AtLeast(x + y, w, strict=True), (sp.S.One,), y),
    "minimum": minimum(gibbs(-1, tau)),
    "minimum against a prior": minimum(lambda key: u[key], objective=kl_form_of),
    "failure": Fails(Equation(x**2, x)),
    "failure at a given point": Fails(AtLeast(x, 0, at={x: -1})),
}


FALSE = {
    "equation": (Equation(total(l, u[l] * (a[l] + 1)), total(l, u[l] * a[l]) + m), "≠"),
    "tiny": (Equation(x, x + sp.Rational(1, 10**30)), "≠"),
    "only at zero": (Equation(sp.Abs(z) / (z + 1) + sp.KroneckerDelta(j, l), z / (z + 1)), "≠"),
    "k ≠ j": (Equation(a[j], a[k]), "k = "),
    "inequality": (AtLeast(x, 0), "<"),
    "by a little": (AtLeast(x, x + sp.Rational(1, 10**30)), "<"),
    "false gap": (AtLeast(x * w, 0, because=x**2), "<"),
    "not strict": (AtLeast(x**2, 0, strict=True), "≤"),
    "not strict on the simplex": (AtLeast(r[j], 0, strict=True), "r = (1, 0)"),
    "limit": (Limit((1 + x / t) ** t, t, sp.oo, sp.exp(2 * x)), "≠"),
    "limit ∞": (Limit(sp.log(t), t, sp.S.Zero, sp.oo), "the limit: -oo ≠ oo"),
    "limit finite": (Limit(sp.log(t), t, sp.S.Zero, sp.S.Zero), "the limit: -oo ≠ 0"),
    "limit not infinite": (Limit(x / t, t, sp.oo, sp.oo), "0 ≠ oo"),
    "limit but for a zero": (Limit(z * t / (z * t + 1), t, sp.oo, sp.S.One), "z = 0"),
    "limit of another sign": (Limit(x * t, t, sp.oo, sp.oo), "x = 0"),
    "limit but for ties": (Limit(sp.exp(a[j] / t) / (sp.exp(a[j] / t) + sp.exp(a[l] / t)), t, sp.S.Zero, sp.S.One), "0.5"),
    "limit of a sum of exponentials": (Limit(t * sp.log(total(l, sp.exp(a[l] / t))), t, sp.S.Zero, total(l, a[l])), "m = 2"),
    "converse": (Follows((positive_gap,), AtLeast(w, x), (sp.S.One,)), "<"),
    "strictly, but premises are not": (Follows((positive_gap,), AtLeast(x, w, strict=True), (sp.S.One,), at={x: 1, w: 1}), "≤"),
    "wrong sign": (minimum(gibbs(1, tau)), "q is better"),
    "wrong temperature": (minimum(gibbs(-1, 2 * tau)), "q is better"),
    "uniform": (minimum(lambda key: 1 / m), "q is better"),
    "mass 2": (minimum(lambda key: 2 * gibbs(-1, tau)(key)), "total mass"),
    "negative entry": (
        UniqueMinimum(lambda p: total(l, p(l) * s[l]), lambda key: s[key], m, tau, at={m: 2, s.label: [2, -1]}),
        "an entry of the candidate",
    ),
    "factor of either sign": (minimum(lambda key: u[key], x, lambda p: x * total(l, kl(p(l), u[l]))), "q is better"),
    "off the simplex": (minimum(lambda key: 2 * u[key], objective=lambda p: tau * total(l, kl(p(l), 2 * u[l]))), "total mass"),
    "another prior": (minimum(lambda key: 1 / m, objective=kl_form_of), "q is better"),
    "linear, not unique": (minimum(lambda key: 1 / m, objective=lambda p: total(l, p(l))), "q is as good"),
}

UNDECIDED = {
    "true, but not by a normal form": Equation(sp.sqrt(x**4 + 2 * x**2 + 1), x**2 + 1),
    "true, with a gap that is not manifest": AtLeast(x**4 + 1, x),
    "a gap that is not the gap": AtLeast(x**2 + w**2, 2 * x * w, because=(x + w) ** 2),
    "a gap whose sign is open": AtLeast(sp.exp(x), 1 + x + x**3 / 6, because=sp.exp(x) - 1 - x - x**3 / 6),
    "strictness that does not show": AtLeast(x**2 + w**2 - 2 * x * w + y, 0, strict=True),
    "limit of a sum whose longest term is unknown": Limit(total(l, sp.exp(u[l] / t)), t, sp.S.Zero, sp.oo),
    "no limit": Limit(sp.sin(t), t, sp.oo, sp.S.Zero),
    "negative weight": Follows((AtLeast(x**2 + y, 0), AtLeast(y, 0)), AtLeast(x**2, 0), (sp.S.One, -sp.S.One)),
    "weights of unknown sign": Follows((AtLeast(x**2, 0),), AtLeast(x**2 * (w + 10**9), 0), (w + 10**9,)),
    "slack of unknown sign": Follows((positive_gap,), AtLeast(x - z + 10**9, w), (sp.S.One,), 10**9 - z),
    "strict without cause": Follows((AtLeast(x**2 + 1, 0),), AtLeast(x**2 + 1, 0, strict=True), (sp.S.One,)),
    "wrong factor": minimum(gibbs(-1, tau), 2 * tau),
    "a candidate that may be zero": minimum(lambda key: r[key], objective=lambda p: total(l, (p(l) - r[l]) ** 2)),
    "failure that is none": Fails(Equation(x, x)),
    "failure elsewhere": Fails(AtLeast(x, 0, at={x: 1})),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_is_proved(name: str) -> None:
    assert TRUE[name].prove()
    assert TRUE[name].refute() is None
    assert next(TRUE[name].points(), None) is not None
    assert str(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_false_is_refuted(name: str) -> None:
    relation, shown = FALSE[name]
    witness = relation.refute()
    assert not relation.prove()
    assert witness is not None
    assert shown in rendering.witness(witness)


@pytest.mark.parametrize("name", UNDECIDED)
def test_other_statements_stay_undecided(name: str) -> None:
    assert not UNDECIDED[name].prove()
    assert UNDECIDED[name].refute() is None


def test_the_letter_of_the_index_is_not_captured() -> None:
    """A candidate that ignores its index and reads s_j has mass m, whatever its index is called."""
    stuck = minimum(lambda key: gibbs(-1, tau)(j))
    assert not stuck.prove()
    assert stuck.refute() is not None


def test_the_letter_of_the_rival_is_not_captured() -> None:
    """An author's vector q is distinct from the rival."""
    own = simplex("q", m)
    cheated = minimum(lambda key: u[key], objective=lambda p: kl_form_of(p) + total(l, (p(l) - own[l]) * s[l]))
    assert not cheated.prove()
    assert cheated.refute() is not None


def test_as_many_weights_as_premises() -> None:
    short = Follows((positive_gap, upward), AtLeast(2 * x, 2 * w), (sp.S.One,))
    assert short.explain() == "weights: expected one for each of 2 premises, got 1"


@pytest.mark.parametrize(
    ("relation", "general"),
    [
        (Equation(total(l, a[l]), 0), True),
        (Equation(x, 0), True),
        (Equation(vector("v", sp.Integer(3))[1], 0), False),
        (Equation(total(index("o", sp.Integer(3)), x), 3 * x), False),
        (Equation(x, x, about=(m,)), True),
    ],
)
def test_three_entries_are_not_every_size(relation: Relation, general: bool) -> None:
    assert relation.general() is general


def test_no_point_where_indices_cannot_differ() -> None:
    pair = index("k", sp.S.One, other_than=(index("j", sp.S.One),))
    relation = Equation(vector("v", sp.S.One)[pair], 0)
    assert next(relation.points(), None) is None
    assert relation.refute() is None


def test_a_witness_can_be_read() -> None:
    witness = Equation(m * x, x, at={m: 2, x: 3}).refute()
    assert witness is not None
    assert (witness.inputs, witness.left[:3], witness.sign, witness.right[:3]) == ({"m": 2, "x": 3}, "6.0", "≠", "3.0")
    assert rendering.witness(witness).startswith("at m = 2, x = 3: 6.0")


def test_scope_names_the_variables_of_about() -> None:
    assert Equation(total(l, u[l]), 1).scope() == "all m ≥ 1, u > 0 with sum 1 (length m)"
    assert Equation(sp.S.One, 1).scope() == "no free variable"


@pytest.mark.parametrize("kind", sorted(RELATIONS, key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__)
def test_the_fields_of_a_statement_have_types_and_no_texts(kind: type[Relation]) -> None:
    """These types convert numbers to expressions and recognize trivial corrections."""
    assert not [field.name for field in fields(kind) if isinstance(field.type, str)]


def test_numbers_become_expressions() -> None:
    weights = Follows((AtLeast(x, w),), AtLeast(x, w), (1,)).weights
    assert all(isinstance(each, sp.Expr) for each in (*AtLeast(1, 0).sides, *weights))


POSITIONAL = {
    "Equation": "left right",
    "Differs": "left right",
    "AtLeast": "left right",
    "StrictUnlessEqual": "left right x y z weights alpha",
    "Limit": "expr variable to limit",
    "Expansion": "left right variable order",
    "Follows": "premises conclusion weights slack",
    "UniqueMinimum": "objective candidate over factor alpha slack",
    "UniqueMaximum": "objective candidate over factor alpha slack",
    "UniquePlan": "objective candidate rows columns factor",
    "Fails": "relation",
}


@pytest.mark.parametrize("kind", sorted(RELATIONS, key=lambda kind: kind.__name__))
def test_operands_are_positional_and_options_are_keywords(kind: type[Relation]) -> None:
    assert " ".join(each.name for each in fields(kind) if each.init and not each.kw_only) == POSITIONAL[kind.__name__]
