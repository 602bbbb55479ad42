"""Uninitialized arrays on large pages of memory.

The first write to a page of fresh memory is a fault. One of 4 kB takes about a microsecond: together they would add a third to
the time in which a batch of problems is solved. One of 2 MB takes 40 µs.

PyTorch has a switch for it, THP_MEM_ALLOC_ENABLE, but reads it once, before its first tensor, for all tensors of the process:
a library that is called later cannot set it.
"""

import math
import mmap

import torch
from torch import Tensor

_PAGE = 2**21
"""The size of a large page in bytes, of x86 and, as a rule, of ARM."""

_MIN_BYTES = _PAGE // 2
"""Smaller arrays would leave more than half of a page unused."""


def empty(shape: tuple[int, ...], device: torch.device) -> Tensor:
    """Return an uninitialized float64 tensor; on the CPU on large pages, if it fills them and the system has them."""
    size = 8 * math.prod(shape)
    if size < _MIN_BYTES or device.type != "cpu" or not hasattr(mmap, "MADV_HUGEPAGE"):
        return torch.empty(shape, dtype=torch.float64, device=device)
    # Linux aligns what is a whole number of large pages.
    memory = mmap.mmap(-1, -(-size // _PAGE) * _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=torch.float64, count=math.prod(shape)).reshape(shape)
