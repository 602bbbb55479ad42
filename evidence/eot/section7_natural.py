"""Votes on: Section 7, Theorem 7.3: the score gradient is −τFu, and what a natural gradient can mean where F has no inverse."""

from functools import partial

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms
from evidence.eot.fisher import SMALL, closed, drawn, expected, named, potential_hessian, reading, score_gradient, update
from evidence.eot.forward import descent
from evidence.instances.one_sided import Row, one_sided_problems, rows
from numerics import fisher, one_sided


@st.composite
def mild_rows(draw: st.DrawFn) -> Row:
    """Draw a row whose weights are all of ordinary size: F⁺ multiplies errors by their reciprocals."""
    problem = draw(one_sided_problems(max_m=3, max_batch=0, temperatures=(1.0, 4.0), scales=(1.0, 0.0), masks=("none",)))
    return Row(problem, draw(st.integers(0, 2**31)))


def error_growth(row: Row) -> float:
    """By how much F⁺ may enlarge an error: ‖F‖ and ‖F⁺‖ are at most 1/τ² and τ²/min p."""
    largest = float(row.u.abs().max()) + float(drawn(row)["v"].abs().max()) + 1
    return largest**2 * (row.tau / float(row.weights.min())) ** 2


@confirms(Layer.TORCH, "eot.rem7.4", on=SMALL, count=10, corrected=update)
def apart(row: Row) -> Reading:
    fisher_side = row.tau * fisher.fisher_product(one_sided.plan(row.s, row.tau), row.u, row.tau)
    return reading(row, row.u / row.tau, squared_distance=(fisher_side - descent(row, row.u)).square().sum())


@confirms(Layer.TORCH, "eot.s7.efficient", on=SMALL, count=10)
def fast_product(row: Row) -> Reading:
    fast = fisher.fisher_product(one_sided.plan(row.s, row.tau), row.u, row.tau)
    return reading(row, row.u / row.tau**2, fast=fast, dense=expected(row) @ row.u)


def pseudo_inverse(row: Row) -> Tensor:
    """F⁺ by dense linear algebra: all eigenvalues of τ²F but one are at least the least weight, by interlacing."""
    cut = float(row.weights.min()) / 2 / row.tau**2
    inverse: Tensor = torch.linalg.pinv(expected(row), atol=cut, rtol=0.0, hermitian=True)
    return inverse


def naturals(row: Row) -> dict[str, Tensor]:
    """−F⁺∇L by three routes."""
    p = one_sided.plan(row.s, row.tau)
    return {
        "dense": pseudo_inverse(row) @ descent(row, row.u),
        "product": fisher.pseudo_inverse_product(p, descent(row, row.u), row.tau),
        "direction": fisher.natural_direction(p, row.u, row.tau),
    }


def natural(row: Row) -> Reading:
    return reading(row, error_growth(row), **naturals(row))


def natural_differences(row: Row) -> Reading:
    return reading(row, error_growth(row), **{name: x[:, None] - x[None, :] for name, x in naturals(row).items()})


def undone(row: Row) -> Reading:
    product = partial(fisher.pseudo_inverse_product, one_sided.plan(row.s, row.tau), temperature=row.tau)
    return reading(row, error_growth(row), dense=pseudo_inverse(row) @ expected(row), product=product(closed(row)).T)


@confirms(Layer.TORCH, "eot.98", on=mild_rows(), count=10, corrected=undone)
def no_inverse(row: Row) -> Reading:
    return reading(row, error_growth(row), dense=(expected(row) @ named(row, "G")).sum())


@confirms(Layer.TORCH, "eot.s7.direction", on=mild_rows(), count=10)
def moves(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    routes = {name: fisher.jacobian_product(p, x, row.tau) for name, x in naturals(row).items()}
    return reading(row, error_growth(row), **routes)


@confirms(Layer.TORCH, "eot.s7.dual", on=mild_rows(), count=10)
def paired(row: Row) -> Reading:
    routes = {name: x @ expected(row) @ named(row, "v") for name, x in naturals(row).items()}
    return reading(row, error_growth(row), **routes)


VOTES = [
    Sampled(("eot.79", *(f"eot.{n}" for n in range(89, 98))), Layer.TORCH, score_gradient, on=SMALL, count=10),
    Sampled("eot.s7.preconditioned", Layer.TORCH, update, on=rows(max_m=3), count=10),
    Sampled("eot.thm7.3", Layer.TORCH, natural, on=mild_rows(), count=10, corrected=natural_differences),
    Sampled("eot.99", Layer.TORCH, natural, on=mild_rows(), count=10, corrected=natural),
    Sampled("eot.s7.softmax-derivative", Layer.TORCH, potential_hessian, on=SMALL, count=10),
]
