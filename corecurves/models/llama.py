"""A language model in this process, through llama.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from corecurves.canonical import JSON
from corecurves.errors import CellFailure, UsageError, unknown
from corecurves.models.base import Completion, CutOff, LogProb, Message
from corecurves.models.gguf_header import read_header
from corecurves.models.llama_calls import force, keeps, prime, prompt_text, token_ids
from corecurves.models.llama_server import INSTALL, Calls, LlamaServer
from corecurves.models.weights import file_digest
from corecurves.specs import Identity

__all__ = ["LlamaModel"]

_SAMPLER: dict[str, JSON] = {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0}
_SEEDS = 2**32 - 1
"""To llama.cpp, this number itself is no seed: it draws one."""


class LlamaModel:
    """A model in llama.cpp's own file format.

    Parameters
    ----------
    path : str or Path
        The weights, a ``.gguf`` file.
    name : str or None
        What to call it; None for the file's name.
    context : int
        Tokens of the longest prompt with its reply.
    threads : int or None
        Threads of a call; None leaves one processor for others. It moves no score, so it is no
        part of the identity.
    template : {"own", "plain"}
        How messages become a prompt: by the model's own chat template, or as their texts with a
        blank line between them, which is what a base model reads.

    Raises
    ------
    UsageError
        If there is no such file, it is no .gguf file or has no chat template of its own, llama.cpp
        is not installed, or a setting is out of range.
    """

    concurrency = 1

    def __init__(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        context: int = 8192,
        threads: int | None = None,
        template: str = "own",
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        if not self.path.is_file():
            raise UsageError(f"there is no file {path}; give the path of a .gguf file")
        if find_spec("xllamacpp") is None:
            raise UsageError(INSTALL)
        if context < 256:
            raise UsageError(f"`context` is {context}; give 256 or more")
        if threads is not None and threads < 1:
            raise UsageError(f"`threads` is {threads}; give 1 or more")
        if template not in ("own", "plain"):
            raise UsageError(unknown("template", template, ("own", "plain")))
        self._header = read_header(self.path)
        if template == "own" and not self._header.template:
            raise UsageError(
                f"{path} has no chat template, so it is a base model, or lost it; write "
                f"gguf:{path}?template=plain to put the bare texts to it"
            )
        self._plain = template == "plain"
        self._options = {
            "name": name, "context": context, "threads": threads, "template": template,
        }  # fmt: skip
        self._server = LlamaServer(self.path, context=context, threads=threads)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (str(self.path), self._options)

    @property
    def context(self) -> int:
        """Tokens that a prompt and its reply may take together."""
        return int(str(self._options["context"]))

    @cached_property
    def identity(self) -> Identity:
        """Who answers: the weights' digest, the backend's version, and what moves its numbers."""
        plain: dict[str, JSON] = {"template": "plain"} if self._plain else {}
        return Identity(
            str(self._options["name"] or self.path.stem),
            file_digest(self.path)[:12],
            {
                "weights_sha256": file_digest(self.path),
                "backend": f"xllamacpp {_backend_version()}",
                "context": self._options["context"],
                "flash_attention": False,
                # A recurrent memory is not kept from call to call, so there is nothing to prime.
                "primed": not self._header.recurrent,
                "slots": 1,
                "sampler": _SAMPLER,
                **plain,
            },
        )

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        seed: int,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """Complete messages, in the model's own chat template."""

        def work(calls: Calls) -> Completion:
            prompt = self._fitting(token_ids(calls, self._prompt(calls, messages)), 1)
            cached = prime(calls, prompt)
            calls.forced = None
            reply = calls.post(
                "/completion",
                {
                    "prompt": prompt,
                    "n_predict": max_tokens,
                    "cache_prompt": keeps(calls),
                    "temperature": temperature,
                    "seed": seed % _SEEDS,
                    **_SAMPLER,
                    "response_fields": ["content", "tokens_predicted", "stop_type"],
                },
            )
            whole = reply["stop_type"] != "limit"
            completion = Completion(
                reply["content"],
                "stop" if whole else "length",
                len(prompt),
                reply["tokens_predicted"],
                cached,
            )
            if not whole:
                raise CutOff(f"the reply was cut off at {completion.tokens_out} tokens", completion)
            return completion

        return await self._server.run(work)

    async def logprob(self, messages: Sequence[Message], text: str) -> LogProb:
        """Log-probability of a text as the reply to messages."""
        if not text:
            raise UsageError("`text` is empty; an empty text has no log-probability a token")

        def work(calls: Calls) -> LogProb:
            written = self._prompt(calls, messages)
            prompt = token_ids(calls, written)
            whole = token_ids(calls, written + text)
            # A text that begins with a space may melt into the prompt's last token.
            joined = whole[: len(prompt)] == prompt
            forced = whole[len(prompt) :] if joined else token_ids(calls, text, begin=False)
            self._fitting(prompt, len(forced))
            cached = prime(calls, prompt)
            return LogProb(force(calls, prompt, forced), len(forced), len(prompt), cached)

        return await self._server.run(work)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, in the model's own tokens."""
        return len(self._server.run_blocking(lambda calls: token_ids(calls, text, begin=False)))

    def close(self) -> None:
        """Stop llama.cpp and free the weights; the next call starts it again."""
        self._server.close()

    def _prompt(self, calls: Calls, messages: Sequence[Message]) -> str:
        if self._plain:
            return "".join(f"{message['content']}\n\n" for message in messages)
        return prompt_text(calls, messages)

    def _fitting(self, prompt: list[int], more: int) -> list[int]:
        if (needed := len(prompt) + more) > self.context:
            raise CellFailure(
                "call_failed",
                f"prompt and reply take {needed} tokens, the context has {self.context}",
            )
        return prompt


def _remake(path: str, options: dict[str, Any]) -> LlamaModel:
    return LlamaModel(path, **options)


def _backend_version() -> str:
    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        return "of unknown version"
