"""Markdown as blocks of lines that stand or fall together."""

from corecurves.blocks.found import Block, blocks
from corecurves.blocks.parsed import code_of, headings, lines_of, pair_of

__all__ = ["Block", "blocks", "code_of", "headings", "lines_of", "pair_of"]
