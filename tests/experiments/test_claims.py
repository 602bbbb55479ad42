"""What the experiments say of the documents' figures and tables."""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch

from derivations.claims import Evidence, Layer, Outcome
from numerics.experiments import approximation
from numerics.experiments.datasets import load
from numerics.experiments.deviation.study import study
from numerics.experiments.deviation.summary import LayerRows, mean
from numerics.experiments.ot_vit import report, sizes
from numerics.models.encoder import PARAGRAPH

FIGURE3 = [pytest.param(id, id=id, marks=pytest.mark.claim(id, Layer.TORCH)) for id in ("deciphering.fig3", "inference.fig3")]


@pytest.mark.parametrize("claim", FIGURE3)
def test_figure3(claim: str, record_evidence: Callable[[Evidence], None]) -> None:
    start = time.perf_counter()
    study = approximation.study(approximation.figure_problem(), approximation.halvings())
    distance = (study.exact - study.problem.prior @ study.problem.templates).norm(dim=-1)
    relative = study.errors / distance
    shrinks = bool((study.errors[-approximation.FITTED:].diff() < 0).all()) and float(relative[-1]) < 1e-3
    at_one = {alpha: float(relative[int(torch.argmin((study.alphas - alpha).abs()))]) for alpha in (0.625, 1.25)}
    shares = {spread: approximation.share_of_worse_steps(60, spread) for spread in (1.0, 4.0)}
    record_evidence(Evidence(
        claim=claim,
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if shrinks else Outcome.REFUTED,
        scope="five templates in the plane (the document does not print its own), α from 10 down by 18 halvings, float64; "
        "60 random problems for each spread of the evidence",
        seconds=time.perf_counter() - start,
        detail=f"error of order {study.slope:.3f} with constant {study.measured_constant:.4g}, derived 2 and "
        f"{study.constant:.4g}; the document calls α = 0.5 and 1 good: here the error is {at_one[0.625]:.1%} of ‖ĥ − μ‖ at "
        f"0.625 and {at_one[1.25]:.1%} at 1.25; not at every step: some halving of α makes it worse in {shares[1.0]:.0%} of "
        f"the problems, in {shares[4.0]:.0%} where the evidence is four times the templates",
    ))
    assert shrinks


@pytest.mark.claim("deciphering.tab1", Layer.TORCH)
def test_table1(record_evidence: Callable[[Evidence], None]) -> None:
    start = time.perf_counter()
    results = report.recorded(load("digits", Path()))
    whole = next(c for c in results.contrasts() if (c.plus, c.minus) == (("ot-vit",), ("vit",)))
    gain, vit, transport = results.difference(whole), results.accuracy("vit"), results.accuracy("ot-vit")
    theirs = ", ".join(f"{name} {row['vit'][0]} and {row['ot-vit'][0]}" for name, row in report.PRINTED.items())
    record_evidence(Evidence(
        claim="deciphering.tab1",
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if gain.verdict == "higher" else Outcome.REFUTED,
        scope=f"scikit-learn's digits, {results.tested} test images, {len(results.runs['vit'])} seeds an arm, six layers, "
        f"hidden {results.configuration['architecture']['hidden']}, trained once and recorded; the document's three datasets "
        "were not trained on: they do not ship with any package, and need a GPU's time",
        seconds=time.perf_counter() - start,
        detail=f"the document: ViT and OT-ViT reach {theirs}; here, on digits, {vit.mean:.4f} ± {vit.half_width:.4f} and "
        f"{transport.mean:.4f} ± {transport.half_width:.4f}, a paired difference of {100 * gain.mean:+.2f} ± "
        f"{100 * (gain.half_width or 0):.2f} points: {gain.verdict}",
    ))


@pytest.mark.claim("deciphering.s9.parameters", Layer.TORCH)
def test_parameters(record_evidence: Callable[[Evidence], None]) -> None:
    start = time.perf_counter()
    found = {dataset: sizes.fitting(dataset, ratios=(1, 2, 4)) for dataset in sizes.IMAGES}
    both = {dataset: [each for each in fits if each.both] for dataset, fits in found.items()}
    told = "; ".join(
        f"{dataset}: " + (", ".join(f"hidden {x.architecture.hidden}, perceptron {x.architecture.mlp}: {x.vit:,} and "
                                    f"{x.transport:,}" for x in fits) or "no width gives both")
        for dataset, fits in both.items())
    record_evidence(Evidence(
        claim="deciphering.s9.parameters",
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if any(both.values()) else Outcome.REFUTED,
        scope="six layers, 4 × 4 patches, widths in steps of 8, perceptrons 1, 2 and 4 times as wide, counted on the models; "
        "the document prints no width",
        seconds=time.perf_counter() - start,
        detail=f"the document: 3.2 M each; where templates serve as keys and values OT-ViT is the smaller: {told}; where it "
        "keeps ViT's keys and values the two agree for every width",
    ))
    assert all(found.values())


# ── Figures 6 to 8: T5 ──────────────────────────────────────────────────────────────────────────────────────────────

NEAR = 0.1                                                   # our reading of "almost coincides": below a tenth
ROLES = {"deciphering.fig6": "encoder", "deciphering.fig7": "decoder", "deciphering.fig8": "cross"}


@cache
def small_t5() -> list[LayerRows]:
    """The T5 that ships with the project, trained and with random weights, on the first sentence of the paragraph."""
    return study("tiny-t5", text=PARAGRAPH.partition(".")[0])


def over_heads(role: str, weights: str, name: str) -> list[float]:
    """The mean of a statistic for every head of every layer."""
    return [mean(rows.of_head(head, name)) for rows in small_t5() if (rows.role, rows.weights) == (role, weights)
            for head in range(rows.heads)]


@pytest.mark.parametrize("claim", [pytest.param(c, id=c, marks=pytest.mark.claim(c, Layer.TORCH)) for c in ROLES])
def test_deviations_of_t5(claim: str, record_evidence: Callable[[Evidence], None]) -> None:
    start, role = time.perf_counter(), ROLES[claim]
    trained, random = (over_heads(role, weights, "deviation") for weights in ("trained", "random"))
    errors = over_heads(role, "trained", "output_error")
    record_evidence(Evidence(
        claim=claim,
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if max(trained) < NEAR else Outcome.REFUTED,
        scope=f"{len(trained)} heads of the {role} attention of a small T5 of three layers, trained here by span corruption, "
        "on one sentence, α = 1, solved in float64 and certified; T5-small itself was not measured",
        seconds=time.perf_counter() - start,
        detail=f"the document: almost no deviation in T5-small; here means over heads of {min(trained):.3f} to "
        f"{max(trained):.3f}, and {min(random):.3f} to {max(random):.3f} with random weights; output off by {min(errors):.2f} "
        f"to {max(errors):.2f} of ‖ĥ − μ‖",
    ))
    assert len(trained) == len(random) == 12
