"""A drawn scene is of the kind that it is said to be."""

import pytest
import torch
from hypothesis import given

from evidence.instances.scenes import KINDS, Scene, scenes
from numerics import tolerances
from tests.numerics.common import close

SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kinds_of_data(seed: int) -> None:
    x = {kind: Scene(4, seed, kind).x for kind in KINDS}
    close(x["small"], x["any"] / 8, 0.0)
    close(x["tied"], x["any"][:1].repeat(4), 0.0)
    close(x["behind"], x["any"] - 2, 0.0)
    assert bool((x["behind"] <= 0).all())
    close(x["one"], torch.tensor([1 + float(x["any"][0].abs()), 0.0, 0.0, 0.0], dtype=torch.float64), 0.0)
    scene = Scene(4, seed, "any")
    assert scene.x[scene.best - 1] == scene.x.max()
    close(scene.p.sum(), torch.tensor(1.0, dtype=torch.float64), 1e-15)


def test_numbers_are_bounded_and_depend_on_name_and_seed() -> None:
    drawn = torch.stack([Scene(1, seed, "any").draw("values", 20) for seed in SEEDS])
    assert float(drawn.max()) == -float(drawn.min()) == 2.0
    assert len({tuple(row.tolist()) for row in drawn}) == len(SEEDS)
    scene = Scene(1, 3, "any")
    close(scene.draw("a", 3), scene.draw("a", 3), 0.0)
    assert not torch.equal(scene.draw("a", 3), scene.draw("b", 3))


def test_the_tolerance_of_a_reading() -> None:
    scene, route = Scene(3, 0, "any"), torch.tensor([0.5, -5.0], dtype=torch.float64)
    ordinary = scene.reading({"a": route, "k": 2}, one=route / 10)
    assert ordinary.tolerance == tolerances.rounding("float64", 9, 64.0)
    assert scene.reading({}, one=route).tolerance == tolerances.rounding("float64", 9, 64 * 5.0)
    assert scene.reading({}, scale=7.0, one=route).tolerance == tolerances.rounding("float64", 9, 64 * 7.0)
    assert (ordinary.computed, scene.reading({}, right=True, one=route).computed) == ("left", "right")
    assert ordinary.point["m"] == 3
    assert ordinary.point["k"] == 2


@given(scene=scenes(2, ("tied", "one")))
def test_what_is_drawn(scene: Scene) -> None:
    assert 2 <= scene.m <= 5
    assert scene.kind in ("tied", "one")
