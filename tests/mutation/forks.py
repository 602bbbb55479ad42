"""Work in a fork of this process: what it says, item by item, or the first thing that it says in time."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

FAULT = "the trial itself failed: "
MEMORY = 12 * 2**30

Say = Callable[[Any], None]


def in_fork(work: Callable[[Say], None]) -> Iterator[Any]:
    """What a fork says while it works, item by item; ends when it does. Closing the iterator ends the fork."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            os.setpgid(0, 0)
            hush()
            work(lambda item: _send(write, item))
            code = 0
        except Exception:
            _send(write, [FAULT, traceback.format_exc()])
        finally:
            os._exit(code)
    os.close(write)
    try:
        yield from _received(read)
    finally:
        os.close(read)
        _end(pid)


def first_word(work: Callable[[Say], None], seconds: float) -> Any:
    """The first thing that a fork says in so many seconds; "late" if it says nothing in time, or has used the time that it
    allowed itself (`allow`), "silent" if it ends before."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            work(lambda item: _send(write, item))
        except Exception:
            _send(write, f"{FAULT}{traceback.format_exc()}")
        finally:
            os._exit(1)
    os.close(write)
    try:
        ready, _, _ = select.select([read], [], [], seconds)
        word = next(_received(read), "silent") if ready else "late"
    finally:
        os.close(read)
        status = _end(pid)
    if str(word).startswith(FAULT):
        raise RuntimeError(word)
    return "late" if word == "silent" and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF else word


def allow(seconds: float) -> None:
    """End this process after so many seconds of its own processor time, however busy the machine is; 0 for no end."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def hush() -> None:
    """Nothing that this process writes or reads is anybody's."""
    sys.stdout.flush()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)


def _send(pipe: int, item: Any) -> None:
    line = (json.dumps(item) + "\n").encode()
    while line:
        line = line[os.write(pipe, line):]


def _received(pipe: int) -> Iterator[Any]:
    rest = b""
    while chunk := os.read(pipe, 2**16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from map(json.loads, lines)


def _end(pid: int) -> int:
    """End a fork, unless it is ending by itself, and what it has started; how it ended."""
    for _ in range(50):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.0002)                                   # its pipe closes a moment before it has ended
    for target in (-pid, pid):
        try:
            os.kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    return status if ended else os.waitpid(pid, 0)[1]
