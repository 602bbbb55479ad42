"""Model folders are data: none of their code is run, and no file outside is read, whatever standard input contains."""

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoImageProcessor, AutoModel, AutoTokenizer

from numerics.models import loading
from numerics.models.encoder import load_model
from numerics.models.loading import ModelUnavailableError, pretrained
from numerics.models.zoo import zoo
from tests.numerics.models.folders import MARKER, custom_code, write

ROOT = Path(loading.__file__).parents[2]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", [AutoConfig, AutoModel, AutoTokenizer, AutoImageProcessor], ids=lambda kind: kind.__name__)
def test_no_code_of_a_folder_is_run(
    folder: Path, kind: Any, known: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("a question was asked"))
    custom_code(folder, known)
    with contextlib.suppress(ModelUnavailableError):
        pretrained(kind, str(folder))
    assert not list(tmp_path.rglob(MARKER))


def test_models_are_loaded_by_one_function() -> None:
    """No other module calls the library's loaders, whose defaults ask the user, or torch's, which can run code."""
    paths = [path for part in ("numerics", "evidence", "derivations", "notebooks") for path in (ROOT / part).rglob("*.py")]
    assert len(paths) > 100
    pattern = re.compile(r"from_pretrained\(|torch\.load\(|trust_remote_code=True|pickle\.loads?\(")
    modules = {path.relative_to(ROOT).as_posix() for path in paths if pattern.search(path.read_text(encoding="utf-8"))}
    assert modules == {"numerics/models/loading.py"}
    calls = re.findall(r"from_pretrained\([^)]*\)", (ROOT / "numerics/models/loading.py").read_text(encoding="utf-8"))
    assert all("trust_remote_code=False" in call for call in calls[1:])


def shards(path: Path, files: dict[str, Any], **entries: Any) -> None:
    (path / "model.safetensors").unlink()
    write(path / "model.safetensors.index.json", **({"metadata": {}, "weight_map": files} | entries))


def pickled(path: Path) -> None:
    torch.save(zoo()["bert"]().model.state_dict(), path / "pytorch_model.bin")
    shards(path, {"x": "pytorch_model.bin"})


def outside(path: Path) -> None:
    (path / "model.safetensors").rename(path.parent / "other.safetensors")
    (path / "model.safetensors").touch()
    shards(path, {"x": "../other.safetensors"})


def absolute(path: Path) -> None:
    shards(path, {"x": str(path / "model.safetensors")})


def missing(path: Path) -> None:
    shards(path, {"x": "nothing.safetensors"})


def nested(path: Path) -> None:
    shards(path, {})
    (path / "model.safetensors.index.json").write_text("[" * 100_000)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (pickled, r"expected the name of a \.safetensors file beside it for 'x', got 'pytorch_model\.bin'"),
        (outside, r"expected the name of a \.safetensors file beside it for 'x', got '\.\./other\.safetensors'"),
        (absolute, r"expected the name of a \.safetensors file beside it for 'x', got '/.*'"),
        (missing, "nothing.safetensors"),
        (nested, ""),
        (lambda path: shards(path, {}), "expected metadata and a weight_map"),
        (lambda path: shards(path, {"x": 3}), "beside it for 'x', got '3'"),
        (lambda path: shards(path, {"x": "a.safetensors"}, metadata=[]), "expected metadata and a weight_map"),
        (lambda path: write(path / "config.json", hidden_size="many"), ""),
        (lambda path: write(path / "config.json", transformers_weights="../other.bin"), ""),
        (lambda path: (path / "config.json").write_text("[]"), ""),
    ],
    ids=["pickle", "outside", "absolute", "missing", "nested", "empty", "number", "metadata", "size", "weights", "list"],
)
def test_a_folder_that_points_outside_gives_one_clear_error(folder: Path, damage: Any, message: str) -> None:
    damage(folder)
    with pytest.raises(ModelUnavailableError, match=f"^cannot load .*{message}") as error:
        load_model(str(folder))
    assert "\n" not in str(error.value)


def test_shards_beside_their_list_are_read(folder: Path) -> None:
    original = load_model(str(folder)).model.state_dict()
    names = sorted(original)
    (folder / "model.safetensors").unlink()
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: original[name].clone() for name in part}, folder / file, metadata={"format": "pt"})
    write(
        folder / "model.safetensors.index.json",
        metadata={"total_size": 0},
        weight_map={name: file for file, part in parts.items() for name in part},
    )
    loaded = load_model(str(folder)).model.state_dict()
    assert all(torch.equal(loaded[name], original[name]) for name in names)
