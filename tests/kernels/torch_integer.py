"""What PyTorch's quantised operators make of random codes, as a record: who runs the tests needs no PyTorch.

    python tests/kernels/torch_integer.py     makes torch_integer.json again; needs torch 2.13.0 on x86

Codes come from a formula. Of each call all codes of the result are kept, oneDNN's as differences from FBGEMM's: FBGEMM
rounds in float32 as we do, and so its codes are ours; oneDNN's may differ by one. FBGEMM's depthwise kernel adds pairs
of products in 16 bits (vpmaddubsw): with codes of full range it is wrong, which the record shows, and with 7 bits
(reduce_range) it is right.
"""

import base64
import json
import random
import zlib
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
TORCH = "2.13.0"
ENGINES = "fbgemm", "onednn"


def codes(shape, seed, dtype, bits=8):
    """Codes of that dtype, of all 256 or, with 7 bits, of the lower half."""
    count = int(np.prod(shape))
    mixed = (np.arange(count, dtype=np.uint64) + np.uint64(7919 * seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(31)) * np.uint64(0xBF58476D1CE4E5B9)
    bytes_ = (mixed >> np.uint64(40)).astype(np.uint8) >> np.uint8(8 - bits)
    return bytes_.view(dtype).reshape(shape)


def numbers(shape, seed, low, high):
    """float32 numbers between the two."""
    return (low + (high - low) * codes(shape, seed, np.uint8).astype(np.float32) / np.float32(255)).astype(np.float32)


def layer(case):
    """The arguments of linear_int8 or conv2d_int8 for a recorded case."""
    x = codes(case["x"], case["seed"], np.uint8, case["bits"])
    weight = codes(case["weight"], case["seed"] + 1, np.int8)
    outs = case["weight"][0]
    scale = numbers((outs,), case["seed"] + 2, 0.002, 0.01) if case["per_channel"] else 0.00623
    spread = 0.03 * 0.006 * 73.9**2 * weight[0].size ** 0.5
    bias = numbers((outs,), case["seed"] + 3, -spread, spread) if case["bias"] else None
    place = [case[name] for name in ("stride", "padding", "dilation", "groups")] if "stride" in case else []
    return x, weight, bias, *place, 0.031, case["zero_point"], scale, 0, spread / 50, 117, case["activation"]


def told(result):
    return base64.b64encode(zlib.compress(np.ascontiguousarray(result).tobytes(), 9)).decode()


def kept(case, engine):
    """The codes of a recorded result."""

    def codes_of(name):
        return np.frombuffer(zlib.decompress(base64.b64decode(case[name])), np.uint8).reshape(case["shape"])

    return codes_of("fbgemm") if engine == "fbgemm" else codes_of("fbgemm") + codes_of(engine)


def cases():
    draw = random.Random(7)

    def common(seed):
        return {
            "seed": 10 * seed,
            "bits": 8,
            "zero_point": draw.randrange(256),
            "per_channel": draw.random() < 0.7,
            "bias": draw.random() < 0.7,
            "activation": draw.choice([None, "relu"]),
        }

    for seed in range(20):
        m, n, k = draw.choice([1, 3, 17]), draw.randrange(1, 70), draw.choice([1, 7, 64, 100, 300])
        yield {"kind": "linear", **common(seed), "x": [m, k], "weight": [n, k]}
    for seed in range(20, 50):
        groups = draw.choice([1, 1, 2])
        ins, outs, kernel = draw.randrange(1, 20), groups * draw.randrange(1, 12), draw.choice([1, 3, 5])
        place = {
            "stride": draw.choice([1, 2]),
            "padding": kernel // 2,
            "dilation": draw.choice([1, 2]),
            "groups": groups,
        }
        picture = [draw.choice([1, 2]), ins * groups, draw.randrange(9, 14), draw.randrange(9, 14)]
        yield {"kind": "conv2d", **common(seed), **place, "x": picture, "weight": [outs, ins, kernel, kernel]}
    for seed, bits in ((50, 8), (51, 7)):
        place = {"stride": 1, "padding": 1, "dilation": 1, "groups": 32, "bits": bits}
        zero = {"zero_point": 101}  # with 7 bits it has 7, too: it stands outside the picture
        yield {"kind": "depthwise", **common(seed), **place, **zero, "x": [1, 32, 14, 14], "weight": [32, 1, 3, 3]}


def by_pytorch(case):
    import torch

    quantized, engine_of = torch.ops.quantized, torch.backends.quantized
    x, weight, bias, *rest = layer(case)
    *place, x_scale, x_zero, scale, _, out_scale, out_zero, activation = rest
    x = torch._make_per_tensor_quantized_tensor(torch.from_numpy(x), x_scale, x_zero)
    if case["per_channel"]:
        scales, zeros = torch.from_numpy(scale.astype(np.float64)), torch.zeros(len(scale), dtype=torch.long)
        weight = torch._make_per_channel_quantized_tensor(torch.from_numpy(weight), scales, zeros, 0)
    else:
        weight = torch._make_per_tensor_quantized_tensor(torch.from_numpy(weight), scale, 0)
    bias = None if bias is None else torch.from_numpy(bias)
    name = ("conv2d" if place else "linear") + ("_relu" if activation else "")
    found = {}
    for engine in ENGINES:
        engine_of.engine = engine
        if place:
            stride, padding, dilation, groups = place
            packed = quantized.conv2d_prepack(weight, bias, [stride] * 2, [padding] * 2, [dilation] * 2, groups)
        else:
            packed = quantized.linear_prepack(weight, bias)
        found[engine] = getattr(quantized, name)(x, packed, out_scale, out_zero).int_repr().numpy()
    return found


if __name__ == "__main__":
    rows = []
    for case in cases():
        found = by_pytorch(case)
        found["onednn"] = found["onednn"] - found["fbgemm"]
        rows.append(case | {"shape": list(found["fbgemm"].shape)} | {name: told(one) for name, one in found.items()})
    FILE.write_text(json.dumps({"torch": TORCH, "rows": rows}, indent=1) + "\n", encoding="utf-8")
