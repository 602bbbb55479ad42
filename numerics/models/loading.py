"""The only module that opens files of models: they are read as data and never executed, and there is no interactive prompt.

A folder or a hub repository is untrusted input. Weights are read from safetensors alone; classes that come with a model are
refused without a question, where the library's default would be to ask; and a list of shards may name files of its own folder
only.
"""

import json
from pathlib import Path
from typing import Any

from transformers import AutoModel
from transformers.utils import SAFE_WEIGHTS_INDEX_NAME, cached_file


class ModelUnavailableError(RuntimeError):
    """A pretrained model cannot be loaded; the message says in one line what is missing and what to do."""


def pretrained(kind: Any, name: str, *, local_files_only: bool = True, **options: Any) -> Any:
    """Return ``kind.from_pretrained(name, **options)``.

    Args:
        kind: ``AutoModel``, ``AutoTokenizer``, ``AutoConfig`` or ``AutoImageProcessor``.
        name: a folder, or a name on the hub.
        local_files_only: whether requests to the hub are forbidden.
        options: further arguments of ``from_pretrained``.

    Raises:
        ModelUnavailableError: if it cannot be loaded.
    """
    try:
        if kind is AutoModel:
            _check_shards(name, local_files_only)
            options["use_safetensors"] = True
        return kind.from_pretrained(name, local_files_only=local_files_only, trust_remote_code=False, **options)
    except Exception as error:  # a file of someone else's can make the library fail in any way
        raise ModelUnavailableError(f"cannot load {name}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its name."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def _check_shards(name: str, local_files_only: bool) -> None:
    """Refuse a list of shards that names anything but safetensors files beside it."""
    index = cached_file(
        name,
        SAFE_WEIGHTS_INDEX_NAME,
        local_files_only=local_files_only,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    if index is None or not Path(index).is_file():
        return
    content = json.loads(Path(index).read_text(encoding="utf-8"))
    shards = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(shards, dict) or not shards or not isinstance(content.get("metadata"), dict):
        raise ValueError(f"{SAFE_WEIGHTS_INDEX_NAME}: expected metadata and a weight_map, got {str(content)[:60]!r}")
    for tensor, shard in shards.items():
        if not isinstance(shard, str) or not shard.endswith(".safetensors") or Path(shard).name != shard or "\\" in shard:
            raise ValueError(
                f"{SAFE_WEIGHTS_INDEX_NAME}: expected the name of a .safetensors file beside it for "
                f"{tensor[:60]!r}, got {str(shard)[:60]!r}"
            )
