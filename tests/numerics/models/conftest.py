"""A folder with a small model, for tests that damage it."""

from pathlib import Path

import pytest
from safetensors.torch import save_file

from numerics.models.encoder import load_encoder
from numerics.models.zoo import zoo


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small model with the encoder's tokenizer."""
    model, path = zoo()["bert"]().model, tmp_path / "model"
    model.config.save_pretrained(path)
    save_file(model.state_dict(), path / "model.safetensors", metadata={"format": "pt"})
    load_encoder().tokenizer.save_pretrained(path)
    return path
