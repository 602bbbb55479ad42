"""Objects that lie: nodes, variables, sides, hypotheses and relations that violate the contract of their type."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import sympy as sp

from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable, Vector, positive, scalar, vector
from derivations.domains import Domain, Index, Positive, Real, Simplex, Size
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations import AtLeast, Differs, Equation, Expansion, Follows, Hypothesis, Limit, Relation
from tests.attacks import Table, refused
from tests.attacks.vocabulary import a, b, j, k, l, m, n, one, r, t, u, w, x, y, z

REASONING = ("remainder", "contradicted_at", "equal")


def called_by(*names: str) -> bool:
    """Whether one of these functions is on the call stack."""
    frame = sys._getframe(1)
    while frame and frame.f_code.co_name not in names:
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None


class Liar(sp.Expr):  # type: ignore[misc]
    """A node with every property that is queried."""

    is_commutative = is_real = is_nonnegative = is_positive = is_finite = True
    p = q = 1


setattr(Liar, "is_Rational", True)  # noqa: B010  (a name that a class of ours would not have)


class Always(sp.Symbol):  # type: ignore[misc]
    """A symbol that equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(sp.S.Pi)


class Signed(Variable):
    """A variable that claims to be nonnegative."""

    is_nonnegative = is_positive = True


class lifted(sp.Function):  # type: ignore[misc]  # noqa: N801
    """A function that claims to be ≥ 0."""

    is_nonnegative = is_positive = is_real = True


class Total(sp.Sum):  # type: ignore[misc]
    """A sum that claims to be ≥ 0."""

    is_nonnegative = is_positive = True


class Opened(sp.Expr):  # type: ignore[misc]
    """A node that expands to the expression that would prove the claim."""

    is_commutative = is_real = True

    def opened(self) -> sp.Expr:
        return sp.S.One


class Constant(Vector):
    """A vector whose entries are one and the same object."""

    def __getitem__(self, key: Any, **more: Any) -> sp.Expr:
        return super().__getitem__(sp.S.One)


class Side:
    """A side that is one expression during the proof and another when printed."""

    def __init__(self, shown: sp.Expr, proved: sp.Expr) -> None:
        self.shown, self.proved = shown, proved

    def _sympy_(self) -> sp.Expr:
        return self.proved if called_by(*REASONING) else self.shown


class Turning:
    """A side that is a different expression at every access."""

    def __init__(self, *values: sp.Expr) -> None:
        self.values = list(values)

    def _sympy_(self) -> sp.Expr:
        return self.values.pop(0) if len(self.values) > 1 else self.values[0]


@dataclass(frozen=True)
class Supposed(Hypothesis):
    """A hypothesis that prints y ≥ 0 and asserts x > 0."""

    sign = Sign.AT_LEAST

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        return y, sp.S.Zero

    @property
    def fact(self) -> tuple[sp.Expr, bool | None]:
        return x, True

    def remainder(self) -> str:
        return ""

    def contradicted_at(self, point: object) -> Witness | None:
        return None

    def holds_at(self, point: object) -> bool:
        return True

    def __str__(self) -> str:
        return "y ≥ 0"


class Quiet(AtLeast):
    """A hypothesis that prints as nothing."""

    def __str__(self) -> str:
        return "0 = 0"


