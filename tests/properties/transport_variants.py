"""The transport chapter's section 4 in torch: linear attention and FlashAttention."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from numpy.polynomial.hermite_e import hermegauss
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

from derivations.claims import Layer
from numerics import flash, one_sided, tolerances
from numerics.linear import kernel_weights, linear_attention, positive_random_features
from tests.layers import Reading, confirms, float64
from tests.properties.transport_problems import FEATURES, WIDTH, Problem, by_pot, problems

TORCH = Layer.TORCH


# ── linear attention ────────────────────────────────────────────────────────────────────────────────────────────────


def grouped(x: Problem) -> Reading:
    f, g = (x["f"], x["g"]) if x.seed % 3 == 0 else (x["x"], x["y"])
    values, kernel = x["V"], f @ g.T
    mass = kernel.sum(-1).abs().min()
    size = (f.abs() @ g.abs().T).sum(-1).max()
    routes = {"linear_attention": linear_attention(f, g, values).T, "weights": (kernel_weights(f, g) @ values).T}
    return x.reading(values.abs().max() * size / mass * (1 + size / mass), given={"x": f, "y": g}, **routes)


@confirms(TORCH, "transport.s4.linear-attention", on=problems(), corrected=grouped)
def denominator(x: Problem) -> Reading:
    features = x["y"] - x["y"].mean(0) * (x.seed % 2)        # keys that cancel, for some
    return x.reading(features.abs().sum(), given={"y": features}, kernel=(x["x"] @ features.T).sum(-1).abs())


@confirms(TORCH, "transport.s4.linear-complexity", on=problems(), count=10)
def products(x: Problem) -> Reading:
    with FlopCounterMode(display=False) as counter:
        query, key = ((x[name] @ x["projections"].T).relu() for name in ("Q", "K"))
        linear_attention(query, key, x["V"])
    counted = counter.get_total_flops() / 2                  # a product and a sum are two
    assert counted >= (x.n + x.m) * FEATURES * WIDTH
    return x.reading(counter=torch.tensor(counted, dtype=torch.float64))


NODES = 64


def mean_over_projections(x: Problem) -> Reading:
    """The mean over ω by Gauss and Hermite's rule, a grid of nodes whose weights put the features' 1/F right."""
    nodes, masses = (float64(part).to(x.device) for part in hermegauss(NODES))
    grid = torch.cartesian_prod(*[nodes] * WIDTH)
    mass = torch.cartesian_prod(*[masses / masses.sum()] * WIDTH).prod(-1)
    query, key = (positive_random_features(x[name], grid) for name in ("Q", "K"))
    mean = len(grid) * torch.einsum("ir,jr,r->ij", query, key, mass)
    reach = float((x["Q"][:, None] + x["K"]).abs().max()) * float(nodes.max()) * WIDTH
    off = tolerances.rounding("float64", len(grid), float(mean.max()) * (1 + reach))
    return Reading(x.point(), {"random features": mean}, off)


@confirms(TORCH, "transport.s4.kernel-approximation", on=problems(), corrected=mean_over_projections)
def kernel_of_fixed_features(x: Problem) -> Reading:
    query, key = ((x[name] @ x["projections"].T).relu() for name in ("Q", "K"))
    return x.reading(query.sum() * key.sum(), given={"W": x["projections"]}, relu=query @ key.T)


@confirms(TORCH, "transport.s4.kernel", on=problems())
def quadratic_form(x: Problem) -> Reading:
    features, z = x["x"], x["z"]
    size = (features.abs().T @ z.abs()).square().sum()
    return x.reading(size, matrix=z @ (features @ features.T) @ z, norm=(features.T @ z).square().sum())


def own_plan(x: Problem) -> Reading:
    kernel = x["f"] @ x["g"].T
    routes = {"linear": kernel_weights(x["f"], x["g"]), "closed_form": one_sided.plan(x.eps * kernel.log(), x.eps),
              "pot": by_pot(x.eps * kernel.log(), x.eps)}
    return x.reading(kernel.log(), given={"κ": kernel}, **routes)


@confirms(TORCH, "transport.s4.transport-reading", on=problems(), corrected=own_plan)
def split_mass(x: Problem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return x.reading(closed_form=plan * (1 - plan))


@confirms(TORCH, "transport.s7.unification", on=problems(), corrected=own_plan)
def weights_of_any_sign(x: Problem) -> Reading:
    kernel = x["x"] @ x["y"].T
    return x.reading(kernel.abs().sum() / kernel.sum(-1).abs().min(), linear=kernel_weights(x["x"], x["y"]))


# ── tiles ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Tiles:
    """Two tiles of scores and values of one query, and the numbers taken off them."""

    scores: tuple[Tensor, Tensor]
    values: tuple[Tensor, Tensor]
    device: str = "cpu"

    def to(self, device: str) -> Tiles:
        """The same tiles, computed on another device."""
        return Tiles(self.scores, self.values, device)

    def joined(self, parts: tuple[Tensor, Tensor]) -> Tensor:
        return torch.cat(parts).to(self.device)

    @property
    def whole(self) -> Tensor:
        """The output of all keys at once, from the closed form."""
        return one_sided.plan(self.joined(self.scores), 1.0) @ self.joined(self.values)

    @property
    def streamed(self) -> Tensor:
        """The output of one tile after the other."""
        left, right = (flash.contribution(s.to(self.device)[None], v.to(self.device)[:, None])
                       for s, v in zip(self.scores, self.values, strict=True))
        return flash.finish(flash.combine(left, right)).output[0, 0]

    def reading(self, **routes: Tensor) -> Reading:
        """Routes at these tiles; the peaks are the tiles' own, and the larger of both."""
        (x, y), (first, second) = self.scores, self.values
        peaks = {"xm": float(x.max()), "ym": float(y.max()), "xym": float(torch.cat(self.scores).max())}
        point = {"t1": x.numel(), "t2": y.numel(), "x": x, "y": y, "X": first, "Y": second, **peaks}
        size = float(torch.cat(self.values).abs().max()) + 1
        scale = size * (1 + float(torch.cat(self.scores).abs().max()))
        return Reading(point, routes, tolerances.rounding("float64", x.numel() + y.numel(), scale))


