"""Name capture: an index that is both free and bound, two vectors with one name, moments that are not known."""

from collections.abc import Callable

import pytest
import sympy as sp

from derivations.calculus.functions import derivative
from derivations.calculus.moments import UnknownMomentError, expectation
from derivations.calculus.orders import upto
from derivations.calculus.powers import plus
from derivations.calculus.sums import alike, delta, total
from derivations.calculus.variables import Variable, fresh, index, stochastic, vector
from derivations.domains import Nonnegative, Positive, Random
from derivations.records.claims import Verdict
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import AtLeast, Differs, Equation, Expansion, Fails, Follows, ForAll, Limit, Solves, UniqueMinimum
from tests.attacks import Table, refused
from tests.attacks.entries import disbelieved, entry, verdict_on
from tests.attacks.vocabulary import RR, A, P, a, b, c, h, i, j, k, l, m, n, one, r, s, t, tau, two, u, v, w, x, y, z

inner = total(l, a[l]).bound_symbols[0]  # an index that a sum has renamed, to be bound twice
M = vector("M", m, m)
g, E = vector("g", m), vector("E", m, kind=Random)
everything = (j, 1, m)  # the index j bound, under the name that is free elsewhere
oo, zero = sp.oo, sp.S.Zero

free = index("k", m)  # k, which is unrestricted


def logistic_mean(factor: sp.Expr) -> sp.Expr:
    """What the term of k in Σ_l logistic(a_l)·factor contributes, if the sum over l binds nothing of the factor."""
    others = index("o", m, other_than=(free,))
    return sp.Sum(factor / (1 + sp.exp(-a[inner])), (inner, 1, m)) - total(others, 1 / (1 + sp.exp(-a[others]))) * factor


def half_an_entry(factor: sp.Expr) -> sp.Expr:
    """−½ a_j · factor, of which the normal form keeps two sums over l beside those of the factor."""
    return (total(l, a[l] / (1 + delta(l, j))) - total(l, a[l])) * factor


