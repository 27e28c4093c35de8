"""Reading of curricula: YAML, JSON lines and Python values, through one validator.

Nothing is run before everything is read: the faults of all files are raised together, each with its
file, its line, what is wrong and what to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from yaml.nodes import MappingNode, Node, SequenceNode

from corecurves.bundled import bundled_names, bundled_path
from corecurves.errors import Fault, FileFaults, UsageError, a_type, unknown
from corecurves.files.contract import check_curriculum, check_together, outside
from corecurves.files.corrections import read_case, read_corrections
from corecurves.files.markdown import looks_like_markdown
from corecurves.files.markdown_episodes import EPISODE_FILES
from corecurves.files.nodes import json_lines, value_node
from corecurves.files.packs import STANDARD_PACK, load_pack, pack_path
from corecurves.files.yaml_text import Reader, read_text, spelled
from corecurves.specs import Correction, Curriculum, Pack

__all__ = ["CurriculumSource", "check_curricula", "load_curricula", "load_filler", "splits"]

CurriculumSource = str | Path | Curriculum | Mapping[str, object] | Iterable[object]

_YAML = (".yaml", ".yml")
_SUFFIXES = (*_YAML, ".jsonl")
_NOT_CURRICULA = ("packs", "filler.yaml")
_NOT_SPLITS = (*_NOT_CURRICULA, "examples")
_REQUIRED = ("concept", "probe", "corrections")
_OPTIONAL = ("opening", "shape", "split", "pack", "contract")
_CASE_REQUIRED = ("concept", "curriculum", "probe", "expected_tokens")
_LESSONS = "holds lessons or their episodes, no curricula; see `corecurves rose eval`"
_CASE_OPTIONAL = ("seed", *_OPTIONAL)


def splits() -> list[str]:
    """Names of the bundled splits.

    Examples
    --------
    >>> {"public", "holdouts", "dev", "stress"} <= set(splits())
    True
    """
    return [
        name
        for name in bundled_names("curricula")
        if name not in _NOT_SPLITS and bundled_path("curricula", name).is_dir()
    ]


def load_curricula(source: CurriculumSource = "public") -> tuple[Curriculum, ...]:
    """Curricula from a bundled split, a file, a folder, mappings, or a mixture in a list.

    Parameters
    ----------
    source : str, Path, Curriculum, mapping, or iterable of these
        ``"public"``, ``"holdouts"``, ``"dev"``, ``"stress"``; a ``.yaml`` or ``.jsonl`` file; a
        folder of these; a mapping with the keys of such a file.

    Returns
    -------
    tuple of Curriculum
        In order of file name, and within a file in its order.

    Raises
    ------
    UsageError
        If there is no such split or file, or nothing in it.
    FileFaults
        If something is wrong in them: every fault, with file and line.

    Examples
    --------
    >>> [len(c) for c in load_curricula({"concept": "wisdom", "probe": "What is wisdom?",
    ...     "corrections": [{"text": "No, wisdom is judgment.", "adds": "judgment"}]})]
    [1]
    """
    found, faults = check_curricula(source)
    if faults:
        raise FileFaults(faults)
    return found


def check_curricula(
    source: CurriculumSource,
) -> tuple[tuple[Curriculum, ...], tuple[Fault, ...]]:
    """Curricula of a source, and everything that is wrong in it."""
    faults: list[Fault] = []
    found = _gather(source, faults)
    if not found and not faults:
        shown = source if isinstance(source, str | Path) else repr(source)
        raise UsageError(f"there is no curriculum in {shown}; give a split, a file or a folder")
    faults += check_together(found)
    return tuple(found), tuple(sorted(set(map(spelled, faults))))


def load_filler(source: str | Path | None = None) -> tuple[Correction, ...]:
    """Neutral corrections for a control arm that has no other concept to draw on.

    Examples
    --------
    >>> len(load_filler()) >= 8
    True
    """
    path = Path(source) if source else bundled_path("curricula", "filler.yaml")
    faults: list[Fault] = []
    reader = Reader(path.name, faults)
    found = []
    text = read_text(path, path.name, faults)
    root = reader.parse(text) if text is not None else None
    table = reader.mapping(root, "a filler file", required=("filler",)) if root else None
    for node in reader.items(table["filler"], "filler") if table else ():
        line = reader.text(node, "filler")
        if line:
            found.append(Correction(line, line=reader.line(node)))
    if faults:
        raise FileFaults(faults)
    return tuple(found)


def _gather(source: CurriculumSource, faults: list[Fault], where: str = "") -> list[Curriculum]:
    if isinstance(source, Curriculum):
        return [source]
    if isinstance(source, Mapping):
        reader = Reader(where or "curriculum", faults)
        return _curricula(reader, [value_node(source)], Path(), "")
    if isinstance(source, str | Path):
        return [c for path, split in _files(source) for c in _read_file(path, split, faults)]
    if isinstance(source, Iterable):
        gathered = []
        for i, item in enumerate(source):
            gathered += _gather(item, faults, f"curricula[{i}]")  # type: ignore[arg-type]
        return gathered
    raise UsageError(
        f"{where or 'the curriculum'} is {a_type(source)}; "
        "give a split, a file, a folder, a mapping or a Curriculum"
    )


def _files(source: str | Path) -> list[tuple[Path, str]]:
    if not str(source).strip():
        raise UsageError("the name of the curricula is empty; give a split, a file or a folder")
    path = Path(source)
    if isinstance(source, str) and source in splits() and not path.is_file():
        path = bundled_path("curricula", source)
    if path.is_file():
        if path.suffix not in _SUFFIXES:
            raise UsageError(f"{path} is no curriculum file; give {', '.join(_SUFFIXES)}")
        if _beside_lessons(path):
            raise UsageError(f"{path} {_LESSONS}")
        return [(path, _split(path))]
    if not path.is_dir():
        raise UsageError(f"{unknown('split', str(source), splits())}; nor is it a file or folder")
    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix in _SUFFIXES
        and not any(part in _NOT_CURRICULA for part in file.relative_to(path).parts)
        and not _beside_lessons(file)
    ]
    if not files and looks_like_markdown(path):
        raise UsageError(f"{path} {_LESSONS}")
    if not files:
        raise UsageError(f"the folder {path} has no {' or '.join(_SUFFIXES)} file in it")
    return [(file, _split(file)) for file in files]


def _split(file: Path) -> str:
    """Name of the folder, or of the one above where that is a version: ``public/v1``."""
    folder = file.resolve().parent
    return (folder.parent if re.fullmatch(r"v\d+", folder.name) else folder).name


def _beside_lessons(file: Path) -> bool:
    """Whether a file holds the episodes of lessons in Markdown that lie beside it."""
    return file.name in EPISODE_FILES and looks_like_markdown(file.parent)


def _read_file(path: Path, split: str, faults: list[Fault]) -> list[Curriculum]:
    name = _shown(path)
    text = read_text(path, name, faults)
    if text is None:
        return []
    reader = Reader(name, faults)
    if path.suffix not in _YAML:
        nodes = json_lines(text, name, faults)
    else:
        root = reader.parse(text)
        nodes = [] if root is None else [root]
    return _curricula(reader, nodes, path.parent, split)


def _shown(path: Path) -> str:
    """Path as a reader finds it again: bundled files from the library's data folder on."""
    root = bundled_path("curricula")
    return str(path.relative_to(root.parent)) if path.is_relative_to(root) else str(path)


