from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from corecurves.errors import CellFailure, PermanentFailure, UsageError
from corecurves.models.llama import LlamaModel
from corecurves.models.openai import OpenAIModel, OpenAISettings
from corecurves.models.weights import weights_path


def user(text):
    return [{"role": "user", "content": text}]


def run(work):
    return asyncio.run(work)


ASK = user("Say yes.")


def failure_of(model, **options):
    with pytest.raises((CellFailure, PermanentFailure)) as caught:
        run(model.generate(ASK, seed=1, **options))
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.fixture
def once(endpoint):
    return OpenAIModel("m", endpoint.url, settings=OpenAISettings(attempts=1, timeout=5.0))


@pytest.fixture(scope="session")
def weights():
    """The weights; without them the tests that need them fail, and say what to do."""
    try:
        return weights_path("smollm2")
    except UsageError as error:
        return pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def smollm2(weights) -> Iterator[LlamaModel]:
    model = LlamaModel(weights, name="smollm2")
    yield model
    model.close()


class ScriptedEndpoint:
    """A server on loopback that answers each request with the next of its scripted replies."""

    def __init__(self):
        self.replies = []
        self.requests = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                endpoint.requests.append((dict(self.headers), json.loads(body)))
                many = len(endpoint.replies) > 1
                reply = endpoint.replies.pop(0) if many else endpoint.replies[0]
                status, headers, content = reply(self) if callable(reply) else reply
                if content is None:
                    self.close_connection = True
                    return
                text = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": len(text)}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                try:
                    self.wfile.write(text)
                except OSError:
                    return

            def log_message(self, *args):
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def script(self, *replies):
        self.replies = list(replies)
        self.requests.clear()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    server = ScriptedEndpoint()
    yield server
    server.close()


def reply(text="Yes.", finish="stop", **message):
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 3,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text, **message},
    }
    content = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    return 200, {"Content-Type": "application/json"}, content


def refusal(status, message="no", code=None, kind=None, **headers):
    body = {"error": {"message": message, "type": kind or "error", "code": code, "param": None}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"Content-Type": "application/json", **named}, body


def silence(seconds):
    def answer(handler):
        time.sleep(seconds)
        return 200, {}, None

    return answer
