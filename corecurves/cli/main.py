"""Entry point: commands, and errors in one line."""

from __future__ import annotations

import io
import os
import shlex
import sys
import traceback
import warnings
from typing import TextIO

import click

from corecurves.cli.check import check
from corecurves.cli.compress import compress
from corecurves.cli.demo import demo
from corecurves.cli.descent import descend
from corecurves.cli.lane import lane
from corecurves.cli.models import models
from corecurves.cli.recall import COMMANDS as RECALL
from corecurves.cli.report import report
from corecurves.cli.rose import rose
from corecurves.errors import CorecurvesError, ExitCode, Interrupted
from corecurves.redact import Redactor

__all__ = ["cli", "main"]

_DEBUG = "CORECURVES_DEBUG"


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 findings or a failed report, 2 usage or bad input, 3 finished "
    f"with failed cells, 130 interrupted. {_DEBUG}=1 shows tracebacks.",
)
@click.version_option(package_name="corecurves")
def cli() -> None:
    """Learning curves of systems that are taught by correction.

    \b
    corecurves demo                      everything once, on bundled data
    corecurves check my_curricula/       what is wrong in your curricula
    corecurves lane my_curricula/        their corrections-to-competence curves
    corecurves rose eval                 transfer of lessons across levels of compression
    corecurves rose eval-recall          whether retrieval serves the right lessons
    corecurves rose compress -o SHORT    shorter levels, accepted by replay, in a copy
    corecurves rose descend              ways back to detail where a short form fails
    corecurves report sample_efficiency  a page to send to someone
    """  # noqa: D301


for command in (demo, lane, rose, check, report, models):
    cli.add_command(command)
for command in RECALL:
    rose.add_command(command)
rose.add_command(compress)
rose.add_command(descend)


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        # What a file holds may be no text that the terminal can show, such as half of a character.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(args, standalone_mode=False)
    except CorecurvesError as error:
        _fail(str(error))
        code = error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        help_line = f" ('{context.command_path} --help' explains)" if context else ""
        _fail(f"{error.format_message()}{help_line}")
        code = ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort) as error:
        _say_interrupted(error, sys.argv[1:] if args is None else args)
        code = 130
    except BrokenPipeError:
        # The reader of the output went away, which is its right; nothing is left to tell it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.FINE
    except Exception as error:
        _fail(f"unexpected {type(error).__name__}: {error} ({_DEBUG}=1 shows the traceback)")
        code = ExitCode.USAGE
    sys.exit(int(code or 0))


def _say_interrupted(error: BaseException, args: list[str]) -> None:
    # click raises its own exception from what interrupted it.
    cause = error if isinstance(error, KeyboardInterrupt) else error.__cause__
    run = cause if isinstance(cause, Interrupted) else None
    _fail(f"interrupted: {run}" if run else "interrupted")
    if run and run.resumes:
        click.echo(f"resume with: {shlex.join(['corecurves', *args])}", err=True)


def _fail(message: str) -> None:
    if os.environ.get(_DEBUG):
        click.echo(Redactor().text(traceback.format_exc()), err=True, nl=False)
    click.echo(message if "\n" in message else f"corecurves: {message}", err=True)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    click.echo(f"warning: {message}", err=True)
