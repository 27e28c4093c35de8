"""Models that a spec string names."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from corecurves.errors import UsageError, unknown
from corecurves.spec_strings import Spec, parse_spec, typed_settings

__all__ = ["make_model", "model_forms", "model_names"]

ENTRY_POINTS = "corecurves.models"


def make_model(text: str) -> Any:
    """Model that a spec string names.

    Examples
    --------
    >>> make_model("simulated?slip=0.1")
    SimulatedModel(slip=0.1, seed=0)
    """
    spec = parse_spec(text)
    return _factory(spec.name)(spec)


def model_names() -> list[str]:
    """Names that a spec string may begin with.

    Examples
    --------
    >>> model_names()[:4]
    ['smollm2', 'gguf', 'openai', 'simulated']
    """
    return [*_BUNDLED, *(point.name for point in entry_points(group=ENTRY_POINTS))]


def model_forms() -> dict[str, str]:
    """Forms of spec strings, each with one line on what it names.

    Examples
    --------
    >>> list(model_forms())[0]
    'smollm2'
    """
    found = {
        "smollm2": "SmolLM2-135M-Instruct on this machine (Apache-2.0)",
        "gguf:PATH": "any .gguf file on this machine",
        "openai:NAME@BASE_URL": "any endpoint that speaks OpenAI's protocol; ?key_env=NAME",
        "simulated": "a labelled simulation that answers with the facts of its lesson",
    }
    for point in entry_points(group=ENTRY_POINTS):
        package = point.dist.name if point.dist else "another package"
        found[point.name] = f"registered by {package}"
    return found


def _smollm2(spec: Spec) -> object:
    from corecurves.models.llama import LlamaModel
    from corecurves.models.weights import weights_path

    _no_argument(spec)
    options: dict[str, Any] = typed_settings(_llama_settings, spec.settings)
    return LlamaModel(weights_path("smollm2"), name="smollm2", **options)


def _gguf(spec: Spec) -> object:
    from corecurves.models.llama import LlamaModel

    if not spec.argument:
        raise UsageError("'gguf' needs the path of a file; write gguf:PATH")
    options: dict[str, Any] = typed_settings(_llama_settings, spec.settings)
    return LlamaModel(spec.argument, **options)


def _llama_settings(context: int = 8192, threads: int | None = None, template: str = "own") -> None:
    """What a spec string may set of a model in this process."""


def _openai(spec: Spec) -> object:
    from corecurves.models.openai import OpenAIModel, OpenAISettings
    from corecurves.models.openai_address import split_name

    name, base_url = split_name(spec.argument)
    options: dict[str, Any] = typed_settings(OpenAISettings, spec.settings)
    return OpenAIModel(name, base_url, settings=OpenAISettings(**options))


def _simulated(spec: Spec) -> object:
    from corecurves.models.simulated import SimulatedModel

    _no_argument(spec)
    options: dict[str, Any] = typed_settings(SimulatedModel, spec.settings)
    return SimulatedModel(**options)


def _no_argument(spec: Spec) -> None:
    if spec.argument:
        raise UsageError(f"'{spec.name}' takes nothing after ':'; write {spec.name}?setting=value")


_BUNDLED: dict[str, Callable[[Spec], object]] = {
    "smollm2": _smollm2,
    "gguf": _gguf,
    "openai": _openai,
    "simulated": _simulated,
}


def _factory(name: str) -> Callable[[Spec], object]:
    if name in _BUNDLED:
        return _BUNDLED[name]
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            make = point.load()
            return lambda spec: make(**typed_settings(make, spec.settings))
    raise UsageError(unknown("model", name, model_names()))
