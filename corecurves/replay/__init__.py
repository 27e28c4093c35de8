"""Replays: a model is put a task with a text, and what it makes of it is graded blind."""
