"""Small ROSE stores for the recall tests."""

from __future__ import annotations

import json

import yaml


def write_store(root, lessons, episodes=()):
    """A store: lessons as id → text, or a mapping with more keys; episodes as mappings."""
    for name, content in lessons.items():
        table = {"id": name, "level": 0, **(content if isinstance(content, dict) else {})}
        body = table.pop("text", content if isinstance(content, str) else f"Text of {name}.")
        path = root / "nodes" / "lab" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{yaml.safe_dump(table)}---\n{body}\n", encoding="utf-8")
    for given in episodes:
        table = {"outcome": "success", "accepted_summary": "Done.", **given}
        path = root / "episodes" / f"{table['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(table), encoding="utf-8")
    return root


LESSONS = {
    "cups": "Rinse the cups with cold water before the hot wash.",
    "knives": "Sharpen the knives on the whetstone away from yourself.",
    "stove": "Close the gas valve of the stove before cleaning it.",
}

EPISODES = (
    {"id": "e1", "prompt": "Wash the cups.", "served": ["cups", "knives"], "used": ["cups"]},
    {"id": "e2", "prompt": "Clean the stove.", "served": ["stove", "cups", "knives"],
     "used": ["stove", "cups"]},
    {"id": "e3", "prompt": "Paint the door.", "served": ["knives"], "used": []},
    {"id": "e4", "prompt": "Cut the bread.", "served": ["gone", "knives"],
     "used": ["gone", "knives"], "outcome": "failure"},
)  # fmt: skip

SKIPPED = (
    {"id": "s1", "served": ["cups"], "used": ["cups"]},
    {"id": "s2", "prompt": "  ", "served": ["cups"], "used": ["cups"]},
    {"id": "s3", "prompt": "Wash.", "served": [], "used": []},
    {"id": "s4", "prompt": "Wash.", "used": ["cups"]},
    {"id": "s5", "prompt": "Wash.", "served": ["cups"]},
    {"id": "s6", "prompt": "Wash.", "served": ["cups"], "used": None},
    {"id": "s7", "prompt": "Wash.", "served": ["gone"], "used": ["gone"]},
)
