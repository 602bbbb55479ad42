"""What real and random models say: captured scores, weights and gradients against closed forms, proofs and solver."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from derivations.catalogue import entries
from derivations.claims import Evidence, Layer, Outcome
from evidence.harness import REFUTING_FACTOR, Formula, Reading, Vote, assert_sound, consider, float64
from numerics import fisher, one_sided, tolerances
from numerics.models.capture import AttentionProblem, capture
from numerics.models.encoder import LanguageModel, encode_paragraph, load_encoder, load_model
from numerics.models.zoo import zoo
from numerics.primal import one_sided as primal

Record = Callable[[Evidence], None]
SHORT = "Attention weighs what it sees."
ARCHITECTURES = tuple(zoo())


@pytest.fixture(scope="module")
def language_model(request: pytest.FixtureRequest) -> LanguageModel:
    name = request.config.option.model
    return load_model(name) if name else load_encoder()


def cubic(output: object) -> Tensor:
    """A loss that is not linear in any layer's context."""
    first = next(x for x in output.values() if isinstance(x, Tensor) and x.is_floating_point())  # type: ignore[attr-defined]
    return (first.double() ** 3).mean() + first.double().square().sum().sqrt()


@pytest.fixture(scope="module")
def captured(language_model: LanguageModel) -> list[AttentionProblem]:
    return capture(language_model.model, encode_paragraph(language_model=language_model), cubic)


@pytest.fixture(scope="module")
def short(language_model: LanguageModel) -> list[AttentionProblem]:
    return capture(language_model.model, language_model.encode(SHORT), cubic)


# ── every row against the closed form ───────────────────────────────────────────────────────────────────────────────


def mask_of(problem: AttentionProblem) -> Tensor | None:
    """Position bias and mask as one additive mask."""
    parts = [part for part in (problem.bias, problem.mask) if part is not None]
    return sum(parts[1:], start=parts[0]).expand_as(problem.scores) if parts else None


def weight_misses(problem: AttentionProblem) -> float:
    """|closed form − the model's weights| over what rounding allows, for every row."""
    plan = one_sided.plan(problem.scores, problem.temperature, mask_of(problem))
    visible = problem.logits[problem.logits > torch.finfo(problem.scores.dtype).min / 2]
    allowed = tolerances.plan(problem.scores.dtype, problem.scores.shape[-1], float(visible.abs().max()))
    return float((plan - problem.probabilities).abs().max()) / allowed


def gradient_misses(problem: AttentionProblem) -> float:
    """|Theorem 5.2 − what autograd sent through the model| over what rounding allows each row, the worst of all rows."""
    assert problem.output_gradient is not None
    assert problem.score_gradient is not None
    utility = one_sided.utility(problem.output_gradient, problem.values)
    gradient = one_sided.score_gradient(problem.probabilities, utility, problem.temperature)
    m, width = utility.shape[-1], problem.values.shape[-1]
    largest = (problem.output_gradient.abs() @ problem.values.abs().mT).amax(-1, keepdim=True).double()
    unit = tolerances.score_gradient(problem.scores.dtype, m + width, 1.0, problem.temperature)
    smallest = torch.finfo(problem.scores.dtype).smallest_normal
    allowed = unit * largest * problem.probabilities + smallest      # both sides start from the model's own weights
    return float(((gradient - problem.score_gradient).abs() / allowed).max())


def potential_misses(problem: AttentionProblem) -> float:
    """|∇φ − the model's weights| over what rounding allows, by autograd through the potential, the worst of all rows."""
    scores = problem.scores.clone().requires_grad_()
    potential = fisher.potential(scores, problem.temperature, mask_of(problem)).sum()
    slope = torch.autograd.grad(potential, scores)[0]
    visible = problem.logits[problem.logits > torch.finfo(problem.scores.dtype).min / 2]
    allowed = tolerances.plan(problem.scores.dtype, problem.scores.shape[-1], float(visible.abs().max()))
    return float((slope - problem.probabilities).abs().max()) / allowed


