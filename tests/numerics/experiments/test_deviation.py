"""`python -m numerics deviation`: its files, its table, and its refusals."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result
from PIL import Image
from pyarrow import parquet
from torch.distributed import HashStore
from transformers import ByT5Tokenizer, ViTConfig, ViTImageProcessorPil, ViTModel

from numerics.__main__ import main
from numerics.commands.deviation import FOLDER
from numerics.experiments import models_and_texts
from numerics.experiments.deviation import figures, shards
from numerics.experiments.deviation.ranks import Ranks
from numerics.experiments.deviation.study import study
from numerics.experiments.deviation.summary import LayerRows, head_table, layer_table, mean, median, shown
from numerics.models import tiny
from numerics.models.encoder import PARAGRAPH, load_encoder, load_model
from tests.numerics.experiments import quiet

TEXT = "A clockmaker opened his case."
MODULES = {"tiny-t5": 9, "tiny-gpt": 3}


@pytest.fixture(scope="module", params=sorted(MODULES))
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small untrained model, which loads quickly and needs no training."""
    folder = tmp_path_factory.mktemp("models") / f"small-{request.param}"
    tiny.untrained(tiny.Recipe(request.param, seed=7)).save_pretrained(folder)
    ByT5Tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace drawing for tests without pictures, since it takes longer than measuring a small model."""
    for name in quiet.DRAWING:
        monkeypatch.setattr(figures, name, lambda *arguments: None)


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["deviation", *map(str, arguments)])


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_command(model: Path, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = invoke("--model", model, "--text", text, "--tokens", 20, "--out", out)
    assert result.exit_code == 0, result.output
    modules = MODULES[model.name.removeprefix("small-")]
    table = lines(out / "deviation.csv")
    assert len(table) == 2 * modules
    assert {line["weights"] for line in table} == {"trained", "random"}
    rows = sorted((out / FOLDER).rglob("*.parquet"))
    assert len(rows) == 2 * modules * 2  # two inputs
    count = 0
    for path in rows:
        records = parquet.read_table(path)
        assert records.schema.equals(shards.SCHEMA)
        assert json.loads(records.schema.metadata[b"left_out"]).keys() == set(shards.REASONS)
        count += records.num_rows
    assert count == sum(int(line["rows"]) for line in table)
    roles = {line["role"] for line in table}
    names = {
        f"deviation-{model.name}-{role}-{kind}{suffix}"
        for role in roles
        for kind in ("layers", "heads", "maps")
        for suffix in (".png", ".svg")
    }
    assert {path.name for path in out.iterdir()} == names | {"deviation.csv", "deviation-heads.csv", FOLDER}
    per_head = lines(out / "deviation-heads.csv")
    assert len(per_head) == 4 * len(table)
    for line in table:  # every head has the same queries
        of_heads = [
            float(x["output_error"]) for x in per_head if all(x[key] == line[key] for key in ("weights", "role", "layer"))
        ]
        assert float(line["output_error"]) == pytest.approx(np.mean(of_heads), rel=1e-5)


@pytest.mark.usefixtures("no_pictures")
def test_the_same_again_measures_nothing(model: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke("--model", model, "--text", text, "--out", tmp_path).exit_code == 0
    before = (tmp_path / "deviation.csv").read_bytes()
    deleted = sorted((tmp_path / FOLDER).rglob("*.parquet"))[1]
    deleted.unlink()
    (deleted.parent / f".{deleted.stem}.abc.parquet").write_bytes(b"half of it")
    measured = []
    table = shards.table
    monkeypatch.setattr(shards, "table", lambda shard, layer: (measured.append(shard.path), table(shard, layer))[1])
    assert invoke("--model", model, "--text", text, "--out", tmp_path).exit_code == 0
    assert measured == [deleted]
    assert (tmp_path / "deviation.csv").read_bytes() == before
    assert not list((tmp_path / FOLDER).rglob(".*"))


@pytest.mark.usefixtures("no_pictures")
def test_other_settings_do_not_meet(model: Path, text: Path, tmp_path: Path) -> None:
    assert invoke("--model", model, "--text", text, "--out", tmp_path).exit_code == 0
    all_lines = lines(tmp_path / "deviation.csv")
    assert invoke("--model", model, "--text", text, "--out", tmp_path, "--alpha", 0.01).exit_code == 0
    split = lines(tmp_path / "deviation.csv")
    assert len(list((tmp_path / FOLDER).iterdir())) == 4
    assert {line["alpha"] for line in split} == {"0.01"}
    for one, other in zip(all_lines, split, strict=True):  # the same attention, a smaller deviation
        assert float(other["deviation"]) < float(one["deviation"]) / 10


def test_the_encoder_of_the_wheel() -> None:
    """`study` gives the command's rows; the document's statistic is as small with random weights as with trained ones."""
    results = study(models_and_texts.ENCODER, text=TEXT)
    assert len(results) == 12
    means = {(rows.weights, rows.layer): mean(rows.values["deviation"]) for rows in results}
    assert max(means.values()) < 0.2
    assert min(means["random", layer] / means["trained", layer] for layer in range(6)) < 1
    assert {sum(rows.left_out.values()) for rows in results} == {0}


@pytest.mark.usefixtures("no_pictures")
def test_an_image(tmp_path: Path) -> None:
    folder, picture = tmp_path / "small-vit", tmp_path / "picture.png"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ViTModel(
            ViTConfig(
                image_size=16, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
            )
        ).save_pretrained(folder)
    ViTImageProcessorPil(size={"height": 16, "width": 16}).save_pretrained(folder)
    Image.effect_noise((20, 20), 80).save(picture)
    for arguments in ([], ["--image", str(picture)]):
        result = invoke("--model", folder, "--out", tmp_path / "out", *arguments)
        assert result.exit_code == 0, result.output
        assert {line["role"] for line in lines(tmp_path / "out" / "deviation.csv")} == {"encoder"}
    assert len(list((tmp_path / "out" / FOLDER).iterdir())) == 4
    (tmp_path / "broken.png").write_bytes(b"no image")
    result = invoke("--model", folder, "--image", tmp_path / "broken.png", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "--image" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "./nowhere"], "no folder ./nowhere"),
        (["--text", "nowhere.txt"], "does not exist"),
        (["--text", "EMPTY"], "--text: no words in it"),
        (["--text", "BYTES"], "expected UTF-8 text, got"),
        (["--text", "LONG", "--tokens", "8"], "--text: expected words of at most 8 tokens, got 'aaa"),
        (
            ["--model", "all-MiniLM-L6-v2", "--tokens", "10000"],
            "--tokens: expected at most 512, which all-MiniLM-L6-v2 reads, got 10000",
        ),
        (["--alpha", "0"], "--alpha"),
        (["--alpha", "nan"], "alpha"),
        (["--alpha", "1e300"], "'--alpha': expected a number from 1.5e-08 to 6.7e+07, got 1e+300"),
        (["--alpha", "1e-300"], "--alpha"),
        (["--model", "a/b", "--model", "c/b"], "--model: expected models with different names, got a/b, c/b"),
        (["--device", "tpu"], "--device"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    for name, content in (("EMPTY", b" \n"), ("BYTES", b"\xff\xfe\xfa"), ("LONG", b"a" * 600)):
        (tmp_path / name).write_bytes(content)
        arguments = [str(tmp_path / name) if x == name else x for x in arguments]
    result = invoke(*arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_missing_gpu_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    result = invoke("--device", "cuda", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "--device: expected cpu, or a CUDA device for process 1 on this machine, got 0 CUDA devices" in result.output


def test_a_text_is_cut_between_words() -> None:
    language = load_encoder()
    pieces = models_and_texts.parts(language, PARAGRAPH, 20, 256)
    assert " ".join(pieces).split() == PARAGRAPH.split()
    lengths = [language.encode(part)["input_ids"].shape[1] for part in pieces]
    assert max(lengths) <= 20
    assert len(pieces) < 7
    assert models_and_texts.parts(language, PARAGRAPH, None, 256) == [PARAGRAPH]


def test_random_weights_are_others_and_always_the_same(model: Path) -> None:
    trained, first = models_and_texts.subjects(str(model), TEXT)
    _, second = models_and_texts.subjects(str(model), TEXT)
    _, other = models_and_texts.subjects(str(model), TEXT + " Twice.")
    assert first.key == second.key
    assert len({trained.key, first.key, other.key}) == 3
    weights = [dict(x.model.named_parameters()) for x in (trained, first)]
    name = next(x for x in weights[0] if "weight" in x and weights[0][x].ndim == 2)
    assert not torch.equal(weights[0][name], weights[1][name])


def test_the_default_models_are_the_installed_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert models_and_texts.default_names()[0] == models_and_texts.ENCODER
    monkeypatch.setattr(tiny, "HERE", tmp_path)
    assert models_and_texts.default_names() == [models_and_texts.ENCODER]
    result = invoke("--model", "tiny-gpt", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "train-tiny" in result.output


def test_one_process_takes_all_shards() -> None:
    assert list(Ranks(0, 1, torch.device("cpu")).share("shards", 13)) == list(range(13))


@pytest.mark.parametrize("world", [2, 3, 5])
def test_processes_share_all_shards_and_an_idle_one_takes_the_next(world: int) -> None:
    store = HashStore()
    first, *others = [Ranks(rank, world, torch.device("cpu"), store).share("shards", 13) for rank in range(world)]
    assert next(first) == 0
    claimed = [next(process) for process in others for _ in range(2)]
    assert claimed == list(range(1, 2 * world - 1))
    assert list(first) == list(range(2 * world - 1, 13))
    assert [list(process) for process in others] == [[]] * (world - 1)
    assert next(Ranks(0, world, torch.device("cpu"), store).share("other shards", 1)) == 0


def rows(weights: str = "trained", layer: int = 0, scale: float = 1.0) -> LayerRows:
    """Two heads; queries 0 and 1 of input 0 and query 0 of input 1, where the second head has none."""
    values = scale * np.array([0.1, 0.2, 0.4, 0.3, 0.6])
    return LayerRows(
        "m",
        weights,
        "encoder",
        layer,
        1.0,
        2,
        np.array([0, 0, 0, 1, 1]),
        np.array([0, 1, 2, 0, 1]),
        dict.fromkeys(figures.LABELS, values),
        dict.fromkeys(shards.REASONS, 0),
    )


def test_averages() -> None:
    assert rows().over_heads("deviation").tolist() == pytest.approx([0.2, 0.4, 0.4])
    assert rows().of_head(1, "deviation").tolist() == [0.3, 0.6]
    assert mean(np.array([1e16, 1.0, -1e16])) == pytest.approx(1 / 3)
    assert np.isnan(mean(np.zeros(0)))
    assert median(np.array([3.0, 1.0, 2.0])) == 2.0
    assert layer_table([rows()]).splitlines()[1].startswith("m,trained,encoder,0,1,2,5,0,0,0,0,0.32,0.3,")
    assert head_table([rows()]).splitlines()[2].startswith("m,trained,encoder,0,1,2,0.45,")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1234564999, "0.123456"),
        (0.1234565001, "0.123457"),
        (4e-13, "0"),
        (-4e-13, "0"),
        (1.5e-11, "1.5e-11"),
        (float("nan"), "nan"),
        (123456.7, "123457"),
    ],
)
def test_rounding(value: float, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize("draw", [figures.layers, figures.heads, figures.maps])
@pytest.mark.parametrize("scale", [1.0, 1e-4], ids=["alike", "decades apart"])
def test_figures_have_labels(draw: Callable[[list[LayerRows]], figures.Figure], scale: float, tmp_path: Path) -> None:
    scales = {"trained": 1.0, "random": scale}
    results = [rows(weights, layer, scales[weights]) for weights in scales for layer in (0, 1)]
    figure = draw(results)
    texts = [ax.get_xlabel() + ax.get_title(loc="left") for ax in figure.axes]
    assert any(figures.LABELS["deviation"] in x for x in texts)
    assert all(
        ax.get_xlabel()
        or ax.get_title()
        or ax.get_title(loc="left")
        or ax.lines
        or ax.get_ylabel()
        or ax.images
        or ax.collections
        for ax in figure.axes
    )
    assert "α = 1" in figure.get_suptitle()
    figures.save(figure, tmp_path / "one")
    figures.save(draw(results), tmp_path / "two")
    for suffix in (".png", ".svg"):
        assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()
        assert os.stat(tmp_path / f"one{suffix}").st_size > 5000


def test_load_model_reads_the_folder(model: Path) -> None:
    assert models_and_texts._language_model(str(model)).model.config.to_dict() == load_model(str(model)).model.config.to_dict()
