"""A killed run of `deviation` resumes, alone and under torchrun, and ends with the same table."""

import os
import random
import shutil
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from pyarrow import Table, parquet
from torch.distributed import run
from transformers import ByT5Tokenizer

from numerics.commands.deviation import FOLDER
from numerics.experiments.deviation.statistics import CONTEXT, STATISTICS
from numerics.experiments.deviation.summary import DECIMALS, DIGITS
from numerics.models import tiny
from tests.numerics.experiments import quiet
from tests.processes import FORKS

ROOT = Path(__file__).parents[3]
KILLS = 20
TABLES = ("deviation.csv", "deviation-heads.csv")


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Arguments of a run on a small untrained model with six inputs: 36 shards."""
    folder = tmp_path_factory.mktemp("killed")
    tiny.untrained(tiny.Recipe("tiny-gpt", seed=7)).save_pretrained(folder / "small")
    ByT5Tokenizer().save_pretrained(folder / "small")
    (folder / "text.txt").write_text("One small spring can drive every wheel.", encoding="utf-8")
    return ["deviation", "--model", str(folder / "small"), "--text", str(folder / "text.txt"), "--tokens", "8"]


@pytest.fixture(scope="module")
def uninterrupted(arguments: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of one uninterrupted process."""
    out = tmp_path_factory.mktemp("whole")
    process, _ = started([*arguments, "--out", str(out)])
    process.join(120)
    assert process.exitcode == 0
    return out


def started(command: list[str]) -> tuple[BaseProcess, float]:
    """A process that runs the command, forked from one that has imported everything and has no threads; and the start time."""
    process = FORKS.Process(target=quiet.quiet, args=(command,))
    process.start()
    return process, time.time()


def same(out: Path, expected: Path) -> bool:
    return all((out / name).read_bytes() == (expected / name).read_bytes() for name in TABLES)


def rows(out: Path) -> dict[str, Table]:
    return {str(path.relative_to(out)): parquet.read_table(path) for path in (out / FOLDER).rglob("[!.]*.parquet")}


def alike(out: Path, expected: Path) -> None:
    """Whether the rows agree, none missing or double; the last bits may depend on memory alignment."""
    written, others = rows(out), rows(expected)
    assert written.keys() == others.keys()
    for name, table in written.items():
        for column in table.column_names:
            one, other = table[column].to_pylist(), others[name][column].to_pylist()
            if column in STATISTICS:
                assert one == pytest.approx(other, rel=10.0**-DIGITS, abs=10.0**-DECIMALS), (name, column)
            elif column not in CONTEXT:
                assert one == other, (name, column)


def test_killed_at_twenty_random_moments(arguments: list[str], uninterrupted: Path, tmp_path: Path) -> None:
    """Whenever a run ends between two kills, its table is compared, and a new run starts."""
    moments = random.Random(0)
    command = [*arguments, "--out", str(tmp_path / "out")]
    process, start = started(command)
    process.join(120)
    end = time.time() - start
    written = [path.stat().st_mtime - start for path in (tmp_path / "out" / FOLDER).rglob("*.parquet")]
    assert same(tmp_path / "out", uninterrupted)
    killed, between = 0, set()
    shutil.rmtree(tmp_path / "out")
    while killed < KILLS:
        process, _ = started(command)
        early, late = moments.choice([(0.0, 1.1 * end), (min(written), max(written))])
        process.join(moments.uniform(early, late))  # anywhere, or while the shards are being written
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            killed += 1
            between.add(len(rows(tmp_path / "out")) if (tmp_path / "out").exists() else 0)
        else:  # it came to its end before
            assert process.exitcode == 0
            assert same(tmp_path / "out", uninterrupted)
            shutil.rmtree(tmp_path / "out")
    assert len(between) > 1  # not all were killed before the first shard, or after the last
    process, _ = started(command)
    process.join(120)
    assert process.exitcode == 0
    assert same(tmp_path / "out", uninterrupted)
    alike(tmp_path / "out", uninterrupted)
    assert not list((tmp_path / "out").rglob(".*"))


def torchrun(command: list[str], log: Path) -> None:
    """`torchrun`, in a process that has everything imported, and whose workers are forks of it: none imports anything again."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for standard, path in ((1, os.devnull), (2, log)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), standard)
    run.main(command)


@pytest.mark.parametrize("processes", [2, 3])
def test_processes_one_of_them_killed(processes: int, arguments: list[str], uninterrupted: Path, tmp_path: Path) -> None:
    """torchrun restarts all processes, and they compute the missing shards."""
    out, log = tmp_path / "out", tmp_path / "log.txt"
    options = [
        "--standalone",
        "--max-restarts=1",
        "--monitor-interval=0.1",
        f"--nproc-per-node={processes}",
        "--run-path",
        "--start-method=fork",
    ]
    agent = FORKS.Process(target=torchrun, args=([*options, quiet.__file__, *arguments, "--out", str(out)], log))
    agent.start()
    while agent.is_alive() and not (out / FOLDER).exists():
        time.sleep(0.02)
    workers = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
    assert len(workers) == processes, log.read_text()
    os.kill(int(random.Random(processes).choice(workers)), signal.SIGKILL)
    agent.join(240)
    output = log.read_text()
    assert agent.exitcode == 0, output
    assert "Signal 9" in output or "exitcode: -9" in output or "SIGKILL" in output, output
    assert same(out, uninterrupted)
    alike(out, uninterrupted)
