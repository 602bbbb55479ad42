"""The benchmark of the solver measures what it says, and refuses what it cannot measure."""

import pytest
import torch

from numerics import bench_mem, mem
from numerics.models.encoder import load_encoder


@pytest.fixture(scope="module")
def problems() -> tuple[torch.Tensor, torch.Tensor]:
    return bench_mem.layer_problems(3, 16, load_encoder())


def test_problems_are_those_of_attention(problems: tuple[torch.Tensor, torch.Tensor]) -> None:
    """The tilt at z is the layer's own attention."""
    templates, evidence = problems
    encoder = load_encoder()
    inputs = encoder.tokenizer(bench_mem.PARAGRAPH, return_tensors="pt", truncation=True, max_length=16)
    with torch.no_grad():
        attentions = encoder.model(**inputs, output_attentions=True).attentions[3][0]
    weights = mem.tilt(evidence, templates).unflatten(0, (-1, 16))
    torch.testing.assert_close(weights, attentions.double(), rtol=0.0, atol=1e-5)


def test_measure_certifies_and_peers_agree(problems: tuple[torch.Tensor, torch.Tensor]) -> None:
    templates, evidence = problems
    timing = bench_mem.measure(templates, evidence, 1)
    assert timing.problems == len(evidence)
    assert 0 < timing.fastest <= timing.seconds
    assert timing.error <= 1e-9
    for peer in bench_mem.peers(templates, evidence[:2]).values():
        assert peer.error <= 1e-3
        assert peer.seconds > 0


def test_refusals(problems: tuple[torch.Tensor, torch.Tensor]) -> None:
    with pytest.raises(ValueError, match=r"^rounds: expected"):
        bench_mem.measure(*problems, 0)
    with pytest.raises(ValueError, match=r"^evidence: 1 rows"):
        bench_mem.measure(problems[0], torch.full((1, problems[0].shape[-1]), torch.nan, dtype=torch.float64), 1)
    with pytest.raises(ValueError, match=r"^layer: expected"):
        bench_mem.layer_problems(9, 16, load_encoder())