class Shown(str):
    """A name that prints as another one."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return "x"


class ShownAsReal(Positive):
    """The domain of a positive number that is shown as that of any real one."""

    @property
    def words(self) -> str:  # type: ignore[override]
        return Real.words if called_by("scope") else Positive.words


def unevaluated(base: sp.Expr) -> sp.Expr:
    """The base to the power 3 + 0·(−1), which SymPy takes for an even number."""
    exponent = sp.Add(3, sp.Mul(0, -1, evaluate=False), evaluate=False)
    return sp.Pow(base, exponent, evaluate=False)


def mutated() -> Relation:
    """A positive variable whose domain is changed to real afterwards."""
    late = positive("o")
    try:
        late.domain = Real()  # type: ignore[misc]
    except AttributeError as error:
        raise ValueError(str(error)) from None
    return AtLeast(late, 0)


def by_hand(kind: type[Domain], **assumptions: bool) -> Variable:
    """A variable whose assumptions differ from those of its domain."""
    made = sp.Symbol.__xnew__(Variable, "o", **assumptions)
    made._domain = kind()
    return made  # type: ignore[no-any-return]


NODES: Table = {
    "a node that says it is a positive rational": lambda: AtLeast(Liar() * x**2, 0),
    "a node that says it is a rational, in a sum": lambda: AtLeast(x**2 + Liar(), 0, strict=True),
    "a symbol that equals every constant": lambda: AtLeast(Always("o", positive=True), 0),
    "a variable that says it is positive": lambda: AtLeast(Signed("o", Real()), 0),
    "a function that says it is positive": lambda: AtLeast(lifted(x), 0),
    "a sum that says it is positive": lambda: AtLeast(Total(a[l], (l, 1, m)), 0),
    "a sum that says it is positive, as because": lambda: AtLeast(total(l, a[l]), 0, because=Total(a[l], (l, 1, m))),
    "a node that opens into 1": lambda: Equation(Opened(x), 1),
    "a node that opens into 1, at least": lambda: AtLeast(Opened(x), 1),
    "a vector whose entries are its first": lambda: Equation(
        total(l, Constant(a.label, shape=(m,))[l] + u[l]), m * Constant(a.label, shape=(m,))[j] + 1
    ),
    "an unknown function": lambda: Equation(
        (sp.Function("o")(x) + 1) ** 2, sp.Function("o")(x) ** 2 + 2 * sp.Function("o")(x) + 1
    ),
    "a plain nonnegative symbol": lambda: AtLeast(sp.Symbol("o", nonnegative=True), 0),
    "a plain symbol that is positive and has a sum": lambda: AtLeast(total(l, sp.Symbol("o", positive=True) * b[l]), 0),
    "a dummy": lambda: AtLeast(sp.Dummy("o", positive=True), 0),
    "a wildcard": lambda: Equation((sp.Wild("o") + 1) ** 2, sp.Wild("o") ** 2 + 2 * sp.Wild("o") + 1),
    "a text": lambda: Equation("o**2 - 1", "(o - 1)*(o + 1)"),
    "a truth value": lambda: Equation(sp.true, True),
    "a truth value for 1": lambda: Equation(True, 1),
    "a product over a range": lambda: Equation(sp.log(sp.Product(a[l] ** 2, (l, 1, m))), 2 * total(l, sp.log(sp.Abs(a[l])))),
    "an integral": lambda: Equation(sp.Integral(1 / x, (x, -1, 1)), 0),
    "a derivative of SymPy's": lambda: Equation(sp.Derivative(total(l, a[l] ** 2), a[j]), 0),
    "a piecewise function": lambda: AtLeast(sp.Piecewise((x, x > 0), (-x, x < -5), (0, True)) - x, 0),
    "a maximum of unordered things": lambda: AtLeast(sp.Max(x, sp.I), 0),
    "a matrix": lambda: Equation(sp.Matrix([x]), sp.Matrix([w])),
    "a set": lambda: Equation(sp.S.Reals, sp.S.Reals),
    "a rounded number": lambda: AtLeast(sp.floor(x), x - sp.Rational(1, 2)),
    "a conjugate": lambda: AtLeast(sp.conjugate(sp.sqrt(x)) * sp.sqrt(x), 0),
    "a real part": lambda: AtLeast(sp.re(sp.sqrt(x)), 0),
    "a tuple": lambda: Equation((x, w), (x, w)),
    "nothing": lambda: Equation(None, None),
    "an odd power that was kept from being evaluated": lambda: AtLeast(unevaluated(x + 10**60), 0),
    "an odd power that was kept from being evaluated, as because": lambda: AtLeast(
        (x + 10**60) ** 3, 0, because=unevaluated(x + 10**60)
    ),
    "an odd power that was kept from being evaluated, in a premise": lambda: Follows(
        (AtLeast(z, 0),), AtLeast(z * unevaluated(x + 10**60), 0), (unevaluated(x + 10**60),)
    ),
    "an odd power that was kept from being evaluated, as a bound": lambda: Limit(
        t * (x + 10**60) ** 3, t, sp.oo, sp.oo, between=(t * unevaluated(x + 10**60), t * unevaluated(x + 10**60))
    ),
    "a positive 0 that was kept from being evaluated": lambda: AtLeast(
        sp.Mul(m, sp.Mul(z, 0, evaluate=False), evaluate=False), 0, strict=True
    ),
    "a delta with a range of its own": lambda: Equation(sp.KroneckerDelta(j, l, (1, 2)) * x, delta(l, j) * x),
}

VARIABLES: Table = {
    "a variable whose domain is changed": mutated,
    "a real variable with positive assumptions": lambda: AtLeast(by_hand(Real, positive=True), 0),
    "a real variable with integer assumptions": lambda: AtLeast(x ** (2 * by_hand(Real, integer=True)), 0),
    "a vector with positive assumptions": lambda: AtLeast(Vector(_vector_by_hand(), shape=(m,))[j], 0),
    "a point of a simplex by its kind": lambda: Equation(Variable("o", Simplex()) + x, 1 + x),
    "two kinds under one name": lambda: AtLeast(x + positive("x"), x, strict=True),
    "two kinds of a vector under one name": lambda: AtLeast(total(l, vector("a", m, kind=Positive)[l]) + a[j] ** 2, 0),
    "two ranges of an index under one name": lambda: Equation(total(j, a[j]) + j, total(l, a[l]) + Variable("j", Index((n,)))),
    "a size that is none": lambda: AtLeast(Variable("o", Size((m,))), 1, because=b[j]),
    "a kind that is none": lambda: AtLeast(scalar("o", "POSITIVE"), 0),  # type: ignore[arg-type]
    "a hypothesis about what moves": lambda: Limit(
        (t - 5) / sp.Abs(t - 5) + t, t, sp.S.Zero, one, given=(AtLeast(t, 5, strict=True),)
    ),
    "a scalar simplex": lambda: Equation(scalar("o", Simplex), 1),
    "a scalar size": lambda: AtLeast(scalar("o", Size), 1),
    "a name that bound indices have": lambda: AtLeast(positive("ι1"), 0),
    "no name": lambda: AtLeast(positive(""), 0),
    "a name that is a statement": lambda: AtLeast(Variable("0 ≥ y and x", Positive()), 0),
    "a name that prints as another": lambda: AtLeast(positive(Shown("o")), 0),
    "a domain that is shown as another": lambda: AtLeast(Variable("o", ShownAsReal()) ** 3, 0),
}


def _vector_by_hand() -> Variable:
    made = by_hand(Real, positive=True)
    made._domain = Real((m,))
    return made


SIDES: Table = {
    "a side that changes while it is proved": lambda: Equation(Side(w, x), x),
    "a right side that changes while it is proved": lambda: Equation(x, Side(w, x + 0)),
    "an inequality that changes while it is proved": lambda: AtLeast(Side(x, y), 0),
    "a because that changes while it is proved": lambda: AtLeast(x, 0, because=Side(x, y)),
    "a side that is another one each time": lambda: Equation(Turning(w, w, w, x), x),
    "a side that is another one each time, later": lambda: Equation(Turning(*[w] * 7, x), x),
    "a limit that changes while it is proved": lambda: Limit(x * t / (t + 1), t, sp.oo, Side(w, x)),
    "an expansion that changes": lambda: Expansion(Side(sp.exp(2 * t), sp.exp(t)), 1 + t, t, 1),
    "a weight that changes": lambda: Follows((AtLeast(x, 0),), AtLeast(-x, 0), (Side(one, -one),)),
    "a slack that changes": lambda: Follows((AtLeast(x, 0),), AtLeast(x - 1, 0), (one,), Side(y, -one)),
}

HYPOTHESES: Table = {
    "a hypothesis of the author's own kind": lambda: AtLeast(x, 0, given=(Supposed(),)),
    "a hypothesis that is shown as another": lambda: AtLeast(x, 0, given=(Quiet(x, 0),)),
    "x ≠ 0 is no sign": lambda: AtLeast(x, 0, given=(Differs(x, 0),)),
    "x ≠ 0 is no sign, strictly": lambda: AtLeast(x, 0, strict=True, given=(Differs(x, 0),)),
    "x ≠ 0 does not make x + 1 ≠ 0": lambda: Equation((x**2 - 1) / (x + 1), x - 1, given=(Differs(x, 0),)),
    "x ≠ w does not make a_j ≠ a_l": lambda: Equation(
        (a[j] ** 2 - a[l] ** 2) / (a[j] - a[l]), a[j] + a[l], given=(Differs(x, w),)
    ),
    "a_j ≠ a_k for one k is not for each l": lambda: Equation(
        total(l, (a[j] ** 2 - a[l] ** 2 + a[j] - a[l]) / (a[j] - a[l])),
        m * (a[j] + 1) + total(l, a[l]),
        given=(Differs(a[j], a[k]),),
    ),
    "x ≥ 0 is not x > 0": lambda: AtLeast(x, 0, strict=True, given=(AtLeast(x, 0),)),
    "x ≥ 0 is not x ≥ 1": lambda: AtLeast(x, 1, given=(AtLeast(x, 0),)),
    "x ≥ 0 does not make log x": lambda: Equation(sp.log(2 * x) - sp.log(x), sp.log(2), given=(AtLeast(x, 0),)),
    "x ≥ w is not w ≥ x": lambda: AtLeast(w, x, given=(AtLeast(x, w),)),
    "x² ≥ 1 is not x ≥ 1": lambda: AtLeast(x, 1, given=(AtLeast(x**2, 1),)),
    "x w ≥ 0 is not x ≥ 0": lambda: AtLeast(x, 0, given=(AtLeast(x * w, 0),)),
    "1/x ≥ 0 is not x ≥ 1": lambda: AtLeast(x, 1, given=(AtLeast(1 / x, 0),)),
    "Σ a ≥ 0 is not a_j ≥ 0": lambda: AtLeast(a[j], 0, given=(AtLeast(total(l, a[l]), 0),)),
    "a_j ≥ 0 for one j is not Σ a ≥ 0": lambda: AtLeast(total(l, a[l]), 0, given=(AtLeast(a[j], 0),)),
    "hypotheses that contradict each other": lambda: AtLeast(-1, 0, given=(AtLeast(x, 1), AtLeast(-1, x))),
    "hypotheses that contradict each other, in a limit": lambda: Limit(
        x * t / (x * t + 1), t, sp.oo, one, given=(AtLeast(x, 1), AtLeast(0, x))
    ),
    "hypotheses that contradict each other, in an expansion": lambda: Expansion(
        sp.log(x + t), sp.log(x) + t / x, t, 1, given=(AtLeast(x, 1), AtLeast(0, x))
    ),
    "hypotheses that contradict the domain": lambda: Equation((y**2 - y) / (y - 1), y, given=(AtLeast(-1, y),)),
    "a hypothesis that no simplex meets": lambda: AtLeast(r[j], 1, given=(AtLeast(r[j], 2),)),
    "a hypothesis that is undefined everywhere": lambda: AtLeast(x, 0, given=(AtLeast(sp.log(-y), -x),)),
    "a hypothesis about what moves": lambda: Limit(
        (t - 5) / sp.Abs(t - 5) + t, t, sp.S.Zero, one, given=(AtLeast(t, 5, strict=True),)
    ),
    "a hypothesis that the path leaves": lambda: Limit(
        sp.log(5 - t) - sp.log(10 - 2 * t), t, sp.oo, -sp.log(2), given=(AtLeast(5, t, strict=True),)
    ),
    "a hypothesis about what vanishes": lambda: Expansion(sp.exp(t), 1 + t, t, 1, given=(AtLeast(t, 5, strict=True),)),
    "an index over a range that moves": lambda: Limit(j / m, m, sp.oo, sp.S.Zero),
    "an index over a range that moves, from above": lambda: Limit((m - j) / m, m, sp.oo, one),
}

ATTACKS = NODES | VARIABLES | SIDES | HYPOTHESES


@pytest.mark.parametrize("symbol", [x, y, m, a.label, a, a[j]], ids=str)
def test_what_is_assumed_of_a_symbol_after_it_was_made(symbol: sp.Basic, monkeypatch: pytest.MonkeyPatch) -> None:
    """All symbols of one kind share what SymPy knows of them, so that one change would make every real number ≥ 0."""
    monkeypatch.setitem(symbol._assumptions, "nonnegative", None if symbol in (y, m) else True)
    expr = total(l, symbol[l]) if isinstance(symbol, sp.IndexedBase) else total(l, a[l]) if symbol == a.label else symbol
    assert "expected the assumptions of its domain" in AtLeast(expr + 10**7, 0).explain()


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])


class Confident(Equation):
    """An equation that claims to be proved."""

    def prove(self) -> bool:
        return True


class Flattering(AtLeast):
    """An inequality that claims to need no explanation."""

    def remainder(self) -> str:
        return ""


def with_own_proof() -> Relation:
    made = Equation(x, w)
    object.__setattr__(made, "prove", lambda: True)
    return made


def with_own_explanation() -> Relation:
    made = AtLeast(x, 0)
    object.__setattr__(made, "explain", lambda: "")
    object.__setattr__(made, "counterexample", lambda: None)
    return made


OWN: dict[str, Callable[[], Relation]] = {
    "a relation of the author's": lambda: Confident(x, w),
    "an inequality of the author's": lambda: Flattering(x, 0),
    "a relation with a proof of its own": with_own_proof,
    "a relation with explanations of its own": with_own_explanation,
}
