"""Section 9's experiment: randomness, resuming, and the report of the runs."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from scipy import stats
from torch import Tensor

from numerics import tolerances
from numerics.experiments.datasets import Dataset
from numerics.experiments.ot_vit import checkpoint, report, training
from numerics.experiments.ot_vit.arms import ARMS
from numerics.experiments.ot_vit.model import Architecture, TransportAttention
from numerics.experiments.ot_vit.probe import probe
from numerics.experiments.ot_vit.study import Step, Study
from numerics.experiments.ot_vit.training import Configuration, History, Machine, Peers, Recipe, Run
from numerics.ot_attention import layer

every_arm = pytest.mark.parametrize("arm", ARMS)


def tiny_dataset() -> Dataset:
    """Three classes, each with a bright patch, and noise."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(24) % 3
    images = torch.randint(0, 40, (24, 1, 4, 4), generator=generator, dtype=torch.uint8)
    for label, (top, left) in enumerate(((0, 0), (0, 2), (2, 2))):
        images[labels == label, :, top : top + 2, left : left + 2] += 200
    return Dataset("tiny", images[:15], labels[:15], images[15:], labels[15:], 3)


DATASET = tiny_dataset()
CONFIGURATION = Configuration(
    "tiny", DATASET.sha256, Architecture(4, 1, 3, 2, 8, 2, 8, layers=2), Recipe(epochs=3, batch=4, rate=3e-3)
)


def run(arm: str, seed: int = 0, configuration: Configuration = CONFIGURATION) -> Run:
    return Run(configuration, DATASET, ARMS[arm], seed, Machine())


def trained(arm: str, seed: int = 0) -> tuple[History, dict[str, Tensor]]:
    made = run(arm, seed)
    *_, history = made.train()
    return history, made.model.state_dict()


# ── one run ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_arm
def test_the_same_seed_gives_the_same_numbers(arm: str) -> None:
    torch.manual_seed(5)
    first, weights = trained(arm)
    torch.manual_seed(6)
    again, same = trained(arm)
    assert first == again
    assert all(torch.equal(weights[name], same[name]) for name in weights)
    assert trained(arm, seed=1)[0].losses != first.losses


@every_arm
def test_it_learns(arm: str) -> None:
    made = run(arm, configuration=replace(CONFIGURATION, recipe=replace(CONFIGURATION.recipe, epochs=40)))
    *_, history = made.train()
    assert history.losses[-1] < 0.3 * history.losses[0]
    assert history.correct[-1] >= 7


def test_the_random_state_of_the_caller_is_unchanged() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    trained("ot-vit")
    assert torch.equal(torch.rand(3), expected)


def test_arms_of_one_seed_see_the_same_batches_and_draw_the_same_companions(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, list[list[int]]] = {}

    def recorded(self: Run, batch: Tensor, companions: Tensor, wanted: Tensor) -> Tensor:
        seen.setdefault(self.arm.name, []).extend((batch.tolist(), companions.tolist(), wanted.tolist()))
        logits: Tensor = original(self, batch, companions, wanted)
        return logits

    original = Run._logits
    monkeypatch.setattr(Run, "_logits", recorded)
    for arm in ARMS:
        trained(arm)
    assert len({json.dumps(values) for values in seen.values()}) == 1
    batches = seen["vit"][::3]
    assert sorted(image for batch in batches[:4] for image in batch) == list(range(15))
    assert batches[:4] != batches[4:8]


@pytest.mark.parametrize(("arm", "felt"), [(name, arm.shares) for name, arm in ARMS.items()])
def test_companions_influence_training_in_sharing_arms(arm: str, felt: bool) -> None:
    made = run(arm)
    batch, wanted = torch.arange(4), torch.tensor([True, False, True, False])
    first = made._logits(batch, torch.tensor([3, 4, 5, 6]), wanted)
    other = made._logits(batch, torch.tensor([9, 10, 11, 12]), wanted)
    changed = (first - other).detach().abs().amax(-1) > 0
    assert changed.tolist() == (wanted.tolist() if felt else [False] * 4)


