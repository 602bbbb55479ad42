"""The processes that share a run: one, or those that torchrun started."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import distributed
from torch.distributed import distributed_c10d
from torch.distributed.rendezvous import rendezvous

_TIMEOUT = timedelta(days=7)
"""How long a process waits for the others: torchrun, not a timeout, detects that one has died."""


@dataclass(frozen=True)
class Ranks:
    """This process among `world`; `device` is where it computes, and `store` is common to all, None if there are no others."""

    rank: int
    world: int
    device: torch.device
    store: distributed_c10d.Store | None = None

    def share(self, work: str, count: int) -> Iterator[int]:
        """Yield the numbers of ``range(count)`` that no other process takes; a process takes the next one once it is idle.

        ``work`` names what is shared: the processes that give the same name share the numbers.
        """
        if self.store is None:
            yield from range(count)
            return
        while (number := self.store.add(work, 1) - 1) < count:
            yield number

    def barrier(self) -> None:
        """Wait until all processes have come here."""
        if self.world > 1:
            distributed.barrier(device_ids=[self.device.index] if self.device.type == "cuda" else None)


@contextmanager
def init_distributed(device: str) -> Iterator[Ranks]:
    """Join the other processes, by gloo on CPU and nccl on GPU; alone without torchrun.

    Raises:
        ValueError: for cuda without a GPU for every process.
    """
    rank, world, local = (
        int(os.environ.get(name, default)) for name, default in (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0"))
    )
    if device == "cuda" and torch.cuda.device_count() <= local:
        raise ValueError(
            f"--device: expected cpu, or a CUDA device for process {local + 1} on this machine, got "
            f"{torch.cuda.device_count()} CUDA devices"
        )
    own = torch.device("cuda", local) if device == "cuda" else torch.device("cpu")
    if world == 1:
        yield Ranks(0, 1, own)
        return
    if device == "cuda":
        torch.cuda.set_device(own)
    common, _, _ = next(rendezvous("env://", timeout=_TIMEOUT))
    # When torchrun restarts the processes it may keep its store, with the addresses of dead ones and the work they took.
    store = distributed_c10d.PrefixStore(f"attempt {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", common)
    backend = "nccl" if device == "cuda" else "gloo"
    distributed.init_process_group(backend, store=store, rank=rank, world_size=world, timeout=_TIMEOUT)
    try:
        yield Ranks(rank, world, own, store)
    finally:
        distributed.destroy_process_group()
