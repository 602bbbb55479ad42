"""Every property over every public function, and wrong functions that each property refuses."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from numerics import one_sided
from tests.protocol.properties import PROPERTIES, applicable
from tests.protocol.registry import LEFT_OUT, REGISTRY

pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning"),  # forward mode
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*quantize_per_tensor.*"),
]

MODULES = (
    "attention",
    "continuous",
    "fenchel_young",
    "fisher",
    "flash",
    "linear",
    "linear_program",
    "mem",
    "modules",
    "one_sided",
    "ot_attention",
    "priors",
    "regularizers",
    "sparse_maps",
    "transport",
)
"""The modules of closed forms and solvers: all but studies, models, the convex programs, and what these are made of."""


@pytest.mark.parametrize(
    ("property_name", "name"), [(kind, name) for kind in PROPERTIES for name in applicable(REGISTRY, kind)]
)
def test_every_function_has_the_property(property_name: str, name: str) -> None:
    PROPERTIES[property_name](REGISTRY[name])


@pytest.mark.parametrize(
    ("name", "property_name"), [(name, kind) for name, function in REGISTRY.items() for kind in function.without]
)
def test_every_exception_is_one(name: str, property_name: str) -> None:
    """A function without a property does not have it."""
    with pytest.raises((AssertionError, RuntimeError, ValueError, pytest.fail.Exception)):
        PROPERTIES[property_name](REGISTRY[name])


def test_every_public_function_is_registered_or_left_out() -> None:
    public = set()
    for module in map(import_module, (f"numerics.{name}" for name in MODULES)):
        names = getattr(module, "__all__", None) or [
            name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
        ]
        public |= {
            f"{module.__name__.removeprefix('numerics.')}.{name}"
            for name in names
            if not name.startswith("_") and inspect.isfunction(getattr(module, name))
        }
    assert public == {name.partition(",")[0] for name in REGISTRY} | LEFT_OUT.keys()


# ── the properties refuse ───────────────────────────────────────────────────────────────────────────────────────────


def normalized_together(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature, mask) / max(1, scores[..., 0].numel())


def converted(scores: Any, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(torch.tensor(scores) if isinstance(scores, list) else scores, temperature, mask)


def unnamed(scores: Any, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    try:
        return one_sided.plan(scores, temperature, mask)
    except ValueError:
        raise ValueError("a bad argument") from None


def not_masked(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature)


def dead_is_nan(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature, mask) / (1.0 if mask is None or mask.any() else 0.0)


def poisoned_backwards(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature, mask) + torch.where(torch.tensor(True), 0.0, scores.square())


def narrow(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return (scores / temperature).softmax(-1).to(scores.dtype)


def widened(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores.double(), temperature, mask)


def detached(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature.detach(), mask)


def straight_through(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    plan = one_sided.plan(scores, temperature, mask)
    return plan.detach() + (scores - scores.detach()) / temperature


def reading(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores, temperature, mask) * (1 if bool(scores.isfinite().all()) else 2)


def in_place(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores.sub_(1.0), temperature, mask)


def by_memory(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores.as_strided(scores.shape, torch.empty(scores.shape).stride()), temperature, mask)


def with_products(scores: Tensor, temperature: Any = 1.0, mask: Tensor | None = None) -> Tensor:
    return one_sided.plan(scores @ torch.eye(scores.shape[-1], dtype=scores.dtype), temperature, mask)


@pytest.mark.parametrize(
    ("property_name", "wrong"),
    [
        ("refusals", converted),
        ("refusals", unnamed),
        ("batches", normalized_together),
        ("masks", not_masked),
        ("masks", dead_is_nan),
        ("masks", poisoned_backwards),
        ("dtypes", narrow),
        ("dtypes", widened),
        ("derivatives", detached),
        ("derivatives", straight_through),
        ("vmap", reading),
        ("layouts", in_place),
        ("layouts", by_memory),
        ("autocast", with_products),
    ],
)
def test_wrong_functions_are_detected(property_name: str, wrong: Callable[..., Tensor]) -> None:
    with pytest.raises((AssertionError, RuntimeError, pytest.fail.Exception)):
        PROPERTIES[property_name](replace(REGISTRY["one_sided.plan"], call=wrong))
