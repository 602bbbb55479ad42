"""Two small language models that are trained here: a T5 by span corruption, a GPT by the next byte.

They are trained on a text that ships with the project, a byte a token, so that encoder, decoder and cross attention have
a trained example on any machine.  The weights in `tiny/` were made by this recipe; `recipe.json` beside them says with
which seed, on which text, to which loss.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import ByT5Tokenizer, GPT2Config, GPT2LMHeadModel, PreTrainedModel, T5Config, T5ForConditionalGeneration

from numerics.models.encoder import quiet

HERE = Path(__file__).parent
TEXT = HERE / "texts" / "founding.txt"
NAMES = ("tiny-t5", "tiny-gpt")

WINDOW = 96  # bytes of one training example
HELD_OUT = 10  # every tenth window is never trained on
MASKED = 0.15  # share of a window that span corruption hides
SPAN = 3  # bytes of a hidden span
MEGABYTES = 2

Batch = dict[str, Tensor]


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    Attributes:
        name: one of `NAMES`.
        seed: of weights, batches and spans.
        steps, batch, rate: of AdamW with a linear decay to zero.
    """

    name: str
    seed: int = 0
    steps: int = 1500
    batch: int = 16
    rate: float = 3e-3

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"name: expected one of {', '.join(NAMES)}, got {self.name!r}")
        for field, value in (("steps", self.steps), ("batch", self.batch)):
            if value < 1:
                raise ValueError(f"{field}: expected an integer ≥ 1, got {value}")


@dataclass(frozen=True)
class Progress:
    """After a step: how many are done, and the loss in nats a byte that was seen."""

    step: int
    loss: float


def folder(name: str) -> Path:
    """Where a trained model ships; raises ValueError for an unknown name."""
    return HERE / "tiny" / Recipe(name).name


def untrained(recipe: Recipe) -> PreTrainedModel:
    """The model before training, the same for the same seed; float32, CPU, global random state left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        return _gpt() if recipe.name == "tiny-gpt" else _t5()


def train(recipe: Recipe, model: PreTrainedModel) -> Iterator[Progress]:
    """Train a model in place, yielding after every step."""
    seen, _ = windows()
    generator = torch.Generator().manual_seed(recipe.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 50) * (1 - step / recipe.steps))
    make = batches(recipe.name)
    model.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)  # of dropout
        for step in range(recipe.steps):
            chosen = seen[torch.randint(len(seen), (recipe.batch,), generator=generator)]
            loss = model(**make(chosen, generator)).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            yield Progress(step + 1, float(loss.detach()))
    model.eval()


def held_out_loss(recipe: Recipe, model: PreTrainedModel) -> float:
    """The loss on the windows that were never trained on, in nats a byte; spans are the same at every call."""
    _, unseen = windows()
    with torch.no_grad():
        return float(model.eval()(**batches(recipe.name)(unseen, torch.Generator().manual_seed(1))).loss)


def save(recipe: Recipe, model: PreTrainedModel, losses: dict[str, float], out: Path) -> None:
    """Write weights (safetensors), configuration, tokenizer and recipe to `out`, whole or not at all.

    Raises:
        ValueError: for weights above `MEGABYTES`.
    """
    with tempfile.TemporaryDirectory(dir=out.parent) as name:
        made = Path(name) / "model"
        with quiet():
            model.save_pretrained(made)
            ByT5Tokenizer().save_pretrained(made)
        weights = made / "model.safetensors"
        if weights.stat().st_size > MEGABYTES * 2**20:
            raise ValueError(f"model: expected weights of at most {MEGABYTES} MiB, got {weights.stat().st_size} bytes")
        record = {
            **asdict(recipe),
            "text": TEXT.name,
            "text_sha256": _sha256(TEXT),
            "weights_sha256": _sha256(weights),
            "loss": losses,
        }
        (made / "recipe.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        if out.exists():
            shutil.rmtree(out)
        made.rename(out)


def recorded(name: str) -> dict[str, Any]:
    """The recipe beside a shipped model; raises ValueError when the weights are not those it was written for."""
    directory = folder(name)
    record: dict[str, Any] = json.loads((directory / "recipe.json").read_text(encoding="utf-8"))
    digest = _sha256(directory / "model.safetensors")
    if digest != record["weights_sha256"]:
        raise ValueError(f"{name}: expected weights with the SHA-256 {record['weights_sha256']}, got {digest}")
    return record


def windows() -> tuple[Tensor, Tensor]:
    """The text as int64 token windows (·, WINDOW), half overlapping: those to train on, and those held out.

    A held-out window shares no byte with a training one.
    """
    tokens = torch.tensor(ByT5Tokenizer()(TEXT.read_text(encoding="utf-8"), add_special_tokens=False)["input_ids"])
    parts = tokens[: len(tokens) // WINDOW * WINDOW].reshape(-1, WINDOW)
    held_out = torch.arange(len(parts)) % HELD_OUT == HELD_OUT - 1
    between = torch.cat([parts[:-1, WINDOW // 2 :], parts[1:, : WINDOW // 2]], 1)[~(held_out[:-1] | held_out[1:])]
    return torch.cat([parts[~held_out], between]), parts[held_out]


def batches(name: str) -> Callable[[Tensor, torch.Generator], Batch]:
    """How a model's training batch is made from windows (B, WINDOW)."""
    return _next_byte if name == "tiny-gpt" else _corrupted


def _next_byte(window: Tensor, generator: torch.Generator) -> Batch:
    return {"input_ids": window, "labels": window}


def _corrupted(window: Tensor, generator: torch.Generator) -> Batch:
    """Hide the same number of spans in every row: each gives way to one sentinel, after which the target spells it."""
    spans = round(MASKED * WINDOW / SPAN)
    sentinels = torch.tensor(ByT5Tokenizer().convert_tokens_to_ids([f"<extra_id_{k}>" for k in range(spans)]))
    slots = WINDOW // (SPAN + 1)  # a span and at least one byte after it
    inputs, labels = [], []
    for row in window:
        starts = torch.randperm(slots, generator=generator)[:spans].sort().values * (SPAN + 1)
        hidden = torch.zeros(WINDOW, dtype=torch.bool)
        first = torch.zeros(WINDOW, dtype=torch.bool)
        first[starts] = True
        for offset in range(SPAN):
            hidden[starts + offset] = True
        tokens = row.clone()
        tokens[first] = sentinels
        inputs.append(tokens[~hidden | first])
        labels.append(torch.cat([sentinels[:, None], row[hidden].reshape(spans, SPAN)], 1).flatten())
    return {"input_ids": torch.stack(inputs), "labels": torch.stack(labels)}


def _vocabulary() -> int:
    return len(ByT5Tokenizer())


def _t5() -> PreTrainedModel:
    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=_vocabulary(),
            d_model=80,
            d_kv=20,
            d_ff=160,
            num_layers=3,
            num_decoder_layers=3,
            num_heads=4,
            dropout_rate=0.1,
            decoder_start_token_id=0,
        )
    )


def _gpt() -> PreTrainedModel:
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=_vocabulary(), n_embd=96, n_layer=3, n_head=4, n_positions=256, bos_token_id=1, eos_token_id=1)
    )
    model.loss_type = "ForCausalLM"  # which the library would take too, with a warning
    return model


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
