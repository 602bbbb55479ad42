"""The prediction model trained through its attention layer: its parts, its records, its command, and its messages."""

import json
from pathlib import Path
from typing import get_args

import pytest
import torch
from click.testing import CliRunner
from matplotlib.figure import Figure

from numerics import continuous
from numerics.__main__ import main
from numerics.experiments.geometric import study as experiment
from numerics.experiments.geometric.figure import as_image, draw
from numerics.experiments.geometric.model import ARMS, Predictor, Where, arms_for, data, locations, surroundings
from numerics.experiments.geometric.study import Results, Run, study_of
from tests.numerics.common import close

IMAGES = torch.rand(5, 8, 8, generator=torch.Generator().manual_seed(1))


def results(where: Where, epochs: int, seeds: int, arms: tuple[str, ...]) -> Results:
    study = study_of("digits", where, epochs, seeds, arms)
    return Results(study, tuple(step for _, _, step in study.runs() if isinstance(step, Run)))


def predictor(arm: str, where: Where, seed: int = 0) -> Predictor:
    torch.manual_seed(seed)
    return Predictor(arm, where).eval()


CASES = [(where, arm) for where in get_args(Where) for arm in arms_for(where)]


# ── the model ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("where", "arm"), CASES)
def test_weights_are_a_distribution_and_follow_x_only_where_they_should(where: Where, arm: str) -> None:
    weights = predictor(arm, where).weights(IMAGES)
    assert weights.shape == (5, 64 if where == "pixels" else 8)
    assert (weights >= 0).all()
    close(weights.sum(-1), torch.ones(5), 1e-5)
    follows = ARMS[arm].kind != "uniform" and ARMS[arm].sees
    assert bool((weights[0] != weights[1]).any()) == follows


@pytest.mark.parametrize(("where", "arm"), CASES)
def test_only_learned_parameters_have_a_gradient(where: Where, arm: str) -> None:
    model = Predictor(arm, where)
    torch.autograd.backward(model(IMAGES).square().sum())
    assert all((p.grad is not None and p.grad.isfinite().all()) == p.requires_grad for p in model.parameters())
    if model.theta is not None:
        assert model.theta.weight.requires_grad == ARMS[arm].learned
        if ARMS[arm].learned:
            assert float(model.theta.bias.grad.abs().max()) > 0


def test_arms_of_one_seed_start_from_the_same_numbers() -> None:
    first, *others = (predictor(arm, "pixels") for arm in ("uniform", "untrained", "softmax", "quadratic", "continuous"))
    for other in others:
        for one, same in zip(first.values.parameters(), other.values.parameters(), strict=True):
            assert torch.equal(one, same)
        for one, same in zip(first.classifier.parameters(), other.classifier.parameters(), strict=True):
            assert torch.equal(one, same)


def test_the_values_see_the_marked_token() -> None:
    assert torch.equal(data(IMAGES, "pixels")[2, 8 * 3 + 4], IMAGES[2, 3, 4].reshape(1))
    assert torch.equal(surroundings(IMAGES, "pixels")[2, 8 * 3 + 4], IMAGES[2, 2:5, 3:6].flatten())
    assert (surroundings(IMAGES, "pixels")[:, 0, :3] == 0).all()
    assert torch.equal(data(IMAGES, "rows")[2, 3], IMAGES[2, 3])
    assert torch.equal(surroundings(IMAGES, "rows")[2, 3], IMAGES[2, 2:5].flatten())
    assert (surroundings(IMAGES, "rows")[:, 7, 16:] == 0).all()
    corner = predictor("uniform-placed", "pixels").seen(IMAGES)[0, 7, -2:]
    assert corner.tolist() == [-1.0, 1.0]


def test_uniform_weights_do_not_see_where_a_pixel_is() -> None:
    shuffled = IMAGES.flatten(1)[:, torch.randperm(64, generator=torch.Generator().manual_seed(2))].reshape(5, 8, 8)
    for arm, blind in (("uniform", True), ("softmax", False), ("uniform-near", False)):
        model = predictor(arm, "pixels")
        assert torch.allclose(model(IMAGES), model(shuffled), atol=1e-5) == blind


@pytest.mark.parametrize(("where", "arm"), [("pixels", "continuous"), ("rows", "continuous"), ("rows", "sparsemax")])
def test_the_context_of_a_density_is_an_integral(where: Where, arm: str) -> None:
    """A fine grid, with the values read off the fitted function, gives the same context."""
    model = predictor(arm, where)
    values = torch.randn(5, 64 if where == "pixels" else 8, 16, generator=torch.Generator().manual_seed(3))
    coefficients, basis = model.fitted(values)
    axis = torch.linspace(-6, 6, 161)
    fine = torch.cartesian_prod(axis, axis) if where == "pixels" else torch.linspace(-6, 6, 4001)[:, None]
    density = continuous.softmax_density if arm == "continuous" else continuous.sparsemax_density
    p = density(fine, *model.density(IMAGES))
    p = p / p.sum(-1, keepdim=True)
    expected = torch.einsum("nt,ntd->nd", p, basis.values(coefficients, fine.expand(5, -1, -1)))
    close(model.context(IMAGES, values).detach(), expected.detach(), 2e-3 * float(coefficients.abs().max()))


