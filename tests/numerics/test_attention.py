"""Generalized attention and its priors, compared with extended precision and the problems that they should solve."""

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from numerics import mem, tolerances
from numerics.attention import GeneralizedAttention, attention_weights
from numerics.priors import (
    RelativePositions,
    causal_mask,
    log_mask,
    prior_from_mask,
    relative_position_bias,
    relative_position_bucket,
    relative_positions,
    tilted,
)
from tests.numerics.common import DEVICES, PATIENT, close, in_dtypes, in_halves, on_devices, wide

# Forward mode is set up by code that torch itself has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

HEADS, WIDTH, QUERIES, TEMPLATES = 3, 6, 4, 5


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal numbers, the same in every precision up to rounding."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def layer(dtype: torch.dtype = torch.float64, **options: object) -> GeneralizedAttention:
    """A layer with weights far from zero and its own seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        built = GeneralizedAttention(WIDTH, HEADS, **options).double()  # type: ignore[arg-type]
        for parameter in built.parameters():
            nn.init.normal_(parameter)
    return built.to(dtype)


def everything() -> GeneralizedAttention:
    """A causal layer with a position table and a content network."""
    return layer(position=RelativePositions(HEADS, num_buckets=4, max_distance=3), content=nn.Linear(WIDTH, HEADS), causal=True)


def definition(templates: Tensor, evidence: Tensor, prior: Tensor, alpha: float) -> Tensor:
    """(18) for one query in extended precision."""
    t, z, u = wide(templates), wide(evidence), wide(prior)
    scores = alpha * (t @ z)
    terms = u * np.exp(scores - scores.max())
    return torch.from_numpy((terms / terms.sum()).astype(np.float64))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, float]:
    """Templates (duplicated at times), evidence, a prior (with zeros at times) and α."""
    m, d, alpha = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.sampled_from((1.0, 1e-6, 0.3, 40.0)))
    seed = draw(st.integers(0, 2**20))
    templates = normal(m, d, seed=seed)
    if draw(st.booleans()):
        templates[-1] = templates[0]
    prior = normal(m, seed=seed + 1).exp()
    if draw(st.booleans()):
        prior[torch.arange(m) % 2 == 1] = 0.0
    return templates, normal(1, d, seed=seed + 2), prior / prior.sum(), alpha


def allowance(attention: GeneralizedAttention, hidden: Tensor, source: Tensor | None = None) -> float:
    """What rounding may do to an output: S is the largest sum of magnitudes that a score is made of, V that of an output.

    An error of S n u in every score makes weights off by 2 S n u, relatively; outputs are their sums.
    """
    x, y = (hidden if source is None else source).double().abs(), hidden.double().abs()
    names = {name: p.detach().double().abs() for name, p in attention.named_parameters()}
    query, key, value = (z @ names[f"{name}.weight"].T for name, z in (("query", y), ("key", x), ("value", x)))
    bias = names.get("query.bias", torch.zeros(1).double())
    scores = float((query + bias).amax() * key.sum(-1).amax()) * attention.scale
    merged = names.get("output.weight", torch.eye(value.shape[-1]).double())
    values = float(((value + names.get("value.bias", torch.zeros(1).double())) @ merged.T).amax()) + 1.0
    return tolerances.rounding("float64", x.shape[-2] + 3 * x.shape[-1], (1.0 + 2.0 * scores) * values)


# ── (18) ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@PATIENT
@given(problems())
def test_weights_are_the_definition(problem: tuple[Tensor, Tensor, Tensor, float]) -> None:
    templates, evidence, prior, alpha = problem
    actual = attention_weights(templates, evidence, prior.log(), alpha)[0]
    magnitude = alpha * float((templates.abs() @ evidence[0].abs()).max())
    close(
        actual,
        definition(templates, evidence[0], prior, alpha),
        tolerances.plan("float64", len(prior), (8 + templates.shape[-1]) * magnitude),
    )
    assert (actual[prior == 0] == 0).all()


@PATIENT
@given(problems(), st.sampled_from((0.5, 4.0, 1024.0)))
def test_only_the_product_of_alpha_and_evidence_counts(problem: tuple[Tensor, Tensor, Tensor, float], factor: float) -> None:
    templates, evidence, prior, alpha = problem
    first = attention_weights(templates, evidence, prior.log(), alpha)
    second = attention_weights(templates, evidence * factor, prior.log(), alpha / factor)
    magnitude = alpha * float((templates.abs() @ evidence[0].abs()).max())
    close(first, second, tolerances.plan("float64", len(prior), (8 + templates.shape[-1]) * magnitude))


def test_a_uniform_prior_is_scaled_dot_product_attention() -> None:
    templates, evidence = normal(2, TEMPLATES, WIDTH), normal(2, QUERIES, WIDTH, seed=1)
    weights = attention_weights(templates, evidence, torch.zeros(TEMPLATES).double(), WIDTH**-0.5)
    close(
        weights @ templates,
        scaled_dot_product_attention(evidence, templates, templates),
        tolerances.rounding("float64", WIDTH * TEMPLATES, 50.0),
    )


def test_one_template_takes_everything_and_no_template_nothing() -> None:
    assert (attention_weights(normal(1, 3), normal(2, 3, seed=1), torch.tensor([-700.0]).double()) == 1).all()
    none = attention_weights(normal(4, 3), normal(2, 3, seed=1), torch.full((4,), -torch.inf))
    assert not none.any()


def test_duplicates_share_the_weight_of_one_template_with_their_prior() -> None:
    templates, evidence = normal(3, 2), normal(1, 2, seed=1)
    twice = attention_weights(templates[[0, 1, 1, 2]], evidence, torch.tensor([1.0, 0.5, 1.5, 1.0]).double().log())
    once = attention_weights(templates, evidence, torch.tensor([1.0, 2.0, 1.0]).double().log())
    merged = torch.stack((twice[:, 0], twice[:, 1] + twice[:, 2], twice[:, 3]), -1)
    close(merged, once, tolerances.plan("float64", 4, 10.0))
    close(3 * twice[:, 1], twice[:, 2], tolerances.plan("float64", 4, 10.0))


def test_a_masked_score_may_be_anything() -> None:
    prior = torch.tensor([0.0, -torch.inf, 0.0])
    scores = torch.tensor([[1.0, math.nan, 2.0], [1.0, math.inf, 2.0], [1.0, -5.0, 2.0]])
    weights = tilted(prior, scores)
    assert torch.equal(weights[0], weights[2])
    assert torch.equal(weights[1], weights[2])
    assert tilted(torch.tensor([0.0, math.nan, 0.0]), scores[2]).isnan().any()


# ── priors ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_far_offset_of_templates_costs_no_digits_even_if_no_query_can_use_them_all() -> None:
    """The remaining effect of the offset is the rounding of templates, which is zero for multiples of 2⁻⁸."""
    t, z = (normal(4, 3) * 256).round() / 256, normal(4, 3, seed=1)
    log_prior = torch.zeros(4, 4, dtype=torch.float64).fill_diagonal_(-torch.inf)
    close(attention_weights(t + 2.0**30, z, log_prior), attention_weights(t, z, log_prior), 1e-14)
    z.requires_grad_()
    nothing = attention_weights(t, z, torch.full((4, 4), -torch.inf, dtype=torch.float64))
    close(torch.autograd.grad(nothing.sum(), z)[0], torch.zeros_like(z), 0.0)


@in_dtypes
def test_prior_has_exact_zeros_and_sums_to_one(dtype: torch.dtype) -> None:
    bias = normal(2, 3, 5, dtype=dtype)
    mask = torch.tensor([[True, False, True, True, False], [False] * 5, [True] * 5])
    prior = prior_from_mask(mask, bias)
    assert prior.dtype == dtype
    assert (prior[~mask.expand_as(prior)] == 0).all()
    close(prior.double().sum(-1), mask.any(-1).double().expand(2, 3), tolerances.rounding(dtype, 5))
    expected = torch.where(mask, bias.double().exp(), 0.0)
    close(prior[:, ::2].double(), (expected / expected.sum(-1, keepdim=True))[:, ::2], tolerances.plan(dtype, 5, 4.0))


def test_three_masks_are_one_prior() -> None:
    mask = torch.tensor([True, False, True])
    boolean = prior_from_mask(mask)
    assert boolean.tolist() == [0.5, 0.0, 0.5]
    assert torch.equal(boolean, prior_from_mask(torch.tensor([0.0, -torch.inf, 0.0])))
    assert torch.equal(boolean, prior_from_mask(torch.tensor([0.0, torch.finfo(torch.float32).min, 0.0])))
    assert log_mask(mask, torch.float64).tolist() == [0.0, -math.inf, 0.0]


def test_causal_mask_is_lower_triangular() -> None:
    assert torch.equal(causal_mask(3, 5), torch.ones(3, 5, dtype=torch.bool).tril())
    assert relative_positions(2, 3).tolist() == [[0, 1, 2], [-1, 0, 1]]


@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_by_the_formula_away_from_its_edges(bidirectional: bool) -> None:
    side = 16 if bidirectional else 32
    for distance in range(1, 500):
        exact = side // 2
        where = exact + exact * math.log(distance / exact) / math.log(128 / exact)
        if distance >= exact and abs(where - round(where)) < 1e-9:
            continue  # on an edge the logarithm may round either way
        expected = distance if distance < exact else min(int(where), side - 1)
        assert int(relative_position_bucket(torch.tensor(-distance), 32, bidirectional)) == expected
        ahead = int(relative_position_bucket(torch.tensor(distance), 32, bidirectional))
        assert ahead == (expected + side if bidirectional else 0)


def test_an_edge_belongs_to_the_bucket_above() -> None:
    edges = {16: 10, 32: 12, 64: 14, 128: 15, 90: 14, 91: 15, 7: 7, 8: 8}
    buckets = {distance: int(relative_position_bucket(torch.tensor(-distance))) for distance in edges}
    assert buckets == edges


def test_biases_come_from_the_table() -> None:
    table = normal(4, 2)
    bias = relative_position_bias(3, 3, table, max_distance=3)
    assert bias.shape == (2, 3, 3)
    assert torch.equal(bias[:, 0, 0], table[0])
    assert torch.equal(bias[:, 1, 0], table[1])
    assert torch.equal(bias[:, 0, 1], table[3])


# ── the layer ───────────────────────────────────────────────────────────────────────────────────────────────────────


def masks() -> dict[str, Tensor | None]:
    padding = torch.tensor([[True] * 5, [True, True, True, False, False]])[:, None, None]
    return {
        "none": None,
        "padding": padding,
        "dead rows": padding & torch.tensor([True, False])[:, None, None, None],
        "float": normal(2, HEADS, 1, 5, seed=9),
    }


@pytest.mark.parametrize("kind", masks())
@pytest.mark.parametrize("alpha", [1.0, 0.01, 30.0])
def test_layer_is_the_closed_form_of_its_problems(kind: str, alpha: float) -> None:
    attention, hidden, mask = everything(), normal(2, 5, WIDTH), masks()[kind]
    with torch.no_grad():
        p = attention.problem(hidden, mask=mask, alpha=alpha)
        assert p.templates.shape == (2, HEADS, 5, 5, WIDTH)
        means = mem.closed_form(p.templates, p.evidence, p.prior, p.alpha)
        live = p.prior.any(-1)
        allowed = allowance(attention, hidden)
        close(attention.readout(means, live), attention(hidden, mask=mask), allowed)
        if kind != "dead rows":
            assert (
                attention.readout(p.prior.unsqueeze(-2).matmul(p.templates).squeeze(-2)) - attention(hidden, mask=mask)
            ).abs().max() > 10 * allowed


@torch.no_grad()
def test_the_data_of_a_problem() -> None:
    attention, hidden = everything(), normal(1, 5, WIDTH)
    p = attention.problem(hidden, alpha=2.0)
    assert attention.position is not None
    assert attention.content is not None
    bias = relative_position_bias(5, 5, attention.position.table, True, 3)
    weights = (bias + attention.content(hidden).mT.unsqueeze(-2)).exp() * torch.ones(5, 5).tril()
    close(p.prior, weights / weights.sum(-1, keepdim=True), tolerances.plan("float64", 5, 20.0))
    close(p.templates[0, 0, 0], hidden[0] / math.sqrt(WIDTH // HEADS), tolerances.rounding("float64", 1, 4.0))
    key = attention.key.weight.view(HEADS, 2, WIDTH)
    query = attention.query(hidden).view(5, HEADS, 2)
    expected = torch.einsum("hed,khe->hkd", key, query) / 2.0
    close(p.evidence[0], expected, tolerances.rounding("float64", WIDTH * 2, 200.0))


@pytest.mark.parametrize("part", ["position", "content", "causal"])
def test_every_prior_matters(part: str) -> None:
    attention, hidden = everything(), normal(1, 5, WIDTH)
    before = attention(hidden)
    setattr(attention, part, False if part == "causal" else None)
    assert (attention(hidden) - before).abs().max() > 10 * allowance(attention, hidden)


def test_a_dead_row_gives_zero() -> None:
    attention = layer(output=False)
    mask = torch.tensor([True, False])[:, None, None, None]
    out = attention(normal(2, 4, WIDTH), mask=mask.expand(2, 1, 4, 4))
    assert out[0].all()
    assert not out[1].any()


def test_shared_positions_are_one_parameter() -> None:
    position = RelativePositions(HEADS)
    first, second = (GeneralizedAttention(WIDTH, HEADS, position=position) for _ in range(2))
    assert first.position is second.position
    assert sum(p is position.table for p in nn.ModuleList((first, second)).parameters()) == 1


def test_leading_dimensions_are_a_loop() -> None:
    attention, hidden, source = layer(), normal(2, 3, QUERIES, WIDTH), normal(2, 3, TEMPLATES, WIDTH, seed=1)
    together = attention(hidden, source)
    allowed = allowance(attention, hidden, source)
    for i in range(2):
        for j in range(3):
            close(together[i, j], attention(hidden[i, j], source[i, j]), allowed)


@on_devices
@in_halves
def test_half_precision_is_computed_in_float32(dtype: torch.dtype, device: str) -> None:
    half, hidden = layer(dtype).to(device), normal(1, QUERIES, WIDTH, dtype=dtype).to(device)
    full = layer(dtype).float().to(device)
    assert torch.equal(half(hidden), full(hidden.float()).to(dtype))
    assert half.weights(hidden).dtype == dtype


def test_float32_never_becomes_float64() -> None:
    attention, hidden = layer(torch.float32, causal=True), normal(1, QUERIES, WIDTH, dtype=torch.float32)
    assert attention(hidden).dtype == torch.float32
    assert attention.problem(hidden).prior.dtype == torch.float32
    assert attention(hidden, mask=torch.zeros(1, 1, 1, QUERIES).double()).dtype == torch.float32


# The backward pass runs in a thread of its own, whose first product on a card sets the context up.
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS, but there was no current CUDA context:UserWarning")
@pytest.mark.parametrize("device", DEVICES)
def test_derivatives(device: str) -> None:
    attention = everything().to(device)
    hidden = normal(1, 3, WIDTH).to(device).requires_grad_()
    mask = torch.tensor([True, True, False], device=device)
    assert torch.autograd.gradcheck(lambda x: attention(x, mask=mask), hidden)
    assert torch.autograd.gradgradcheck(lambda x: attention(x, mask=mask)[..., :2], hidden)
    attention(hidden, mask=mask).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in attention.parameters())


def test_function_transforms() -> None:
    attention, hidden = everything(), normal(4, 3, WIDTH)
    mapped = torch.func.vmap(attention)(hidden)
    allowed = allowance(attention, hidden)
    close(mapped, attention(hidden), allowed)
    jacobian = torch.func.jacrev(attention)(hidden[0]).detach()
    close(torch.func.jacfwd(attention)(hidden[0]).detach(), jacobian, allowed * (1.0 + float(jacobian.abs().max())))
    shifted = torch.func.functional_call(attention, {"key.weight": torch.zeros_like(attention.key.weight)}, (hidden,))
    assert not torch.equal(shifted, mapped)


def test_a_dead_row_has_derivatives_zero() -> None:
    log_prior, scores = torch.full((3,), -torch.inf).double(), normal(2, 3).requires_grad_()
    (grad,) = torch.autograd.grad(tilted(log_prior, scores).square().sum(), scores)
    assert not grad.any()


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────────

Z = torch.zeros(2, 3)
WHOLE = torch.zeros(2, dtype=torch.long)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("alpha", lambda: attention_weights(Z, Z, torch.zeros(2), 0.0)),
        ("alpha", lambda: attention_weights(Z, Z, torch.zeros(2), math.inf)),
        ("alpha", lambda: layer().problem(normal(1, 4, WIDTH), alpha=-1.0)),
        ("mask", lambda: prior_from_mask(WHOLE)),
        ("mask", lambda: prior_from_mask([True])),
        ("log_weights", lambda: prior_from_mask(torch.ones(2, dtype=torch.bool), WHOLE)),
        ("query_len", lambda: causal_mask(0, 3)),
        ("key_len", lambda: relative_positions(1, 0)),
        ("relative_position", lambda: relative_position_bucket(torch.zeros(2))),
        ("num_buckets", lambda: relative_position_bucket(WHOLE, 3)),
        ("num_buckets", lambda: relative_position_bucket(WHOLE, 1, False)),
        ("max_distance", lambda: relative_position_bucket(WHOLE, 32, True, 8)),
        ("table", lambda: relative_position_bias(2, 2, torch.zeros(32))),
        ("table", lambda: relative_position_bias(2, 2, torch.zeros(32, 2, dtype=torch.long))),
        ("heads", lambda: GeneralizedAttention(4, 0)),
        ("head_width", lambda: GeneralizedAttention(4, 8)),
        ("scale", lambda: GeneralizedAttention(4, 2, scale=-1.0)),
        ("hidden", lambda: layer()(normal(2, WIDTH + 1))),
        ("hidden", lambda: layer()(normal(0, WIDTH))),
        ("hidden", lambda: layer()(normal(WIDTH))),
        ("attention", lambda: GeneralizedAttention.from_bert(SimpleNamespace(query=nn.Linear(2, 2), key=nn.Linear(2, 2)))),
        ("source", lambda: layer()(normal(2, WIDTH), WHOLE)),
        ("mask", lambda: layer()(normal(2, WIDTH), mask=torch.ones(3, dtype=torch.bool))),
        ("mask", lambda: layer()(normal(2, WIDTH), mask=WHOLE)),
        ("mean", lambda: layer().readout(normal(2, WIDTH))),
        ("attention", lambda: GeneralizedAttention.from_bert(nn.Linear(2, 2))),
        ("attention", lambda: GeneralizedAttention.from_t5(nn.Linear(2, 2))),
        ("attention", lambda: RelativePositions.from_t5(nn.Linear(2, 2))),
    ],
)
def test_bad_arguments_are_named(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()


def test_a_content_module_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^content: expected"):
        layer(content=nn.Linear(WIDTH, HEADS + 1))(normal(2, WIDTH))


def test_positions_for_other_heads_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^position: expected"):
        layer(position=RelativePositions(HEADS + 1))


def test_a_layer_with_a_table_takes_no_other() -> None:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q = self.k = self.v = self.o = nn.Linear(4, 4, bias=False)
            self.has_relative_attention_bias = True

    with pytest.raises(ValueError, match=r"^position: expected None"):
        GeneralizedAttention.from_t5(Attention(), RelativePositions(2))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["bert", "t5", "causal t5", "cross t5"])
def test_projections_of_a_model_are_shared_and_give_its_output(kind: str) -> None:
    """A model's module whose heads together are wider than its input, compared with PyTorch's own attention."""
    wide, source_width, heads = 12, 5 if kind == "cross t5" else 6, 3
    projections = [nn.Linear(n, wide, bias=kind == "bert").double() for n in (6, source_width, source_width)]
    output = None if kind == "bert" else nn.Linear(wide, 6, bias=False).double()
    causal = kind == "causal t5"
    hidden, source = normal(2, 5, 6), normal(2, 7, source_width, seed=1)
    if kind == "bert":
        names = dict(zip(("query", "key", "value"), projections, strict=True))
        attention = GeneralizedAttention.from_bert(SimpleNamespace(**names, num_attention_heads=heads, is_causal=causal))
    else:
        names = dict(zip(("q", "k", "v", "o"), (*projections, output), strict=True))
        attention = GeneralizedAttention.from_t5(
            SimpleNamespace(**names, n_heads=heads, is_causal=causal, has_relative_attention_bias=False)
        )
    assert [attention.query, attention.key, attention.value, attention.output] == [*projections, output]
    assert (attention.heads, attention.head_width, attention.causal, attention.position) == (heads, 4, causal, None)
    assert attention.scale == (0.5 if kind == "bert" else 1.0)
    if causal:
        source = hidden
    q, k, v = (
        part(x).unflatten(-1, (heads, 4)).transpose(1, 2) for part, x in zip(projections, (hidden, source, source), strict=True)
    )
    expected = scaled_dot_product_attention(q, k, v, is_causal=causal, scale=attention.scale).transpose(1, 2).flatten(-2)
    expected = expected if output is None else output(expected)
    close(attention(hidden, source), expected, 1e-12)


def test_a_common_offset_of_the_templates_costs_no_digits() -> None:
    templates, evidence = (normal(6, 3) * 2**8).round() / 2**8, normal(4, 3, seed=1)
    prior = torch.zeros(4, 6, dtype=torch.float64)
    prior[:, 4:] = -torch.inf
    right = attention_weights(templates, evidence, prior)
    templates[5] = 2.0**60  # keys masked for all queries do not matter
    close(attention_weights(templates + 2.0**36, evidence, prior), right, 1e-12)
    each = torch.zeros(4, 6, dtype=torch.float64).masked_fill(torch.arange(6) % 4 == torch.arange(4)[:, None], -torch.inf)
    templates[4:] = 0.5
    right = attention_weights(templates, evidence, each)  # none of the first four templates is seen by all queries
    close(attention_weights(templates + 2.0**36, evidence, each), right, 1e-12)


def test_derivatives_are_finite_where_all_templates_are_masked() -> None:
    templates, evidence = normal(6, 3).requires_grad_(), normal(4, 3, seed=1).requires_grad_()
    weights = attention_weights(templates, evidence, torch.full((4, 6), -torch.inf, dtype=torch.float64))
    assert bool((weights == 0).all())
    with torch.autograd.set_detect_anomaly(True):
        weights.square().sum().backward()
    for x in (templates, evidence):
        assert bool((x.grad == 0).all())


def test_a_problem_without_leading_axes() -> None:
    built, hidden = everything(), normal(QUERIES, WIDTH)
    single, batched = built.problem(hidden, alpha=0.5), built.problem(hidden.unsqueeze(0), alpha=0.5)
    for name in ("templates", "evidence", "prior"):
        assert torch.equal(getattr(single, name), getattr(batched, name)[0])
    assert single.templates.shape == (HEADS, QUERIES, QUERIES, WIDTH)


def test_the_comparisons_refuse() -> None:
    templates, evidence, prior = normal(3, 2), normal(1, 2, seed=1), torch.tensor([0.2, 0.3, 0.5]).double()
    right = definition(templates, evidence[0], prior, 1.0)
    for wrong in (
        definition(templates, -evidence[0], prior, 1.0),
        definition(templates, evidence[0], prior, 2.0),
        definition(templates, evidence[0], torch.ones(3), 1.0),
    ):
        with pytest.raises(AssertionError):
            close(wrong, right, 1e3 * tolerances.plan("float64", 3, 50.0))
