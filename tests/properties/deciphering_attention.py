"""Sections 7 and 8 of deciphering, and their like in inference, in torch: heads of attention as the closed form."""

from __future__ import annotations

import math

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import layer_norm, rms_norm, scaled_dot_product_attention

from derivations.claims import Layer
from numerics import mem, tolerances
from numerics.attention import attention_weights
from numerics.priors import prior_from_mask
from tests.layers import Reading, choose, confirms, float64
from tests.properties.deciphering_attention_heads import Head, drawn_heads

TORCH = Layer.TORCH
COUNT = 12


def reading(head: Head, *magnitudes: Tensor, all_heads: bool = False, **routes: Tensor) -> Reading:
    """Routes at a head, with the tolerance for its magnitudes and theirs."""
    return Reading(head.point(all_heads), routes, head.tolerance(*magnitudes, *routes.values()))


# ── BERT ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def bert(head: Head) -> Reading:
    return reading(head, library=head.by_library(head["X"], None, None, biases=True),
                   generalized=head.generalized(head["X"], None, biases=True))


confirms(TORCH, "deciphering.21", on=drawn_heads(), count=COUNT, corrected=bert)(bert)


@confirms(TORCH, "deciphering.s8.reparametrization", "deciphering.s2.unaltered", on=drawn_heads(), count=COUNT)
def without_biases(head: Head) -> Reading:
    return reading(head, library=head.by_library(head["X"], None, None), generalized=head.generalized(head["X"], None))


@confirms(TORCH, "deciphering.s7.stack", "inference.s7.stack", on=drawn_heads(), count=COUNT)
def any_inputs(head: Head) -> Reading:
    query, mask = head["y"][None], head.log_mask[None]
    return reading(head, library=head.by_library(query, mask, None)[0], generalized=head.generalized(query, mask)[0])


@confirms(TORCH, "deciphering.s7.multi-head", on=drawn_heads(), count=COUNT)
def side_by_side(head: Head) -> Reading:
    query, masks = head["y"][None], head["U"].log()[:, None]
    library = torch.stack([head.by_library(query, masks[h], None, head=h)[0] for h in range(head.heads)])
    with torch.no_grad():
        layer = head.layer(all_heads=True)(query, head["X"], masks)
    return reading(head, all_heads=True, library=library, generalized=layer.view(head.heads, head.e))


# ── T5 ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def t5(head: Head) -> Reading:
    queries = head["y"].expand(head.n, -1)
    mask = head.positions + head.log_mask
    return reading(head, library=head.by_library(queries, mask, 1.0), generalized=head.generalized(queries, mask, 1.0))


confirms(TORCH, "deciphering.22", "deciphering.s8.t5-reparametrization", on=drawn_heads(), count=COUNT, corrected=t5)(t5)
confirms(TORCH, "deciphering.s7.t5-structure", "deciphering.s7.t5-realizes", "deciphering.s0.t5", "inference.s0.t5",
         "inference.s7.t5-structure", "inference.s7.t5-realizes", on=drawn_heads(), count=COUNT, corrected=t5)(t5)


def cross(head: Head) -> Reading:
    query, mask = head["y"][None], head.log_mask[None]
    found = reading(head, library=head.by_library(query, mask, 1.0)[0], generalized=head.generalized(query, mask, 1.0)[0])
    return Reading({**found.point, "j": 1}, found.routes, found.tolerance)


confirms(TORCH, "deciphering.s8.cross-prior", on=drawn_heads(), count=COUNT, corrected=cross)(cross)


def t5_weights(head: Head) -> dict[str, Tensor]:
    """p for every query position j and word i by two routes, (n, n)."""
    query, key = head.projected("Q", head["y"]), head.projected("K", head["X"])
    evidence = (head["K"][0].T @ query).expand(head.n, -1)
    mask = head.positions + head.log_mask
    return {"softmax": torch.softmax(key @ query + mask, -1), "generalized": attention_weights(head["X"], evidence, mask)}


def scores(head: Head) -> Tensor:
    """⟨K x_i, Q y⟩, (n,)."""
    return head.projected("K", head["X"]) @ head.projected("Q", head["y"])


def blanks(head: Head) -> Reading:
    return reading(head, **{name: (p * head["g"]).T for name, p in t5_weights(head).items()})


