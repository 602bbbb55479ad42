"""Checkpoints of a run: one safetensors file with the scalar state as JSON in its header, written atomically.

A finished run keeps its weights and its history, not its optimizer.
"""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from numerics.experiments.ot_vit.training import History, Run
from numerics.experiments.output import atomic_write


def save(run: Run, path: Path) -> None:
    """Write the state of a run to ``path``."""
    tensors = {f"model.{name}": value for name, value in run.model.state_dict().items()}
    if run.epoch < run.configuration.recipe.epochs:
        for index, state in run.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": value for name, value in state.items()}
    history = {"losses": run.history.losses, "correct": run.history.correct}
    header = {"state": json.dumps({"belongs": _belongs(run), "history": history})}
    with atomic_write(path) as written:
        save_file({name: value.contiguous() for name, value in tensors.items()}, written, header)


def restore(run: Run, path: Path) -> None:
    """Bring a new run to the state in ``path``; raises ValueError for a file that is not one of this run."""
    state, tensors = _read(path)
    if state["belongs"] != _belongs(run):
        raise ValueError(f"{path}: expected a checkpoint of {_belongs(run)}, got one of {state['belongs']}")
    run.history = _history(state)
    run.model.load_state_dict(_under("model.", tensors))
    states: dict[int, dict[str, Tensor]] = {}
    for name, value in _under("optimizer.", tensors).items():
        index, _, key = name.partition(".")
        states.setdefault(int(index), {})[key] = value
    run.optimizer.load_state_dict({"state": states, "param_groups": run.optimizer.state_dict()["param_groups"]})


def history(path: Path) -> History:
    """Return the history in a checkpoint, empty if there is no file; raises ValueError if the file is not a checkpoint."""
    return _history(_read(path, weights=False)[0]) if path.exists() else History()


def _read(path: Path, *, weights: bool = True) -> tuple[dict[str, dict[str, object]], dict[str, Tensor]]:
    try:
        with safe_open(path, "pt") as file:
            state = json.loads(file.metadata()["state"])
            return state, {name: file.get_tensor(name) for name in file.keys()} if weights else {}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{path}: expected a checkpoint, got a file that cannot be read as one ({error})") from None


def _history(state: dict[str, dict[str, object]]) -> History:
    history_fields = {name: tuple(values) for name, values in state["history"].items() if isinstance(values, list)}
    return History(history_fields["losses"], history_fields["correct"])


def _belongs(run: Run) -> dict[str, object]:
    return {"arm": run.arm.name, "seed": run.seed, "configuration": run.configuration.sha256, **run.machine.described()}


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
