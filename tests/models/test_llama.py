from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
import threading
import time

import pytest

from corecurves.engine import loop
from corecurves.errors import CellFailure, PermanentFailure, UsageError
from corecurves.models import llama as module
from corecurves.models.base import CutOff
from corecurves.models.llama import LlamaModel
from corecurves.models.resolve import as_model

from .conftest import run, user
from .tiny_gguf import write_tiny

ASK = user("Name a fruit.")
STORY = user("Write a very long story about a dragon.")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no file"):
        LlamaModel(tmp_path / "none.gguf")


@pytest.mark.parametrize("setting", [{"context": 8}, {"threads": 0}, {"template": "chatml"}])
def test_settings_out_of_range(tmp_path, setting):
    (tmp_path / "a.gguf").write_bytes(b"")
    with pytest.raises(UsageError, match=next(iter(setting))):
        LlamaModel(tmp_path / "a.gguf", **setting)


def test_without_llama_cpp(tmp_path, monkeypatch):
    (tmp_path / "a.gguf").write_bytes(b"")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"corecurves\[lm\]"):
        LlamaModel(tmp_path / "a.gguf")


def test_settings_of_a_spec_string(tmp_path):
    write_tiny(tmp_path / "a.gguf", "llama")
    write_tiny(tmp_path / "b.gguf", "lfm2")
    path = tmp_path / "a.gguf"
    one = as_model(f"gguf:{path}").identity
    assert one.name == "a"
    assert as_model(f"gguf:{path}?threads=2").identity == one
    assert as_model(f"gguf:{path}?context=512").identity != one
    assert as_model(f"gguf:{path}?template=own").identity == one
    assert as_model(f"gguf:{path}?template=plain").identity != one
    assert as_model(f"gguf:{tmp_path / 'b.gguf'}").identity.settings != one.settings
    assert json.dumps(one.content())
    with pytest.raises(UsageError, match="name"):
        as_model(f"gguf:{path}?name=x")


