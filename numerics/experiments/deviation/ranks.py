"""The processes that share a run: one, or those that torchrun started."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import distributed
from torch.distributed.rendezvous import rendezvous

_PATIENCE = timedelta(days=7)
"""How long a process waits for the others: torchrun, not a timeout, detects that one has died."""


@dataclass(frozen=True)
class Ranks:
    """This process among `world`; `device` is where it computes."""

    rank: int
    world: int
    device: torch.device

    def partition(self, count: int) -> range:
        """This process's contiguous part of ``range(count)``; the lengths of the parts differ by at most one."""
        return range(self.rank * count // self.world, (self.rank + 1) * count // self.world)

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
    rank, world, local = (int(os.environ.get(name, default)) for name, default in
                          (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0")))
    if device == "cuda" and torch.cuda.device_count() <= local:
        raise ValueError(f"--device: expected cpu, or a CUDA device for process {local + 1} on this machine, got "
                         f"{torch.cuda.device_count()} CUDA devices")
    own = torch.device("cuda", local) if device == "cuda" else torch.device("cpu")
    if world == 1:
        yield Ranks(0, 1, own)
        return
    if device == "cuda":
        torch.cuda.set_device(own)
    store, _, _ = next(rendezvous("env://", timeout=_PATIENCE))
    # When torchrun restarts the processes it may keep its store, with the addresses of dead ones.
    attempt = distributed.distributed_c10d.PrefixStore(f"attempt {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    backend = "nccl" if device == "cuda" else "gloo"
    distributed.init_process_group(backend, store=attempt, rank=rank, world_size=world, timeout=_PATIENCE)
    try:
        yield Ranks(rank, world, own)
    finally:
        distributed.destroy_process_group()
