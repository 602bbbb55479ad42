"""The random models are reproducible and exercise the stated features."""

import pytest
import torch

from numerics.models.zoo import zoo


@pytest.mark.parametrize("name", sorted(zoo()))
def test_same_seed_same_example(name):
    first, second, other = zoo(1)[name](), zoo(1)[name](), zoo(2)[name]()
    weights = [torch.cat([p.flatten() for p in example.model.parameters()]) for example in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    for key, value in first.inputs.items():
        assert torch.equal(value, second.inputs[key])


def test_global_random_state_is_untouched():
    before = torch.get_rng_state()
    zoo()["bert"]()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", ["bert", "bloom", "gpt2", "llama", "t5"])
def test_text_is_padded(name):
    attention_mask = zoo()[name]().inputs["attention_mask"]
    assert attention_mask[0].all()
    assert not attention_mask[1].all()
