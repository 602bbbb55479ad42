"""The fuzzer has power: a deliberately broken kernel soon contradicts itself or the evaluation."""

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from derivations.calculus import balls, series, signs, sums
from derivations.domains import Stochastic, stochastic
from derivations.relations import base, inequality
from tests.fuzz.campaign import examine
from tests.fuzz.statements import KINDS

STATEMENTS = 150


@pytest.fixture(autouse=True)
def no_memory_of_another_kernel() -> Iterator[None]:
    _forget()
    yield
    _forget()


def _forget() -> None:
    kernel = ("derivations.calculus", "derivations.relations")
    for module in [module for name, module in sys.modules.items() if name.startswith(kernel)]:
        for function in list(vars(module).values()):
            getattr(function, "cache_clear", lambda: None)()


def broken(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Replace a function of the kernel by a wrong version."""
    monkeypatch.setattr(owner, name, change(getattr(owner, name)))


def any_index_is_summed(marginal: Any) -> Any:
    """Treat Σ_j P_{f(j), j} as a marginal without looking at the other index."""

    def wrong(factor: sp.Expr, factors: list[sp.Expr], bound: list[Any]) -> Any:
        label = factor.base.label if isinstance(factor, sp.Indexed) else None
        if isinstance(getattr(label, "domain", None), Stochastic) and factor.indices[1] in bound:
            return sp.S.One, factor.indices[1]
        return marginal(factor, factors, bound)

    return wrong


def every_real_power_is_even(power: Any) -> Any:
    return lambda term, strict, facts: (not strict and bool(term.exp.is_real)) or power(term, strict, facts)


def products_lose_their_sign(product: Any) -> Any:
    return lambda term, strict, facts: product(
        abs(term.args[0]) * sp.Mul(*term.args[1:]) if term.args[0].is_Rational else term, strict, facts
    )


def logs_of_products_gain_one(log: Any) -> Any:
    def wrong(arg: sp.Expr) -> sp.Expr:
        return log(arg) + int(log(arg) != sp.log(arg))

    return wrong


def deltas_do_not_collapse(term: Any) -> Any:
    return lambda expr: expr.replace(sp.KroneckerDelta, lambda *args: sp.S.One) if expr.is_Mul else term(expr)


def nothing_is_undefined(undefined: Any) -> Any:
    return lambda expr, facts=(): []


def the_exponential_is_a_little_more(exponential: Any) -> Any:
    return lambda x: exponential(x) * (1 + balls.arb(2) ** -40)


def one_order_is_lost(product: Any) -> Any:
    return lambda a, b: [*product(a, b)[:-1], product(a, b)[-1] * 2] if len(a) > 1 else product(a, b)


def sums_are_replaced_in_every_factor(_: Any) -> Any:
    """Put the term in place of the sum also inside of functions of it, so that S f(S) becomes Σ r f(r)."""

    def wrong(gap: sp.Expr) -> sp.Expr:
        terms = []
        for term in sp.Add.make_args(gap):
            one = next((factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.Sum)), None)
            terms.append(term if one is None else sp.Sum(term.xreplace({one: one.function}), *one.limits))
        gathered: dict[Any, list[sp.Expr]] = {}
        for term in terms:
            gathered.setdefault(term.limits if isinstance(term, sp.Sum) else (), []).append(term)
        return sp.Add(
            *(
                sp.Sum(sp.factor(sp.Add(*(term.function for term in group))), *limits) if limits else sp.Add(*group)
                for limits, group in gathered.items()
            )
        )

    return wrong


BROKEN = {
    "gathered": (inequality, "_gathered", sums_are_replaced_in_every_factor, ("function_of_a_sum",), "proved and refuted"),
    "gathered, beyond small sizes": (
        inequality,
        "_gathered",
        sums_are_replaced_in_every_factor,
        ("function_of_a_sum",),
        "proved and false",
    ),
    "marginal": (sums, "_marginal", any_index_is_summed, ("marginal_identity",), "normal form"),
    "power": (signs, "_power", every_real_power_is_even, ("signed_product",), "sign"),
    "sign": (signs, "_product", products_lose_their_sign, ("signed_product",), "sign"),
    "log": (sums, "_log", logs_of_products_gain_one, ("rewritten_equation", "suspicious_identity"), "normal form"),
    "delta": (sums, "_term", deltas_do_not_collapse, ("rewritten_equation",), "normal form"),
    "definedness": (base, "undefined", nothing_is_undefined, ("suspicious_identity",), "proved and undefined"),
    "ball of exp": (balls, "exp", the_exponential_is_a_little_more, ("rewritten_equation",), "ball"),
    "series": (series, "_product", one_order_is_lost, ("expansion",), "computed and false"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_kernel_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, function, change, kinds, problem = BROKEN[name]
    broken(monkeypatch, owner, function, change)
    number = caught(kinds, problem)
    assert number
    monkeypatch.undo()
    _forget()
    assert not examine([number], seconds=5, kinds=kinds).contradictions


def caught(kinds: tuple[str, ...], problem: str) -> str:
    """The first statement with a contradiction of the kind; empty if there is none."""
    for number in (f"power:{n}" for n in range(STATEMENTS)):
        tally = examine([number], seconds=5, minimal=False, kinds=kinds)
        if any(contradiction.kind == problem for contradiction in tally.contradictions):
            return number
    return ""


def test_points_outside_of_the_domain_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stochastic, "_drawn", lambda size, rng, corner: [Fraction(1, size + 1)] * size)
    monkeypatch.setattr(base.admission, "admit", lambda point, names: None)
    assert caught(("marginal_identity", "mutated_equation"), "witness outside of the domain")


def test_every_kind_is_tried() -> None:
    weights = {name: weight for name, (weight, _) in KINDS.items()}
    assert min(weights.values()) > 0
    assert len(weights) >= 15
