"""The public functions of numerics: how each is called, and which properties do not apply to it."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from numerics import (
    attention,
    continuous,
    fenchel_young,
    fisher,
    flash,
    linear,
    linear_program,
    mem,
    one_sided,
    priors,
    regularizers,
    sparse_maps,
    transport,
)
from numerics import ot_attention as ot
from numerics.modules import KINDS, scaled_dot_product_attention

Arguments = dict[str, Any]

N, M, D, V, F = 3, 4, 2, 5, 6
"""Queries, keys, their width, that of values, features: all different, so that equal sizes belong to axes that agree."""


@dataclass(frozen=True)
class Function:
    """A function, and the arguments of one problem.

    Attributes:
        call: from keyword arguments.
        shapes: of the tensors; leading axes may be put before all of them.
        positive: arguments with rows that sum to one.
        definite: arguments that are symmetric matrices, all of whose eigenvalues have this sign.
        between: arguments whose entries lie between two numbers.
        fixed: further arguments.
        number: an argument that is a positive number, or a tensor of them with the leading axes.
        shared: arguments that need not have the leading axes of the others; all of them if not given.
        lacking: arguments whose own axes may be missing.
        mask: the shape of a mask over the keys; None if there is none.
        floating: whether a mask may be added.
        dead: of each result, what a row with nothing left has; empty where it is refused.
        data: how many results are no part of a certificate, which is about a dtype; all of them if not given.
        widest: arguments whose dtype the result may have; all of them if not given.
        flat: arguments that only their zeros count of.
        may_be_empty: whether axes may be empty.
    atol: how far results in float64 may be apart.
        without: properties that do not apply, each with the reason.
    """

    call: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    positive: tuple[str, ...] = ()
    definite: Mapping[str, int] = field(default_factory=dict)
    between: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    number: str | None = None
    shared: tuple[str, ...] | None = None
    lacking: tuple[str, ...] = ()
    mask: tuple[int, ...] | None = None
    floating: bool = True
    dead: tuple[float, ...] = (0.0,)
    data: int | None = None
    widest: tuple[str, ...] | None = None
    flat: tuple[str, ...] = ()
    may_be_empty: bool = False
    atol: float = 1e-12
    without: Mapping[str, str] = field(default_factory=dict)

    def draw(self, seed: int = 0, dtype: torch.dtype = torch.float64) -> Arguments:
        """The arguments of a problem, without a mask."""
        g = torch.Generator().manual_seed(seed)
        x = {name: torch.randn(shape, generator=g, dtype=torch.float64) for name, shape in self.shapes.items()}
        return self.admitted(x | ({self.number: torch.rand((), generator=g).double()} if self.number else {}), dtype)

    def admitted(self, x: Arguments, dtype: torch.dtype = torch.float64) -> Arguments:
        """Any numbers, brought to where the function is defined, smoothly."""
        result = dict(x)
        for name in self.positive:
            p = x[name].softmax(-1)
            result[name] = p if dtype == torch.float64 else _dyadic(p)
        for name, sign in self.definite.items():
            result[name] = sign * (x[name] @ x[name].mT + torch.eye(x[name].shape[-1]).to(x[name]))
        for name, (low, high) in self.between.items():
            result[name] = low + (high - low) * x[name].sigmoid()
        if self.number:
            result[self.number] = x[self.number].sigmoid() + 0.5
        return {name: value.to(dtype) for name, value in result.items()}

    def results(self, arguments: Arguments) -> list[Tensor]:
        """All tensors of the result."""
        return list(_tensors(self.call(**{**self.fixed, **arguments})))


def _dyadic(p: Tensor) -> Tensor:
    """Shares that every dtype holds, and which sum to one in it."""
    parts = (64 * p).round().clamp(min=1)
    parts.scatter_add_(-1, parts.argmax(-1, keepdim=True), 64 - parts.sum(-1, keepdim=True))
    return parts / 64


def _tensors(result: Any) -> Iterator[Tensor]:
    if isinstance(result, Tensor):
        yield result
    elif is_dataclass(result):
        yield from (value for x in fields(result) if isinstance(value := getattr(result, x.name), Tensor))
    else:
        yield from result


def _gradients(**x: Any) -> flash.Gradients:
    found = flash.tiled_attention(**x, tile=3)
    return flash.tiled_gradients(**x, attention=found, output_gradient=found.output.detach().cos(), tile=2)


PLAN = {"plan": (M,)}
ROWS = {"plan": (M,), "scores": (M,)}
ATTENTION = {"query": (N, D), "key": (M, D), "value": (M, V)}
MEM = {"templates": (M, D), "evidence": (D,), "prior": (M,)}
OT = {"templates": (N, D), "evidence": (D,), "prior": (M,), "cost": (N, M)}
COST = {"cost": (N, M), "source": (N,), "target": (M,)}
GAUSS = {"mean": (D,), "covariance": (D, D)}
BUMPS = continuous.Basis(torch.tensor([[0.5, -1.0], [0.0, 1.0], [2.0, 0.25], [-1.0, -0.5]], dtype=torch.float16), 0.75)
LINE = continuous.Basis(torch.tensor([[0.5], [-1.0], [2.0], [0.25]], dtype=torch.float16), 0.75)

BATCH = "documented: its batch is what vmap would be for"
RADII = "its radii are of `cdist`, whose backward pass PyTorch does not differentiate, and which has no forward mode"
tau = partial(Function, number="temperature")
known = partial(Function, positive=("plan",))


def _products() -> Iterator[tuple[str, Function]]:
    second = {
        "fisher_product": "x",
        "jacobian_product": "x",
        "pseudo_inverse_product": "x",
        "natural_gradient": "gradient",
        "natural_direction": "utility",
    }
    for name, argument in second.items():
        flat = ("plan",) if name == "natural_direction" else ()
        yield f"fisher.{name}", known(getattr(fisher, name), {"plan": (M,), argument: (M,)}, number="temperature", flat=flat)


def _losses() -> Iterator[tuple[str, Function]]:
    for name in ("sparsemax", "sparsemax_bisect", "entmax15", "entmax_bisect", "normmax_bisect", "logistic", "logistic_ova"):
        yield f"fenchel_young.{name}_loss", _loss(getattr(fenchel_young, f"{name}_loss"))
    yield "fenchel_young.perceptron_loss", _loss(fenchel_young.perceptron_loss)
    yield "fenchel_young.squared_loss", _loss(fenchel_young.squared_loss)


def _loss(call: Callable[..., Tensor]) -> Function:
    return Function(call, {"X": (M,), "target": (M,)}, ("target",), shared=(), widest=("X",))


def _modules() -> Iterator[tuple[str, Function]]:
    own = {"dtypes": "as PyTorch's own, it asks for one dtype", "autocast": "as PyTorch's own, it returns autocast's dtype"}
    for kind in KINDS:
        solved = kind in ("semi-relaxed", "maximum-entropy")
        yield (
            f"modules.scaled_dot_product_attention, {kind}",
            Function(
                scaled_dot_product_attention,
                ATTENTION,
                fixed={"attention": kind},
                may_be_empty=True,  # as PyTorch's own
                atol=1e-8 if solved else 1e-12,
                without=own | ({"vmap": BATCH} if solved else {}),
            ),
        )


REGISTRY: dict[str, Function] = {
    "one_sided.plan": tau(one_sided.plan, {"scores": (M,)}, mask=(M,)),
    "one_sided.log_partition": tau(one_sided.log_partition, {"scores": (M,)}, mask=(M,), dead=(-math.inf,)),
    "one_sided.entropy": known(one_sided.entropy, PLAN),
    "one_sided.objective": known(one_sided.objective, ROWS, number="temperature"),
    "one_sided.scores_from": Function(one_sided.scores_from, {"query": (N, D), "keys": (M, D)}, shared=("keys",)),
    "one_sided.context": known(one_sided.context, {"plan": (N, M), "values": (M, V)}, shared=("values",)),
    "one_sided.utility": Function(one_sided.utility, {"context_gradient": (N, V), "values": (M, V)}, shared=("values",)),
    "one_sided.score_gradient": known(one_sided.score_gradient, {"plan": (M,), "utility": (M,)}, number="temperature"),
    "one_sided.plan_jacobian": known(one_sided.plan_jacobian, PLAN, number="temperature"),
    "fisher.potential": tau(fisher.potential, {"scores": (M,)}, mask=(M,), dead=(-math.inf,)),
    "fisher.fisher": known(fisher.fisher, PLAN, number="temperature"),
    "fisher.jacobian": known(fisher.jacobian, PLAN, number="temperature"),
    **dict(_products()),
    "priors.tilted": Function(priors.tilted, {"log_prior": (M,), "scores": (M,)}),
    "priors.prior_from_mask": Function(
        priors.prior_from_mask, {"log_weights": (M,)}, fixed={"mask": torch.ones(M, dtype=torch.bool)}, mask=(M,)
    ),
    "attention.attention_weights": Function(
        attention.attention_weights,
        {"templates": (M, D), "evidence": (N, D), "log_prior": (N, M)},
        widest=("evidence",),
        lacking=("log_prior",),
    ),
    "linear.linear_attention": Function(
        linear.linear_attention,
        {"query_features": (N, F), "key_features": (M, F), "value": (M, V)},
        ("query_features", "key_features"),
        mask=(M,),
        floating=False,
    ),
    "linear.linear_attention, causal": Function(
        linear.linear_attention,
        {"query_features": (M, F), "key_features": (M, F), "value": (M, V)},
        ("query_features", "key_features"),
        fixed={"causal": True},
    ),
    "linear.kernel_weights": Function(
        linear.kernel_weights,
        {"query_features": (N, F), "key_features": (M, F)},
        ("query_features", "key_features"),
        mask=(M,),
        floating=False,
    ),
    "linear.positive_random_features": Function(linear.positive_random_features, {"x": (N, D), "projections": (F, D)}),
    "linear.random_feature_attention": tau(
        linear.random_feature_attention, ATTENTION | {"projections": (F, D)}, mask=(M,), floating=False
    ),
    "linear.kernel_variance": Function(linear.kernel_variance, {"query": (N, D), "key": (M, D)}, fixed={"features": 3}),
    "linear.ratio_bias": Function(linear.ratio_bias, {"query": (N, D), "key": (M, D)}, fixed={"features": 3}),
    "flash.tiled_attention": tau(flash.tiled_attention, ATTENTION, fixed={"tile": 3}, mask=(M,), dead=(0.0, -math.inf)),
    "flash.tiled_gradients": tau(
        _gradients,
        ATTENTION,
        mask=(M,),
        shared=(),
        without={
            "derivatives": "its results are derivatives, at an attention that is held constant",
            "dtypes": "it starts from the output as that was rounded",
        },
    ),
    "regularizers.sparsemax": Function(regularizers.sparsemax, {"X": (M,)}),
    "regularizers.entmax15": Function(regularizers.entmax15, {"X": (M,)}),
    "regularizers.entmax_bisect": Function(
        regularizers.entmax_bisect, {"X": (M,), "alpha": (1,)}, between={"alpha": (1.1, 2.5)}, shared=("alpha",), widest=("X",)
    ),
    "sparse_maps.sparsemax_bisect": Function(sparse_maps.sparsemax_bisect, {"X": (M,)}),
    "sparse_maps.normmax_bisect": Function(
        sparse_maps.normmax_bisect, {"X": (M,), "alpha": (1,)}, between={"alpha": (1.2, 3.0)}, shared=("alpha",), widest=("X",)
    ),
    "sparse_maps.budget_bisect": Function(
        sparse_maps.budget_bisect,
        {"X": (M,), "budget": (1,)},
        between={"budget": (0.6, 3.0)},
        shared=("budget",),
        widest=("X",),
    ),
    "sparse_maps.sparsemax_threshold": Function(sparse_maps.sparsemax_threshold, {"X": (M,)}),
    "sparse_maps.entmax15_threshold": Function(sparse_maps.entmax15_threshold, {"X": (M,)}),
    **dict(_losses()),
    "continuous.natural": Function(continuous.natural, GAUSS, definite={"covariance": 1}),
    "continuous.moments": Function(continuous.moments, {"linear": (D,), "quadratic": (D, D)}, definite={"quadratic": -1}),
    "continuous.scores": Function(continuous.scores, {"points": (N, D), "linear": (D,), "quadratic": (D, D)}),
    **{
        f"continuous.{name}": Function(getattr(continuous, name), {"points": (N, D)} | GAUSS, definite={"covariance": 1})
        for name in ("softmax_log_density", "softmax_density", "sparsemax_density")
    },
    "continuous.sparsemax_radius": Function(continuous.sparsemax_radius, {"covariance": (D, D)}, definite={"covariance": 1}),
    "continuous.sparsemax_covariance": Function(
        continuous.sparsemax_covariance, {"covariance": (D, D)}, definite={"covariance": 1}
    ),
    **{
        f"continuous.softmax_{name}": Function(
            getattr(continuous, f"softmax_{name}"), GAUSS, definite={"covariance": 1}, fixed={"basis": BUMPS}
        )
        for name in ("expectation", "covariances")
    },
    **{
        f"continuous.sparsemax_{name}": Function(
            getattr(continuous, f"sparsemax_{name}"),
            {"mean": (1,), "covariance": (1, 1)},
            definite={"covariance": 1},
            fixed={"basis": LINE},
        )
        for name in ("expectation", "covariances")
    },
    "continuous.attend": Function(
        continuous.attend, {"coefficients": (V, 4)} | GAUSS, definite={"covariance": 1}, fixed={"basis": BUMPS}
    ),
    "continuous.fit": Function(
        continuous.fit,
        {"values": (M, V), "locations": (M, D)},
        fixed={"basis": BUMPS, "ridge": 0.5},
        mask=(M,),
        shared=("locations",),
    ),
    "mem.tilt": Function(mem.tilt, {"dual": (D,), "templates": (M, D), "prior": (M,)}, ("prior",), mask=(M,)),
    "mem.log_partition": Function(
        mem.log_partition, {"dual": (D,), "templates": (M, D), "prior": (M,)}, ("prior",), mask=(M,), dead=(-math.inf,)
    ),
    "mem.moments": Function(mem.moments, {"templates": (M, D), "weights": (M,)}, ("weights",)),
    **{
        f"mem.{name}": Function(getattr(mem, name), extra | MEM, (*positive, "prior"), number="alpha", mask=(M,))
        for name, extra, positive in (
            ("dual_objective", {"dual": (D,)}, ()),
            ("dual_gradient", {"dual": (D,)}, ()),
            ("closed_form", {}, ()),
            ("resolvent", {}, ()),
            ("certificate", {}, ()),
        )
    },
    "mem.primal_objective": Function(
        mem.primal_objective,
        {"weights": (M,)} | MEM,
        ("weights", "prior"),
        number="alpha",
        mask=(M,),
        without={"masks": "a weight on a masked template costs everything"},
    ),
    "mem.solve": Function(
        mem.solve,
        MEM,
        ("prior",),
        fixed={"tolerance": 1e-12},
        number="alpha",
        mask=(M,),
        dead=(),
        data=3,
        atol=1e-8,
        without={"vmap": BATCH},
    ),
    "ot_attention.kernel": tau(ot.kernel, {"cost": (N, M)}),
    "ot_attention.true_preference": tau(ot.true_preference, {"prior": (M,), "cost": (N, M)}, ("prior",)),
    **{
        f"ot_attention.{name}": tau(getattr(ot, name), {"potential": (N,), "prior": (M,), "cost": (N, M)}, ("prior",))
        for name in ("transported", "coupling", "conjugate")
    },
    "ot_attention.mean_covariance": tau(ot.mean_covariance, {"templates": (N, D), "prior": (M,), "cost": (N, M)}, ("prior",)),
    **{f"ot_attention.{name}": tau(getattr(ot, name), OT, ("prior",)) for name in ("weights", "attend", "resolvent")},
    "ot_attention.attend_by_inner_products": tau(
        ot.attend_by_inner_products, {"templates": (N, D), "evidence": (D,), "prior": (M,), "sources": (M, D)}, ("prior",)
    ),
    "ot_attention.approximation_bound": tau(
        ot.approximation_bound, OT, ("prior",), without={"derivatives": RADII, "vmap": RADII}
    ),
    "ot_attention.solve": tau(ot.solve, OT, ("prior",), data=3, atol=1e-9, without={"vmap": BATCH}),
    "ot_attention.squared_distance": Function(ot.squared_distance, {"templates": (N, D), "sources": (M, D)}),
    "ot_attention.negative_inner_product": Function(ot.negative_inner_product, {"templates": (N, D), "sources": (M, D)}),
    "transport.one_sided_plan": tau(transport.one_sided_plan, COST, ("source", "target"), mask=(M,)),
    "transport.sinkhorn": tau(transport.sinkhorn, COST, ("source", "target"), data=4, atol=1e-9, without={"vmap": BATCH}),
    "transport.sinkhorn, relaxed": tau(
        transport.sinkhorn, COST, ("source", "target"), fixed={"relaxation": 0.5}, data=4, atol=1e-9, without={"vmap": BATCH}
    ),
    "transport.unbalanced": tau(transport.unbalanced, COST, ("source", "target"), data=4, atol=1e-9, without={"vmap": BATCH}),
    "transport.quadratic_plan": tau(
        transport.quadratic_plan,
        COST,
        ("source", "target"),
        between={"cost": (0.0, 0.1)},
        data=4,
        atol=1e-9,
        without={"vmap": BATCH},
    ),
    "transport.sinkhorn_divergence": tau(
        transport.sinkhorn_divergence,
        {"cross": (N, M), "within_source": (N, N), "within_target": (M, M), "source": (N,), "target": (M,)},
        ("source", "target"),
        atol=1e-9,
        without={"vmap": BATCH},
    ),
    "transport.sinkhorn_weights": tau(transport.sinkhorn_weights, {"scores": (N, M)}, fixed={"half_steps": 2}, mask=(M,)),
    "transport.sinkhorn_weights, target": tau(
        transport.sinkhorn_weights, {"scores": (N, M), "target": (M,)}, ("target",), fixed={"half_steps": 3}
    ),
    "transport.relaxed_weights": tau(
        transport.relaxed_weights, {"scores": (N, M), "target": (M,)}, ("target",), atol=1e-9, without={"vmap": BATCH}
    ),
    "transport.certified_weights": tau(
        transport.certified_weights, {"scores": (N, M), "target": (M,)}, ("target",), data=1, atol=1e-9, without={"vmap": BATCH}
    ),
    "transport.sinkhorn_attention": tau(transport.sinkhorn_attention, ATTENTION, fixed={"half_steps": 2}, mask=(M,)),
    "transport.diagnose": Function(transport.diagnose, {"plan": (N, M), "target": (M,)}, ("plan", "target")),
    "linear_program.exact_plan": Function(
        linear_program.exact_plan,
        COST,
        ("source", "target"),
        data=4,
        atol=1e-9,
        without={"vmap": BATCH, "derivatives": "only its value has any, of first order: `test_linear_program`"},
    ),
    **dict(_modules()),
}

LEFT_OUT = {
    "flash.identity": "a neutral element, whose laws are in `test_flash`",
    "flash.contribution": "a part of `tiled_attention`, which checks its arguments",
    "flash.combine": "a part of `tiled_attention`, which checks its arguments",
    "flash.finish": "a part of `tiled_attention`, which checks its arguments",
    "priors.log_mask": "of a mask alone",
    "priors.causal_mask": "of two sizes",
    "priors.relative_positions": "of two sizes",
    "priors.relative_position_bucket": "of integers",
    "priors.relative_position_bias": "of two sizes and a table of parameters",
    "regularizers.alibi_slopes": "of a size",
    "regularizers.alibi_bias": "of sizes",
    "regularizers.hold": "of a module",
    "ot_attention.group_cost": "of integers",
    "modules.attention_of": "of a name",
    "modules.replace": "of a module",
}
"""Public functions that take no tensors of numbers, and parts of others."""
