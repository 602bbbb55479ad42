"""The cache of prepared templates is used only for equal numbers."""

import pytest
import torch

from numerics import mem
from numerics.mem import arguments, prepared
from numerics.mem.prepared import SharedTemplates


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_last", None)


def drawn(n: int = 7, d: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(n, d, generator=generator, dtype=torch.float64), torch.full((n,), 1 / n, dtype=torch.float64)


def test_equal_numbers_at_another_address_are_the_same_templates() -> None:
    templates, prior = drawn()
    first = prepared.prepared(templates, prior)
    assert prepared.prepared(templates.clone(), prior.clone()) is first
    torch.testing.assert_close(first.gram, (templates - templates.mean(0)) @ (templates - templates.mean(0)).mT)


@pytest.mark.parametrize("name", ["an entry, by NumPy", "an entry, by torch", "the prior", "the shape", "NaN", "the dtype"])
def test_other_numbers_are_not(name: str) -> None:
    templates, prior = drawn()
    if name == "NaN":
        templates[0, 0] = torch.nan
    first = prepared.prepared(templates, prior)
    if name == "an entry, by NumPy":
        templates.numpy()[2, 3] += 1e-15 + 1e-15 * abs(templates.numpy()[2, 3])
    elif name == "an entry, by torch":
        templates[2, 3] += 1
    elif name == "the prior":
        prior = prior.roll(1) * torch.arange(1, 8) / 4
    elif name == "the shape":
        templates = templates[:, :4]
    elif name == "the dtype":
        templates = templates.float()
    second = prepared.prepared(templates, prior.to(templates))
    assert second is not first
    torch.testing.assert_close(second.templates, SharedTemplates(templates, prior.to(templates)).templates, equal_nan=True)


def test_large_templates_are_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_MAX_STORED_NUMBERS", 48)
    assert prepared.prepared(*drawn(7, 7)) is not prepared.prepared(*drawn(7, 7))
    assert prepared.prepared(*drawn(6, 8)) is prepared.prepared(*drawn(6, 8))
    assert prepared.prepared(*drawn(8, 1)) is not prepared.prepared(*drawn(8, 1))  # their Gram matrix is large


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_solutions_follow_overwritten_templates(dtype: torch.dtype) -> None:
    """Two consecutive solutions are bitwise those of calls with an empty cache."""
    templates, evidence = drawn()[0].to(dtype), torch.ones(3, 5, dtype=dtype)
    first = mem.solve(templates, evidence)
    templates.numpy()[1] *= 2
    second = mem.solve(templates, evidence)
    assert not torch.equal(first.dual, second.dual)
    assert bool(first.converged.all() & second.converged.all())
    prepared._last = None
    torch.testing.assert_close(mem.solve(templates, evidence).dual, second.dual, rtol=0, atol=0)


def test_cached_values_are_not_part_of_a_graph() -> None:
    templates, prior = drawn()
    templates.requires_grad_()
    mem.solve(templates, torch.ones(3, 5, dtype=torch.float64), prior).dual.sum().backward()  # type: ignore[no-untyped-call]
    before = templates.grad
    assert before is not None
    assert prepared._last is not None
    assert not any(x.requires_grad for x in (*prepared._last.given, prepared._last.templates))
    again = templates.detach().clone().requires_grad_()
    mem.solve(again, torch.ones(3, 5, dtype=torch.float64), prior).dual.sum().backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(again.grad, before, rtol=0, atol=0)


@pytest.mark.parametrize("n", [1, 2, 128, 1000])
def test_equal_weights_give_the_uniform_prior(n: int) -> None:
    """The shortcut agrees with normalizing up to one or two roundings."""
    templates = torch.ones(n, 2, dtype=torch.float64)
    short = arguments.uniform(templates)
    for name, value in vars(arguments.weighted(templates, None, None, torch.float64)).items():
        torch.testing.assert_close(getattr(short, name), value, rtol=4e-16 * (1 + n.bit_length()), atol=0)
    other = arguments.weighted(templates, torch.arange(0.0, n) + 2, None, torch.float64)
    assert n == 1 or not torch.allclose(short.prior, other.prior)
