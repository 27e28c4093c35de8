"""The commands that run cells hand on how many calls are at work at once."""

import pytest

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
def test_a_bad_number_is_refused_by_the_run(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*command, "--ledger", "none", "--quiet", "--max-concurrency", "0"])
    assert ended.value.code == 2
    assert "max_concurrency" in capsys.readouterr().err
