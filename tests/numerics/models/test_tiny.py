"""The two small models: their recipe, the shipped files, and refusals."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from transformers import ByT5Tokenizer, T5ForConditionalGeneration

from numerics.__main__ import main
from numerics.models import tiny
from numerics.models.encoder import load_model

on_both = pytest.mark.parametrize("name", tiny.NAMES)


@on_both
def test_the_shipped_model_is_trained_and_small(name: str) -> None:
    record = tiny.recorded(name)
    assert record["loss"]["trained"] < 0.6 * record["loss"]["untrained"]
    assert (tiny.folder(name) / "model.safetensors").stat().st_size <= tiny.MEGABYTES * 2**20
    assert record["text_sha256"] == tiny._sha256(tiny.TEXT)


@on_both
def test_the_recorded_losses_are_those_of_the_weights(name: str) -> None:
    record = tiny.recorded(name)
    recipe = tiny.Recipe(name, seed=record["seed"])
    model = tiny.untrained(recipe)
    assert tiny.held_out_loss(recipe, model) == pytest.approx(record["loss"]["untrained"], rel=1e-4)
    trained = type(model).from_pretrained(tiny.folder(name))
    assert tiny.held_out_loss(recipe, trained) == pytest.approx(record["loss"]["trained"], rel=1e-4)


@on_both
def test_it_loads_like_any_model(name: str) -> None:
    loaded = load_model(str(tiny.folder(name)))
    inputs = loaded.encode("We the People")
    assert inputs["input_ids"].shape == (1, len("We the People") + 1)
    assert loaded.model(**inputs).last_hidden_state.isfinite().all()


@on_both
def test_training_is_deterministic_and_learns(name: str) -> None:
    recipe = tiny.Recipe(name, seed=3, steps=12, batch=4)
    losses = []
    for _ in range(2):
        model = tiny.untrained(recipe)
        before = tiny.held_out_loss(recipe, model)
        losses.append([step.loss for step in tiny.train(recipe, model)])
        assert tiny.held_out_loss(recipe, model) < before
    assert losses[0] == losses[1]


@on_both
def test_rates_rise_and_fall_and_gradients_are_clipped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = tiny.Recipe(name, steps=60, batch=1)
    rates, norms = [], []
    model = tiny.untrained(recipe)

    def step(self: torch.optim.AdamW) -> None:
        rates.append(self.param_groups[0]["lr"])
        assert self.param_groups[0]["weight_decay"] == 0.01

    def clip(parameters: Iterator[torch.nn.Parameter], norm: float) -> None:
        assert len(list(parameters)) == len(list(model.parameters()))
        norms.append(norm)

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", clip)
    done = [progress.step for progress in tiny.train(recipe, model)]
    assert done == [*range(1, 61)]
    assert norms == [1.0] * 60
    assert rates == pytest.approx([3e-3 * min(1, s / 50) * (1 - s / 60) for s in range(60)])


def test_the_recipe_by_default() -> None:
    assert tiny.Recipe("tiny-gpt") == tiny.Recipe("tiny-gpt", seed=0, steps=1500, batch=16, rate=3e-3)


def test_a_model_is_written_in_place_of_an_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = tiny.Recipe("tiny-gpt")
    for seed in (1, 2):
        tiny.save(recipe, tiny.untrained(tiny.Recipe("tiny-gpt", seed=seed)), {"trained": float(seed)}, tmp_path / "made")
        written = (tmp_path / "made" / "recipe.json").read_text(encoding="utf-8")
        assert written.startswith('{\n "name"')
        assert json.loads(written)["loss"] == {"trained": seed}
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    monkeypatch.setattr(tiny, "MEGABYTES", (tmp_path / "made" / "model.safetensors").stat().st_size / 2**20)
    tiny.save(recipe, tiny.untrained(recipe), {}, tmp_path / "other")  # as large as is allowed


def test_validation_bytes_are_not_trained_on() -> None:
    seen, unseen = tiny.windows()
    text = bytes(ByT5Tokenizer().decode(seen.flatten()), "utf-8")
    half = tiny.WINDOW // 2
    for window in unseen:
        for part in (window[:half], window[half:]):
            assert bytes(ByT5Tokenizer().decode(part), "utf-8") not in text


def test_a_corrupted_window_can_be_put_together_again() -> None:
    seen, _ = tiny.windows()
    made = tiny.batches("tiny-t5")(seen[:3], torch.Generator().manual_seed(0))
    sentinels = set(ByT5Tokenizer().convert_tokens_to_ids([f"<extra_id_{k}>" for k in range(125)]))
    for window, corrupted, target in zip(seen[:3].tolist(), made["input_ids"].tolist(), made["labels"].tolist(), strict=True):
        spans: dict[int, list[int]] = {}
        for token in target:
            if token in sentinels:
                current = spans.setdefault(token, [])
            else:
                current.append(token)
        restored = [byte for token in corrupted for byte in spans.get(token, [token])]
        assert restored == window


def test_a_bad_recipe_is_refused() -> None:
    with pytest.raises(ValueError, match="name: expected one of tiny-t5, tiny-gpt, got 'tiny-bert'"):
        tiny.Recipe("tiny-bert")
    with pytest.raises(ValueError, match="steps: expected an integer ≥ 1, got 0"):
        tiny.Recipe("tiny-t5", steps=0)


def test_too_large_weights_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny, "MEGABYTES", 0)
    recipe = tiny.Recipe("tiny-gpt")
    with pytest.raises(ValueError, match="model: expected weights of at most"):
        tiny.save(recipe, tiny.untrained(recipe), {}, tmp_path / "made")
    assert not list(tmp_path.iterdir())


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = tiny.Recipe("tiny-t5")
    monkeypatch.setattr(tiny, "HERE", tmp_path)
    (tmp_path / "tiny").mkdir()
    model = tiny.untrained(recipe)
    assert isinstance(model, T5ForConditionalGeneration)
    tiny.save(recipe, model, {}, tiny.folder("tiny-t5"))
    tiny.recorded("tiny-t5")
    (tiny.folder("tiny-t5") / "model.safetensors").write_bytes(b"other")
    with pytest.raises(ValueError, match="tiny-t5: expected weights with the SHA-256"):
        tiny.recorded("tiny-t5")


def test_command(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["train-tiny", "--out", str(tmp_path), "--model", "tiny-gpt", "--steps", "2"])
    assert result.exit_code == 0, result.output
    assert "held-out loss" in result.output
    assert sorted(path.name for path in (tmp_path / "tiny-gpt").iterdir())[:2] == ["added_tokens.json", "config.json"]
