"""The divisor of the scores in shipped attention, and its effect on the largest weight."""

import math

import torch

from derivations.register.catalogue import entries
from evidence import REFUTING_FACTOR, Finding, Outcome, Reading, Run, float64
from evidence.models.captured import language_model, paragraph, random_model
from evidence.readings import Formula, compare
from numerics import one_sided

RELATIVE = 1e-4  # the error allowed to a measured temperature
WIDTHS = (16, 64, 1024, 4096)


def of_torch(width: int) -> float:
    """The temperature of torch's own attention layer, from the weights it gives to random queries and keys."""
    attention = torch.nn.TransformerDecoderLayer(width, 1, 1, batch_first=True).multihead_attn.eval()
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        query, key = torch.randn(2, 1, 5, width, generator=torch.Generator().manual_seed(0))
        weights = attention(query, key, key, need_weights=True)[1]
    ratios = (query @ key.mT).diff(dim=-1) / weights.log().diff(dim=-1)
    return float(ratios.median())


def measured() -> dict[str, tuple[int, float]]:
    """The head width and the temperature of shipped code, by its name."""
    scales = {"torch.nn.Transformer": (16, of_torch(16))}
    for name in ("bert", "gpt2", "llama", "vit", "bloom", "t5"):
        problem = random_model(name)[0]
        scales[name] = (problem.values.shape[-1], problem.temperature)
    return scales


def agrees(width: int, temperature: float) -> bool:
    """Whether a temperature is the square root of the head width."""
    return math.isclose(temperature, math.sqrt(width), rel_tol=RELATIVE)


def shipped(claim: str, run: Run) -> Finding:
    """The temperature of shipped code is √d where a model scales; T5 does not."""
    scales = measured()
    agreeing = [name for name, each in scales.items() if agrees(*each)]
    readings = [
        Reading({"d": width}, {name: float64(temperature)}, RELATIVE * temperature)
        for name, (width, temperature) in scales.items()
        if name in agreeing
    ]
    twins = {name: Formula(make()) for name, make in entries()[claim].twins.items()}
    refuted = [
        name
        for name, twin in twins.items()
        if all(each.miss > REFUTING_FACTOR for reading in readings for each in compare(twin, reading, ()).values())
    ]
    return Finding(
        Outcome.HOLDS if len(agreeing) >= 6 else Outcome.REFUTED,
        f"measured on the shipped code of {', '.join(agreeing)}",
        "; ".join(f"{name}: width {width}, temperature {temperature:.4g}" for name, (width, temperature) in scales.items()),
        refuted_twins=tuple(refuted),
    )


def peak_of_random(width: int, scaled: bool) -> float:
    """Mean largest weight among 64 keys for standard normal queries and keys."""
    generator = torch.Generator().manual_seed(width)
    queries, keys = torch.randn(200, width, generator=generator), torch.randn(64, width, generator=generator)
    plan = one_sided.plan(queries @ keys.T, math.sqrt(width) if scaled else 1.0)
    return float(plan.amax(-1).mean())


def saturation(claim: str, run: Run) -> Finding:
    """The largest weights with and without the division, of random vectors and of a pretrained and an untrained model."""
    from transformers import BertConfig, BertModel

    from numerics.models.capture import capture
    from numerics.models.encoder import encode_paragraph

    scaled, raw = ([peak_of_random(width, choice) for width in WIDTHS] for choice in (True, False))
    config = BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        untrained = BertModel(config, add_pooling_layer=False).eval()
    captured = paragraph(run.model)
    null = capture(untrained, encode_paragraph(language_model=language_model(run.model)))
    peaks = {
        name: torch.cat([p.probabilities.amax(-1).flatten() for p in problems])
        for name, problems in (("trained", captured), ("untrained", null))
    }
    unscaled = torch.cat([one_sided.plan(p.scores, 1.0, p.mask).amax(-1).flatten() for p in captured])
    return Finding(
        Outcome.HOLDS if max(scaled) < 0.2 and raw[-1] > 0.9 else Outcome.REFUTED,
        f"standard normal q, k, 64 keys, d in {WIDTHS}; every row of a pretrained encoder and of an untrained one",
        f"mean largest weight for d = {WIDTHS}: scaled {', '.join(f'{x:.2f}' for x in scaled)}, unscaled "
        f"{', '.join(f'{x:.2f}' for x in raw)}; pretrained encoder {peaks['trained'].mean():.2f} scaled "
        f"({(peaks['trained'] > 0.99).double().mean():.1%} of rows above 0.99), {unscaled.mean():.2f} unscaled; "
        f"untrained {peaks['untrained'].mean():.2f}",
    )
