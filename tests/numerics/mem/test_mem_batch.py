"""A batch as a list of rows: each is the problem of its row alone, and what rounding may have done to it is bounded."""

import math
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from numerics.mem import batch as module
from numerics.mem.batch import Batch
from numerics.mem.rows import mean_rounding
from numerics.tolerances import eps
from tests.numerics.common import close, double

F64 = torch.float64
UNIT = eps("float64") / 2
N, D = 5, 3


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def positive(seed: int, *shape: int) -> Tensor:
    return normal(seed, *shape).exp()


KEPT = torch.tensor([[True, True, False, True, True], [True, False, True, True, False]])
LAYOUTS: dict[str, tuple[Tensor, Tensor, Tensor | None, float | Tensor, Tensor | None]] = {
    "one row": (normal(0, N, D), normal(1, D), None, 2.0, None),
    "shared": (normal(0, N, D), normal(1, 4, D), None, 2.0, None),
    "a shared prior": (normal(0, N, D), normal(1, 4, D), 9 * positive(2, N), 2.0, None),
    "own priors": (normal(0, N, D), normal(1, D), positive(2, 4, N), 0.5, None),
    "own priors and an axis of one": (normal(0, N, D), normal(1, D), positive(2, 1, 4, N), 0.5, None),
    "own alpha and a mask": (normal(0, 1, N, D), normal(1, 3, 2, D), None, positive(3, 3, 1), KEPT),
    "one of two groups each": (normal(0, 2, 1, N, D), normal(1, 2, 4, D), positive(2, 2, 1, N), positive(3, 4), None),
    "neither has the shape of the rows": (normal(0, 3, 1, N, D), normal(1, 2, D), None, 1.0, None),
    "rows of alpha": (normal(0, N, D), normal(1, 4, D), None, positive(3, 2, 4), None),
    "own templates": (normal(0, 4, N, D), normal(1, D), None, 3.0, None),
    "own templates and a floating mask": (normal(0, 2, N, D), normal(1, 3, 2, D), 0.1 * positive(2, N), 3.0, normal(4, 2, N)),
}


