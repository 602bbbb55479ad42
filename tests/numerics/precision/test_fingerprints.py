"""The figures of docs/edges.json belong to the present settings, references and allowances of each function."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import flint
import numpy as np
import pytest
import torch

from numerics.precision import study
from numerics.precision.cells import Setting, Trial
from numerics.precision.exact import Exact
from numerics.precision.functions import Data, Function
from tests import edges
from tests.fingerprints import changed, fingerprint, functions

ERRORS = json.loads(edges.DATA.read_text(encoding="utf-8"))["errors"]


@pytest.mark.parametrize("name", ERRORS["functions"])
def test_figures_are_of_the_present_settings_and_references(name: str) -> None:
    function, row = functions()[name], ERRORS["functions"][name]
    stale = changed(function, row["fingerprint"])
    assert not stale, f"{name}: figures of other {' and '.join(stale)}; measure it by `python -m numerics errors --only`"
    assert sum(row["states"].values()) == sum(1 for dtype in function.dtypes for _ in function.settings(dtype))


def test_figures_are_of_the_first_seed() -> None:
    assert {setting.seed for group in study.groups() for setting in group.settings} == {ERRORS["seed"]}


ONE = Setting(0, "normal", 2, "float32")


def plain(scale: float, *, double: bool = False) -> Callable[[Data], Trial]:
    def trial(data: Data) -> Trial:
        s = data.normal(2, scale=scale)
        return Trial(lambda: s, lambda peak: Exact.of(s.tolist(), peak), double)

    return trial


def vague(data: Data) -> Trial:
    return Trial(lambda: torch.ones(2), lambda peak: Exact([flint.arb(1), flint.arb(10) ** -40], np.zeros(2), peak))


@pytest.mark.parametrize(("change", "stale"), [
    ({}, []),
    ({"decades": (0, 1)}, ["settings", "values", "allowances"]),
    ({"sizes": (2, 1000)}, ["settings"]),
    ({"dtypes": ("float64", "float32")}, ["settings"]),
    ({"trial": plain(2.0)}, ["values", "allowances"]),
    ({"trial": plain(1.0, double=True)}, ["values"]),
])
def test_what_changes_a_fingerprint(change: dict[str, Any], stale: list[str]) -> None:
    function = Function("f", plain(1.0), (2,), ("normal",), (0,), ("float32",))
    assert changed(replace(function, **change), fingerprint(function)) == stale


def test_what_is_next_to_nothing_is_rounded_to_nothing() -> None:
    function = Function("f", vague, (2,), ("normal",), (0,), ("float32",))
    again = replace(function, trial=lambda data: replace(vague(data), expected=lambda peak: Exact(
        [flint.arb(1), flint.arb(0)], np.zeros(2), peak)))
    assert fingerprint(function) == fingerprint(again)
