"""Compression of lessons: L1 … Ln made from L0, each accepted by replay or refused.

A compressor is given a `TrainView`, which holds train episodes alone, and returns a `Draft`.
"""

from corecurves.compress.base import Compressor, Draft, TrainEpisode, TrainView
from corecurves.compress.extractive import Extractive
from corecurves.compress.prune import Prune
from corecurves.compress.resolve import as_compressor
from corecurves.compress.result import CompressedStore, Compression, Try, table_compressions
from corecurves.compress.rewrite import Rewrite

__all__ = [
    "CompressedStore",
    "Compression",
    "Compressor",
    "Draft",
    "Extractive",
    "Prune",
    "Rewrite",
    "TrainEpisode",
    "TrainView",
    "Try",
    "as_compressor",
    "table_compressions",
]