def hidden(head: Head) -> Reading:
    return reading(head, **{name: (p * head["s"]).T for name, p in t5_weights(head).items()})


confirms(TORCH, "deciphering.s7.mask-function", "inference.s7.mask-function", on=drawn_heads(), count=COUNT, corrected=hidden)(
    blanks)


@confirms(TORCH, "deciphering.s7.unified", "inference.s7.unified", on=drawn_heads(), count=COUNT)
def odds_of_words(head: Head) -> Reading:
    other = head["m"] * scores(head).exp()
    return reading(head, other, **{name: torch.einsum("ji,k->ijk", p, other) for name, p in t5_weights(head).items()})


@confirms(TORCH, "deciphering.s7.t5-inputs", "inference.s7.t5-inputs", on=drawn_heads(smallest_n=2), count=COUNT)
def prior_of_words(head: Head) -> Reading:
    prior = prior_from_mask(head.log_mask.expand(head.n, -1), head.positions)
    other = prior * scores(head).exp()
    return reading(head, other, **{name: torch.einsum("ji,jk->ijk", p, other) for name, p in t5_weights(head).items()})


@confirms(TORCH, "deciphering.19", "inference.22", on=drawn_heads(), count=COUNT)
def preference(head: Head) -> Reading:
    other = head["m"] * head.positions.exp()
    mask = head.log_mask.expand(head.n, -1)
    routes = {"prior": prior_from_mask(mask, head.positions), "boolean": prior_from_mask(mask == mask[0].max(), head.positions)}
    return reading(head, other, **{name: torch.einsum("ji,jk->ijk", u, other) for name, u in routes.items()})


def estimates(head: Head, alpha: float) -> Reading:
    """(18) with the prior (19) for every query position, [a, j]."""
    evidence = head["z"].expand(head.n, -1)
    prior = prior_from_mask(head.log_mask.expand(head.n, -1), head.positions)
    closed = mem.closed_form(head["T"], evidence, prior, alpha)
    layer = attention_weights(head["T"], evidence, head.positions + head.log_mask, alpha) @ head["T"]
    return reading(head, mem=closed.T, attention=layer.T)


@confirms(TORCH, "deciphering.20", on=drawn_heads(), count=COUNT)
def with_bias_inside(head: Head) -> Reading:
    return estimates(head, 1.0)


@confirms(TORCH, "inference.23", on=drawn_heads(), count=COUNT)
def with_divided_scores(head: Head) -> Reading:
    return estimates(head, head.d**-0.5)


# ── the closed form alone ───────────────────────────────────────────────────────────────────────────────────────────

ALPHAS = (0.5, 1.0, 2.0)
BOTH = choose(head=drawn_heads(), alpha=st.sampled_from(ALPHAS), seed=st.integers(0, 2**31))


class Both:
    """A head with an α and further vectors."""

    def __init__(self, head: Head, alpha: float, seed: int) -> None:
        self.head, self.alpha, self.seed = head, alpha, seed
        generator = torch.Generator().manual_seed(seed)
        free = torch.randn(head.n + head.d, generator=generator, dtype=torch.float64)
        self.raw, self.dual = free[: head.n].exp().to(head.device), free[head.n :].clamp(-1.5, 1.5).to(head.device)

    def to(self, device: str) -> Both:
        """The same, computed on another device."""
        return Both(self.head.to(device), self.alpha, self.seed)

    def reading(self, **routes: Tensor) -> Reading:
        """Routes with the tolerance of the head; w and λ are not normalized."""
        found = reading(self.head, **routes)
        point = {**found.point, "alpha": self.alpha, "w": self.raw.cpu(), "lam": self.dual.cpu()}
        return Reading(point, found.routes, found.tolerance * max(1.0, float(self.raw.max()), 1 / float(self.raw.min())))


both = BOTH.map(lambda drawn: Both(**drawn))


@confirms(TORCH, "deciphering.fn8", "inference.s8.preferences", on=both, count=COUNT)
def unnormalized(drawn: Both) -> Reading:
    head = drawn.head
    tilted = mem.tilt(drawn.alpha * head["z"], head["T"], drawn.raw / drawn.raw.sum())
    return drawn.reading(attention=attention_weights(head["T"], head["z"][None], drawn.raw.log(), drawn.alpha)[0], mem=tilted)


