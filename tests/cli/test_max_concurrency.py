"""The commands that run cells hand on how many calls are at work at once."""

import pytest
from click.testing import CliRunner

from corecurves.cli.main import main


@pytest.mark.parametrize(
    "command",
    [
        ["lane", "dev"],
        ["rose", "eval", "--model", "simulated"],
        ["rose", "descend", "--model", "simulated"],
        ["rose", "eval-recall"],
    ],
)
def test_a_bad_number_is_refused_by_the_run(command):
    given = [*command, "--ledger", "none", "--quiet", "--max-concurrency", "0"]
    result = CliRunner().invoke(main, given)
    assert result.exit_code != 0
    assert "max_concurrency" in result.output + str(result.exception)
