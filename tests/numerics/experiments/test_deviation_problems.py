"""The problems of `deviation` are the model's own attention, and other problems are refused."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics import mem, tolerances
from numerics.attention import GeneralizedAttention
from numerics.experiments.deviation import problems
from numerics.models.capture import CaptureError, capture
from numerics.models.zoo import Example, zoo
from numerics.priors import RelativePositions

READABLE = ("bert", "bloom", "gpt2", "t5", "vit")


@pytest.fixture(params=READABLE)
def example(request: pytest.FixtureRequest) -> Example:
    return zoo()[request.param]()


@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_the_closed_form_is_the_model_s_attention(example: Example, alpha: float) -> None:
    captured = capture(example.model, example.inputs)
    all_layers = problems.layers(example.model, example.inputs, alpha)
    assert [layer.module for layer in all_layers[0]] == [problem.module for problem in captured]
    for sequence, of_sequence in enumerate(all_layers):
        for layer, problem in zip(of_sequence, captured, strict=True):
            for block in layer.blocks():
                weights = mem.tilt(alpha * block.evidence, layer.templates, block.prior)
                expected = problem.probabilities[sequence, block.head, block.query].double()
                allowed = tolerances.plan("float32", weights.shape[-1], float(problem.logits.clamp(min=-1e3).abs().max()))
                assert_close(weights, expected, rtol=0, atol=allowed)
                assert_close(block.prior.sum(-1), torch.ones(len(weights), dtype=torch.float64))


def test_problems_of_bert_agree_with_from_bert() -> None:
    example = zoo()["bert"]()
    hidden: list[Tensor] = []
    module = example.model.encoder.layer[1].attention.self
    hook = module.register_forward_pre_hook(lambda _, args, named: hidden.append((*args, *named.values())[0]), with_kwargs=True)
    with hook:
        layer = problems.layers(example.model, example.inputs)[0][1]
    expected = GeneralizedAttention.from_bert(module.double()).problem(hidden[-1][0].double())
    (block,) = layer.blocks()
    assert_close(layer.templates, expected.templates[0, 0])
    assert_close(block.evidence, expected.evidence.flatten(0, 1))
    assert_close(block.prior, expected.prior.flatten(0, 1))


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_problems_of_t5_agree_with_from_t5(stack: str) -> None:
    """Damage a copy: scale one, and the position table of the first layer in the second."""
    example = zoo()["t5"]()
    blocks = getattr(example.model, stack).block
    hidden: list[Tensor] = []
    module = blocks[1].layer[0].SelfAttention
    with module.register_forward_pre_hook(lambda _, args: hidden.append(args[0])):
        layer_problems = problems.layers(example.model, example.inputs)[0]
    table = RelativePositions.from_t5(blocks[0].layer[0].SelfAttention)
    (layer,) = [x for x in layer_problems if (x.role, x.number) == (stack, 1)]
    expected = GeneralizedAttention.from_t5(module.double(), table.double()).problem(hidden[-1][0].double())
    (block,) = layer.blocks()
    at = torch.isin(torch.arange(layer.queries), block.query)
    assert_close(layer.templates, hidden[-1][0].double())
    assert_close(block.evidence, expected.evidence[:, at].flatten(0, 1))
    assert_close(block.prior, expected.prior[:, at].flatten(0, 1))


def test_padding_is_excluded_and_counted() -> None:
    example = zoo()["t5"]()
    unpadded, padded = problems.layers(example.model, example.inputs)
    assert {layer.padding for layer in unpadded} == {0}
    assert {layer.role: layer.padding for layer in padded} == {"encoder": 8, "decoder": 4, "cross": 4}
    for layer in padded:
        assert sum(len(block.query) for block in layer.blocks()) == layer.heads * layer.queries - layer.padding
        for block in layer.blocks():
            assert bool((block.prior[:, -2:] == 0).all()) == (layer.role != "decoder")


def test_blocks_do_not_change_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    example = zoo()["gpt2"]()
    (single_block,) = problems.layers(example.model, example.inputs)[0][0].blocks()
    monkeypatch.setattr(problems, "_NUMBERS", 1)
    parts = list(problems.layers(example.model, example.inputs)[0][0].blocks())
    assert len(parts) == 7
    order = torch.cat([part.head * 7 + part.query for part in parts]).argsort()
    assert_close(torch.cat([part.evidence for part in parts])[order], single_block.evidence)
    assert_close(torch.cat([part.prior for part in parts])[order], single_block.prior)


def test_a_prior_that_underflows_is_a_zero() -> None:
    example = zoo()["bloom"]()
    problem = capture(example.model, example.inputs)[0]
    bias = torch.zeros_like(problem.scores)
    bias[..., 0] = -2000.0
    log_prior = problems._log_prior(replace(problem, bias=bias), 0)
    assert bool((log_prior[:, 1:, 0] == -torch.inf).all())


def test_queries_and_keys_that_turn_are_refused() -> None:
    example = zoo()["llama"]()
    with pytest.raises(CaptureError, match=r"layers\.0\.self_attn, its scores are not products of linear queries and keys"):
        problems.layers(example.model, example.inputs)


def test_scores_of_another_layer_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check distinguishes the projections of adjacent heads."""
    example = zoo()["bert"]()
    own = problems._weights

    def swapped(*args: object) -> object:
        (query, bias), key = own(*args)  # type: ignore[arg-type]
        return (query.roll(8, 0), bias.roll(8, 0)), key

    monkeypatch.setattr(problems, "_weights", swapped)
    with pytest.raises(CaptureError, match="not products of linear queries and keys"):
        problems.layers(example.model, example.inputs)


def test_unknown_projections_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    example = zoo()["vit"]()
    monkeypatch.setattr(problems, "_PAIRS", (("q_proj", "nothing"),))
    with pytest.raises(CaptureError, match="query and key projections have unknown names"):
        problems.layers(example.model, example.inputs)
