"""Captured attention is the model's own, and its gradients are those of the theorem."""

import copy
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import pytest
import torch
from torch.testing import assert_close

from numerics.models import capture as capture_module
from numerics.models.capture import capture
from numerics.models.zoo import zoo

ARCHITECTURES = sorted(zoo())
INTERFACE_ARCHITECTURES = [name for name in ARCHITECTURES if name != "bloom"]
CALLS = {
    "bert": ["encoder"] * 2,
    "bloom": ["decoder"] * 2,
    "gpt2": ["decoder"] * 2,
    "llama": ["decoder"] * 2,
    "t5": ["encoder"] * 2 + ["decoder", "cross"] * 2,
    "vit": ["encoder"] * 2,
}
OUTPUT_PROJECTION = {
    "bert": lambda name: name.removesuffix("self") + "output.dense",
    "bloom": lambda name: name + ".dense",
    "gpt2": lambda name: name + ".c_proj",
    "llama": lambda name: name + ".o_proj",
    "t5": lambda name: name + ".o",
    "vit": lambda name: name + ".o_proj",
}


def functional(output):
    """A loss without symmetry: a layer norm makes plain sums of the last hidden state constant."""
    state = output[0]
    weights = torch.linspace(-1, 1, state.numel(), dtype=state.dtype).reshape(state.shape).sin()
    return (weights * state).sum()


def theorem_error(problem):
    """Deviation from ∂L/∂s_j = −(p_j/τ)(u_j − E_p[u]), u_j = −⟨∇_c L, v_j⟩, relative to the largest gradient."""
    u = -problem.output_gradient @ problem.values.mT
    baseline = (problem.probabilities * u).sum(-1, keepdim=True)
    predicted = -problem.probabilities / problem.temperature * (u - baseline)
    return ((predicted - problem.score_gradient).abs().max() / problem.score_gradient.abs().max()).item()


@pytest.fixture(params=ARCHITECTURES)
def name(request):
    return request.param


@pytest.fixture
def example(name):
    return zoo()[name]()


@pytest.fixture
def problems(example):
    return capture(example.model, example.inputs)


def test_every_layer_is_captured_with_its_role(name, problems):
    assert [problem.role for problem in problems] == CALLS[name]
    assert len({problem.module for problem in problems}) == len(problems)


def test_context_enters_the_untouched_model(name, example, problems):
    """The eager model's own output projections receive the captured contexts, bit for bit."""
    received = {}
    if name != "bloom":
        example.model.set_attn_implementation("eager")
    for problem in problems:
        module = example.model.get_submodule(OUTPUT_PROJECTION[name](problem.module))
        module.register_forward_pre_hook(lambda _, args, key=problem.module: received.update({key: args[0]}))
    with torch.no_grad():
        example.model(**example.inputs)
    for problem in problems:
        assert torch.equal(problem.output.transpose(1, 2).flatten(2), received[problem.module])


def test_probabilities_are_those_the_model_reports(name, example, problems):
    if name != "bloom":
        example.model.set_attn_implementation("eager")
    with torch.no_grad():
        output = example.model(**example.inputs, output_attentions=True)
    if name == "t5":
        encoder, decoder, cross = output.encoder_attentions, output.decoder_attentions, output.cross_attentions
        reported = [*encoder, decoder[0], cross[0], decoder[1], cross[1]]
    else:
        reported = output.attentions
    assert len(reported) == len(problems)
    for problem, probabilities in zip(problems, reported, strict=True):
        assert torch.equal(problem.probabilities, probabilities)