def _curricula(reader: Reader, nodes: list[Node], folder: Path, split: str) -> list[Curriculum]:
    flat: list[Node] = []
    for node in nodes:
        flat += node.value if isinstance(node, SequenceNode) else [node]
    found = [_curriculum(reader, node, folder, split) for node in flat]
    return [curriculum for curriculum in found if curriculum is not None]


def _curriculum(reader: Reader, node: Node, folder: Path, split: str) -> Curriculum | None:
    is_case = isinstance(node, MappingNode) and any(
        getattr(key, "value", None) in ("curriculum", "expected_tokens") for key, _ in node.value
    )
    before = len(reader.faults)
    table = reader.mapping(
        node, "a curriculum",
        required=_CASE_REQUIRED if is_case else _REQUIRED,
        optional=_CASE_OPTIONAL if is_case else _OPTIONAL,
    )  # fmt: skip
    if table is None:
        return None
    text = {
        key: reader.text(table[key], key)
        for key in ("concept", "probe", "opening", "seed", "shape", "split", "pack")
        if key in table
    }
    flag = reader.flag(table["contract"], "contract") if "contract" in table else True
    contract = flag if flag is not None else True
    # Whoever names no pack has not promised its words, and a case is written for another system.
    default = "none" if is_case else STANDARD_PACK
    pack = _pack(reader, table.get("pack"), text.get("pack", default), folder)
    found_before = len(reader.faults)
    corrections = (
        read_case(reader, table) if is_case else read_corrections(reader, table["corrections"])
    )
    if len(reader.faults) > found_before or not corrections:
        return None
    concept, probe = text["concept"] or "", text["probe"] or ""
    # A case's `seed` is the turn before the first correction; it is the probe where there is none.
    first = (text.get("seed") or probe) if is_case else f"Tell me about {concept}."
    curriculum = Curriculum(
        concept=concept,
        probe=probe,
        corrections=tuple(corrections),
        opening=text.get("opening") or first,
        shape=text.get("shape") or "mixed",
        split=text.get("split") or split,
        contract=contract,
        source=reader.name if reader.line(node) == 0 else f"{reader.name}:{reader.line(node)}",
    )
    if pack and "pack" not in table and contract and outside(curriculum, pack):
        pack = None
    if pack:
        curriculum = replace(
            curriculum, pack=pack.name, pack_digest=pack.digest,
            pack_source=_pack_source(text.get("pack", default) or "", folder),
        )  # fmt: skip
    places = {key: reader.line(table[key]) for key in table}
    whole = len(reader.faults) == before
    reader.faults += check_curriculum(
        curriculum, pack, reader.name, places, reader.line(node), case=is_case
    )
    return curriculum if whole else None


def _pack_source(name: str, folder: Path) -> str:
    file = Path(name).suffix in (".yaml", ".yml")
    return str(pack_path(name, folder).absolute()) if file else name


def _pack(reader: Reader, node: Node | None, name: str | None, folder: Path) -> Pack | None:
    if name in (None, "none"):
        return None
    try:
        return load_pack(pack_path(name, folder))
    except UsageError as error:
        reader.fault(node, f"{error}; or write `pack: none`")
    except FileFaults as error:
        reader.faults += error.faults
    return None