def hessian_misses(problem: AttentionProblem) -> float:
    """|∇²φ·v − τF·v| over what rounding allows, F from the model's own weights, for one random v in every row."""
    direction = torch.randn(problem.scores.shape, generator=torch.Generator().manual_seed(0))
    scores = problem.scores.clone().requires_grad_()
    potential = fisher.potential(scores, problem.temperature, mask_of(problem)).sum()
    slope = torch.autograd.grad(potential, scores, create_graph=True)[0]
    product = torch.autograd.grad((slope * direction).sum(), scores)[0]
    expected = problem.temperature * fisher.fisher_product(problem.probabilities, direction, problem.temperature)
    dtype, m = problem.scores.dtype, problem.scores.shape[-1]
    visible = problem.logits[problem.logits > torch.finfo(dtype).min / 2]
    plan_error = tolerances.plan(dtype, m, float(visible.abs().max()))
    allowed = tolerances.score_gradient(dtype, m, float(direction.abs().max()), problem.temperature, plan_error)
    return float((product - expected).abs().max()) / allowed


def sampled_rows(problems: list[AttentionProblem], count: int) -> list[tuple[AttentionProblem, int, int]]:
    """Rows spread over layers, heads and queries: problem, head, query."""
    generator = torch.Generator().manual_seed(0)
    rows = []
    for n in range(count):
        problem = problems[n % len(problems)]
        heads, queries = problem.scores.shape[1:3]
        rows.append((problem, int(torch.randint(heads, (), generator=generator)),
                     int(torch.randint(queries, (), generator=generator))))
    return rows


def row_reading(problem: AttentionProblem, head: int, query: int, claim: str) -> Reading:
    """One row of a model as an instance of a claim: the visible keys, with mask and bias inside the scores."""
    logits = problem.logits[0, head, query].double()
    seen = logits > torch.finfo(problem.scores.dtype).min / 2
    tau, values = problem.temperature, problem.values[0, head, seen].double()
    scores = logits[seen] * tau
    m, width = values.shape
    point = {"m": m, "d": 2, "e": width, "tau": tau, "eps": tau, "Q": float64([1.0, 2.0]),
             "K": torch.stack((-scores, scores), -1), "s": scores, "V": values}
    weights, spread = problem.probabilities[0, head, query, seen], float(logits[seen].abs().max())
    plan_error = tolerances.plan(problem.scores.dtype, m, spread)
    if claim in ("eot.18", "eot.thm3.3", "eot.s6.potential-gradient"):
        return Reading(point, {"model": weights}, plan_error)
    if claim == "eot.100":                                   # |d p(δ − p)| ≤ |dp|, and one more rounding of at most 1/4
        return Reading(point, {"model": one_sided.plan_jacobian(weights, tau)}, 1.25 * plan_error / tau)
    assert problem.output_gradient is not None
    assert problem.score_gradient is not None
    g = problem.output_gradient[0, head, query].double()
    scale = float((values.abs() @ g.abs()).max())
    allowed = tolerances.score_gradient(problem.scores.dtype, m + width, scale, tau, plan_error)
    return Reading(point | {"g": g, "u": -(values @ g)}, {"model": problem.score_gradient[0, head, query, seen]}, allowed)


def speak(claim: str, layer: Layer, vote: Vote, worst: float, scope: str, start: float, record: Record) -> None:
    """Turn what a model showed into evidence, and fail by the claim's name if it is not support."""
    failed = vote.why_not or (f"worst row misses by {worst:.3g} tolerances" if worst > 1 else "")
    outcome = vote.outcome if worst <= 1 else Outcome.REFUTED if worst > REFUTING_FACTOR else Outcome.INCONCLUSIVE
    evidence = Evidence(
        claim=claim,
        layer=layer,
        outcome=outcome,
        scope=f"{scope}, worst error {max(worst, vote.worst):.2g} of the tolerance",
        seconds=time.perf_counter() - start,
        detail=failed,
        error=max(worst, vote.worst),
        refuted_twins=vote.refuted,
    )
    record(evidence)
    assert_sound(evidence)


def polled(claim: str, layer: Layer, readings: list[Reading]) -> Vote:
    """Hold readings against a claim and its twins."""
    entry = entries()[claim]
    printed = entry.printed()
    assert printed is not None
    vote = Vote(claim, layer)
    twins = {name: Formula(make()) for name, make in entry.twins.items()}
    for reading in readings:
        consider(vote, Formula(printed), twins, reading)
    return vote


def marked(*claims: str) -> list[object]:
    return [pytest.param(claim, id=claim, marks=pytest.mark.claim(claim, Layer.TORCH)) for claim in claims]


MISSES = {
    "eot.18": weight_misses, "eot.thm3.3": weight_misses, "eot.thm5.2": gradient_misses, "eot.46": gradient_misses,
    "eot.s6.potential-gradient": potential_misses, "eot.100": hessian_misses,
}
SEE_NO_TEMPERATURE = {(claim, "t5") for claim in ("eot.18", "eot.s6.potential-gradient", "eot.100")}


