"""A chat endpoint on loopback that answers as it should, and in a seeded share of calls does not.

Nothing waits for long: a stalled reply ends when the endpoint is closed, and after ten seconds at
the most.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from corecurves.canonical import digest, stable_seed

LONGEST = 10.0
TYPE = {"Content-Type": "application/json"}
TEMPORARY = (
    "429", "429 with a wait", "500", "503", "reset", "stall", "truncated JSON", "HTML page",
    "empty body", "half a body",
)  # fmt: skip


@dataclass(frozen=True)
class Reply:
    """What goes back; `promised` is the length that the header states, where it is not the true
    one, and without a status the connection is reset."""

    status: int | None = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: dict(TYPE))
    promised: int | None = None
    after: float = 0.0


def completion(text, finish="stop"):
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text},
    }
    content = {
        "id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice],
        "usage": usage,
    }  # fmt: skip
    return Reply(body=json.dumps(content).encode())


def refusal(status, message="no", code=None, after=0.0, **headers):
    body = {"error": {"message": message, "type": "error", "code": code, "param": None}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(body).encode(), {**TYPE, **named}, after=after)


def echo(messages, seed):
    """What was told, and who asked: any two calls that differ get answers that differ."""
    told = " ".join(message["content"] for message in messages)
    return f"{told} [{digest([messages, seed])[:12]}]"


def as_judge(messages):
    """Verdict on the case in a judge's prompt, by whether the candidate names the known-good
    port."""
    case = json.loads(messages[-1]["content"].split("\n\n")[1])
    good = case["known_good"][0].split("=")[1][:4]
    return json.dumps({"passed": good in case["candidate"], "reason": f"looked for {good}"})


def is_judge(messages):
    return messages[-1]["content"].startswith("Decide whether the candidate")


def answer(messages, seed):
    return completion(as_judge(messages) if is_judge(messages) else echo(messages, seed))


@dataclass(frozen=True)
class Call:
    """A request as it came."""

    at: float
    body: dict
    headers: dict[str, str]
    number: int
    """How often this very request has come, this time included."""

    @property
    def messages(self):
        return self.body["messages"]

    @property
    def name(self):
        return digest([self.messages, self.body["seed"]])


class Endpoint:
    """A server for one test; `replies` says what a call gets."""

    def __init__(self, replies: Callable[[Call], Reply] | None = None):
        self.replies = replies or (lambda call: answer(call.messages, call.body["seed"]))
        self.calls: list[Call] = []
        self.answered = 0
        self._lock = threading.Lock()
        self._seen: Counter[str] = Counter()
        self._closing = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint._handle(self, body, dict(self.headers))

            def log_message(self, *args):
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                return  # a client that goes away is what many of these tests are about

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def spec(self, **settings):
        told = "&".join(f"{name}={value}" for name, value in settings.items())
        return f"openai:m@{self.url}" + (f"?{told}" if told else "")

    def wait_for(self, count, seconds=60.0):
        """Until that many calls have been answered."""
        end = time.monotonic() + seconds
        while self.answered < count:
            assert time.monotonic() < end, f"only {self.answered} answers in {seconds} s"
            time.sleep(0.005)

    def _handle(self, handler, body, headers):
        with self._lock:
            name = digest([body["messages"], body["seed"]])
            self._seen[name] += 1
            named = {header.lower(): value for header, value in headers.items()}
            call = Call(time.monotonic(), body, named, self._seen[name])
            self.calls.append(call)
        reply = self.replies(call)
        if reply.after:
            self._closing.wait(min(reply.after, LONGEST))
        if reply.status is None:
            # Closing with nothing to linger for sends a reset.
            linger = struct.pack("ii", 1, 0)
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            handler.close_connection = True
            handler.connection.close()
            return
        handler.send_response(reply.status)
        length = len(reply.body) if reply.promised is None else reply.promised
        for header, value in {**reply.headers, "Content-Length": str(length)}.items():
            handler.send_header(header, value)
        handler.end_headers()
        handler.wfile.write(reply.body)
        if reply.promised is not None:
            handler.close_connection = True
        with self._lock:
            self.answered += 1


class Faulty:
    """Replies that are faulty in a seeded share of calls: which ones hangs on the call alone.

    Parameters
    ----------
    share : float
        Of calls.
    kinds : sequence of str
        What may go wrong.
    seed : int
        Of the draw.
    stall : float
        Seconds of a stall.
    """

    def __init__(self, share=0.3, kinds=TEMPORARY, seed=0, stall=2.0):
        self.share, self.kinds, self.seed, self.stall = share, kinds, seed, stall
        self.given: Counter[str] = Counter()

    def __call__(self, call):
        draw = random.Random(stable_seed(self.seed, call.name, call.number))
        good = answer(call.messages, call.body["seed"])
        if draw.random() >= self.share:
            return good
        kind = draw.choice(self.kinds)
        self.given[kind] += 1
        return self.fault(kind, good)

    def fault(self, kind, good):
        half = good.body[: len(good.body) // 2]
        page = b"<!doctype html><title>Bad gateway</title><p>try again"
        return {
            "429": refusal(429, "slow down"),
            "429 with a wait": refusal(429, "slow down", retry_after="0.05"),
            "500": refusal(500, "fault"),
            "503": Reply(503, page, {"Content-Type": "text/html"}),
            "reset": Reply(None),
            "stall": Reply(good.status, good.body, after=self.stall),
            "truncated JSON": Reply(body=half),
            "HTML page": Reply(body=page, headers={"Content-Type": "text/html"}),
            "empty body": Reply(),
            "half a body": Reply(body=half, promised=len(good.body)),
            "cut off by length": completion("Use the", "length"),
        }[kind]
