"""Votes on: Attention by optimal transport: how far its output moves with its query, with the constant D²/(4γ)."""

from collections.abc import Mapping

from torch import Tensor

from evidence.beyond.cocoercive import inner
from evidence.beyond.output_bounds import squared
from evidence.beyond.transport_bounds import bound

Values = Mapping[str, Tensor]


def any_sides(x: Values) -> tuple[Tensor, Tensor]:
    """D²/4 ⟨λ − ν, h_λ − h_ν⟩ and γ‖h_λ − h_ν‖²."""
    return x["D"] ** 2 / 4 * inner(x["lam"] - x["nu"], x["E"]), x["gamma"] * squared(x["E"])


def prior_sides(x: Values) -> tuple[Tensor, Tensor]:
    """D²/4 ⟨λ*, ĥ − μ̃⟩ and γ‖ĥ − μ̃‖²."""
    return x["D"] ** 2 / 4 * inner(x["lam"], x["g"]), x["gamma"] * squared(x["g"])


def pass_sides(x: Values) -> tuple[Tensor, Tensor]:
    """D²/4 α⟨ĥ − μ̃, h_c − ĥ⟩ and γ‖h_c − ĥ‖²."""
    return x["D"] ** 2 / 4 * x["alpha"] * inner(x["g"], x["e"]), x["gamma"] * squared(x["e"])


def divergence_sides(x: Values) -> tuple[Tensor, Tensor]:
    """α²D²/8 ‖ĥ − μ̃‖² and γ² times the average divergence."""
    return x["alpha"] ** 2 * x["D"] ** 2 / 8 * squared(x["g"]), x["gamma"] * x["K"]


VOTES = [
    bound("beyond.ot-mean-smooth", any_sides, 100.0),
    bound("beyond.ot-cocoercive-prior", prior_sides, 100.0),
    bound("beyond.ot-cocoercive-pass", pass_sides, 100.0),
    bound("beyond.ot-pass-divergence", divergence_sides, 100.0),
]