BOUND: Table = {
    "a hypothesis about one j, for all": lambda: AtLeast(sp.Sum(a[j], everything), 0, given=(AtLeast(a[j], 0),)),
    "a hypothesis about one j, for all, strictly": lambda: AtLeast(
        sp.Sum(a[j], everything), 0, strict=True, given=(AtLeast(a[j], 0, strict=True),)
    ),
    "a hypothesis about one j, as because": lambda: AtLeast(
        sp.Sum(a[j] ** 3, everything), 0, because=sp.Sum(a[j] ** 3, everything), given=(AtLeast(a[j], 0),)
    ),
    "a hypothesis about one denominator, for all": lambda: Equation(
        sp.Sum((a[j] ** 2 + a[j]) / a[j], everything), sp.Sum(a[j], everything) + m, given=(Differs(a[j], 0),)
    ),
    "a hypothesis about one log, for all": lambda: Equation(
        (sp.Sum(sp.log(a[j]), everything) + w) ** 2,
        sp.Sum(sp.log(a[j]), everything) ** 2 + 2 * w * sp.Sum(sp.log(a[j]), everything) + w**2,
        given=(AtLeast(a[j], 0, strict=True),),
    ),
    "a hypothesis about two indices, for all pairs": lambda: AtLeast(
        sp.Sum((a[j] - a[l]) * b[j], everything, (l, 1, m)), 0, given=(AtLeast(a[j], a[l]),)
    ),
    "a hypothesis about one j in a limit": lambda: Limit(
        t * sp.Sum(a[j], everything), t, oo, oo, given=(AtLeast(a[j], 0, strict=True),)
    ),
    "a hypothesis about one j in an expansion": lambda: Expansion(
        sp.Sum(sp.log(a[j] + t), everything),
        sp.Sum(sp.log(a[j]), everything) + t * sp.Sum(1 / a[j], everything),
        t,
        1,
        given=(AtLeast(a[j], 0, strict=True),),
    ),
    "a hypothesis about one j in an optimum": lambda: UniqueMinimum(
        lambda p: sp.Sum((p(j) - (1 + a[j]) / (m + sp.Sum(a[j], everything))) ** 2, everything) / 2,
        lambda key: (1 + a[key]) / (m + total(l, a[l])),
        m,
        one,
        two,
        given=(AtLeast(a[j], 0),),
    ),
    "a weight that is ≥ 0 for one j": lambda: Follows(
        (AtLeast(x, 0),), AtLeast(x * sp.Sum(a[j], everything), 0), (sp.Sum(a[j], everything),), given=(AtLeast(a[j], 0),)
    ),
    "a weight that is ≥ 0 for one j of a premise for all": lambda: Follows(
        (ForAll(AtLeast(s[j], 0), over=(j,)),),
        AtLeast(total(j, a[j] * s[j]), 0),
        (a[j],),
        given=(ForAll(AtLeast(s[j], 0), over=(j,)), AtLeast(a[j], 0)),
    ),
    "a weight that has a value for one j of a premise for all": lambda: Follows(
        (ForAll(AtLeast(s[j], 0), over=(j,)),),
        AtLeast(total(j, s[j] / a[j] ** 2), 0),
        (a[j] ** -2,),
        given=(ForAll(AtLeast(s[j], 0), over=(j,)), Differs(a[j], 0)),
    ),
    "one entry moves, and all of a sum with it": lambda: Limit(sp.Sum(sp.exp(-a[j]), everything), a[j], oo, zero),
    "one entry moves, and the others are lost": lambda: Limit(
        sp.Sum(a[j], everything) - a[j] + 1 / (1 + a[j] ** 2), a[j], oo, zero
    ),
    "one entry moves, and its weight is all": lambda: Limit(sp.Sum(sp.exp(-a[j]), everything) * sp.exp(a[j]), a[j], oo, one),
    "one entry moves to −∞": lambda: Limit(sp.Sum(sp.exp(a[j]), everything), a[j], -oo, zero),
    "one entry moves in a sum whose index a sum inside binds again": lambda: Limit(
        logistic_mean(sp.Sum(s[inner] * c[free], (inner, 1, m))), a[free], oo, total(l, s[l] * c[l])
    ),
    "a solution's index is bound": lambda: Expansion(
        sp.Sum(g[j], everything), t * total(l, a[l]), t, 1, where=(Solves(g, lambda e: lambda key: a[j]),)
    ),
    "a solution's index is bound in a product": lambda: Expansion(
        sp.Sum(g[j] * s[j], everything), t * total(l, a[l] * s[l]), t, 1, where=(Solves(g, lambda e: lambda key: a[j]),)
    ),
    "an index bound and free in a product": lambda: Equation(sp.Sum(a[j], everything) * b[j], sp.Sum(a[j] * b[j], everything)),
    "an index bound and free in a power": lambda: Equation(sp.Sum(y, everything) ** j, total(l, y**l)),
    "an index bound and free in δ": lambda: Equation(sp.Sum(delta(j, l), everything) * a[j], a[l]),
    "an index bound and free in a marginal": lambda: Equation(sp.Sum(P[i, j], everything), v[i] * a[j] / a[k]),
    "an index bound and free in a row": lambda: Equation(sp.Sum(RR[j, j], everything), 1),
    "an index bound and free in a slope": lambda: Equation(
        derivative(sp.Sum(a[j] ** 2 * s[j], everything), a[j]), total(l, 2 * a[l] * s[l])
    ),
    "an index bound in another factor, an exponential, takes j's place": lambda: Equation(
        half_an_entry(sp.exp(total(h, M[j, h]))), half_an_entry(sp.exp(total(h, M[h, h])))
    ),
    "an index bound in another factor, a denominator, takes j's place": lambda: Equation(
        half_an_entry(1 / (1 + total(h, M[j, h] ** 2))), half_an_entry(1 / (1 + total(h, M[h, h] ** 2)))
    ),
    "a hypothesis for all j, and a k other than j, at all entries": lambda: AtLeast(
        total(l, M[l, k]), 0, given=(ForAll(AtLeast(M[j, k], 0), over=(j,)),)
    ),
    "a hypothesis for all j, and a k other than j, at this k": lambda: AtLeast(
        a[k], 0, given=(ForAll(AtLeast(a[j], 0), over=(j,)),)
    ),
    "a premise for all j, and a k other than j": lambda: Follows(
        (ForAll(AtLeast(M[j, k], 0), over=(j,)),),
        AtLeast(total(l, M[l, k]), 0),
        (one,),
        given=(ForAll(AtLeast(M[j, k], 0), over=(j,)),),
    ),
    "an index bound twice": lambda: Equation(sp.Sum(sp.Sum(a[j], everything), everything), sp.Sum(a[j], everything)),
    "an index bound inside and outside": lambda: Equation(
        sp.Sum(a[j] * sp.Sum(s[j], everything), everything), sp.Sum(a[j] * s[j], everything)
    ),
    "a sum over k ≠ j inside a sum over j": lambda: Equation(sp.Sum(total(k, b[k]), everything), m * total(k, b[k])),
}


