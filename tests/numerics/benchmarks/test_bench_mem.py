"""The benchmark of the solver measures the stated quantities, and refuses others."""

import pytest
import torch

from numerics import mem
from numerics.benchmarks import mem as bench_mem
from numerics.benchmarks import peers as bench_peers
from numerics.benchmarks.peak_memory import PeakMemory
from numerics.models.encoder import load_encoder


@pytest.fixture(scope="module")
def problems() -> tuple[torch.Tensor, torch.Tensor]:
    return bench_mem.layer_problems(3, 16, load_encoder())


def test_problems_come_from_attention(problems: tuple[torch.Tensor, torch.Tensor]) -> None:
    """The tilt at z is the layer's own attention."""
    templates, evidence = problems
    encoder = load_encoder()
    inputs = encoder.tokenizer(bench_mem.PARAGRAPH, return_tensors="pt", truncation=True, max_length=16)
    with torch.no_grad():
        attentions = encoder.model(**inputs, output_attentions=True).attentions[3][0]
    weights = mem.tilt(evidence, templates).unflatten(0, (-1, 16))
    torch.testing.assert_close(weights, attentions.double(), rtol=0.0, atol=1e-5)


def test_everyone_solves_the_same_problems() -> None:
    templates, evidence = bench_mem.normal_problems(8, 5, 4)
    by_name = {x.name: x for x in bench_mem.race(templates, evidence, 2)}
    assert {name for name, x in by_name.items() if x.error is None} == set(bench_peers.floors(templates, evidence))
    for name, x in by_name.items():
        assert 0 < x.fastest <= x.seconds
        allowed = 1e-3 if "CLARABEL" in name else 1e-7 if "SciPy" in name else 2e-9
        assert x.error is None or x.error <= allowed, name
    assert by_name["mem.solve"].problems == by_name["dense Newton"].problems == 4
    assert by_name["SciPy L-BFGS"].problems == by_name["cvxpy CLARABEL"].problems == 2
    assert not [x for x in bench_mem.race(templates, evidence, 1, singles=0) if x.problems != 4]


def test_a_wrong_peer_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_mem, "batched", lambda t, alpha: bench_peers.batched(t, 2 * alpha))
    by_name = {x.name: x for x in bench_mem.race(*bench_mem.normal_problems(8, 5, 4), 1, singles=0)}
    assert by_name["dense Newton"].error is not None
    assert by_name["dense Newton"].error > 1e-2


def test_growth_reports_sizes_and_memory() -> None:
    small, large = bench_mem.growth([(8, 4, 16), (8, 4, 256)], 1)
    assert (small.n, small.d, small.rows, large.rows) == (8, 4, 16, 256)
    results = 256 * (2 * 4 + 8) * 8
    assert small.memory < results <= large.memory
    assert max(small.error, large.error) <= 1e-9


def test_growth_counts_arrays_without_the_results() -> None:
    (measured,) = bench_mem.growth([(8, 4, 256)], 1)
    _, _, solution = bench_mem.peak(*bench_mem.normal_problems(8, 4, 256))
    results = sum(x.untyped_storage().nbytes() for x in vars(solution).values())
    assert measured.arrays == pytest.approx((measured.memory - results) / (256 * 8 * 8))


def test_exponent_is_that_of_a_power() -> None:
    growths = [bench_mem.Growth(n, 4, 16, 3e-6 * n**1.7, 0.0, 0, 0.0) for n in (8, 16, 64)]
    assert bench_mem.exponent(growths) == pytest.approx(1.7)
    assert {(d, rows) for _, d, rows in bench_mem.GROWTH_IN_N} == {(384, 512)}
    assert [n for n, _, _ in bench_mem.GROWTH_IN_N] == [64, 128, 256, 512, 1024]
    with pytest.raises(ValueError, match=r"^growths: expected two sizes"):
        bench_mem.exponent(growths[:1])
    with pytest.raises(ValueError, match=r"^growths: expected two sizes"):
        bench_mem.exponent([*growths, bench_mem.Growth(8, 5, 16, 1.0, 0.0, 0, 0.0)])


def test_peak_memory_counts_live_tensors() -> None:
    argument = torch.ones(1000, dtype=torch.float64)
    with PeakMemory((argument,)) as memory:
        live = argument + 1
        _ = [argument * 2 for _ in range(2)].clear()
        view = argument.view(10, 100)
    assert memory.peak == 3 * 8000
    assert memory.now == 8000
    assert live.shape == (1000,)
    assert view.shape == (10, 100)


def test_refusals() -> None:
    templates, evidence = bench_mem.normal_problems(3, 2, 2)
    with pytest.raises(ValueError, match=r"^rounds: expected"):
        bench_mem.race(templates, evidence, 0)
    with pytest.raises(ValueError, match=r"^singles: expected"):
        bench_mem.race(templates, evidence, 1, singles=-1)
    with pytest.raises(ValueError, match=r"^evidence: expected .* got 2 that cannot"):
        bench_mem.race(templates, evidence * torch.nan, 1)
    with pytest.raises(ValueError, match=r"^rounds: expected"):
        next(bench_mem.growth([(3, 2, 2)], 0))
    with pytest.raises(ValueError, match=r"^n, d, rows: expected"):
        bench_mem.normal_problems(3, 0, 2)
    with pytest.raises(ValueError, match=r"^layer: expected"):
        bench_mem.layer_problems(9, 16, load_encoder())


def test_threads_take_turns_and_are_as_many_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    templates, evidence = bench_mem.normal_problems(8, 6, 10)
    thread_counts: list[int] = []

    def solve(work: object, argument: object, *, on_gpu: bool) -> tuple[float, object]:
        thread_counts.append(torch.get_num_threads())
        return 6.0 / torch.get_num_threads(), argument

    monkeypatch.setattr(bench_mem, "timed", solve)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert bench_mem.thread_gain(templates, evidence, 1) == 2.0
        assert thread_counts == [1, 2, 1, 2]
        assert torch.get_num_threads() == 2
        with pytest.raises(ValueError, match="rounds: expected an integer"):
            bench_mem.thread_gain(templates, evidence, 0)
    finally:
        torch.set_num_threads(before)
