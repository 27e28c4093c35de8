"""A curriculum as a table that can be edited: pure steps, each of which gives a new table."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from corecurves.errors import Fault, FileFaults, UsageError
from corecurves.files.contract import check_curriculum
from corecurves.files.curricula import load_curricula
from corecurves.files.markdown import looks_like_markdown
from corecurves.specs import Correction, Curriculum, Token

__all__ = ["Edits", "adds_text", "curriculum_yaml", "read_adds", "save_curriculum"]


@dataclass(frozen=True)
class Edits:
    """The corrections of a curriculum while they are edited; they may be at fault.

    Parameters
    ----------
    original : Curriculum
        What was there before.
    corrections : tuple of Correction
        What stands in the table.
    """

    original: Curriculum
    corrections: tuple[Correction, ...]

    @classmethod
    def of(cls, curriculum: Curriculum) -> Edits:
        """The unedited table of a curriculum."""
        return cls(curriculum, curriculum.corrections)

    @property
    def changed(self) -> bool:
        """Whether the table differs from the original."""
        return self.corrections != self.original.corrections

    def add(self, at: int) -> Edits:
        """With an empty row at a place, counted from 0."""
        return self._with((*self.corrections[:at], Correction(""), *self.corrections[at:]))

    def drop(self, at: int) -> Edits:
        """Without a row."""
        return self._with(self.corrections[:at] + self.corrections[at + 1 :])

    def move(self, at: int, by: int) -> Edits:
        """With a row moved up (-1) or down (1); at an end it stays where it is."""
        to = at + by
        if not 0 <= to < len(self.corrections):
            return self
        rows = list(self.corrections)
        rows.insert(to, rows.pop(at))
        return self._with(tuple(rows))

    def say(self, at: int, text: str) -> Edits:
        """With another text in a row."""
        return self._replaced(at, replace(self.corrections[at], text=text))

    def expect(self, at: int, adds: str) -> Edits:
        """With other expected tokens in a row, written as `read_adds` reads them."""
        return self._replaced(at, replace(self.corrections[at], adds=read_adds(adds)))

    def read(self, text: str) -> Edits:
        """With the corrections of a YAML text."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "edited.yaml")
            file.write_text(text, encoding="utf-8")
            # The name in a fault is the one that was written, not where the text lay.
            try:
                found = load_curricula(file)
            except FileFaults as error:
                named = [replace(fault, file="YAML") for fault in error.faults]
                raise FileFaults(named) from None
        if len(found) != 1:
            raise UsageError(f"the YAML has {len(found)} curricula; write one")
        for name in _differing(found[0], self.original):
            if name not in ("corrections", "contract"):
                raise UsageError(f"`{name}` of the YAML differs; only corrections can be edited")
        return self._with(found[0].corrections)

    def curriculum(self) -> Curriculum:
        """The edited curriculum, checked."""
        if not self.changed:
            return self.original
        numbered = tuple(replace(c, line=i) for i, c in enumerate(self.corrections, start=1))
        made = replace(self.original, corrections=numbered, contract=False)
        faults = [
            Fault(f"correction {c.line}", 0, "it is empty; write what is said, or drop it")
            for c in numbered
            if not c.text.strip()
        ]
        if not numbered:
            faults = [Fault("the table", 0, "no correction is left; add one")]
        for fault in [] if faults else check_curriculum(made, None, "", {}, 0):
            where = f"correction {fault.line}" if fault.line else made.concept
            faults.append(Fault(where, 0, fault.message))
        if faults:
            raise FileFaults(faults)
        return made

    def _with(self, rows: tuple[Correction, ...]) -> Edits:
        return replace(self, corrections=rows)

    def _replaced(self, at: int, row: Correction) -> Edits:
        return self._with((*self.corrections[:at], row, *self.corrections[at + 1 :]))


def adds_text(tokens: tuple[Token, ...]) -> str:
    """Tokens in one line: ``judgment | judgments, doubt``."""
    return ", ".join(" | ".join(token.forms) for token in tokens)


def read_adds(text: str) -> tuple[Token, ...]:
    """Tokens of such a line.

    Examples
    --------
    >>> read_adds("judgment | judgments, doubt")
    (Token(text='judgment', also=('judgments',)), Token(text='doubt', also=()))
    """
    found = []
    for piece in text.split(","):
        forms = [form.strip() for form in piece.split("|") if form.strip()]
        if forms:
            found.append(Token(forms[0], tuple(forms[1:])))
    return tuple(found)


def curriculum_yaml(curriculum: Curriculum) -> str:
    """A curriculum as the text of a YAML file that `load_curricula` reads back.

    Examples
    --------
    >>> import corecurves as cc
    >>> print(curriculum_yaml(cc.load_curricula("dev")[0]).splitlines()[0])
    concept: hope
    """
    import yaml

    rows = []
    for correction in curriculum.corrections:
        row: dict[str, object] = {"text": correction.text}
        adds: list[object] = [
            {"token": token.text, "also": list(token.also)} if token.also else token.text
            for token in correction.adds
        ]
        if adds:
            row["adds"] = adds[0] if adds == [correction.adds[0].text] else adds
        rows.append(row)
    content: dict[str, object] = {
        "concept": curriculum.concept,
        "shape": curriculum.shape,
        **({"split": curriculum.split} if curriculum.split else {}),
        "pack": curriculum.pack or "none",
        "probe": curriculum.probe,
        "opening": curriculum.opening,
        **({} if curriculum.contract else {"contract": False}),
        "corrections": rows,
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
    if yaml.safe_load(text) == content:
        return text
    # Some characters, such as U+0085, end a line in YAML unless they are escaped.
    return yaml.safe_dump(content, sort_keys=False, width=1000)


def save_curriculum(curriculum: Curriculum, path: str | Path, *, replaces: bool = False) -> Path:
    """Save a curriculum as YAML, after it was read back."""
    if not str(path).strip():
        raise UsageError("there is no file name; write one that ends in .yaml")
    target = Path(path).expanduser().absolute()
    if target.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{path} is no YAML file; write {target.name}.yaml")
    if target.exists() and not replaces:
        raise UsageError(f"{path} is there already and is left as it is; write another name")
    inside = next((folder for folder in target.parents if _is_lessons(folder)), None)
    if inside is not None:
        raise UsageError(f"{path} lies inside the store {inside}, which is read-only; give another")
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{target.stem}-", suffix=".yaml", dir=target.parent
        )
        sibling = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(curriculum_yaml(curriculum))
            back = load_curricula(sibling)
            if len(back) != 1 or _differing(back[0], curriculum):
                raise UsageError(f"{path} would not be read back as it is; it was not written")
            sibling.replace(target)
        finally:
            sibling.unlink(missing_ok=True)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be written ({why}); give a writable folder") from error
    return target


def _is_lessons(folder: Path) -> bool:
    return (folder / "nodes").is_dir() or looks_like_markdown(folder)


def _differing(back: Curriculum, made: Curriculum) -> list[str]:
    """Fields in which a curriculum that was read differs from the one that was written."""
    # A curriculum without a split gets the name of its folder.
    free = () if made.split else ("split",)
    wanted = made.content()
    return [n for n, value in back.content().items() if n not in free and value != wanted[n]]
