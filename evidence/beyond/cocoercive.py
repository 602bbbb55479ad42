"""Votes on: How far the output of attention moves with its query: the constant D²/4, step by step, for tilts of one law."""

from collections.abc import Mapping

from torch import Tensor

from evidence.beyond.output_bounds import bound, squared

Values = Mapping[str, Tensor]


def inner(x: Tensor, y: Tensor) -> Tensor:
    """⟨x, y⟩."""
    return (x * y).sum(-1)


def any_sides(x: Values) -> tuple[Tensor, Tensor]:
    """D²/4 ⟨λ − ν, h_λ − h_ν⟩ and ‖h_λ − h_ν‖²."""
    return x["D"] ** 2 / 4 * inner(x["lam"] - x["y"], x["E"]), squared(x["E"])


def prior_sides(x: Values) -> tuple[Tensor, Tensor]:
    """D²/4 ⟨λ*, ĥ − μ⟩ and ‖ĥ − μ‖²."""
    return x["D"] ** 2 / 4 * inner(x["lam"], x["g"]), squared(x["g"])


def pass_sides(x: Values) -> tuple[Tensor, Tensor]:
    """D²/4 α⟨ĥ − μ, h_c − ĥ⟩ and ‖h_c − ĥ‖²."""
    return x["kappa"] * inner(x["g"], x["e"]), squared(x["e"])


def divergence_sides(x: Values) -> tuple[Tensor, Tensor]:
    """α²D²/8 ‖ĥ − μ‖² and KL(p_c, p*)."""
    return x["alpha"] * x["kappa"] / 2 * squared(x["g"]), x["K"]


VOTES = [
    bound("beyond.cocoercive", any_sides, (2, 3, 5)),
    bound("beyond.cocoercive-prior", prior_sides, (2, 3, 5)),
    bound("beyond.cocoercive-pass", pass_sides),
    bound("beyond.pass-divergence", divergence_sides),
]
