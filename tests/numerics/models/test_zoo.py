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


TEXT = {"input_ids": (2, 7), "attention_mask": (2, 7)}
SIZES = {
    "bert": (36704, 4, TEXT),
    "bloom": (27584, 4, TEXT),
    "gpt2": (60288, 4, TEXT),
    "llama": (20640, 4, TEXT),
    "t5": (43648, 4, TEXT | {"decoder_input_ids": (2, 5), "decoder_attention_mask": (2, 5)}),
    "vit": (24576, 4, {"pixel_values": (2, 3, 16, 16)}),
}
"""Of each model the weights and the heads of a layer, and the shapes of its inputs."""


@pytest.mark.parametrize("name", sorted(zoo()))
def test_sizes(name):
    example = zoo()[name]()
    weights = sum(parameter.numel() for parameter in example.model.parameters())
    shapes = {key: tuple(value.shape) for key, value in example.inputs.items()}
    assert (weights, example.model.config.num_attention_heads, shapes) == SIZES[name]


def test_what_is_padded():
    inputs = zoo()["t5"]().inputs
    assert inputs["attention_mask"].sum(1).tolist() == [7, 5]
    assert inputs["decoder_attention_mask"].sum(1).tolist() == [5, 4]
    assert inputs["input_ids"].max() < zoo()["t5"]().model.config.vocab_size == 64


@pytest.mark.parametrize("name", ["bert", "bloom", "gpt2", "llama", "vit"])
def test_logits_are_far_from_constant(name):
    spread = max(parameter.std().item() for parameter in zoo()[name]().model.parameters() if parameter.dim() > 1)
    assert 0.28 < spread < 0.33


def test_the_first_seed_is_0():
    first, other = zoo()["bert"]().inputs["input_ids"], zoo(0)["bert"]().inputs["input_ids"]
    assert torch.equal(first, other)
