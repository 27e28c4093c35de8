"""The command line; a command loads xarray and pandas only when it runs."""

from corecurves.cli.main import main

__all__ = ["main"]