@pytest.mark.parametrize("claim", marked(*MISSES))
def test_every_row_of_the_pretrained_encoder(
    claim: str, captured: list[AttentionProblem], short: list[AttentionProblem], record_evidence: Record
) -> None:
    start = time.perf_counter()
    misses = [MISSES[claim](problem) for problem in captured]
    vote = polled(claim, Layer.TORCH, [row_reading(*row, claim) for row in sampled_rows(short, 6)])
    heads = sum(p.scores.shape[1] for p in captured)
    rows = sum(p.scores[..., 0].numel() for p in captured)
    scope = f"all {rows} rows of {heads} heads of a pretrained encoder, float32, cpu"
    speak(claim, Layer.TORCH, vote, max(misses), scope, start, record_evidence)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("claim", marked("eot.18", "eot.thm5.2", "eot.s6.potential-gradient", "eot.100"))
def test_every_row_of_random_models(claim: str, architecture: str, record_evidence: Record) -> None:
    """T5 has τ = 1, where a lost temperature cannot show: it is checked, but has no vote where a twin loses τ."""
    start = time.perf_counter()
    example = zoo()[architecture]()
    problems = capture(example.model, example.inputs, cubic)
    misses = [MISSES[claim](problem) for problem in problems]
    if (claim, architecture) in SEE_NO_TEMPERATURE:
        assert max(misses) <= 1, f"{claim}: worst row misses by {max(misses):.3g} tolerances"
        return
    vote = polled(claim, Layer.TORCH, [row_reading(*row, claim) for row in sampled_rows(problems, 12)])
    heads = sum(p.scores.shape[1] for p in problems)
    scope = f"all rows of {heads} heads of a random {architecture}, float32, cpu"
    speak(claim, Layer.TORCH, vote, max(misses), scope, start, record_evidence)


@pytest.mark.parametrize("architecture", [name for name in ARCHITECTURES if name != "vit"])
def test_natural_gradient_of_random_models(architecture: str) -> None:
    """−F⁺ applied to the gradient that autograd sent is τ(u − ū), in float64, where every visible weight can be inverted."""
    example = zoo()[architecture]()
    for problem in capture(example.model.double(), {k: v.double() if v.is_floating_point() else v
                                                    for k, v in example.inputs.items()}, cubic):
        assert problem.score_gradient is not None
        assert problem.output_gradient is not None
        plan, tau = problem.probabilities, problem.temperature
        utility = one_sided.utility(problem.output_gradient, problem.values)
        step = -fisher.natural_gradient(plan, problem.score_gradient, tau)
        expected = fisher.natural_direction(plan, utility, tau)
        smallest = plan[plan > 0].min()
        unit = tolerances.score_gradient(plan.dtype, plan.shape[-1], float(utility.abs().max()), tau)
        kept = torch.float32 if architecture in ("bloom", "llama") else plan.dtype       # these softmax in float32
        assert float((step - expected).abs().max()) <= unit * tau**2 / float(smallest) * (
            tolerances.eps(kept) / tolerances.eps(plan.dtype))


@pytest.mark.claim("eot.thm3.3", Layer.PRIMAL)
def test_sampled_rows_are_certified_optimal(
    captured: list[AttentionProblem], short: list[AttentionProblem], request: pytest.FixtureRequest, record_evidence: Record
) -> None:
    start = time.perf_counter()
    worst, readings = 0.0, []
    long_rows = sampled_rows(captured, 24 if request.config.option.quick else 72)
    for problem, head, query in [*long_rows, *sampled_rows(short, 6)]:
        base = row_reading(problem, head, query, "eot.thm3.3")
        solution = primal.solve(base.point["s"].numpy(), problem.temperature)  # type: ignore[union-attr]
        assert solution.certified, f"gap {solution.gap}, status {solution.status}"
        allowed = base.tolerance + tolerances.plan_from_gap(solution.gap, problem.temperature)
        plan = float64(solution.plan)
        worst = max(worst, float((plan - base.routes["model"].double()).abs().max()) / allowed)
        if problem in short:
            readings.append(Reading(base.point, {"cvxpy": plan}, allowed))
    vote = polled("eot.thm3.3", Layer.PRIMAL, readings)
    scope = f"{len(long_rows)} rows of a pretrained encoder, solved and certified"
    speak("eot.thm3.3", Layer.PRIMAL, vote, worst, scope, start, record_evidence)


