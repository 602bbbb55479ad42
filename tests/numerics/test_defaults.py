"""A default means the same in every closed form, and the same as in the packages that these replace."""

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import nn

from numerics.modules import MultiheadAttention, functional
from tests.mutation.targets import modules

MEANINGS: dict[str, bool | float] = {
    "temperature": 1.0,
    "alpha": 1.0,
    "relaxation": torch.inf,
    "source_relaxation": 1.0,
    "target_relaxation": 1.0,
    "scale": 1.0,
    "tolerance": 1e-9,
    "dropout_p": 0.0,
    "dropout": 0.0,
    "log_prior_error": 0.0,
    "target_error": 0.0,
    "plan_error": 0.0,
    "logit": 0.0,
    "offset": 0.0,
    "dim": -1,
    "own": 1,
    "num_heads": 1,
    "tile": 128,
    "half_steps": 0,
    "max_steps": 200,
    "n_iter": 50,
    "ignore_index": -100,
    "budget": 2,
    "num_buckets": 32,
    "max_distance": 128,
    "causal": False,
    "is_causal": False,
    "exact": False,
    "boolean": False,
    "double": False,
    "strict": True,
    "simplex": True,
    "ensure_sum_one": True,
    "bidirectional": True,
    "bias": True,
    "output": True,
    "need_weights": False,
    "average_attn_weights": True,
    "batch_first": False,
    "add_bias_kv": False,
    "add_zero_attn": False,
    "enable_gqa": False,
}
RARER: dict[str, bool | float] = {
    "sparse_maps.normmax_bisect.alpha": 2,
    "sparse_maps.NormmaxBisect.__init__.alpha": 2,
    "fenchel_young.normmax_bisect_loss.alpha": 2,
    "fenchel_young.NormmaxBisectLoss.__init__.alpha": 2,
    "regularizers.entmax_bisect.alpha": 1.5,
    "regularizers.EntmaxBisect.__init__.alpha": 1.5,
    "fenchel_young.entmax_bisect_loss.alpha": 1.5,
    "fenchel_young.EntmaxBisectLoss.__init__.alpha": 1.5,
    "modules.kinds.Entmax.__init__.alpha": 1.5,
    "modules.kinds.SemiRelaxed.__init__.relaxation": 1.0,
    "transport.solver._annealed.own": 2,
    "modules.kinds.Sinkhorn.__init__.half_steps": 4,
    "fenchel_young.Entmax15Loss.__init__.k": 100,
    "modules.multihead.MultiheadAttention.forward.need_weights": True,
}


def numbers() -> Iterator[tuple[str, str, Any]]:
    """Every numeric or boolean default of the closed forms, with its function."""
    apart = ("numerics.models.", "numerics.precision.", "numerics.primal.")
    for name in (x.removeprefix("numerics.") for x in modules() if x.startswith("numerics.") and not x.startswith(apart)):
        module = import_module(f"numerics.{name}")
        for owner in [module, *(x for x in vars(module).values() if inspect.isclass(x) and x.__module__ == module.__name__)]:
            path = name if owner is module else f"{name}.{owner.__name__}"
            for function in vars(owner).values():
                function = getattr(function, "__func__", function)
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    for argument in inspect.signature(function).parameters.values():
                        if isinstance(argument.default, (int, float)):
                            yield f"{path}.{function.__name__}", argument.name, argument.default


def test_a_default_means_the_same_everywhere() -> None:
    defaults = {f"{function}.{name}": (name, default) for function, name, default in numbers()}
    assert len(defaults) > 150
    assert set(RARER) <= set(defaults)
    for parameter, (name, default) in defaults.items():
        assert parameter in RARER or name in MEANINGS, f"{parameter}: say above what it means when it is left out"
        expected = RARER[parameter] if parameter in RARER else MEANINGS[name]
        assert (default, type(default)) == (expected, type(expected)), parameter


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (MultiheadAttention.__init__, nn.MultiheadAttention.__init__),
        (MultiheadAttention.forward, nn.MultiheadAttention.forward),
    ],
)
def test_defaults_of_drop_ins_are_those_of_the_originals(ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    expected = {x.name: x.default for x in inspect.signature(theirs).parameters.values()}
    defaults = {x.name: x.default for x in inspect.signature(ours).parameters.values()}
    shared = set(expected) & set(defaults)
    assert {name: defaults[name] for name in shared} == {name: expected[name] for name in shared}
    assert len(shared) >= 7


def test_defaults_of_the_fused_function() -> None:
    defaults = {x.name: x.default for x in inspect.signature(functional.scaled_dot_product_attention).parameters.values()}
    documented = {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": False}  # of torch's
    assert {name: defaults[name] for name in documented} == documented