def test_arms_that_need_a_line_are_refused_in_the_plane() -> None:
    with pytest.raises(ValueError, match=r"arm: expected one of .* for pixels, got 'sparsemax'"):
        Predictor("sparsemax", "pixels")


# ── the study ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_can_be_repeated_and_a_seed_matters() -> None:
    study = study_of("digits", "rows", 1, 1, ("softmax",))
    first, again, other = (list(study.train("softmax", seed)) for seed in (0, 0, 1))
    assert first[0] == again[0]
    assert first[0] != other[0]
    assert isinstance(first[1], Run)
    assert isinstance(again[1], Run)
    assert torch.equal(first[1].weights, again[1].weights)


def test_training_does_not_change_the_global_random_state() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    next(study_of("digits", "rows", 1, 1, ("uniform",)).train("uniform", 0))
    assert torch.equal(torch.rand(3), expected)


def test_differences_are_paired_and_their_sign_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of("digits", "pixels", 1, 3, ("uniform", "softmax"))
    tested = len(study.dataset.test_labels)
    runs = tuple(
        Run(arm, seed, (1.0,), correct, torch.zeros(10, 64))
        for arm, row in (("uniform", (100, 200, 300)), ("softmax", (190, 290, 390)))
        for seed, correct in enumerate(row)
    )
    results_found = Results(study, runs)
    difference = results_found.difference("softmax", "uniform")
    assert difference.mean == pytest.approx(90 / tested)
    assert difference.half_width == pytest.approx(0, abs=1e-12)
    assert difference.verdict == "higher"
    assert results_found.difference("uniform", "softmax").verdict == "lower"
    assert results_found.questions() == {"learned weights against uniform ones": ("softmax", "uniform")}


@pytest.mark.parametrize(
    ("named", "arguments"),
    [
        ("dataset", ("faces", "pixels", 1, 1)),
        ("epochs", ("digits", "pixels", 0, 1)),
        ("seeds", ("digits", "pixels", 1, 0)),
        ("arms", ("digits", "pixels", 1, 1, ("sparsemax",))),
    ],
)
def test_bad_studies_are_refused(named: str, arguments: tuple) -> None:
    with pytest.raises(ValueError, match=f"^{named}: expected .*got "):
        study_of(*arguments)


# ── the command ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_command(tmp_path: Path) -> None:
    record, figure = tmp_path / "r.json", tmp_path / "w.png"
    result = CliRunner().invoke(
        main,
        ["geometric", "--locations", "rows", "--epochs", "1", "--seeds", "1", "--json", str(record), "--figure", str(figure)],
    )
    assert result.exit_code == 0, result.output
    written = json.loads(record.read_text())
    assert set(written["accuracy"]) == set(arms_for("rows"))
    assert len(written["weights"]["sparsemax"]) == 10
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in written["weights"]["softmax"])
    assert figure.stat().st_size > 10_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "w.png"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "missing/r.json"),
        ("--figure", "missing/w.png"),
        ("--figure", "w.jpeg2000"),
        ("--json", "."),
        ("--epochs", "0"),
        ("--seeds", "none"),
        ("--locations", "columns"),
        ("--dataset", "faces"),
    ],
)
def test_bad_input_is_reported_before_anything_runs(tmp_path: Path, arguments: tuple[str, str]) -> None:
    option, value = arguments
    argument = str(tmp_path / value) if option in ("--json", "--figure") else value
    result = CliRunner().invoke(main, ["geometric", option, argument])
    assert result.exit_code == 2
    assert option in result.output
    assert not list(tmp_path.iterdir())


def test_interruption_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment.Study, "train", interrupted)
    result = CliRunner().invoke(main, ["geometric", "--json", str(tmp_path / "r.json")])
    assert result.exit_code == 130
    assert "nothing was written" in result.output
    assert not list(tmp_path.iterdir())


def test_the_picture_has_a_row_for_each_arm_with_weights() -> None:
    study_results = results("rows", 1, 1, ("uniform", "softmax", "sparsemax"))
    figure = draw(study_results)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 3 * 10 + 1
    assert [ax.get_ylabel() for ax in figure.axes[:30:10]] == ["mean image", "softmax", "sparsemax"]
    assert "test accuracy" in figure.axes[-1].get_xlabel()
    assert as_image(torch.arange(8.0))[3].tolist() == [3.0] * 8
    assert as_image(torch.arange(64.0))[1, 2] == 10


def test_locations_are_centred_on_the_image() -> None:
    assert locations("pixels").shape == (64, 2)
    close(locations("pixels").mean(0), torch.zeros(2), 1e-6)
    assert locations("rows")[0].item() == -1
