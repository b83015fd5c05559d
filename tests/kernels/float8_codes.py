"""What ml_dtypes and PyTorch make of numbers in few bits, as a record: who runs the tests needs neither.

    python tests/kernels/float8_codes.py      makes float8_codes.json again; needs ml_dtypes 0.5 and torch 2.13.0

Of ml_dtypes: the codes of all numbers of float16 and bfloat16, and of the middle between two codes with its neighbours
in float32; numbers are clipped to the ends first, as ours are. Of PyTorch: codes and gradients of some hundred numbers,
with scales that are powers of two, so that a product with the reciprocal is the quotient.
"""

import base64
import json
import warnings
import zlib
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
NAMES = {"e4m3": ("float8_e4m3fn", 448.0), "e5m2": ("float8_e5m2", 57344.0)}
KINDS = ("float16", "bfloat16")


def patterns(kind):
    """All 65,536 numbers of that type, as float32."""
    bits = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    if kind == "float16":
        with np.errstate(invalid="ignore"):
            return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def ties(name):
    """The middle between each two neighbours, the float32 before and behind it, of both signs."""
    fraction, bias, top = (3, 7, NAMES[name][1]) if name == "e4m3" else (2, 15, NAMES[name][1])
    codes = np.arange(128)
    exponent, digits = codes >> fraction, codes & (1 << fraction) - 1
    size = np.where(
        exponent > 0,
        np.ldexp(1.0 + digits / (1 << fraction), exponent - bias),
        np.ldexp(digits / (1 << fraction), 1 - bias),
    )
    size = size[size <= top]
    middle = ((size[:-1] + size[1:]) / 2).astype(np.float32)
    around = [np.nextafter(middle, np.float32(0)), middle, np.nextafter(middle, np.float32(np.inf))]
    return np.concatenate([*around, *(-x for x in around)])


def numbers():
    """What PyTorch quantizes: ties, ends, zeros of both signs, infinities."""
    steps = np.arange(-600, 600, dtype=np.float32) / 4
    return np.concatenate([steps, np.array([0.0, -0.0, np.inf, -np.inf, 1e30, -1e30], np.float32)])


def packed(codes):
    return base64.b64encode(zlib.compress(np.asarray(codes, np.uint8).tobytes(), 9)).decode()


def unpacked(text):
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


def main():
    import ml_dtypes
    import torch

    def codes(x, name):
        kind, top = NAMES[name]
        return np.clip(x, np.float32(-top), np.float32(top)).astype(getattr(ml_dtypes, kind)).view(np.uint8)

    warnings.filterwarnings("ignore")
    made = {"ml_dtypes": ml_dtypes.__version__, "torch": torch.__version__, "codes": {}, "ties": {}, "values": {}}
    for name, (kind, _) in NAMES.items():
        made["codes"][name] = {source: packed(codes(patterns(source), name)) for source in KINDS}
        made["ties"][name] = packed(codes(ties(name), name))
        values = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, kind)).astype(np.float32)
        made["values"][name] = [str(v) for v in values.tolist()]
    x = torch.from_numpy(numbers())
    rows = x[:1200].reshape(3, 400)
    scales, zeros = torch.tensor([0.25, 0.5, 1.0]), torch.tensor([3, -7, 0])
    of = made["quantized"] = {}
    of["int8"] = torch.quantize_per_tensor(x, 0.5, -4, torch.qint8).int_repr().tolist()
    of["uint8"] = torch.quantize_per_tensor(x, 0.5, 100, torch.quint8).int_repr().tolist()
    of["int8 rows"] = torch.quantize_per_channel(rows, scales, zeros * 2, 0, torch.qint8).int_repr().tolist()
    of["nan"] = torch.quantize_per_tensor(torch.full((9,), float("nan")), 0.5, 0, torch.qint8).int_repr().tolist()
    for name, call in {
        "tensor": lambda y: torch.fake_quantize_per_tensor_affine(y, 0.5, -3, -128, 127),
        "four": lambda y: torch.fake_quantize_per_tensor_affine(y, 0.5, 0, -8, 7),
        "nan": lambda y: torch.fake_quantize_per_tensor_affine(y * float("nan"), 0.5, -3, -128, 127),
    }.items():
        y = x.clone().requires_grad_()
        result = call(y)
        result.sum().backward()
        gradient = [int(g) for g in y.grad.nan_to_num().tolist()]
        made[f"fake {name}"] = {"result": [str(v) for v in result.tolist()], "gradient": gradient}
    y = rows.clone().requires_grad_()
    result = torch.fake_quantize_per_channel_affine(y, scales, zeros.int(), 0, -128, 127)
    result.sum().backward()
    made["fake rows"] = {"result": result.tolist(), "gradient": y.grad.int().tolist()}
    FILE.write_text(json.dumps(made, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
