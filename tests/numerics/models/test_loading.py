"""Model folders are data: no file of theirs is run, and none outside of them is read, whatever standard input says."""

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoImageProcessor, AutoModel, AutoTokenizer

from numerics.models import loading
from numerics.models.encoder import load_encoder, load_model
from numerics.models.loading import ModelUnavailableError, pretrained
from numerics.models.zoo import zoo

ROOT = Path(loading.__file__).parents[2]

MARKER = "marker"
CODE = f"""
from pathlib import Path
Path(__file__).with_name("{MARKER}").touch()
Path("{MARKER}").touch()
class C: pass
M = T = P = C
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small model with the encoder's tokenizer."""
    model, place = zoo()["bert"]().model, tmp_path / "model"
    model.config.save_pretrained(place)
    save_file(model.state_dict(), place / "model.safetensors", metadata={"format": "pt"})
    load_encoder().tokenizer.save_pretrained(place)
    return place


def write(path: Path, **entries: Any) -> None:
    known = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(known | entries))


def code_of_its_own(place: Path, known: bool) -> None:
    """Say in every file that the classes are those of a file in the folder; of a type that the library knows, or not."""
    (place / "foreign.py").write_text(CODE)
    model_type = {} if known else {"model_type": "foreign"}
    write(place / "config.json", auto_map={"AutoConfig": "foreign.C", "AutoModel": "foreign.M"}, **model_type)
    write(place / "tokenizer_config.json", tokenizer_class="T", auto_map={"AutoTokenizer": ["foreign.T", "foreign.T"]})
    write(place / "preprocessor_config.json", image_processor_type="P", auto_map={"AutoImageProcessor": "foreign.P"})


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", [AutoConfig, AutoModel, AutoTokenizer, AutoImageProcessor], ids=lambda kind: kind.__name__)
def test_no_code_of_a_folder_is_run(
    folder: Path, kind: Any, known: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("a question was asked"))
    code_of_its_own(folder, known)
    with contextlib.suppress(ModelUnavailableError):
        pretrained(kind, str(folder))
    assert not list(tmp_path.rglob(MARKER))


@pytest.mark.parametrize("command", ["temperature", "deviation"])
def test_a_yes_on_standard_input_runs_nothing(folder: Path, tmp_path: Path, command: str) -> None:
    code_of_its_own(folder, known=False)
    run = subprocess.run(
        [sys.executable, "-m", "numerics", command, "--model", str(folder), "--out", str(tmp_path / "out")],
        input="y\n" * 100, capture_output=True, text=True, check=False, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 2, run.stderr
    assert "cannot load" in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.rglob(MARKER))


def test_models_are_opened_in_one_place() -> None:
    """Elsewhere nothing calls the library's loaders, whose defaults ask, nor torch's, which can run what they read."""
    paths = [path for part in ("numerics", "evidence", "derivations", "notebooks") for path in (ROOT / part).rglob("*.py")]
    assert len(paths) > 100
    pattern = re.compile(r"from_pretrained\(|torch\.load\(|trust_remote_code=True|pickle\.loads?\(")
    found = {path.relative_to(ROOT).as_posix() for path in paths if pattern.search(path.read_text(encoding="utf-8"))}
    assert found == {"numerics/models/loading.py"}
    calls = re.findall(r"from_pretrained\([^)]*\)", (ROOT / "numerics/models/loading.py").read_text(encoding="utf-8"))
    assert all("trust_remote_code=False" in call for call in calls[1:])


def shards(place: Path, files: dict[str, Any], **entries: Any) -> None:
    (place / "model.safetensors").unlink()
    write(place / "model.safetensors.index.json", **({"metadata": {}, "weight_map": files} | entries))


def pickled(place: Path) -> None:
    torch.save(zoo()["bert"]().model.state_dict(), place / "pytorch_model.bin")
    shards(place, {"x": "pytorch_model.bin"})


def outside(place: Path) -> None:
    (place / "model.safetensors").rename(place.parent / "other.safetensors")
    (place / "model.safetensors").touch()
    shards(place, {"x": "../other.safetensors"})


def absolute(place: Path) -> None:
    shards(place, {"x": str(place / "model.safetensors")})


def missing(place: Path) -> None:
    shards(place, {"x": "nothing.safetensors"})


def nested(place: Path) -> None:
    shards(place, {})
    (place / "model.safetensors.index.json").write_text("[" * 100_000)


@pytest.mark.parametrize(("damage", "message"), [
    (pickled, r"expected the name of a \.safetensors file beside it for 'x', got 'pytorch_model\.bin'"),
    (outside, r"expected the name of a \.safetensors file beside it for 'x', got '\.\./other\.safetensors'"),
    (absolute, r"expected the name of a \.safetensors file beside it for 'x', got '/.*'"),
    (missing, "nothing.safetensors"),
    (nested, ""),
    (lambda place: shards(place, {}), "expected metadata and a weight_map"),
    (lambda place: shards(place, {"x": 3}), "beside it for 'x', got '3'"),
    (lambda place: shards(place, {"x": "a.safetensors"}, metadata=[]), "expected metadata and a weight_map"),
    (lambda place: write(place / "config.json", hidden_size="many"), ""),
    (lambda place: write(place / "config.json", transformers_weights="../other.bin"), ""),
    (lambda place: (place / "config.json").write_text("[]"), ""),
], ids=["pickle", "outside", "absolute", "missing", "nested", "empty", "number", "metadata", "size", "weights", "list"])
def test_a_folder_that_points_elsewhere_gives_one_clear_error(folder: Path, damage: Any, message: str) -> None:
    damage(folder)
    with pytest.raises(ModelUnavailableError, match=f"^cannot load .*{message}") as error:
        load_model(str(folder))
    assert "\n" not in str(error.value)


def test_shards_beside_their_list_are_read(folder: Path) -> None:
    whole = load_model(str(folder)).model.state_dict()
    names = sorted(whole)
    (folder / "model.safetensors").unlink()
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, kept in parts.items():
        save_file({name: whole[name].clone() for name in kept}, folder / file, metadata={"format": "pt"})
    write(folder / "model.safetensors.index.json", metadata={"total_size": 0},
          weight_map={name: file for file, kept in parts.items() for name in kept})
    found = load_model(str(folder)).model.state_dict()
    assert all(torch.equal(found[name], whole[name]) for name in names)
