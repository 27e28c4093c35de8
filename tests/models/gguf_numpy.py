"""A forward pass of a llama-architecture .gguf file in NumPy: nothing of llama.cpp is used.

It reads the file format, unpacks the weights to float32, and computes all positions of a prompt and
a text at once, with full attention: the textbook computation, in another order and in another
precision than llama.cpp's token-by-token one.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_F32, _F16, _Q4_1, _Q8_0 = 0, 1, 3, 8


class _Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def scalar(self, code):
        (value,) = struct.unpack_from(f"<{code}", self.data, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def text(self):
        size = self.scalar("Q")
        self.at += size
        return bytes(self.data[self.at - size : self.at]).decode("utf-8", "surrogateescape")

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.scalar("I"), self.scalar("Q")
            return [self.value(inner) for _ in range(count)]
        return self.scalar(_SCALARS[kind])


def read_gguf(path):
    """Metadata, tensors as (type, shape, bytes), and where the metadata ends."""
    data = np.memmap(path, mode="r", dtype=np.uint8)
    reader = _Reader(data)
    assert bytes(data[:4]) == b"GGUF"
    reader.at = 4
    assert reader.scalar("I") == 3
    count, fields = reader.scalar("Q"), reader.scalar("Q")
    meta = {}
    for _ in range(fields):
        name = reader.text()
        meta[name] = reader.value(reader.scalar("I"))
    end = reader.at
    found = {}
    for _ in range(count):
        name = reader.text()
        shape = [reader.scalar("Q") for _ in range(reader.scalar("I"))]
        found[name] = (reader.scalar("I"), tuple(reversed(shape)), reader.scalar("Q"))
    base = _aligned(reader.at)
    tensors = {name: (kind, shape, data[base + at :]) for name, (kind, shape, at) in found.items()}
    return meta, tensors, data[:end]


def write_float32(path, out):
    """Write the same model with float32 weights, so that nothing is rounded to 8 bits."""
    _, tensors, head = read_gguf(path)
    infos, at = [], 0
    for name, (_, shape, _) in tensors.items():
        text = name.encode()
        infos.append(struct.pack(f"<Q{len(text)}sI", len(text), text, len(shape)))
        infos.append(struct.pack(f"<{len(shape)}QIQ", *reversed(shape), _F32, at))
        at = _aligned(at + 4 * int(np.prod(shape)))
    with out.open("wb") as stream:
        stream.write(head.tobytes() + b"".join(infos))
        for tensor in tensors.values():
            stream.write(b"\0" * (_aligned(stream.tell()) - stream.tell()))
            stream.write(unpack(*tensor).astype("<f4").tobytes())


def _aligned(at):
    return -(-at // 32) * 32


def unpack(kind, shape, data):
    count = int(np.prod(shape))
    if kind == _F32:
        return data[: 4 * count].view("<f4").reshape(shape).astype(np.float32)
    if kind == _F16:
        return data[: 2 * count].view("<f2").reshape(shape).astype(np.float32)
    blocks = count // 32
    if kind == _Q8_0:
        raw = data[: 34 * blocks].reshape(blocks, 34)
        scale = raw[:, :2].copy().view("<f2").astype(np.float32)
        return (raw[:, 2:].view(np.int8) * scale).reshape(shape).astype(np.float32)
    if kind == _Q4_1:
        raw = data[: 20 * blocks].reshape(blocks, 20)
        scale = raw[:, 0:2].copy().view("<f2").astype(np.float32)
        least = raw[:, 2:4].copy().view("<f2").astype(np.float32)
        digits = np.concatenate([raw[:, 4:] & 15, raw[:, 4:] >> 4], axis=1)
        return (digits * scale + least).reshape(shape).astype(np.float32)
    raise NotImplementedError(f"tensor type {kind}")


class NumpyLlama:
    """A language model of the llama architecture, computed in float32 throughout."""

    def __init__(self, path: Path) -> None:
        meta, tensors, _ = read_gguf(path)
        arch = meta["general.architecture"]
        self.meta = meta
        self.layers = meta[f"{arch}.block_count"]
        self.heads = meta[f"{arch}.attention.head_count"]
        self.kv_heads = meta[f"{arch}.attention.head_count_kv"]
        self.epsilon = meta[f"{arch}.attention.layer_norm_rms_epsilon"]
        self.base = meta.get(f"{arch}.rope.freq_base", 10000.0)
        self.weights = {name: unpack(*tensor) for name, tensor in tensors.items()}

    def logprobs(self, prompt: list[int], text: list[int]) -> np.ndarray:
        """Log-probability of each token of a text after a prompt, in nats."""
        tokens = np.array([*prompt, *text])
        w = self.weights
        x = w["token_embd.weight"][tokens]
        for i in range(self.layers):
            x = x + self._attention(i, self._norm(x, f"blk.{i}.attn_norm.weight"))
            x = x + self._feed_forward(i, self._norm(x, f"blk.{i}.ffn_norm.weight"))
        x = self._norm(x, "output_norm.weight")[len(prompt) - 1 : -1]
        out = "output.weight" if "output.weight" in w else "token_embd.weight"
        logits = self._times(x, out).astype(np.float64)
        top = logits.max(axis=1, keepdims=True)
        norm = top[:, 0] + np.log(np.exp(logits - top).sum(axis=1))
        return logits[np.arange(len(text)), text] - norm

    def _norm(self, x, name):
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.epsilon) * self.weights[name]

    def _times(self, x, name):
        return x @ self.weights[name].T

    def _attention(self, i, x):
        count, width = len(x), x.shape[1] // self.heads
        q = self._times(x, f"blk.{i}.attn_q.weight").reshape(count, self.heads, width)
        k = self._times(x, f"blk.{i}.attn_k.weight").reshape(count, self.kv_heads, width)
        v = self._times(x, f"blk.{i}.attn_v.weight").reshape(count, self.kv_heads, width)
        q, k = self._rotated(q), self._rotated(k)
        k, v = (np.repeat(a, self.heads // self.kv_heads, axis=1) for a in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(width)
        scores = np.where(np.tri(count, dtype=bool), scores, -np.inf)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", shares, v).reshape(count, -1)
        return self._times(mixed, f"blk.{i}.attn_output.weight")

    def _rotated(self, x):
        count, _, width = x.shape
        rates = self.base ** (-np.arange(0, width, 2) / width)
        angles = np.arange(count)[:, None] * rates
        sin, cos = np.sin(angles)[:, None], np.cos(angles)[:, None]
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = np.empty_like(x)
        turned[..., 0::2] = even * cos - odd * sin
        turned[..., 1::2] = even * sin + odd * cos
        return turned

    def _feed_forward(self, i, x):
        gate = self._times(x, f"blk.{i}.ffn_gate.weight")
        up = self._times(x, f"blk.{i}.ffn_up.weight")
        return self._times(gate / (1 + np.exp(-gate)) * up, f"blk.{i}.ffn_down.weight")
