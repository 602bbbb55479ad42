"""Work in a fork of this process, which sends its items, or its first message within a time limit."""

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

Send = Callable[[Any], None]


def run_in_fork(work: Callable[[Send], None]) -> Iterator[Any]:
    """Yield the items that a fork sends while it works; closing the iterator ends the fork."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(read)
            os.setpgid(0, 0)
            discard_streams()
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


def first_message(work: Callable[[Send], None], seconds: float) -> Any:
    """Return a fork's first message; "late" if none comes within the seconds, or the fork exceeds its own limit (`limit_cpu`),
    "silent" if it ends without one."""
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
        message = next(_received(read), "silent") if ready else "late"
    finally:
        os.close(read)
        status = _end(pid)
    if str(message).startswith(FAULT):
        raise RuntimeError(message)
    return "late" if message == "silent" and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF else message


def limit_cpu(seconds: float) -> None:
    """End this process after that many seconds of its own processor time; 0 for no limit."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def discard_streams() -> None:
    """Discard everything that this process writes or reads."""
    sys.stdout.flush()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)


def _send(pipe: int, item: Any) -> None:
    line = (json.dumps(item) + "\n").encode()
    while line:
        line = line[os.write(pipe, line) :]


def _received(pipe: int) -> Iterator[Any]:
    rest = b""
    while chunk := os.read(pipe, 2**16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from map(json.loads, lines)


def _end(pid: int) -> int:
    """End a fork and its children, unless it is ending by itself; return how it ended."""
    for _ in range(50):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.0002)  # its pipe closes a moment before it has ended
    for target in (-pid, pid):
        try:
            os.kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    return status if ended else os.waitpid(pid, 0)[1]
