"""Facts about shipped and published attention hold up to rounding, and their wrong versions fail."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

from evidence.source import published, shipped_bert, shipped_t5
from evidence.source.shipped import REFUSAL, Fact, allowed_error, bert_calls, no, worst, yes
from numerics.attention import MeanProblem

FACTS = {
    f"{module.__name__.rpartition('.')[2]}.{fact.__name__}": fact
    for module in (shipped_t5, shipped_bert, published)
    for fact in module.FACTS
}


@pytest.mark.parametrize("fact", FACTS)
def test_facts(fact: str) -> None:
    finding = FACTS[fact]()
    assert finding.residual <= 1.0, finding
    assert finding.counter >= REFUSAL, finding
    assert finding.holds


@pytest.mark.parametrize("module", [shipped_t5, shipped_bert, published])
def test_every_fact_is_listed(module: object) -> None:
    written = [x for x in vars(module).values() if callable(x) and getattr(x, "__annotations__", {}).get("return") is Fact]
    assert set(written) == set(module.FACTS)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("residual", "counter"),
    [(1.01, math.inf), (0.0, 9.9), (math.nan, math.inf), (0.0, math.nan), (yes(False), no(False)), (yes(True), no(True))],
)
def test_facts_refuse(residual: float, counter: float) -> None:
    assert Fact("", "", 1.0, REFUSAL).holds
    assert not Fact("", "", residual, counter).holds


# ── each comparison counts ──────────────────────────────────────────────────────────────────────────────────────────

DOUBTFUL = {"worst": 5.0, "output_residual": 5.0, "weights_residual": 5.0, "yes": math.inf, "no": 0.0}
"""What a comparison could say so that a fact neither holds nor is refuted: five tolerances are too many and too few."""
PLACES = 8
"""The comparisons that are doubted: no fact makes more in one round of its loop over calls."""


@pytest.mark.parametrize("fact", FACTS)
def test_one_doubtful_comparison_is_enough(fact: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of its comparisons of residuals and wrong versions is in doubt, the fact is."""
    module = {x.__name__.rpartition(".")[2]: x for x in (shipped_t5, shipped_bert, published)}[fact.partition(".")[0]]
    said: list[tuple[str, float]] = []
    with monkeypatch.context() as patch:
        _listen(patch, module, lambda name, real: said.append((name, real())) or said[-1][1])
        assert FACTS[fact]().holds
    for doubted, (name, _) in enumerate(said[:PLACES]):
        replies = iter([DOUBTFUL[name] if at == doubted else value for at, (_, value) in enumerate(said)])
        with monkeypatch.context() as patch:
            _listen(patch, module, lambda name, real, replies=replies: next(replies))
            assert not FACTS[fact]().holds, f"{name}, comparison {doubted + 1} of {len(said)}"


def test_the_wrong_scales_of_bert_are_those_of_the_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    """No division, and one by √d, d the width of all heads together."""
    scales: set[float] = set()
    changed = shipped_bert.changed
    monkeypatch.setattr(shipped_bert, "changed", lambda call, scale: scales.add(scale) or changed(call, scale=scale))
    assert shipped_bert.scores_are_divided().holds
    assert scales == {1.0, *(call.module.all_head_size**-0.5 for call in shipped_bert.every_call())}


@pytest.mark.parametrize(
    ("fact", "distance"),
    [
        (shipped_bert.scores_are_divided, 0.0),
        (shipped_bert.queries_have_a_bias, 0.0),
        (shipped_bert.values_have_a_bias, 0.0),
        (shipped_bert.bias_of_keys_drops_out, 100.0),
        (shipped_bert.prior_has_no_positions, 0.0),
    ],
)
def test_facts_about_bert_rest_on_the_whole_layer(
    fact: Callable[[], Fact], distance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong versions are far here, and where something else is compared it is as the fact says."""
    monkeypatch.setattr(shipped_bert, "output_residual", lambda *_: 100.0)
    monkeypatch.setattr(shipped_bert, "worst", lambda *_: distance)
    for residual in (0.5, 5.0):
        monkeypatch.setattr(shipped_bert, "layer_residual", lambda residual=residual: residual)
        assert fact().holds is (residual < 1)


@pytest.mark.parametrize(("masked", "holds"), [(7820, True), (7780, False), (8220, False)])
def test_five_standard_errors_are_allowed(monkeypatch: pytest.MonkeyPatch, masked: int, holds: bool) -> None:
    """Of 10 000 words, of which 8000 are expected to be masked, with a standard error of 40."""

    def collator(tokenizer: Any, seed: int) -> Any:
        ids = torch.where(torch.arange(10_000) < masked, tokenizer.mask_token_id, 0)
        return lambda batch: {"labels": torch.ones(10_000), "input_ids": ids}

    monkeypatch.setattr(shipped_bert, "DataCollatorForLanguageModeling", collator)
    monkeypatch.setattr(shipped_bert, "location", lambda _: "")
    assert shipped_bert.not_all_predicted_words_are_masked().holds is holds


def test_other_keys_are_read_by_the_shipped_function() -> None:
    for call in bert_calls(False):
        with torch.no_grad():
            output = shipped_bert.by_hand(call, call.module.key(call.hidden))
        assert worst(output - call.output, allowed_error(call)[0]) <= 1.0


def test_wrong_weights_of_luong_are_compared_with_the_right_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of a comparison of weights have the sum 1."""
    sums: list[float] = []
    monkeypatch.setattr(published, "worst", lambda x, allowed: sums.append(float(x.sum(-1).abs().max())) or worst(x, allowed))
    for fact in (published.luong_general_is_a_uniform_prior, published.bahdanau_is_a_prior_per_query):
        assert fact().holds
    assert len(sums) == 4
    assert max(sums) < 1e-12


def test_the_best_map_of_the_mean_key_is_that_of_the_same_weights() -> None:
    queries, keys, values = (published.drawn(count, published.WIDTH, seed=seed) for seed, count in enumerate((11, 12, 12)))
    weights = (queries @ keys.T / math.sqrt(published.WIDTH)).softmax(-1)
    mean_key, mean_value = weights @ keys, weights @ values
    best = mean_key @ torch.linalg.pinv(mean_key) @ mean_value
    fact = published.vaswani_is_a_uniform_prior_on_pairs()
    assert fact.counter == pytest.approx(float((best - mean_value).abs().max()) / published.EXACT, rel=1e-6)


@pytest.mark.parametrize(("alpha", "size"), [(1.0, 1.0), (4.0, 30.0), (100.0, 30.0)])
def test_solutions_are_optimal(alpha: float, size: float) -> None:
    """λ*/α is what the mean of the tilted prior is off from the centre."""
    templates, evidence = size * published.drawn(7, 3).expand(2, 7, 3), published.drawn(2, 3, seed=1)
    prior = published.drawn(2, 7, seed=2).softmax(-1)
    dual = published.solved(MeanProblem(templates, evidence, prior, alpha))
    weights = (dual @ templates[0].T + prior.log()).softmax(-1)
    residual = evidence + (prior - weights) @ templates[0] - dual / alpha
    assert float(residual.abs().max()) < 1e-8 * size


def _listen(patch: pytest.MonkeyPatch, module: ModuleType, heard: Callable[..., float]) -> None:
    """Ask `heard` instead of each function that compares, as it is known in the module."""
    for name in DOUBTFUL:
        if real := getattr(module, name, None):
            patch.setattr(module, name, lambda *args, name=name, real=real: heard(name, lambda: real(*args)))
