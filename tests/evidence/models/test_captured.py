"""Which models have a vote, and with the gradients of which loss."""

import math

import pytest
import torch

from evidence.models.captured import ARCHITECTURES, SCALED, cubic, random_model


def test_all_models_that_scale_have_a_vote() -> None:
    assert set(SCALED) == {name for name in ARCHITECTURES if random_model(name)[0].temperature != 1.0}


def test_the_loss_is_that_of_the_first_floating_output() -> None:
    floating = torch.tensor([1.0, -2.0])
    loss = cubic({"hidden": (floating,), "ids": torch.tensor([5]), "last": floating, "other": 9 * floating})
    assert float(loss) == pytest.approx(-3.5 + math.sqrt(5))