# ── the temperature ─────────────────────────────────────────────────────────────────────────────────────────────────


def temperature_of(layer: torch.nn.TransformerDecoderLayer) -> float:
    """The temperature of a shipped attention layer, from the weights it gives to random queries and keys."""
    attention = layer.multihead_attn.eval()
    width = attention.embed_dim
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        query, key = torch.randn(2, 1, 5, width, generator=torch.Generator().manual_seed(0))
        weights = attention(query, key, key, need_weights=True)[1]
    ratios = (query @ key.mT).diff(dim=-1) / weights.log().diff(dim=-1)
    return float(ratios.median())


@pytest.mark.claim("eot.s3.sqrt-width", Layer.SOURCE)
def test_shipped_temperature(language_model: LanguageModel, record_evidence: Record) -> None:
    start = time.perf_counter()
    layer = torch.nn.TransformerDecoderLayer(16, 1, 1, batch_first=True)
    found = {"torch.nn.Transformer": (16, temperature_of(layer))}
    for name in ("bert", "gpt2", "llama", "vit", "bloom", "t5"):
        example = zoo()[name]()
        problem = capture(example.model, example.inputs)[0]
        found[name] = (problem.values.shape[-1], problem.temperature)
    twins = entries()["eot.s3.sqrt-width"].twins
    agreeing = [name for name, (d, tau) in found.items() if math.isclose(tau, math.sqrt(d), rel_tol=1e-4)]
    killed = [
        name for name, make in twins.items()
        if all(abs(tau - float(make().value.subs(dict.fromkeys(make().value.free_symbols, d)))) > 1e-2  # type: ignore[attr-defined]
               for d, tau in (found[agreed] for agreed in agreeing))
    ]
    evidence = Evidence(
        claim="eot.s3.sqrt-width",
        layer=Layer.SOURCE,
        outcome=Outcome.HOLDS if len(agreeing) >= 6 else Outcome.REFUTED,
        scope=f"measured on the shipped code of {', '.join(agreeing)}",
        seconds=time.perf_counter() - start,
        detail="; ".join(f"{name}: width {d}, temperature {tau:.4g}" for name, (d, tau) in found.items()),
        refuted_twins=tuple(killed),
    )
    record_evidence(evidence)
    assert_sound(evidence)
    assert "t5" not in agreeing, "T5 does not scale; if it did, this probe would not be looking at the model"


def peak_of_random(d: int, scaled: bool) -> float:
    """Mean largest weight among 64 keys for standard normal queries and keys."""
    generator = torch.Generator().manual_seed(d)
    queries, keys = torch.randn(200, d, generator=generator), torch.randn(64, d, generator=generator)
    plan = one_sided.plan(queries @ keys.T, math.sqrt(d) if scaled else 1.0)
    return float(plan.amax(-1).mean())


@pytest.mark.claim("eot.s3.saturation", Layer.TORCH)
def test_saturation(captured: list[AttentionProblem], language_model: LanguageModel, record_evidence: Record) -> None:
    start = time.perf_counter()
    widths = (16, 64, 1024, 4096)
    scaled, raw = ([peak_of_random(d, choice) for d in widths] for choice in (True, False))
    untrained = BertModel(BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                                     intermediate_size=1536), add_pooling_layer=False).eval()
    null = capture(untrained, encode_paragraph(language_model=language_model))
    peaks = {name: torch.cat([p.probabilities.amax(-1).flatten() for p in problems])
             for name, problems in (("trained", captured), ("untrained", null))}
    unscaled = torch.cat([one_sided.plan(p.scores, 1.0, p.mask).amax(-1).flatten() for p in captured])
    record_evidence(Evidence(
        claim="eot.s3.saturation",
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if max(scaled) < 0.2 and raw[-1] > 0.9 else Outcome.REFUTED,
        scope=f"standard normal q, k, 64 keys, d in {widths}; every row of a pretrained encoder and of an untrained one",
        seconds=time.perf_counter() - start,
        detail=f"mean largest weight for d = {widths}: scaled {', '.join(f'{x:.2f}' for x in scaled)}, unscaled "
        f"{', '.join(f'{x:.2f}' for x in raw)}; pretrained encoder {peaks['trained'].mean():.2f} scaled "
        f"({(peaks['trained'] > 0.99).double().mean():.1%} of rows above 0.99), {unscaled.mean():.2f} unscaled; "
        f"untrained {peaks['untrained'].mean():.2f}",
    ))
    assert max(scaled) < 0.2 < 0.9 < raw[-1]