@confirms(TORCH, "deciphering.s7.dot-product", "deciphering.s0.special-case", "inference.s0.special-case",
          "inference.s7.dot-product", on=both, count=COUNT)
def uniform(drawn: Both) -> Reading:
    head = drawn.head
    library = scaled_dot_product_attention(head["z"][None, None], head["T"][None], head["T"][None], scale=drawn.alpha)[0, 0]
    return drawn.reading(mem=mem.closed_form(head["T"], head["z"], None, drawn.alpha), library=library)


@confirms(TORCH, "deciphering.s7.two-pieces", "deciphering.s10.mechanism", "inference.s7.two-pieces", on=both, count=COUNT)
def log_odds(drawn: Both) -> Reading:
    head = drawn.head
    weights = attention_weights(head["T"], head["z"][None], head["u"].log(), drawn.alpha)[0].log()
    return drawn.reading(attention=weights[:, None] - weights)


@confirms(TORCH, "deciphering.s7.context-dependent", "inference.s7.context-dependent", on=both, count=COUNT)
def by_content(drawn: Both) -> Reading:
    head = drawn.head
    layer = attention_weights(head["T"], head["z"][None], head["T"] @ drawn.dual, drawn.alpha)[0]
    return drawn.reading(attention=layer)


# ── normalization, norms, moments ───────────────────────────────────────────────────────────────────────────────────

VECTORS = choose(d=st.integers(2, 5), eps=st.sampled_from((1e-6, 0.1, 1.0)), seed=st.integers(0, 2**31))


def vectors(drawn: dict[str, float]) -> tuple[dict[str, Tensor], dict[str, object]]:
    """An input, a gain and a bias, and the point they are."""
    generator = torch.Generator().manual_seed(int(drawn["seed"]))
    x, gain, offset = torch.randn(3, int(drawn["d"]), generator=generator, dtype=torch.float64) + 0.5
    return {"x": x, "G": gain, "bN": offset}, {"d": drawn["d"], "eps": drawn["eps"], "x": x, "G": gain, "bN": offset}


@confirms(TORCH, "deciphering.fn9", on=VECTORS)
def simplified_norm(drawn: dict[str, float]) -> Reading:
    tensors, point = vectors(drawn)
    x, gain, d = tensors["x"], tensors["G"], int(drawn["d"])
    centred = rms_norm(x - x.mean(), (d,), gain, drawn["eps"])
    largest = float((gain.abs().max() + 1) * (1 + x.abs().max() ** 2) / math.sqrt(float(x.var(correction=0)) + drawn["eps"]))
    allowed = tolerances.rounding("float64", d, largest * (1 + 1 / (float(x.var(correction=0)) + drawn["eps"])))
    return Reading(point, {"rms": centred, "layer norm": layer_norm(x, (d,), gain, None, drawn["eps"])}, allowed)  # type: ignore[arg-type]


def signs(size: int) -> Tensor:
    """All vectors of ±1: independent entries of mean 0 and variance 1, enumerated."""
    return torch.cartesian_prod(*[float64([-1.0, 1.0])] * size).reshape(-1, size)


def mean_square(width: int, divisor: int) -> Tensor:
    """E‖x/√e‖², over all x of ±1 in that width."""
    return (signs(width) / math.sqrt(divisor)).square().sum(-1).mean()


def norm_by_heads(drawn: dict[str, int]) -> Reading:
    width = drawn["H"] * drawn["e"]
    return Reading(dict(drawn), {"signs": mean_square(width, drawn["e"])}, tolerances.rounding("float64", width, float(width)))


@confirms(TORCH, "deciphering.fn10", on=choose(H=st.integers(1, 3), e=st.integers(2, 3)), count=COUNT, corrected=norm_by_heads)
def norm_at_fixed_width(drawn: dict[str, int]) -> Reading:
    width = drawn["H"]
    return Reading({"d": width, "e": drawn["e"]}, {"signs": mean_square(width, drawn["e"])},
                   tolerances.rounding("float64", width, float(width)))


@confirms(TORCH, "deciphering.s8.bounded-moments", on=drawn_heads(), count=COUNT)
def second_moment(head: Head) -> Reading:
    return reading(head, norms=head["T"].square().sum())