@pytest.mark.parametrize("name", BOUND)
def test_is_not_proved(name: str) -> None:
    assert refused(BOUND[name])


late = upto(40, m)  # 0 at every size that a proved statement is tried at
plans = stochastic("S", m, m)


def of_one_sign(weight: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    """(Σ w a)² − (Σ w |a|)², which is 0 if all entries have one sign and negative otherwise."""
    return total(l, weight(l) * a[l]) ** 2 - total(l, weight(l) * sp.Abs(a[l])) ** 2


SCOPES: Table = {
    "a weight leaves the sum that binds its index, and |a| is opened at this index": lambda: AtLeast(
        total(l, c[l])
        + total(l, 1 / (1 + total(j, sp.exp(-plans[j, l] * total(h, s[h] ** 2)))))
        + total(j, sp.exp(-total(l, sp.sqrt(c[l]) * sp.sqrt(plans[j, l]))))
        + late * of_one_sign(lambda key: sp.exp(-total(h, sp.exp(M[h, key])))),
        0,
    ),
    "a mass leaves the sum that binds its index, and |a| is opened at this index": lambda: AtLeast(
        x**2 + late * total(l, sp.log(1 + total(h, plans[h, l] * a[h]) ** 2)),
        late * total(l, sp.log(1 + total(h, plans[h, l] * sp.Abs(a[h])) ** 2)),
    ),
    "a mass leaves the sum that binds its index, and a₊ is opened at this index": lambda: AtLeast(
        x**2 + late * total(l, sp.log(1 + plus(total(h, plans[h, l] * a[h])))),
        late * total(l, sp.log(1 + total(h, plans[h, l] * plus(a[h])))),
    ),
}


@pytest.mark.parametrize("name", SCOPES)
def test_an_index_is_bound_where_its_sum_says(name: str) -> None:
    assert refused(SCOPES[name])


R, U, Q = vector("r", m, kind=Nonnegative), vector("u", m, kind=Positive), vector("RR", m, m, kind=Nonnegative)
other = vector("a", n)


def passed_on(true: AtLeast, false: AtLeast) -> Entry:
    """A claim that uses a true statement about another variable with the same name."""
    doubled = AtLeast(2 * false.sides[0], 2 * false.sides[1])
    return entry(true, Follows((false,), doubled, (two,)))


NAMESAKES: dict[str, Callable[[], Entry]] = {
    "a point of a simplex vouches for a nonnegative vector": lambda: passed_on(AtLeast(1 - r[j], 0), AtLeast(1 - R[j], 0)),
    "masses that add up to 1 vouch for others": lambda: passed_on(AtLeast(total(l, -u[l]), -1), AtLeast(total(l, -U[l]), -1)),
    "a stochastic matrix vouches for a nonnegative one": lambda: passed_on(AtLeast(1 - RR[j, l], 0), AtLeast(1 - Q[j, l], 0)),
    "k ≠ j vouches for k": lambda: passed_on(AtLeast(-delta(j, k), 0), AtLeast(-delta(j, free), 0)),
    "k ≠ j vouches for k in a sum": lambda: passed_on(
        AtLeast(-delta(j, k) * total(l, b[l]), 0), AtLeast(-delta(j, free) * total(l, b[l]), 0)
    ),
    "a sum over m vouches for one over n": lambda: passed_on(
        AtLeast(total(l, 1) - m, 0), AtLeast(total(index("l", n), 1) - m, 0)
    ),
}


@pytest.mark.parametrize("name", NAMESAKES)
def test_a_namesake_does_not_vouch(name: str) -> None:
    assert disbelieved(NAMESAKES[name])


def test_a_namesake_is_another_statement() -> None:
    assert not alike(r[j], R[j])
    assert not alike(delta(j, k), delta(j, free))
    assert not alike(total(l, a[l]), total(i, other[i]))
    assert alike(total(l, a[l]), total(h, a[h]))


def test_a_correction_by_another_domain_is_no_repetition() -> None:
    """Σ u = 1 is false for positive vectors; a simplex point of the same name makes it true."""
    made = entry(Fails(Equation(total(l, U[l]), 1)), repair=(Equation(total(l, u[l]), 1),))
    assert not any("repeats" in fault for fault in examine(made).faults)


MOMENTS: dict[str, Callable[[], sp.Expr]] = {
    "a third moment": lambda: E[j] ** 3,
    "a fourth moment": lambda: E[j] ** 2 * E[l] ** 2,
    "a mixed third moment": lambda: E[j] * E[l] * E[h],
    "an inverse": lambda: 1 / E[j],
    "an exponential": lambda: sp.exp(E[j]),
    "a modulus": lambda: sp.Abs(E[j]),
    "a root": lambda: sp.sqrt(E[j] ** 2 + 1),
    "a product of sums": lambda: total(l, E[l] ** 2) * total(h, E[h] * a[h]),
    "a third power of a sum": lambda: total(l, E[l] * a[l]) ** 3,
    "a quotient of sums": lambda: total(l, E[l] * a[l]) / total(l, E[l]),
    "a real power": lambda: E[j] ** tau,
    "a positive part of a modulus": lambda: sp.Abs(total(l, E[l] * a[l])),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_a_moment_that_nothing_fixes(name: str) -> None:
    with pytest.raises(UnknownMomentError):
        expectation(MOMENTS[name]())


RANDOM: Table = {
    "a random vector in a statement": lambda: Equation((E[j] + w) ** 2, E[j] ** 2 + 2 * w * E[j] + w**2),
    "a random vector is ≥ 0 in the mean": lambda: AtLeast(E[j] ** 2, 0),
    "a random vector is differentiated": lambda: Equation(derivative(E[j] ** 2, E[j]), 2 * E[j]),
    "another second moment": lambda: Equation(expectation(total(l, E[l] * a[l]) ** 2), total(l, a[l]) ** 2),
    "the second moment of k ≠ j": lambda: Equation(expectation(E[j] * E[k]), 1),
    "a first moment": lambda: Equation(expectation(E[j] * x + y), x + y),
}


@pytest.mark.parametrize("name", RANDOM)
def test_a_random_vector_is_no_point(name: str) -> None:
    assert refused(RANDOM[name])


def test_a_sum_that_binds_an_index_again_is_not_refuted() -> None:
    true = Limit(logistic_mean(sp.Sum(s[inner] * c[free], (inner, 1, m))), a[free], oo, c[free] * total(l, s[l]))
    assert true.counterexample() is None
    assert true.prove()


def test_a_fresh_index_is_one_that_nobody_made_before() -> None:
    """An author who knows the counter could bind the next name inside of a sum, where differentiation would capture it."""
    number = int(total(l, a[l]).bound_symbols[0].name.split("#")[1])
    made = [Variable(f"l#{number + ahead}", l.domain) for ahead in range(1, 50)]
    assert fresh(l) not in made


def test_control() -> None:
    assert AtLeast(a[j] + z, 0, given=(AtLeast(a[j], 0),)).prove()
    assert Equation(2 * expectation(total(l, E[l] * a[l]) ** 2), total(l, 2 * a[l] ** 2)).prove()
    assert Limit(total(l, sp.exp(-(A[i, l] ** 2) * t - t)), t, oo, zero).prove()
    assert verdict_on(passed_on(AtLeast(1 - r[j], 0), AtLeast(1 - r[j], 0))).verdict is Verdict.PROVED
