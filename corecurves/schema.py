"""One table of all variables: it drives building, checking, saving and the documentation.

A variable is filled from the records of cells, or handed in by the evaluation. Along every
dimension of the plan that a variable does not have, the first cell fills it: ``hits`` has no
``replay``, so it comes from replay 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

__all__ = [
    "DESCENT",
    "LANE",
    "RECALL",
    "ROSE",
    "SCHEMA_VERSION",
    "SERVED",
    "STATUSES",
    "SWEPT",
    "Schema",
    "Variable",
]

SCHEMA_VERSION = "1"

STATUSES = ("ok", "call_failed", "cut_off", "unparsable", "skipped")
"""How a cell ended. A cell that is not ``ok`` is NaN, never a fail and never a pass."""


@dataclass(frozen=True)
class Variable:
    """One variable or coordinate of a Dataset.

    Parameters
    ----------
    name : str
        Its name; the record of a cell has the value under the same name.
    dims : tuple of str
        Its dimensions, in order.
    kind : {"float", "text", "flag"}
        Numbers (NaN where there is none), text (``""`` where there is none), or booleans.
    long_name, units : str
        For labels and tables; the units of a pure number are ``"1"``.
    role : {"result", "cost", "coordinate"}
        Results are identical whenever a run is repeated; costs vary.
    recorded : bool
        Whether a boolean ``NAME_recorded`` stands beside it that tells no text from ``""``.
    long : bool
        Whether it is left in the ledger under ``texts=False``.
    """

    name: str
    dims: tuple[str, ...]
    kind: Literal["float", "text", "flag"]
    long_name: str
    units: str = "1"
    role: Literal["result", "cost", "coordinate"] = "result"
    recorded: bool = False
    long: bool = False

    @property
    def attrs(self) -> dict[str, str]:
        """Attributes of the variable in a Dataset."""
        return {"long_name": self.long_name, "units": self.units, "role": self.role}

    @property
    def companion(self) -> Variable:
        """The boolean that says where the text was recorded."""
        return replace(
            self,
            name=f"{self.name}_recorded",
            kind="flag",
            long_name=f"whether there is a {self.long_name}",
            units="1",
            recorded=False,
            long=False,
        )


@dataclass(frozen=True)
class Schema:
    """The variables of one question's Dataset.

    Parameters
    ----------
    question : str
        ``lane``, ``rose``, ``recall`` or ``descent``.
    dims : tuple of str
        Dimensions of the plan, in order.
    variables : tuple of Variable
        All variables, coordinates included.
    """

    question: str
    dims: tuple[str, ...]
    variables: tuple[Variable, ...]

    def __getitem__(self, name: str) -> Variable:
        return next(variable for variable in self.variables if variable.name == name)

    def __contains__(self, name: object) -> bool:
        return any(variable.name == name for variable in self.variables)


_CELL = ("concept", "k", "arm", "sample")
_REPLAYED = (*_CELL, "replay")

LANE = Schema(
    "lane",
    _REPLAYED,
    (
        Variable("hits", _CELL, "float", "expected tokens hit by the probe's answer", "tokens"),
        Variable("token_hits", (*_CELL, "token"), "float",
                 "whether the token was hit; of an answer that was cut off, what it had said"),
        Variable("vault_hits", _CELL, "float", "memory entries retrieved for the probe", "entries"),
        Variable("status", _CELL, "text", "how the cell ended"),
        Variable("reason", _CELL, "text", "why it did not end well", recorded=True),
        Variable("surface", _CELL, "text", "answer to the probe", recorded=True, long=True),
        Variable("walk_surface", _CELL, "text", "path behind the answer", recorded=True, long=True),
        Variable("accepted", _CELL, "float", "whether the k-th correction was accepted"),
        Variable("review", _CELL, "text", "review of the k-th correction", recorded=True),
        Variable("trace_hash", _REPLAYED, "text", "hash of the whole session"),
        Variable("replay_status", _REPLAYED, "text", "how each replay ended"),
        Variable("replay_match", _CELL, "float", "whether all replays have the same trace hash"),
        Variable("correction", ("concept", "k", "arm"), "text", "k-th correction", recorded=True),
        Variable("adds", ("concept", "k"), "text", "token that the k-th correction adds"),
        Variable("expected", ("concept", "token"), "text", "expected token", recorded=True),
        Variable("introduced", ("concept", "token"), "float", "k that introduces the token", "k"),
        Variable("seconds", _REPLAYED, "float", "time that the cell took", "s", role="cost"),
        Variable("split", ("concept",), "text", "split", role="coordinate"),
        Variable("pack", ("concept",), "text", "vocabulary pack", role="coordinate"),
        Variable("shape", ("concept",), "text", "shape of the curriculum", role="coordinate"),
        Variable("contract", ("concept",), "flag", "whether it keeps the contract",
                 role="coordinate"),
        Variable("probe", ("concept",), "text", "probe", role="coordinate"),
        Variable("curriculum_length", ("concept",), "float", "corrections in the curriculum",
                 "corrections", role="coordinate"),
    ),
)  # fmt: skip

_NESTED = ("concept", "episode", "level", "arm", "sample")

ROSE = Schema(
    "rose",
    _NESTED,
    (
        Variable("passed", _NESTED, "float", "whether the candidate passed"),
        Variable("score", _NESTED, "float", "preference for the known-good outcome", "nats/token"),
        Variable("status", _NESTED, "text", "how the cell ended"),
        Variable("answer", _NESTED, "text", "answer of the model", recorded=True, long=True),
        Variable("reason", _NESTED, "text", "reason of the grade or failure", recorded=True),
        Variable("tokens_in", _NESTED, "float", "prompt tokens of all calls", "tokens",
                 role="cost"),
        Variable("tokens_out", _NESTED, "float", "tokens generated or scored", "tokens",
                 role="cost"),
        Variable("tokens_cached", _NESTED, "float", "prompt tokens not read again", "tokens",
                 role="cost"),
        Variable("seconds", _NESTED, "float", "time that the cell took", "s", role="cost"),
        Variable("task", ("concept", "episode"), "text", "task", recorded=True),
        Variable("lesson_text", ("concept", "level"), "text", "text of the lesson",
                 recorded=True, long=True),
        Variable("dropped", ("concept", "level"), "text", "claims that the level dropped"),
        Variable("kind", ("concept",), "text", "kind of lesson", role="coordinate"),
        Variable("family", ("concept",), "text", "family of the lesson", role="coordinate"),
        Variable("planted", ("concept", "level"), "text", "loss that was planted by hand",
                 role="coordinate"),
        Variable("compressor", ("concept", "level"), "text", "what made the level",
                 role="coordinate"),
        Variable("half", ("concept", "episode"), "text", "half of the split", role="coordinate"),
        Variable("episode_id", ("concept", "episode"), "text", "id of the episode",
                 role="coordinate"),
        Variable("leaked", ("concept", "episode", "level"), "flag",
                 "whether the level was made with the episode", role="coordinate"),
        Variable("lesson_tokens", ("concept", "level", "arm"), "float", "tokens served",
                 "o200k tokens", role="coordinate"),
        Variable("framing", ("concept", "episode", "sample"), "text", "framing of the prompt",
                 role="coordinate"),
        Variable("depth", ("level",), "float", "depth of the level", role="coordinate"),
    ),
)  # fmt: skip

_SERVED = ("case", "served", "sample")

SERVED = Schema(
    "served",
    _SERVED,
    (
        *(
            replace(ROSE[name], dims=_SERVED)
            for name in ("passed", "score", "status", "answer", "reason", "tokens_in",
                         "tokens_out", "tokens_cached", "seconds")
        ),
        Variable("kind", ("case",), "text", "kind of case", role="coordinate"),
    ),
)  # fmt: skip

_PAIR = ("episode", "lesson")
_PICK = (*_PAIR, "sample")

RECALL = Schema(
    "recall",
    _PICK,
    (
        Variable("kept", _PICK, "float", "whether the lesson would be served"),
        Variable("decision", _PICK, "text", "what became of the candidate"),
        Variable("score", _PICK, "float", "score of the selector"),
        Variable("silent", _PICK, "float", "whether the selector said nothing of it"),
        Variable("status", _PICK, "text", "how the cell ended"),
        Variable("reason", _PICK, "text", "what the selector says of its score", recorded=True),
        Variable("answer", _PICK, "text", "answer of the model", recorded=True, long=True),
        Variable("served", _PAIR, "float", "whether the lesson was served at the time"),
        Variable("used", _PAIR, "float", "whether it bore on the work; NaN for no candidate"),
        Variable("tokens_in", _PICK, "float", "prompt tokens of all calls", "tokens", role="cost"),
        Variable("tokens_out", _PICK, "float", "tokens generated or scored", "tokens",
                 role="cost"),
        Variable("tokens_cached", _PICK, "float", "prompt tokens not read again", "tokens",
                 role="cost"),
        Variable("seconds", _PICK, "float", "time that the cell took", "s", role="cost"),
        Variable("task", ("episode",), "text", "prompt", recorded=True),
        Variable("lesson_text", ("lesson",), "text", "text of the lesson", recorded=True,
                 long=True),
        Variable("outcome", ("episode",), "text", "outcome of the episode", role="coordinate"),
        Variable("created", ("episode",), "text", "when it was recorded", role="coordinate"),
        Variable("gone", ("episode",), "text", "lessons served that no longer exist",
                 role="coordinate"),
        Variable("lost", ("episode",), "text", "lessons used that no candidate stands for",
                 role="coordinate"),
        Variable("served_tokens", ("episode",), "float",
                 "tokens served at the time, of lessons that exist", "o200k tokens",
                 role="coordinate"),
        Variable("lesson_tokens", ("lesson",), "float", "tokens of the lesson", "o200k tokens",
                 role="coordinate"),
        Variable("family", ("lesson",), "text", "family of the lesson", role="coordinate"),
        Variable("depth", ("lesson",), "float", "depth of its level", role="coordinate"),
        Variable("lesson_status", ("lesson",), "text", "status in the store", role="coordinate"),
    ),
)  # fmt: skip

SWEPT = Variable("kept_at", (*_PICK, "threshold"), "float",
                 "whether the lesson would be served at a threshold")  # fmt: skip
"""What a sweep adds to `RECALL`."""

_LADDER = ("episode", "strategy", "step", "sample")
_REPEAT = ("episode", "sample")
_CLAIM = ("episode", "claim")

DESCENT = Schema(
    "descent",
    _LADDER,
    (
        Variable("tried", _LADDER, "float", "whether the step was tried"),
        *(
            replace(ROSE[name], dims=_LADDER)
            for name in ("passed", "score", "status", "answer", "reason", "tokens_in",
                         "tokens_out", "tokens_cached", "seconds")
        ),
        Variable("rescued", _LADDER, "float", "whether the failed episode passes by this step"),
        Variable("tokens_spent", _LADDER, "float", "tokens served so far", "o200k tokens"),
        Variable("calls", _LADDER, "float", "times the model was put the task so far", "calls"),
        Variable("rung", _LADDER, "text", "what was served"),
        Variable("rung_text", _LADDER, "text", "text served", recorded=True, long=True),
        Variable("fault", ("episode", "strategy", "sample"), "text", "what became of the ladder"),
        Variable("control_passed", _REPEAT, "float", "whether it passes with no lesson"),
        Variable("control_status", _REPEAT, "text", "how the control ended"),
        Variable("ceiling", _REPEAT, "float", "whether L0 passes where the short form fails"),
        Variable("claim_text", _CLAIM, "text", "claim that the shortest form lacks",
                 recorded=True),
        Variable("claim_kind", _CLAIM, "text", "kind of the claim"),
        Variable("claim_holder", _CLAIM, "text", "level or node that holds the claim"),
        Variable("claim_rank", _CLAIM, "float", "rank of the claim, 1 the most promising"),
        Variable("worth", _CLAIM, "float", "what the claim is ranked by"),
        Variable("usefulness", _CLAIM, "float", "usefulness that the judge sees"),
        Variable("attempts", _CLAIM, "float", "patches with it alone on train episodes", "calls"),
        Variable("rescues", _CLAIM, "float", "those of them that passed", "calls"),
        Variable("rescue_rate", _CLAIM, "float", "(rescues + 1) / (attempts + 2)"),
        Variable("token_share", _CLAIM, "float", "tokens of the claim over those of L0"),
        Variable("ranking_status", ("episode",), "text", "how the ranking ended"),
        Variable("ranking_reason", ("episode",), "text", "why there is none", recorded=True),
        Variable("judge_tokens_in", ("episode",), "float", "prompt tokens of the judge", "tokens",
                 role="cost"),
        Variable("judge_tokens_out", ("episode",), "float", "tokens that the judge made or scored",
                 "tokens", role="cost"),
        Variable("task", ("episode",), "text", "task", recorded=True),
        Variable("concept", ("episode",), "text", "lesson", role="coordinate"),
        Variable("episode_id", ("episode",), "text", "id of the episode", role="coordinate"),
        Variable("family", ("episode",), "text", "family of the lesson", role="coordinate"),
        Variable("kind", ("episode",), "text", "kind of lesson", role="coordinate"),
        Variable("leaked", ("episode",), "flag",
                 "whether a form of the lesson was made with the episode", role="coordinate"),
        Variable("short_level", ("episode",), "text", "shortest level", role="coordinate"),
        Variable("short_tokens", ("episode",), "float", "tokens of the shortest level",
                 "o200k tokens", role="coordinate"),
        Variable("full_tokens", ("episode",), "float", "tokens of L0", "o200k tokens",
                 role="coordinate"),
        Variable("framing", _REPEAT, "text", "framing of the prompt", role="coordinate"),
    ),
)  # fmt: skip