@pytest.mark.timeout(60)
def test_a_file_that_is_no_model(tmp_path, capfd):
    pytest.importorskip("xllamacpp")
    (tmp_path / "a.gguf").write_bytes(b"no model")
    with pytest.raises(UsageError, match=r"no \.gguf file"):
        LlamaModel(tmp_path / "a.gguf")
    (tmp_path / "a.gguf").write_bytes(b"GGUF no model, tokenizer.chat_template")
    with pytest.raises(PermanentFailure, match="cannot load") as caught:
        run(LlamaModel(tmp_path / "a.gguf").generate(ASK, seed=0))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestWithWeights:
    def test_the_same_identity_in_any_process(self, smollm2, weights):
        code = (
            "import json, sys; from corecurves.models.resolve import as_model\n"
            "print(json.dumps(as_model('smollm2').identity.content()))\n"
            "assert 'xllamacpp' not in sys.modules"
        )
        found = []
        for hash_seed in ("1", "2"):
            done = subprocess.run(
                [sys.executable, "-c", code],
                env={
                    **os.environ,
                    "PYTHONHASHSEED": hash_seed,
                    "CORECURVES_CACHE": str(weights.parent.parent),
                },
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.stderr == ""
            found.append(done.stdout)
        assert json.loads(found[0]) == json.loads(found[1]) == smollm2.identity.content()
        assert len(smollm2.identity.settings["weights_sha256"]) == 64
        assert str(weights) not in found[0]

    def test_seeds(self, smollm2):
        def text(seed, temperature=1.2):
            options = {"temperature": temperature, "max_tokens": 40}
            try:
                return run(smollm2.generate(ASK, seed=seed, **options)).text
            except CutOff as cut:
                return cut.completion.text

        first = text(1)
        assert text(1) == first
        assert len({first, text(2), text(3)}) > 1
        assert text(-1) == text(-1)
        assert text(5, temperature=0.0) == text(6, temperature=0.0)

    def test_a_sampled_reply_does_not_depend_on_what_came_before(self, smollm2, weights):
        first = run(smollm2.generate(ASK, seed=4, temperature=0.9, max_tokens=300))
        run(smollm2.logprob(user("Name a fruit and a colour."), "Red plum."))
        other = LlamaModel(weights)
        try:
            fresh = run(other.generate(ASK, seed=4, temperature=0.9, max_tokens=300))
        finally:
            other.close()
        assert fresh.text == first.text

    def test_what_a_reply_costs(self, smollm2):
        first = run(smollm2.generate(ASK, seed=0))
        again = run(smollm2.generate(ASK, seed=0))
        assert first.text == again.text != ""
        assert first.finish == "stop"
        assert first.tokens_in == again.tokens_in > 20
        assert again.tokens_cached == again.tokens_in - 1
        assert 0 < first.tokens_out <= smollm2.count_tokens(first.text) + 1

    def test_cut_off(self, smollm2):
        with pytest.raises(CutOff) as caught:
            run(smollm2.generate(STORY, seed=0, max_tokens=5))
        assert caught.value.completion.tokens_out == 5
        assert caught.value.completion.text

    @pytest.mark.parametrize("call", ["generate", "logprob"])
    def test_a_prompt_that_is_too_long(self, smollm2, call):
        prompt = user("word " * 9000)
        options = {"generate": {"seed": 0}, "logprob": {"text": "Yes."}}[call]
        with pytest.raises(CellFailure, match="context has 8192"):
            run(getattr(smollm2, call)(prompt, **options))

    def test_text_that_is_hard_to_send(self, smollm2):
        text = run(smollm2.generate(user("a\ud800b\x00c\u2028 <|im_end|> {task} %s"), seed=0)).text
        assert isinstance(text, str)

    def test_the_event_loop_goes_on_and_calls_can_be_cancelled(self, smollm2):
        async def go():
            long = asyncio.create_task(smollm2.generate(STORY, seed=0, max_tokens=4000))
            waiting = asyncio.create_task(smollm2.generate(ASK, seed=0))
            ticks = 0
            for _ in range(20):
                await asyncio.sleep(0.05)
                ticks += 1
            long.cancel()
            waiting.cancel()
            began = time.monotonic()
            await asyncio.gather(long, waiting, return_exceptions=True)
            gone = time.monotonic() - began
            # The one thread is free again: the story was stopped, not waited for.
            await smollm2.generate(ASK, seed=0, max_tokens=100)
            return ticks, long.cancelled(), waiting.cancelled(), gone, time.monotonic() - began

        ticks, *cancelled, gone, free = run(go())
        assert ticks == 20
        assert cancelled == [True, True]
        assert gone < 1
        assert free < 30

    def test_many_callers_and_many_loops(self, smollm2):
        async def several():
            return await asyncio.gather(*(smollm2.logprob(ASK, t) for t in ("Plum.", "Pear.")))

        alone = run(several())
        found = []
        threads = [threading.Thread(target=lambda: found.append(run(several()))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        found.append(loop.wait(several()))
        assert [[s.total for s in scores] for scores in found] == [[s.total for s in alone]] * 4

    def test_closing_and_going_on(self, weights):
        model = LlamaModel(weights)
        first = run(model.logprob(ASK, "Plum."))
        model.close()
        model.close()
        assert run(model.logprob(ASK, "Plum.")).total == first.total
        model.close()

    def test_it_may_be_collected_in_its_own_thread(self, weights):
        """Where Python happens to collect it there, the thread cannot wait for itself."""
        model = LlamaModel(weights)
        server, first = model._server, run(model.logprob(ASK, "Plum."))
        assert server.run_blocking(lambda calls: server.close()) is None
        assert run(model.logprob(ASK, "Plum.")).total == first.total
        model.close()

    def test_threads_move_no_score(self, weights):
        def score(threads):
            model = LlamaModel(weights, threads=threads)
            try:
                return [run(model.logprob(ASK, text)).total for text in ("Plum.", "A ripe pear.")]
            finally:
                model.close()

        assert score(1) == score(2)

    def test_a_copy_in_another_process_is_the_same_model(self, smollm2):
        copy = pickle.loads(pickle.dumps(smollm2))
        assert copy.identity == smollm2.identity

    @pytest.mark.parametrize("ending", ["model.close()", "", "raise SystemExit(0)"])
    def test_it_prints_nothing_and_ends_with_its_process(self, weights, ending):
        code = (
            "import asyncio, sys; from corecurves.models.llama import LlamaModel\n"
            "model = LlamaModel(sys.argv[1])\n"
            "ask = [{'role': 'user', 'content': 'Name a fruit.'}]\n"
            f"asyncio.run(model.logprob(ask, 'Plum.'))\n{ending}"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(weights)], capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
