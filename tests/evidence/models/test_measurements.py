"""Measurements come out as their figures say, by head, layer and arm, and are computed as they are defined."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from evidence import Outcome, Run
from evidence.models import deviations, geometric, ot_vit, temperature
from evidence.models.deviations import Measured
from evidence.source.shipped import bert_calls, generalized
from numerics import mem
from numerics.experiments.intervals import Interval
from numerics.models.encoder import PARAGRAPH

# ── deviations ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_four_quantities_are_those_of_each_query() -> None:
    call = bert_calls(False)[0]
    found = deviations.measured(call, 2)
    with torch.no_grad():
        problem = generalized(call).problem(call.hidden.double(), mask=call.padding)
    templates = problem.templates[0, 0, 0]
    differences = (templates - templates.mean(0)).T
    for head in range(problem.evidence.shape[1]):
        for at, query in enumerate(range(0, problem.evidence.shape[2], 2)):
            evidence, prior = problem.evidence[0, head, query], problem.prior[0, head, query]
            exact = mem.solve(templates, evidence, prior)
            weights = (prior.log() + templates @ evidence).softmax(-1)
            gap = float((exact.dual - evidence).norm())
            inside = differences @ torch.linalg.lstsq(differences, exact.dual[:, None], driver="gelsd").solution
            wanted = Measured(
                torch.tensor(gap / float(exact.dual.norm())),
                torch.tensor(gap / float(inside.norm())),
                torch.tensor(float((weights @ templates - exact.mean).norm() / (exact.mean - prior @ templates).norm())),
                torch.tensor(float((weights - exact.weights).abs().sum()) / 2),
            )
            for name, value in vars(wanted).items():
                assert float(getattr(found, name)[head, at]) == pytest.approx(float(value), rel=1e-5), (name, head, query)


def test_one_row_that_is_not_solved_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(*args: Any) -> Any:
        solution = mem.solve(*args)
        converged = torch.ones_like(solution.converged)
        converged[0, 0] = False
        return SimpleNamespace(
            **{**{name: getattr(solution, name) for name in ("mean", "dual", "weights")}, "converged": converged}
        )

    monkeypatch.setattr(deviations, "mem", SimpleNamespace(**{**vars(mem), "solve": solve}))
    with pytest.raises(AssertionError):
        deviations.measured(bert_calls(False)[0], 4)


FAR, CLOSE = torch.tensor([[0.09, 0.25], [0.03, 0.05]]), torch.tensor([[0.01, 0.02], [0.04, 0.03]])
"""Deviations by head and row: one head of the first layer is far."""


def layer(deviation: torch.Tensor) -> Measured:
    return Measured(deviation, 2 * deviation, 10 * deviation, 20 * deviation)


@pytest.mark.parametrize(
    ("measured", "by_layer", "by_head"),
    [
        ([FAR, CLOSE], Outcome.REFUTED, Outcome.REFUTED),
        ([FAR - 0.03, CLOSE], Outcome.HOLDS, Outcome.REFUTED),
        ([CLOSE, CLOSE], Outcome.HOLDS, Outcome.HOLDS),
    ],
)
def test_one_layer_or_head_that_is_far_is_enough(
    monkeypatch: pytest.MonkeyPatch, measured: list[torch.Tensor], by_layer: Outcome, by_head: Outcome
) -> None:
    monkeypatch.setattr(deviations, "layers", lambda quick: [layer(x) for x in measured])
    assert deviations.by_layer("", Run()).outcome is by_layer
    assert deviations.by_head("", Run()).outcome is by_head


def test_figures_of_layers_and_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deviations, "layers", lambda quick: [layer(FAR), layer(CLOSE)])
    detail = deviations.by_layer("", Run()).detail
    for words in ("by layer 0.105, 0.025; within", "differences 0.210, 0.050; but", "off by 1.050, 0.250 of", "weights by 2.1"):
        assert words in detail
    finding = deviations.by_head("", Run())
    assert finding.scope.startswith("8 rows of all heads")
    for words in ("of 4 heads 0.015 to 0.170, of", "up to 0.250; mean", "of heads 0.150 to 1.700"):
        assert words in finding.detail


def test_the_small_model_reads_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from numerics.experiments.deviation import study

    monkeypatch.setattr(study, "study", lambda name, text: (name, text))
    _, text = deviations.small_t5.__wrapped__()  # type: ignore[misc]
    assert len(str(text).split()) > 5
    assert PARAGRAPH.startswith(f"{text}.")


def test_deviations_are_those_of_the_role_and_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    from numerics.experiments.deviation import summary

    made = [
        SimpleNamespace(role=role, weights=weights, heads=2, of_head=lambda head, name, at=at: (at, head, name))
        for at, (role, weights) in enumerate(
            (role, weights) for role in ("encoder", "cross") for weights in ("trained", "random")
        )
    ]
    figures = {"deviation": 0.01, "output_error": 1.0}
    monkeypatch.setattr(deviations, "small_t5", lambda: made)
    monkeypatch.setattr(summary, "mean", lambda x: figures[x[2]] * (1 + 10 * x[0] + x[1]))
    finding = deviations.of_small_t5("encoder")("", Run())
    assert finding.outcome is Outcome.HOLDS
    for words in ("of 0.010 to 0.020, and 0.110 to 0.120 with random", "off by 1.00 to 2.00 of"):
        assert words in finding.detail
    assert deviations.of_small_t5("cross")("", Run()).outcome is Outcome.REFUTED


# ── accuracies and sizes ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("over", "outcome"),
    [
        ({"uniform": 0.1, "untrained": 0.2}, Outcome.HOLDS),
        ({"uniform": -0.1, "untrained": 0.2}, Outcome.REFUTED),
        ({"uniform": 0.1, "untrained": 0.001}, Outcome.REFUTED),
    ],
)
def test_learned_weights_gain_if_they_are_better_than_both(
    monkeypatch: pytest.MonkeyPatch, over: dict[str, float], outcome: Outcome
) -> None:
    study = SimpleNamespace(
        difference=lambda plus, minus: Interval(over.get(minus, 0.0), 0.05),
        accuracy=lambda arm: Interval(0.5, 0.1),
        study=SimpleNamespace(dataset=SimpleNamespace(test_labels=[0, 1])),
    )
    monkeypatch.setattr(geometric, "results", lambda: study)
    assert geometric.gain_of_learning("", Run()).outcome is outcome


def test_the_difference_is_that_of_both_accuracies() -> None:
    from pathlib import Path

    from numerics.experiments.datasets import load
    from numerics.experiments.ot_vit import report

    results = report.recorded(load("digits", Path()))
    gain = results.accuracy("ot-vit").mean - results.accuracy("vit").mean
    assert f"a paired difference of {100 * gain:+.2f} ± " in ot_vit.accuracies("", Run()).detail


def size(both: bool) -> Any:
    return SimpleNamespace(both=both, vit=3_200_000, transport=3_100_000, architecture=SimpleNamespace(hidden=8, mlp=16))


def test_one_dataset_with_a_width_for_both_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    from numerics.experiments.ot_vit import sizes

    asked = []

    def fitting(dataset: str, ratios: tuple[int, ...]) -> list[Any]:
        asked.append(ratios)
        return found[dataset]

    monkeypatch.setattr(sizes, "IMAGES", ("first", "second"))
    monkeypatch.setattr(sizes, "fitting", fitting)
    found = {"first": [size(False), size(True)], "second": [size(False)]}
    finding = ot_vit.parameters("", Run())
    assert finding.outcome is Outcome.HOLDS
    assert "first: hidden 8, perceptron 16: 3,200,000 and 3,100,000; second: no width gives both; where" in finding.detail
    assert set(asked) == {(1, 2, 4)}
    assert "perceptrons 1, 2 and 4 times as wide" in finding.scope
    found = {"first": [size(False)], "second": [size(False)]}
    assert ot_vit.parameters("", Run()).outcome is Outcome.REFUTED
    found = {"first": [size(True)], "second": []}
    with pytest.raises(AssertionError):
        ot_vit.parameters("", Run())


# ── temperatures ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_peak_of_random_vectors_is_that_of_few_keys_unless_scaled() -> None:
    """Scaled, the scores are normal whatever the width; unscaled they are spread by its root."""
    scaled, raw = ([temperature.peak_of_random(width, choice) for width in (16, 1024)] for choice in (True, False))
    assert scaled[0] == pytest.approx(scaled[1], abs=0.03)
    assert raw[1] > raw[0] + 0.1 > scaled[0] + 0.3


@pytest.mark.parametrize(
    ("scaled", "raw", "outcome"),
    [
        ((0.1, 0.1), (0.5, 0.95), Outcome.HOLDS),
        ((0.1, 0.3), (0.5, 0.95), Outcome.REFUTED),
        ((0.1, 0.1), (0.95, 0.5), Outcome.REFUTED),
        ((0.3, 0.3), (0.5, 0.5), Outcome.REFUTED),
    ],
)
def test_division_has_to_prevent_saturation_at_every_width(
    monkeypatch: pytest.MonkeyPatch, scaled: tuple[float, float], raw: tuple[float, float], outcome: Outcome
) -> None:
    import transformers

    from numerics.models import capture, encoder

    def captured(peak: float) -> Any:
        """Two queries with three keys each; both prefer the first."""
        row = torch.tensor([peak, 0.75 - peak, 0.25])
        return SimpleNamespace(probabilities=row.expand(1, 1, 2, 3), scores=100 * row.expand(1, 1, 2, 3), mask=None)

    class Model:
        def __init__(self, config: object, add_pooling_layer: bool) -> None:
            self.first = torch.rand(())

        def eval(self) -> "Model":
            return self

    firsts = []
    monkeypatch.setattr(temperature, "WIDTHS", (0, 1))
    monkeypatch.setattr(temperature, "peak_of_random", lambda width, choice: (scaled if choice else raw)[width])
    monkeypatch.setattr(transformers, "BertModel", Model)
    monkeypatch.setattr(temperature, "paragraph", lambda name: [captured(0.625)])
    monkeypatch.setattr(temperature, "language_model", lambda name: None)
    monkeypatch.setattr(encoder, "encode_paragraph", lambda language_model: {})
    monkeypatch.setattr(capture, "capture", lambda model, inputs: firsts.append(float(model.first)) or [captured(0.5)])
    for seed in (5, 6):
        torch.manual_seed(seed)
        finding = temperature.saturation("", Run())
    assert firsts[0] == firsts[1]
    assert finding.outcome is outcome
    assert "pretrained encoder 0.62 scaled (0.0% of rows above 0.99), 1.00 unscaled; untrained 0.50" in finding.detail
