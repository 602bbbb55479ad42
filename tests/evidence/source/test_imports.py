"""Registering observations of source code imports no package that is slow to import."""

import subprocess
import sys


def test_observations_are_registered_without_the_packages_that_they_run() -> None:
    modules = ", ".join(
        f"evidence.source.{name}" for name in ("alibi", "dot_product", "transformations", "heads", "t5_parts", "networks")
    )
    process = subprocess.run(
        [sys.executable, "-c", f"import sys, {modules}; print({{'transformers', 'entmax'}} & set(sys.modules))"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert process.stdout.strip() == "set()"
