"""Reading of vocabulary packs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from yaml.nodes import Node

from corecurves.bundled import bundled_names, bundled_path
from corecurves.errors import Fault, FileFaults, UsageError, unknown
from corecurves.files.yaml_text import Reader, read_text
from corecurves.specs import Lemma, Pack, Relation
from corecurves.text import normalise, words

__all__ = ["STANDARD_PACK", "load_pack", "pack_path"]

STANDARD_PACK = "en_core_cognition_v1"
_POS = ("noun", "adjective", "verb", "adverb")


def load_pack(name: str | Path = STANDARD_PACK) -> Pack:
    """Vocabulary pack by name or file.

    Parameters
    ----------
    name : str or Path
        Name of a bundled pack, or path of a pack file (``.yaml`` or ``.yml``).

    Returns
    -------
    Pack
        The pack.

    Raises
    ------
    UsageError
        If no pack has this name.
    FileFaults
        If something is wrong in the file: every fault, with its line.

    Examples
    --------
    >>> load_pack().edition
    'corecurves'
    """
    path = pack_path(name)
    return _read(path, str(name) if Path(name).suffix else f"{name}.yaml", _stamp(path))


def pack_path(name: str | Path, beside: Path | None = None) -> Path:
    """File of a pack."""
    if Path(name).suffix in (".yaml", ".yml"):
        for candidate in [Path(beside) / name] if beside else []:
            if candidate.is_file():
                return candidate
        if Path(name).is_file():
            return Path(name)
        raise UsageError(f"the pack file {name} does not exist; give a path to one")
    known = [Path(file).stem for file in bundled_names("curricula", "packs")]
    if str(name) not in known:
        raise UsageError(unknown("pack", str(name), known))
    return bundled_path("curricula", "packs", f"{name}.yaml")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=16)
def _read(path: Path, name: str, _stamp: tuple[int, int]) -> Pack:
    faults: list[Fault] = []
    pack = None
    text = read_text(path, name, faults)
    if text is not None:
        reader = Reader(name, faults)
        root = reader.parse(text)
        if root is not None:
            pack = _pack(reader, root)
    if faults or pack is None:
        raise FileFaults(faults)
    return pack


def _pack(reader: Reader, root: Node) -> Pack | None:
    table = reader.mapping(
        root, "a pack", required=("pack", "relations", "lemmas"),
        optional=("edition", "language", "note"),
    )  # fmt: skip
    if table is None:
        return None
    named = {
        key: reader.text(table[key], key) or ""
        for key in ("pack", "edition", "language", "note")
        if key in table
    }
    relations = [_relation(reader, node) for node in reader.items(table["relations"], "relations")]
    lemmas = [_lemma(reader, node) for node in reader.items(table["lemmas"], "lemmas")]
    seen: dict[str, int] = {}
    for lemma, node in zip(lemmas, getattr(table["lemmas"], "value", []), strict=True):
        for form in (lemma.text, *lemma.forms) if lemma else ():
            key = normalise(form)
            if key in seen:
                reader.fault(node, f"the word '{form}' also stands at line {seen[key]}; keep one")
            if len(words(form)) != 1:
                reader.fault(node, f"'{form}' is not one word; write one word a lemma")
            seen[key] = reader.line(node)
    names: set[str] = set()
    for relation, node in zip(relations, getattr(table["relations"], "value", []), strict=True):
        if relation and relation.name in names:
            reader.fault(node, f"the relation '{relation.name}' stands twice; keep one")
        names.add(relation.name if relation else "")
    return Pack(
        name=named.get("pack", ""),
        edition=named.get("edition", ""),
        language=named.get("language", ""),
        note=named.get("note", ""),
        lemmas=tuple(lemma for lemma in lemmas if lemma),
        relations=tuple(relation for relation in relations if relation),
    )


def _relation(reader: Reader, node: Node) -> Relation | None:
    keys = ("name", "base", "third", "gloss")
    table = reader.mapping(node, "a relation", required=keys)
    if table is None:
        return None
    name, base, third, gloss = (reader.text(table[key], key) for key in keys)
    return Relation(name, base, third, gloss) if name and base and third and gloss else None


def _lemma(reader: Reader, node: Node) -> Lemma | None:
    table = reader.mapping(node, "a lemma", required=("lemma", "pos", "gloss"), optional=("forms",))
    if table is None:
        return None
    text, pos, gloss = (reader.text(table[key], key) for key in ("lemma", "pos", "gloss"))
    if pos and pos not in _POS:
        reader.fault(table["pos"], unknown("pos", pos, _POS))
    forms = [
        reader.text(item, "forms")
        for item in (reader.items(table["forms"], "forms") if "forms" in table else ())
    ]
    if not (text and pos and gloss):
        return None
    return Lemma(text, pos, gloss, tuple(form for form in forms if form))
