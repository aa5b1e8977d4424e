#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_model.py FILE LAYERS: a model in llama's shape with random weights, for llama-bench (GGUF version 3)."""
import random
import struct
import sys

WIDTH, HEADS, KEY_HEADS, FORWARD, CONTEXT = 256, 4, 2, 512, 512
TOKENS = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
ALIGN = 32
U32, F32, I32, STRING, ARRAY = 4, 6, 5, 8, 9  # kinds of metadata
FORMATS = {U32: "<I", F32: "<f", I32: "<i"}


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def packed(kind, value):
    return text(value) if kind == STRING else struct.pack(FORMATS[kind], value)


def metadata(name, kind, value):
    if isinstance(value, list):
        head = struct.pack("<IIQ", ARRAY, kind, len(value))
        return text(name) + head + b"".join(packed(kind, v) for v in value)
    return text(name) + struct.pack("<I", kind) + packed(kind, value)


def tensors(layers):
    """(name, dimensions); those of one dimension are norms."""
    yield from (("token_embd.weight", (WIDTH, len(TOKENS))), ("output_norm.weight", (WIDTH,)),
                ("output.weight", (WIDTH, len(TOKENS))))
    keys = WIDTH // HEADS * KEY_HEADS
    for layer in range(layers):
        for name, *size in (("attn_norm", WIDTH), ("attn_q", WIDTH, WIDTH), ("attn_k", WIDTH, keys),
                            ("attn_v", WIDTH, keys), ("attn_output", WIDTH, WIDTH), ("ffn_norm", WIDTH),
                            ("ffn_gate", WIDTH, FORWARD), ("ffn_up", WIDTH, FORWARD),
                            ("ffn_down", FORWARD, WIDTH)):
            yield f"blk.{layer}.{name}.weight", tuple(size)


def weights(size):
    if len(size) == 1:
        data = struct.pack(f"<{size[0]}f", *[1.0] * size[0])
    else:
        count = size[0] * size[1]
        data = struct.pack(f"<{count}e", *(random.uniform(-.05, .05) for _ in range(count)))
    return data + bytes(-len(data) % ALIGN)


def write_model(path, layers):
    random.seed(1)
    about = [("general.architecture", STRING, "llama"), ("general.name", STRING, "random"),
             ("general.file_type", U32, 1), ("llama.context_length", U32, CONTEXT),
             ("llama.embedding_length", U32, WIDTH), ("llama.block_count", U32, layers),
             ("llama.feed_forward_length", U32, FORWARD), ("llama.attention.head_count", U32, HEADS),
             ("llama.attention.head_count_kv", U32, KEY_HEADS),
             ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
             ("llama.rope.dimension_count", U32, WIDTH // HEADS), ("llama.vocab_size", U32, len(TOKENS)),
             ("tokenizer.ggml.model", STRING, "llama"), ("tokenizer.ggml.tokens", STRING, TOKENS),
             ("tokenizer.ggml.scores", F32, [0.0] * len(TOKENS)),
             ("tokenizer.ggml.token_type", I32, [2, 3, 3] + [6] * 256),
             ("tokenizer.ggml.bos_token_id", U32, 1), ("tokenizer.ggml.eos_token_id", U32, 2),
             ("tokenizer.ggml.unknown_token_id", U32, 0)]
    table, blobs, offset = b"", [], 0
    for name, size in tensors(layers):
        table += text(name) + struct.pack(f"<I{len(size)}QIQ", len(size), *size, len(size) > 1, offset)
        blobs.append(weights(size))
        offset += len(blobs[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(blobs), len(about))
    head += b"".join(metadata(*entry) for entry in about) + table
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGN) + b"".join(blobs))


if __name__ == "__main__":
    write_model(sys.argv[1], int(sys.argv[2]))