@every_arm
def test_a_companion_trains_the_first_layers_too(arm: str) -> None:
    """The gradient of one image's loss with respect to its companion's input."""
    made = run(arm)
    images = DATASET.train_images[[0, 3]].float().requires_grad_()
    x = made.model.features(images)
    extra = x[1:] if ARMS[arm].shares else None
    (gradient,) = torch.autograd.grad(made.model.classify(x[:1], extra).square().sum(), images)
    assert bool(gradient[0].any())
    assert bool(gradient[1].any()) == ARMS[arm].shares


@pytest.mark.parametrize("arm", [name for name, arm in ARMS.items() if arm.shares])
def test_training_uses_companions_as_the_model_takes_them(arm: str) -> None:
    """Logits and gradients agree with those of images and companions in one masked batch."""
    made = run(arm)
    batch, companions, wanted = torch.arange(4), torch.tensor([3, 4, 5, 6]), torch.tensor([True, False, True, False])
    own, others = (made.model.features(made.normalized(DATASET.train_images[each])) for each in (batch, companions))
    expected = made.model.classify(own, others, wanted[:, None])
    logits = made._logits(batch, companions, wanted)
    bound = 64 * tolerances.rounding("float32", 64, float(expected.detach().abs().max()))
    torch.testing.assert_close(logits, expected, rtol=0, atol=bound)
    parameters = list(made.model.parameters())
    left, right = (
        torch.cat([part.flatten() for part in torch.autograd.grad(x.square().sum(), parameters)]) for x in (logits, expected)
    )
    torch.testing.assert_close(left, right, rtol=0, atol=64 * tolerances.rounding("float32", 64, float(right.abs().max())))


def test_images_are_normalized_by_channel() -> None:
    images = torch.cat([DATASET.train_images, DATASET.train_images // 3], 1)
    dataset = replace(DATASET, train_images=images, test_images=images)
    configuration = replace(CONFIGURATION, architecture=replace(CONFIGURATION.architecture, channels=2))
    made = Run(configuration, dataset, ARMS["vit"], 0, Machine())
    x = made.normalized(images).double()
    assert x.mean((0, 2, 3)).tolist() == pytest.approx([0.0, 0.0], abs=1e-5)
    assert x.std((0, 2, 3)).tolist() == pytest.approx([1.0, 1.0], rel=1e-5)


def test_the_rate_is_the_one_of_the_step() -> None:
    made = run("vit")
    rates = [made.optimizer.param_groups[0]["lr"] for _ in made.train()]
    assert rates == [training._rate(CONFIGURATION.recipe, (epoch + 3 / 4) / 3) for epoch in range(3)]


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_companions_take_part_as_often_as_configured(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    drawn: list[Tensor] = []

    def recorded(self: Run, batch: Tensor, companions: Tensor, wanted: Tensor) -> Tensor:
        drawn.append(wanted)
        assert torch.equal(DATASET.train_labels[batch], DATASET.train_labels[companions])
        assert not bool((batch == companions).any())
        return original(self, batch, companions, wanted)

    original = Run._logits
    monkeypatch.setattr(Run, "_logits", recorded)
    configuration = replace(CONFIGURATION, recipe=replace(CONFIGURATION.recipe, epochs=60, share=share))
    *_, _ = run("vit", configuration=configuration).train()
    count = 60 * 15
    assert sum(map(len, drawn)) == count
    assert abs(float(torch.cat(drawn).float().mean()) - share) < 4 * (share * (1 - share) / count) ** 0.5


def test_companions_are_of_the_class_never_itself_and_equally_likely() -> None:
    labels = torch.tensor([2, 0, 1, 0, 0, 2, 0])
    peers, generator = Peers(labels), torch.Generator().manual_seed(0)
    draws = torch.stack([peers.draw(generator) for _ in range(4000)])
    assert bool((draws[:, 2] == -1).all())  # the only one of its class
    assert bool((draws[:, 0] == 5).all())
    for image in (1, 3, 4, 6):
        others = Counter(draws[:, image].tolist())
        assert set(others) == {1, 3, 4, 6} - {image}
        assert stats.chisquare(list(others.values())).pvalue > 1e-4


def test_a_class_of_one_has_no_companion_in_training() -> None:
    labels = DATASET.train_labels.clone()
    labels[labels == 2] = 1
    labels[0] = 2
    made = Run(CONFIGURATION, replace(DATASET, train_labels=labels), ARMS["ot-vit"], 0, Machine())
    assert len(list(made.train())) == 3


def test_the_rate_rises_and_falls_to_zero() -> None:
    recipe = Recipe(epochs=10, batch=1, rate=2.0, warmup=0.25)
    rates = [training._rate(recipe, progress) for progress in (0.0, 0.125, 0.25, 0.625, 1.0)]
    assert rates == pytest.approx([0.0, 1.0, 2.0, 1.0, 0.0])
    assert training._rate(replace(recipe, warmup=0.0), 0.0) == 2.0


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"epochs": 0}, "epochs: expected an integer ≥ 1, got 0"),
        ({"batch": 0}, "batch: expected an integer ≥ 1, got 0"),
        ({"rate": 0.0}, "rate: expected a positive number, got 0"),
    ],
)
def test_a_bad_recipe_is_refused(changes: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        replace(CONFIGURATION.recipe, **changes)


def test_a_bad_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="precision: expected float32 or bfloat16, got 'float8'"):
        Machine(precision="float8")


