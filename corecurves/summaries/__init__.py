"""Summaries of runs: pure functions from Dataset to Dataset, and tables for people."""