def row_by_row(name: str) -> tuple[torch.Size, list[Tensor], list[Tensor], list[Tensor], list[float]]:
    """The shape of the rows, and of each row its templates, its evidence, the logarithm of its prior, and its α."""
    t, z, prior, alpha, mask = LAYOUTS[name]
    log_prior = torch.zeros(N, dtype=F64) if prior is None else prior.log()
    if mask is not None:
        log_prior = log_prior + (mask.double().log() if mask.dtype == torch.bool else mask)
    a = alpha if isinstance(alpha, Tensor) else double(alpha).squeeze()
    shape = torch.broadcast_shapes(t.shape[:-2], z.shape[:-1], log_prior.shape[:-1], a.shape)
    return (
        shape,
        list(t.expand(*shape, N, D).reshape(-1, N, D)),
        list(z.expand(*shape, D).reshape(-1, D)),
        list(log_prior.log_softmax(-1).expand(*shape, N).reshape(-1, N)),
        a.expand(shape).reshape(-1).tolist(),
    )


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_row_is_the_problem_of_that_row(name: str) -> None:
    batch = Batch(*LAYOUTS[name])
    shape, templates, evidence, log_priors, alphas = row_by_row(name)
    count = len(alphas)
    assert (batch.shape, batch.size, len(batch.alpha)) == (shape, (N, D), count)
    assert bool(batch.live.all())
    for index in (torch.arange(count), torch.tensor([count - 1, 0]), slice(count // 2, count)):
        rows = batch.rows(index)
        numbers = torch.arange(count)[index].tolist()
        center = batch.center_of(torch.tensor(numbers))
        for position, i in enumerate(numbers):
            c = center if center.ndim == 1 else center[position]
            t = rows.templates if rows.templates.ndim == 2 else rows.templates[position]
            close(t, templates[i] - c, 0.0)
            close((rows.log_prior if rows.log_prior.ndim == 1 else rows.log_prior[position]).exp(), log_priors[i].exp(), 1e-15)
            close(rows.target[position], evidence[i] + log_priors[i].exp() @ t, 1e-15)
            assert float(rows.alpha[position]) == alphas[i]
            radius = batch.radius[i] if isinstance(batch.radius, Tensor) else batch.radius
            assert float(radius) == pytest.approx(float(t.norm(dim=-1).max()), rel=1e-15, abs=0)
            span = batch.span_of(torch.tensor([i]))
            assert float(span) == pytest.approx(1.001 * float(radius + c.norm()), rel=1e-12, abs=0)
    flat = batch.of_rows(torch.arange(count), normal(0, count, 2))
    assert [x.shape for x in flat] == [shape, (*shape, 2)]
    assert torch.equal(flat[1].reshape(-1, 2), normal(0, count, 2))


@pytest.mark.parametrize("name", LAYOUTS)
def test_centres_are_means_of_the_priors(name: str) -> None:
    batch = Batch(*LAYOUTS[name])
    _, templates, _, log_priors, _ = row_by_row(name)
    means = torch.stack([x.exp() @ t for x, t in zip(log_priors, templates, strict=True)])
    close(batch.center, means if LAYOUTS[name][0].shape[:-2].numel() > 1 else means.mean(0), 1e-15)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_rounding_of_a_prior_and_of_its_mean_is_that_of_the_note(name: str) -> None:
    batch = Batch(*LAYOUTS[name])
    (_, _, prior, _, mask), count = LAYOUTS[name], len(batch.alpha)
    rows = batch.rows(slice(None))
    _, _, evidence, log_priors, _ = row_by_row(name)
    logarithms = torch.zeros(N, dtype=F64) if prior is None else prior.log()
    if mask is not None:
        logarithms = logarithms + (mask.double().log() if mask.dtype == torch.bool else mask - mask.amax(-1, keepdim=True))
    total = logarithms.logsumexp(-1).abs()
    largest = torch.zeros(()) if prior is None else prior.amax(-1).clamp(min=1).log()
    expected = (UNIT * (3 * total + 4 * largest)).expand(batch.shape).reshape(-1)
    bound = torch.as_tensor(batch.log_prior_error, dtype=F64).expand(count)
    assert bound.tolist() == pytest.approx(expected.tolist(), rel=1e-9, abs=0)
    error = torch.as_tensor(rows.target_error).expand(count)
    for i in range(count):
        t = rows.templates if rows.templates.ndim == 2 else rows.templates[i]
        radius, mean_norm = float(t.norm(dim=-1).max()), float((log_priors[i].exp() @ t).norm())
        allowed = UNIT * (4 * mean_norm + mean_rounding(N, D) * radius)
        if mask is not None and mask.dtype != torch.bool:
            allowed += 2 * radius * (float(bound[i]) + UNIT * (8 + 4 * math.log(N)))
        assert float(error[i]) == pytest.approx(allowed, rel=1e-9, abs=0)
        if mask is None:
            numbers = [1.0] * N if prior is None else prior.expand(*batch.shape, N).reshape(-1, N)[i].tolist()
            errors = [
                Fraction(x) - Fraction(z) - y
                for x, z, y in zip(rows.target[i].tolist(), evidence[i].tolist(), exact_mean(numbers, t), strict=True)
            ]
            assert math.hypot(*map(float, errors)) <= float(error[i]) + UNIT * float(rows.target[i].norm())


def exact_mean(masses: list[float], templates: Tensor) -> list[Fraction]:
    """The mean of templates under masses as they are given, in rational numbers."""
    exact = [Fraction(x) for x in masses]
    return [
        sum((u * Fraction(x) for u, x in zip(exact, column, strict=True)), Fraction(0)) / sum(exact)
        for column in templates.mT.tolist()
    ]


def test_a_target_is_written_to_scratch_unless_it_is_the_evidence() -> None:
    """A shared prior has its mean in the centre, but for what rounding leaves; an own one has not."""
    scratch = torch.full((4, D), math.nan, dtype=F64)
    near = Batch(*LAYOUTS["a shared prior"])
    target, error = near.target(scratch)
    assert target is near.evidence
    assumed = (2 * near._prior_error + UNIT * (N + 4)) * near.radius
    assert error == pytest.approx(assumed + 1.001 * near.shared.shift_norm, rel=1e-9, abs=0)
    far = Batch(LAYOUTS["shared"][0] + 2.0**30, *LAYOUTS["shared"][1:])
    target, error = far.target(scratch)
    assert target is scratch
    close(target, far.evidence + far.shared.shift, 0.0)
    assumed = (2 * far._prior_error + UNIT * (N + 4)) * far.radius
    assert far.shared.shift_norm > assumed
    assert error == pytest.approx(assumed + UNIT * 4 * far.shared.shift_norm, rel=1e-9, abs=0)
    own = Batch(*LAYOUTS["own priors"])
    target, errors = own.target(scratch)
    close(target, own.rows(slice(None)).target, 1e-15)
    assert target is scratch
    shift = own.log_prior.exp() @ own.templates
    assumed = (2 * own._prior_error + UNIT * (N + 4)) * own.radius
    expected = UNIT * 4 * shift.norm(dim=-1) + assumed
    assert torch.as_tensor(errors).tolist() == pytest.approx(expected.tolist(), rel=1e-9, abs=0)


def test_a_gram_matrix_is_made_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_GRAM_SIZE", 7)
    for n, d, made in ((7, 2, True), (8, 2, False), (4, 1, True), (5, 1, False)):
        batch = Batch(normal(0, n, d), normal(1, 2, d), None, 1.0, None)
        assert (batch.gram is not None) == made
        if batch.gram is not None:
            close(batch.gram, batch.templates @ batch.templates.mT, 0.0)
            assert batch.rows(slice(None)).gram is batch.gram
    assert Batch(*LAYOUTS["own templates"]).gram is None


@pytest.mark.parametrize(("n", "d", "most"), [(5, 3, 15), (3, 5, 15), (4, 4, 16), (1, 9, 9)])
def test_tiles_are_as_large_as_they_may_be(n: int, d: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Batch(normal(0, 7, n, d), normal(1, d), None, 1.0, None)
    for room, sizes in ((3 * most, [3, 3, 1]), (3 * most - 1, [2, 2, 2, 1]), (1, [1] * 7)):
        monkeypatch.setattr(module, "_TILE_NUMBERS", room)
        tiles = list(batch.tiles(torch.arange(7)))
        assert [len(x) for x in tiles] == sizes
        assert torch.equal(torch.cat(tiles), torch.arange(7))
    one_by_one = torch.as_tensor(batch.radius), batch.rows(slice(None)).target
    monkeypatch.undo()
    at_once = Batch(normal(0, 7, n, d), normal(1, d), None, 1.0, None)
    assert torch.equal(one_by_one[0], torch.as_tensor(at_once.radius))
    close(one_by_one[1], at_once.rows(slice(None)).target, 1e-15)


def test_priors_with_nan_do_not_move_the_centre_of_the_others() -> None:
    priors = double([0.2, 0.8], [math.nan, 0.5], [0.6, 0.4])
    close(module._mean_prior(priors), double(0.4, 0.6), 2e-16)
    assert torch.equal(module._mean_prior(priors[:1]), priors[0])
    close(module._mean_prior(priors[1:]), priors[2], 0.0)
    assert torch.equal(module._mean_prior(priors[1:2].expand(2, 2)), double(0.0, 0.0))


def test_the_prior_as_given_is_scaled_by_powers_of_two() -> None:
    t, z, prior, alpha, _ = LAYOUTS["a shared prior"]
    for factor in (1.0, 1e-300, 2.0**-1070, 1e300):
        batch = Batch(t, z, factor * prior, alpha, None)
        masses = module._unnormalized_prior(*batch._arguments)
        ratio = masses / (factor * prior)
        assert 0 < float(masses.max()) <= 1
        if factor > 1e-307:
            assert float(masses.max()) >= 0.5
            assert float(ratio[0]) == float(ratio[-1]) == 2.0 ** round(math.log2(float(ratio[0])))
    visible = torch.tensor([True, True, False, True, True])
    masked = module._unnormalized_prior(*Batch(t, z, prior, alpha, visible)._arguments)
    assert (masked == 0).tolist() == (~visible).tolist()
    close(masked[visible] / masked[visible].sum(), prior[visible] / prior[visible].sum(), 1e-15)
    assert torch.equal(module._unnormalized_prior(*Batch(t, z, None, alpha, None)._arguments), torch.full((N,), 0.5, dtype=F64))
    tilted = Batch(t, z, prior, alpha, normal(5, N))
    assert module._unnormalized_prior(*tilted._arguments) is tilted._arguments[0].prior