@every_arm
def test_bfloat16_begins_like_float32(arm: str) -> None:
    half = next(Run(CONFIGURATION, DATASET, ARMS[arm], 0, Machine(precision="bfloat16")).train())
    float32_step = next(run(arm).train())
    assert half.losses == pytest.approx(float32_step.losses, rel=8 * tolerances.eps("bfloat16"))
    assert half.losses != float32_step.losses


# ── the last layer ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("arm", ["ot", "ot-vit", "ot-vit-even"])
def test_probe(arm: str) -> None:
    made = run(arm)
    *_, history = made.train()
    before = made.model(made.normalized(DATASET.test_images))
    diagnosis = probe(made)
    assert diagnosis.images == len(DATASET.test_labels)
    assert diagnosis.correct == history.correct[-1]
    assert diagnosis.to_exact is not None
    assert 0 < diagnosis.to_exact < 2
    assert 0 < diagnosis.to_without_cost < 2
    assert 0 < diagnosis.to_prior < 2
    assert torch.equal(made.model(made.normalized(DATASET.test_images)), before)  # the layer is as it was


def test_without_evidence_the_closed_form_is_exact() -> None:
    """z = 0: (25) is then the true preference, which minimizes (24); without a cost, it is even."""
    made = run("ot")
    assert isinstance(made.model.last, TransportAttention)
    for parameter in made.model.last.attention.to_evidence.parameters():
        torch.nn.init.zeros_(parameter)
    diagnosis = probe(made)
    assert diagnosis.to_exact is not None
    assert diagnosis.to_exact < tolerances.plan("float32", 5) * 5 + 1e-6
    assert diagnosis.to_without_cost == pytest.approx(diagnosis.to_prior, abs=tolerances.plan("float32", 5) * 5)
    assert diagnosis.to_prior > 1e-3


def test_weights_without_a_certificate_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsolved(*arguments: object) -> None:
        raise RuntimeError("solve: 1 of 1 problems did not converge")

    monkeypatch.setattr(layer, "solve", unsolved)
    diagnosis = probe(run("ot"))
    assert diagnosis.correct_exact is None
    assert diagnosis.to_exact is None
    assert diagnosis.to_prior > 0


