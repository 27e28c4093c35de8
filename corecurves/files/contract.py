"""What a curriculum must keep, each rule with the fault that it gives.

The rules are those of the sample-efficiency contract. A curriculum that says ``contract: false`` is
held only to those that its curve needs in order to mean anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from corecurves.errors import Fault
from corecurves.specs import Curriculum, Pack, Token
from corecurves.text import contains, counted, hits, normalise, words

__all__ = ["check_curriculum", "check_together", "contract_notes", "outside"]


def check_curriculum(
    curriculum: Curriculum,
    pack: Pack | None,
    file: str,
    places: Mapping[str, int],
    line: int,
    *,
    case: bool = False,
) -> list[Fault]:
    """Faults of one curriculum."""
    faults = [Fault(file, at or line, message) for at, message in _tokens(curriculum)]
    asked = {"probe": curriculum.probe, "opening": curriculum.opening}
    for key, text in asked.items():
        at = places.get(key, places.get("seed", line) if key == "opening" else line)
        for token, hit in zip(curriculum.tokens, curriculum.hits(text), strict=True):
            if hit:
                message = f"the {key} already contains the expected token '{token.text}'"
                made = key == "opening" and not {"opening", "seed"} & places.keys()
                remedy = "write an `opening:` without it" if made else "ask without it"
                faults.append(Fault(file, at, f"{message}; {remedy}"))
    if curriculum.contract:
        if not case:
            faults += [Fault(file, at or line, m) for at, m in _one_each(curriculum)]
        if pack is not None:
            concept = places.get("concept", line)
            faults += [Fault(file, at or concept, m) for at, m in _words(curriculum, pack)]
    if len(curriculum.concept.splitlines()) > 1:
        at = places.get("concept", line)
        faults.append(Fault(file, at, "the concept has a line break in it; write one line"))
    if not curriculum.tokens and not faults:
        at = places.get("corrections", line)
        faults.append(Fault(file, at, "no correction adds a token; write `adds:` on one"))
    return faults


def check_together(curricula: Sequence[Curriculum]) -> list[Fault]:
    """Faults that show only when curricula stand side by side."""
    first: dict[object, Curriculum] = {}
    faults = []
    for curriculum in curricula:
        other = first.setdefault(_told_by(curriculum.concept), curriculum)
        if other is curriculum:
            continue
        file, _, line = curriculum.source.rpartition(":")
        place = (file, int(line)) if file and line.isdigit() else (curriculum.source, 0)
        where = f" ({other.source})" if other.source else ""
        if other.split == curriculum.split:
            message = f"the concept '{curriculum.concept}' stands twice{where}"
            message += "; rename or remove one"
        else:
            message = f"the concept '{curriculum.concept}' is also in the split '{other.split}'"
            message += f"{where}; splits are disjoint: take another concept"
        faults.append(Fault(*place, message))
    return faults


def _told_by(concept: str) -> tuple[tuple[str, ...], str]:
    """What tells a concept from others: its words and symbols; all of it where it has no word."""
    normal, told = normalise(concept), words(concept)
    symbols = (c for c in normal if unicodedata.category(c)[0] == "S" or c in "&%#@*/\\")
    return told, "".join(symbols) if told else " ".join(normal.split())


Found = Iterator[tuple[int, str]]


def _tokens(curriculum: Curriculum) -> Found:
    """Faults of the tokens themselves."""
    forms_of: dict[tuple[str, ...], Token] = {}
    for correction in curriculum.corrections:
        for token in correction.adds:
            for form in token.forms:
                key = words(form)
                if not key:
                    yield (
                        correction.line,
                        f"the token '{form}' does not match itself: it has no word in it; "
                        "write a word",
                    )
                    continue
                owner = forms_of.setdefault(key, token)
                if owner.text == token.text and owner != token:
                    yield (
                        correction.line,
                        f"the token '{token.text}' stands twice with other forms; "
                        "list the same `also` in both places",
                    )
                if owner.text != token.text:
                    yield (
                        correction.line,
                        f"'{form}' stands for two tokens, '{owner.text}' and '{token.text}'; "
                        "give it to one",
                    )
            if any(words(f) for f in token.forms) and not any(hits([token.forms], correction.text)):
                yield (
                    correction.line,
                    f"the correction does not contain the token '{token.text}' that it adds; "
                    "write it into the text, or list the form that stands there under `also`",
                )


def _one_each(curriculum: Curriculum) -> Found:
    """Faults against "each correction introduces exactly one new expected token"."""
    seen: set[str] = set()
    for correction in curriculum.corrections:
        stands = curriculum.hits(correction.text)
        new = [t.text for t, hit in zip(curriculum.tokens, stands, strict=True) if hit]
        new = [text for text in new if text not in seen]
        said = [token.text for token in correction.adds]
        quoted = ", ".join(f"'{text}'" for text in new)
        if not correction.adds or not new:
            yield (
                correction.line,
                f'"{correction.text}" adds no new expected token; add one with `adds:`, '
                "or write `contract: false`",
            )
        elif len(new) > 1 or len(said) > 1:
            named = quoted if len(new) > 1 else ", ".join(f"'{text}'" for text in said)
            yield (
                correction.line,
                f"the correction adds more than one new expected token ({named}); "
                "split it, or write `contract: false`",
            )
        elif new != said:
            yield (
                correction.line,
                f"the correction says it adds '{said[0]}' but introduces {quoted}; "
                "correct `adds:` or the text",
            )
        seen |= set(new)


def outside(curriculum: Curriculum, pack: Pack) -> dict[str, int]:
    """Concept and expected tokens that are no words of a pack."""
    said = {curriculum.concept: 0} | {
        token.text: correction.line
        for correction in curriculum.corrections
        for token in correction.adds
    }
    return {w: at for w, at in said.items() if words(w) and normalise(w) not in pack.by_form}


def contract_notes(curricula: Iterable[Curriculum], pack: Pack) -> list[str]:
    """What curricula break of the contract without a fault, a line a file."""
    found = []
    for file, group in groupby(curricula, lambda one: one.source.partition(":")[0]):
        kept = [one for one in group if one.contract]
        unpacked = [one for one in kept if not one.pack]
        every = {w for one in unpacked for w in (one.concept, *(t.text for t in one.tokens))}
        missing = sorted({word for one in unpacked for word in outside(one, pack)})
        if missing:
            listed = ", ".join(missing[:8]) + ", …" * (len(missing) > 8)
            found.append(
                f"{file}: {len(missing)} of {len(every)} words are not in {pack.name}, the edition "
                f"of this library ({listed}): they matter to `grounded` alone"
            )
        breaks = [m for one in kept for _, m in _one_each(one)]
        if breaks:
            found.append(
                f"{file}: {counted(len(breaks), 'correction')} break the contract: {breaks[0]}"
            )
    return found


def _words(curriculum: Curriculum, pack: Pack) -> Found:
    """Faults of concepts and tokens that are not in the pack."""
    for word, line in outside(curriculum, pack).items():
        yield line, f"the {'token' if line else 'concept'} {_outside(word, pack)}"


def _outside(word: str, pack: Pack) -> str:
    near = [form for form in pack.by_form if contains(word, form)]
    hint = f"write '{near[0]}'" if near else "take a pack word"
    return (
        f"'{word}' is not in the pack {pack.name}; {hint}, name another `pack:`, "
        "or write `contract: false`"
    )
