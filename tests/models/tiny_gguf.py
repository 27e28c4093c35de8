"""Language models of two layers with random weights, as .gguf files: one of each kind of memory.

Their vocabulary is characters and bytes. What they say means nothing; that a score does not depend
on what was scored before, and is the one of a model read from nothing, can be seen on them too.
"""

from __future__ import annotations

import struct

import numpy as np

WIDTH, INNER = 64, 128
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)),
          *("▁" if code == 32 else chr(code) for code in range(32, 127))]  # fmt: skip
CHATML = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_KINDS = ("llama", "gemma3", "mamba", "lfm2")


def write_tiny(path, kind, *, template=CHATML):
    """Write a model: ``llama`` keeps all, ``gemma3`` a window, ``mamba`` a state, ``lfm2`` both."""
    draw = np.random.default_rng(_KINDS.index(kind))

    def weight(*shape, scale=None):
        return draw.normal(0, scale or 1.5 / np.sqrt(shape[-1]), shape).astype("<f4")

    ones = np.ones(WIDTH, dtype="<f4")
    tensors = {"token_embd.weight": weight(len(TOKENS), WIDTH, scale=1.0)}
    tensors["token_embd_norm.weight" if kind == "lfm2" else "output_norm.weight"] = ones
    meta = {"general.architecture": kind, f"{kind}.block_count": 2,
            f"{kind}.context_length": 4096, f"{kind}.embedding_length": WIDTH,
            f"{kind}.feed_forward_length": INNER, f"{kind}.attention.head_count": 4,
            f"{kind}.attention.layer_norm_rms_epsilon": 1e-5}  # fmt: skip
    if kind == "mamba":
        meta |= {f"{kind}.attention.head_count": 0, f"{kind}.feed_forward_length": 0,
                 f"{kind}.ssm.conv_kernel": 4, f"{kind}.ssm.inner_size": INNER,
                 f"{kind}.ssm.state_size": 16, f"{kind}.ssm.time_step_rank": 4}  # fmt: skip
    else:
        meta[f"{kind}.attention.head_count_kv"] = [0, 2] if kind == "lfm2" else 2
    if kind == "gemma3":
        meta |= {f"{kind}.attention.sliding_window": 48, f"{kind}.attention.key_length": 16,
                 f"{kind}.attention.value_length": 16}  # fmt: skip
    if kind == "lfm2":
        meta[f"{kind}.shortconv.l_cache"] = 3
    for i in range(2):
        own = {"attn_norm.weight": ones}
        if kind == "mamba":
            own |= {"ssm_in.weight": weight(2 * INNER, WIDTH),
                    "ssm_conv1d.weight": weight(INNER, 4), "ssm_conv1d.bias": weight(INNER),
                    "ssm_x.weight": weight(36, INNER),
                    "ssm_dt.weight": weight(INNER, 4), "ssm_dt.bias": weight(INNER),
                    "ssm_a": -np.abs(weight(INNER, 16)), "ssm_d": weight(INNER),
                    "ssm_out.weight": weight(WIDTH, INNER)}  # fmt: skip
        else:
            own |= {"ffn_norm.weight": ones, "ffn_gate.weight": weight(INNER, WIDTH),
                    "ffn_up.weight": weight(INNER, WIDTH),
                    "ffn_down.weight": weight(WIDTH, INNER)}  # fmt: skip
            if kind == "lfm2" and i == 0:
                own |= {"shortconv.in_proj.weight": weight(3 * WIDTH, WIDTH),
                        "shortconv.conv.weight": weight(WIDTH, 3),
                        "shortconv.out_proj.weight": weight(WIDTH, WIDTH)}  # fmt: skip
            else:
                own |= {"attn_q.weight": weight(WIDTH, WIDTH), "attn_k.weight": weight(32, WIDTH),
                        "attn_v.weight": weight(32, WIDTH),
                        "attn_output.weight": weight(WIDTH, WIDTH)}  # fmt: skip
                if kind != "llama":
                    own |= {f"attn_{one}_norm.weight": ones[:16] for one in "qk"}
            if kind == "gemma3":
                own |= {"post_attention_norm.weight": ones, "post_ffw_norm.weight": ones}
        tensors |= {f"blk.{i}.{name}": tensor for name, tensor in own.items()}
    meta |= {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": TOKENS,
             "tokenizer.ggml.scores": [0.0] * len(TOKENS),
             "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * 95,
             "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
             "tokenizer.ggml.add_space_prefix": False}  # fmt: skip
    if template is not None:
        meta["tokenizer.chat_template"] = template
    _write(path, meta, tensors)
    return path


def _write(path, meta, tensors):
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(meta))]
    for name, value in meta.items():
        head.append(_text(name) + _value(value))
    at, padded = 0, []
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        head.append(_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, at))
        data = tensor.astype("<f4").tobytes()
        padded.append(data + b"\0" * (-len(data) % 32))
        at += len(padded[-1])
    start = b"".join(head)
    path.write_bytes(start + b"\0" * (-len(start) % 32) + b"".join(padded))


def _text(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(value):
    if isinstance(value, list):
        parts = [_value(one) for one in value]
        kind = parts[0][:4]
        if kind == struct.pack("<I", 4):
            kind = struct.pack("<I", 5)  # token types are signed
        return (
            struct.pack("<I", 9)
            + kind
            + struct.pack("<Q", len(value))
            + b"".join(part[4:] for part in parts)
        )
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    return struct.pack("<If", 6, value)