@st.composite
def tiles(draw: st.DrawFn) -> Tiles:
    """Draw two tiles of one to four keys; equal scores included."""
    sizes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    scale = draw(st.sampled_from((2.0, 1.0, 0.0)))
    x, y, first, second = (torch.randn(size, generator=generator, dtype=torch.float64) for size in (*sizes, *sizes))
    return Tiles((scale * x, scale * y), (first, second))


@confirms(TORCH, "transport.s4.flash-tiles", on=tiles())
def first_tile(x: Tiles) -> Reading:
    size, scores = x.scores[0].numel(), x.joined(x.scores)
    indicators = torch.eye(scores.numel(), dtype=torch.float64, device=x.device)
    query = torch.ones(1, 1, dtype=torch.float64, device=x.device)
    tiled = flash.tiled_attention(query, scores[:, None], indicators, temperature=1.0, tile=[size, scores.numel() - size])
    return x.reading(closed_form=one_sided.plan(scores, 1.0)[:size], tiled=tiled.output[0, :size])


def exact(x: Tiles) -> Reading:
    query = torch.ones(1, 1, dtype=torch.float64, device=x.device)
    shipped = scaled_dot_product_attention(query, x.joined(x.scores)[:, None], x.joined(x.values)[:, None], scale=1.0)
    return x.reading(streamed=x.streamed, shipped=shipped[0, 0])


@confirms(TORCH, "transport.s4.flash-online", on=tiles(), corrected=exact)
def error_of_streaming(x: Tiles) -> Reading:
    return x.reading(streamed=(x.streamed - x.whole).abs())


def stabilized(x: Problem) -> Reading:
    shifted = x["S"] - x["o"][:, None]
    part = flash.contribution(shifted, torch.eye(x.m, dtype=torch.float64, device=x.device))
    return x.reading(x["o"], closed_form=one_sided.plan(shifted, 1.0), flash=flash.finish(part).output)


confirms(TORCH, "transport.s4.flash-stability", on=problems(), corrected=stabilized)(stabilized)