def test_problem_rebuilds_itself_bit_for_bit(problems):
    for problem in problems:
        assert torch.equal(problem.probabilities @ problem.values, problem.output)
        assert_close(problem.logits.softmax(-1), problem.probabilities, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", INTERFACE_ARCHITECTURES, indirect=True)
def test_logits_rebuild_probabilities_bit_for_bit(problems):
    for problem in problems:
        assert torch.equal(problem.logits.softmax(-1), problem.probabilities)


def test_shapes(problems):
    for problem in problems:
        batch, heads, queries, keys = problem.scores.shape
        assert (batch, heads) == (2, 4)
        assert problem.probabilities.shape == problem.scores.shape
        assert problem.values.shape == (batch, heads, keys, 8)
        assert problem.output.shape == (batch, heads, queries, 8)
        for term in (problem.bias, problem.mask):
            assert term is None or torch.broadcast_shapes(term.shape, problem.scores.shape) == problem.scores.shape
        assert problem.score_gradient is None
        assert problem.output_gradient is None


def test_temperature(name, problems):
    expected = 1.0 if name == "t5" else 8**0.5
    for problem in problems:
        assert problem.temperature == pytest.approx(expected)
        assert problem.temperature * problem.scaling == pytest.approx(1.0)


def test_wrong_temperature_does_not_rebuild(problems):
    for problem in problems:
        wrong = replace(problem, scaling=2 * problem.scaling)
        assert not torch.allclose(wrong.logits.softmax(-1), problem.probabilities, atol=1e-3)


def test_position_bias(name, problems):
    if name in ("t5", "bloom"):
        assert all(problem.bias is not None for problem in problems)
        assert problems[0].bias.abs().max() > 0
        assert not torch.allclose(replace(problems[0], bias=None).logits.softmax(-1), problems[0].probabilities)
    else:
        assert all(problem.bias is None for problem in problems)


@pytest.mark.parametrize("name", sorted(set(ARCHITECTURES) - {"vit"}), indirect=True)
def test_padding_mask_is_captured(name, example, problems):
    for problem in problems:
        source = "decoder_attention_mask" if (name, problem.role) == ("t5", "decoder") else "attention_mask"
        padded = example.inputs[source][1] == 0
        assert padded.any()
        assert problem.mask is not None
        assert problem.probabilities[1, :, :, padded].eq(0).all()
        assert problem.probabilities[0, :, -1, padded].gt(0).all()
        unmasked = replace(problem, mask=None).logits.softmax(-1)
        assert unmasked[1, :, :, padded].gt(0).any()


@pytest.mark.parametrize("name", ["bloom", "gpt2", "llama", "t5"], indirect=True)
def test_causal_mask_is_captured(problems):
    for problem in problems:
        future = torch.ones(problem.scores.shape[-2:]).triu(1).bool()
        if problem.role == "decoder":
            assert problem.probabilities[..., future].eq(0).all()
        else:
            assert problem.probabilities[0][..., future].gt(0).all()


def test_grouped_query_values_are_repeated():
    example = zoo()["llama"]()
    for problem in capture(example.model, example.inputs):
        assert torch.equal(problem.values[:, 0], problem.values[:, 1])
        assert not torch.equal(problem.values[:, 1], problem.values[:, 2])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_score_gradient_theorem(name, example, dtype):
    # BLOOM, Llama and ViT compute the softmax in float32 in every dtype of the model.
    tolerance = 1e-13 if dtype == torch.float64 and name in ("bert", "gpt2", "t5") else 1e-5
    example.model.to(dtype)
    inputs = {key: x.to(dtype) if x.is_floating_point() else x for key, x in example.inputs.items()}
    for problem in capture(example.model, inputs, functional):
        assert problem.score_gradient.abs().max() > 1e-3
        assert theorem_error(problem) < tolerance


@pytest.mark.parametrize(
    "twin",
    [
        lambda problem: replace(problem, scaling=1.1 * problem.scaling),
        lambda problem: replace(problem, output_gradient=-problem.output_gradient),
        lambda problem: replace(problem, values=problem.values.roll(1, dims=-2)),
        lambda problem: replace(problem, probabilities=problem.logits.mul(0.9).softmax(-1)),
    ],
    ids=["temperature", "sign", "values", "probabilities"],
)
def test_score_gradient_theorem_refuses_twins(example, twin):
    for problem in capture(example.model, example.inputs, functional):
        assert theorem_error(twin(problem)) > 1e-3


def test_score_gradient_agrees_with_finite_differences():
    """Without autograd: moving all queries by ε·d moves the scores by ε·⟨d, k_j⟩, and the loss by ⟨∂L/∂s, ε·⟨d, k⟩⟩."""
    example = zoo()["bert"]()
    example.model.double().set_attn_implementation("eager")
    problem = capture(example.model, example.inputs, functional)[1]
    attention = example.model.get_submodule(problem.module)
    direction = torch.linspace(-1, 1, 32, dtype=torch.float64)

    def loss(shift):
        handle = attention.query.register_forward_hook(lambda module, args, query: query + shift * direction)
        with torch.no_grad():
            value = functional(example.model(**example.inputs))
        handle.remove()
        return value

    keys = []
    attention.key.register_forward_hook(lambda module, args, key: keys.append(key.unflatten(-1, (4, 8))))
    slope = (loss(1e-5) - loss(-1e-5)) / 2e-5
    score_slopes = torch.einsum("bkhd,hd->bhk", keys[0], direction.reshape(4, 8))
    assert_close(slope, torch.einsum("bhqk,bhk->", problem.score_gradient, score_slopes), rtol=1e-6, atol=1e-9)


def test_frozen_model_has_the_same_gradients(example):
    expected = capture(example.model, example.inputs, functional)
    example.model.requires_grad_(False)
    for before, after in zip(expected, capture(example.model, example.inputs, functional), strict=True):
        assert torch.equal(before.score_gradient, after.score_gradient)
        assert torch.equal(before.output_gradient, after.output_gradient)


def test_gradients_under_no_grad():
    example = zoo()["vit"]()
    with torch.no_grad():
        assert capture(example.model, example.inputs, functional)[0].score_gradient is not None


def settings(model):
    """Everything but the numbers that a capture could change permanently."""
    return [
        (
            name,
            module.training,
            getattr(getattr(module, "config", None), "_attn_implementation", None),
            sorted(vars(module)),
            len(module._forward_pre_hooks),
            len(module._forward_hooks),
        )
        for name, module in model.named_modules()
    ]


def numbers(model):
    gradients = {f"{name}.grad": p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return gradients | {name: value.clone() for name, value in model.state_dict().items()}


@contextmanager
def unchanged(model):
    """Put the model in a state that a careless restoration would lose, and require it back."""
    model.train()
    next(module for name, module in model.named_modules() if name).eval()
    parameter = next(model.parameters())
    parameter.grad = torch.full_like(parameter, 3.0)
    before = settings(model), numbers(model)
    yield
    assert settings(model) == before[0]
    assert_close(numbers(model), before[1], rtol=0, atol=0)


@pytest.mark.parametrize("loss", [None, functional], ids=["no loss", "loss"])
def test_model_is_restored(example, loss):
    with unchanged(example.model):
        capture(example.model, example.inputs, loss)


def failing(output):
    raise ZeroDivisionError


def test_model_is_restored_when_the_loss_fails(example):
    with unchanged(example.model), pytest.raises(ZeroDivisionError):
        capture(example.model, example.inputs, failing)


@pytest.mark.parametrize("run", [1, 2], ids=["eager run", "recorded run"])
def test_model_is_restored_when_a_layer_fails(name, example, problems, run):
    calls = count(1)

    def fail(module, args):
        if next(calls) == run:
            raise ZeroDivisionError

    projection = example.model.get_submodule(OUTPUT_PROJECTION[name](problems[-1].module))
    projection.register_forward_pre_hook(fail)
    with unchanged(example.model), pytest.raises(ZeroDivisionError):
        capture(example.model, example.inputs)


def test_dropout_is_inactive():
    example = zoo()["bert"]()
    example.model.train()
    first, second = (capture(example.model, example.inputs)[0] for _ in range(2))
    assert torch.equal(first.probabilities, second.probabilities)


def test_result_does_not_depend_on_the_implementation_in_use(example):
    expected = capture(example.model, example.inputs)
    other = copy.deepcopy(example.model)
    if other._can_set_attn_implementation():
        other.set_attn_implementation("eager")
    for before, after in zip(expected, capture(other, example.inputs), strict=True):
        assert torch.equal(before.output, after.output)


def test_nothing_is_recorded_afterwards():
    example = zoo()["bert"]()
    capture(example.model, example.inputs)
    with pytest.raises(LookupError):
        capture_module._active_tape.get()
