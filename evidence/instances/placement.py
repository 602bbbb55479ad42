"""Device placement of instances, which are always drawn on the CPU and then moved."""

from dataclasses import dataclass, field, replace
from typing import Self


@dataclass(frozen=True)
class Placed:
    """An instance drawn on the CPU, whose tensors its votes read on a device.

    Attributes:
        device: where a vote computes, by torch's name.
    """

    device: str = field(default="cpu", kw_only=True)

    def to(self, device: str) -> Self:
        """The same instance, computed with on another device."""
        return replace(self, device=device)
