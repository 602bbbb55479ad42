"""The README shows the actual output of its example, and every file that it names exists."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_the_shown_output() -> None:
    match = re.search(r"```python\n(import torch\n.*?)```\n\n```\n(.*?)```", README, flags=re.DOTALL)
    assert match is not None
    code, shown = match.groups()
    assert len(code.splitlines()) <= 11
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == shown


def test_the_folders_and_files_that_it_names_are_there() -> None:
    named = re.findall(r"^((?:derivations|evidence|numerics|tests|notebooks)/[\w/]*(?:\.py)?) {2,}", README, flags=re.MULTILINE)
    linked = re.findall(r"\]\(([\w./]+)\)", README)
    assert len(named) > 8
    assert [path for path in (*named, *linked) if not (ROOT / path).exists()] == []
