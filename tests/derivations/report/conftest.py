"""A site with all claims, generated once."""

from pathlib import Path

import pytest

from derivations.report import site
from derivations.report.merging import load
from tests.derivations.report import samples


@pytest.fixture(scope="session")
def complete_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report on all claims with artificial evidence."""
    folder = tmp_path_factory.mktemp("whole")
    site.write(load([samples.saved(folder, samples.everything())]), folder / "report")
    return folder / "report"
