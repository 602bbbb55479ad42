"""Votes on: Section 7: T5 as a realization of (18), and footnote 9."""

import math

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import layer_norm, rms_norm

from evidence import Layer, Observed, Reading, Sampled, choose, confirms
from evidence.deciphering.attention import blanks, estimates, hidden, reading, t5, t5_weights
from evidence.instances.heads import Head, drawn_heads
from evidence.source import bert_positions, heads, t5_parts
from numerics import tolerances
from numerics.priors import prior_from_mask


def scores(head: Head) -> Tensor:
    """⟨K x_i, Q y⟩, (n,)."""
    return head.projected("K", head["X"]) @ head.projected("Q", head["y"])


@confirms(Layer.TORCH, "deciphering.s7.unified", on=drawn_heads(), count=12)
def odds_of_words(head: Head) -> Reading:
    other = head["m"] * scores(head).exp()
    return reading(head, other, **{name: torch.einsum("ji,k->ijk", p, other) for name, p in t5_weights(head).items()})


@confirms(Layer.TORCH, "deciphering.s7.t5-inputs", on=drawn_heads(smallest_n=2), count=12)
def prior_of_words(head: Head) -> Reading:
    prior = prior_from_mask(head.log_mask.expand(head.n, -1), head.positions)
    other = prior * scores(head).exp()
    return reading(head, other, **{name: torch.einsum("ji,jk->ijk", p, other) for name, p in t5_weights(head).items()})


@confirms(Layer.TORCH, "deciphering.19", on=drawn_heads(), count=12)
def preference(head: Head) -> Reading:
    other = head["m"] * head.positions.exp()
    mask = head.log_mask.expand(head.n, -1)
    routes = {"prior": prior_from_mask(mask, head.positions), "boolean": prior_from_mask(mask == mask[0].max(), head.positions)}
    return reading(head, other, **{name: torch.einsum("ji,jk->ijk", u, other) for name, u in routes.items()})


@confirms(Layer.TORCH, "deciphering.fn4", on=drawn_heads(smallest_n=2), count=12)
def of_two_queries(head: Head) -> Reading:
    masses = (head["m"] * head.positions.exp()).sum(-1)
    prior = prior_from_mask(head.log_mask.expand(head.n, -1), head.positions)
    products = torch.einsum("ji,j,ki->ijk", prior, masses, head.positions.exp())
    return reading(head, products, prior=products)


@confirms(Layer.TORCH, "deciphering.20", on=drawn_heads(), count=12)
def with_bias_inside(head: Head) -> Reading:
    return estimates(head, 1.0)


VECTORS = choose(d=st.integers(2, 5), eps=st.sampled_from((1e-6, 0.1, 1.0)), seed=st.integers(0, 2**31))


def vectors(drawn: dict[str, float]) -> tuple[dict[str, Tensor], dict[str, object]]:
    """An input, a gain and a bias, and the point they are."""
    generator = torch.Generator().manual_seed(int(drawn["seed"]))
    x, gain, offset = torch.randn(3, int(drawn["d"]), generator=generator, dtype=torch.float64) + 0.5
    return {"x": x, "G": gain, "bN": offset}, {"d": drawn["d"], "eps": drawn["eps"], "x": x, "G": gain, "bN": offset}


@confirms(Layer.TORCH, "deciphering.fn9", on=VECTORS)
def simplified_norm(drawn: dict[str, float]) -> Reading:
    tensors, point = vectors(drawn)
    x, gain, d = tensors["x"], tensors["G"], int(drawn["d"])
    centred = rms_norm(x - x.mean(), (d,), gain, drawn["eps"])
    largest = float((gain.abs().max() + 1) * (1 + x.abs().max() ** 2) / math.sqrt(float(x.var(correction=0)) + drawn["eps"]))
    allowed = tolerances.rounding("float64", d, largest * (1 + 1 / (float(x.var(correction=0)) + drawn["eps"])))
    return Reading(point, {"rms": centred, "layer norm": layer_norm(x, (d,), gain, None, drawn["eps"])}, allowed)  # type: ignore[arg-type]


VOTES = [
    Sampled(("deciphering.s7.t5-structure", "deciphering.s7.t5-realizes"), Layer.TORCH, t5, on=drawn_heads(), count=12),
    Sampled("deciphering.s7.mask-function", Layer.TORCH, blanks, on=drawn_heads(), count=12, corrected=hidden),
    Observed(("deciphering.s7.t5-structure", "deciphering.s7.t5-realizes"), Layer.SOURCE, heads.t5_heads_as_printed),
    Observed("deciphering.s7.t5-inputs", Layer.SOURCE, heads.t5_priors),
    Observed("deciphering.s7.mask-function", Layer.SOURCE, heads.t5_masks),
    Observed("deciphering.s7.trainable-positions", Layer.SOURCE, t5_parts.trainable_positions),
    Observed("deciphering.s7.bert-positions", Layer.SOURCE, bert_positions.learned),
    Observed("deciphering.s7.little-cost", Layer.SOURCE, t5_parts.little_cost),
    Observed("deciphering.fn9", Layer.SOURCE, t5_parts.layer_norm),
]