def test_a_probe_needs_the_layer() -> None:
    with pytest.raises(ValueError, match="run: expected an arm with the layer by optimal transport, got vit"):
        probe(run("vit"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@every_arm
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_on_cuda_it_begins_like_on_the_cpu(arm: str, precision: str) -> None:
    there = next(Run(CONFIGURATION, DATASET, ARMS[arm], 0, Machine("cuda", precision)).train())
    here = next(run(arm).train())
    assert there.losses == pytest.approx(here.losses, rel=1e-3 if precision == "float32" else 5e-2)


# ── resuming ────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_arm
def test_a_run_resumes_from_its_checkpoint_bitwise(arm: str, tmp_path: Path) -> None:
    complete, weights = trained(arm)
    first = run(arm)
    next(first.train())
    checkpoint.save(first, tmp_path / "run.safetensors")
    second = run(arm)
    checkpoint.restore(second, tmp_path / "run.safetensors")
    assert second.history == first.history
    *_, history = second.train()
    assert history == complete
    assert all(torch.equal(second.model.state_dict()[name], weights[name]) for name in weights)


def test_resuming_without_the_optimizer_differs(tmp_path: Path) -> None:
    """Control: the same weights with a fresh optimizer give another result."""
    first = run("ot-vit")
    next(first.train())
    fresh = run("ot-vit")
    fresh.model.load_state_dict(first.model.state_dict())
    fresh.history = first.history
    *_, history = fresh.train()
    assert history.losses != trained("ot-vit")[0].losses


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    checkpoint.save(run("ot"), path)
    with pytest.raises(ValueError, match=r"expected a checkpoint of .*'seed': 1"):
        checkpoint.restore(run("ot", seed=1), path)
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"run.safetensors: expected a checkpoint, got a file that cannot be read"):
        checkpoint.history(path)


def study(out: Path, arms: tuple[str, ...] = ("vit", "ot-vit"), seeds: int = 2, **machine: int) -> Study:
    return Study(DATASET, CONFIGURATION, Machine(**machine), arms, seeds, out)


def collected(made: Study) -> report.Results:
    tested = len(DATASET.test_labels)
    return report.results(made.configuration, made.machine.described(), tested, made.histories(), made.probes())


def test_a_study_resumes_after_any_stop(tmp_path: Path) -> None:
    steps = list(study(tmp_path / "whole").train())
    assert len(steps) == 12
    expected = collected(study(tmp_path / "whole")).text()
    for stop in (1, 3, 5, 11):
        out = tmp_path / f"{stop}"
        interrupted = study(out).train()
        done = [next(interrupted) for _ in range(stop)]
        interrupted.close()
        assert done + list(study(out).train()) == steps
        assert collected(study(out)).text() == expected
        assert list(study(out).train()) == []


def test_an_interruption_inside_an_epoch_loses_that_epoch_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list(study(tmp_path / "whole").train())
    calls = 0
    original = Run._logits

    def interrupted(self: Run, *arguments: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 19:  # four batches an epoch: the second run, its second epoch
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(Run, "_logits", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(study(tmp_path / "halted").train())
    assert [len(histories[0].losses) for histories in study(tmp_path / "halted").histories().values()] == [3, 1]
    rest: list[Step] = list(study(tmp_path / "halted").train())
    assert len(rest) == 8
    assert collected(study(tmp_path / "halted")).text() == collected(study(tmp_path / "whole")).text()


def test_arms_and_seeds_can_be_added_to_a_folder(tmp_path: Path) -> None:
    list(study(tmp_path, arms=("vit",), seeds=1).train())
    assert [(step.arm, step.seed) for step in study(tmp_path, arms=("vit", "ot"), seeds=1).train()] == [("ot", 0)] * 3


def test_a_folder_of_another_study_is_refused(tmp_path: Path) -> None:
    study(tmp_path)
    with pytest.raises(ValueError, match=r"expected runs with machine.threads = 2, got 1; take another folder"):
        study(tmp_path, threads=2)
    other = replace(CONFIGURATION, recipe=replace(CONFIGURATION.recipe, epochs=4))
    with pytest.raises(ValueError, match=r"expected runs with recipe.epochs = 4, got 3"):
        Study(DATASET, other, Machine(), ("vit",), 1, tmp_path)
    (tmp_path / "study.json").write_text("[")
    with pytest.raises(ValueError, match=r"study.json: expected the record of a study"):
        study(tmp_path)


@pytest.mark.parametrize(
    ("arms", "seeds", "named"),
    [(("vit", "bert"), 1, "arms: expected some of vit, .* got bert"), ((), 1, "arms: .* got none"), (("vit",), 0, "seeds")],
)
def test_bad_arms_and_seeds_are_refused(tmp_path: Path, arms: tuple[str, ...], seeds: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        study(tmp_path, arms=arms, seeds=seeds)
