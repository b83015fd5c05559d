"""Decoding with a cache of keys and values, beside computing all tokens again for each new one.

    python benchmarks/run.py decoding           recorded in results/decoding.json
    python benchmarks/run.py decoding --quick   short sequences, not recorded

One layer of attention, 8 heads of 64: a new token comes when so many are there. *Again* projects all tokens to queries,
keys and values and takes causal attention over all of them, as the next layer needs every row. *Cached* projects the
new token, appends its key and value, and lets its query attend. *As bytes* keeps int8. The tokens are the same, and so
are the results.
"""

import numpy as np

from cpulab.measure import Table, times
from dlkernels import KVCache, linear, scaled_dot_product_attention

HEADS, WIDTH = 8, 64
LENGTHS = (128, 512, 2048, 8192)


def in_heads(x):
    """(tokens, 3 * heads * width) as queries, keys and values, each (1, heads, tokens, width)."""
    parts = x.reshape(len(x), 3, HEADS, WIDTH).transpose(1, 2, 0, 3)
    return [np.ascontiguousarray(part)[None] for part in parts]


def ways(length):
    """{name: function that gives the attention of the newest of `length` tokens, (1, heads, 1, width)}."""
    draw = np.random.default_rng(0)
    tokens = draw.standard_normal((length, HEADS * WIDTH)).astype(np.float32)
    weight = (draw.standard_normal((3 * HEADS * WIDTH, HEADS * WIDTH)) / 16).astype(np.float32)

    def again():
        q, k, v = in_heads(linear(tokens, weight))
        return scaled_dot_product_attention(q, k, v, is_causal=True)[:, :, -1:]

    def cached(dtype):
        cache = KVCache(1, HEADS, length, WIDTH, dtype=dtype)
        _, k, v = in_heads(linear(tokens[:-1], weight))
        cache.append(k, v)

        def step():
            q, k, v = in_heads(linear(tokens[-1:], weight))
            cache.append(k, v)
            result = cache.attend(q)
            cache.length -= 1  # the same token comes again
            return result

        return step

    return {"again": again, "cached": cached("float32"), "as bytes": cached("int8")}


def tokens_per_second(length, budget=2.0):
    """{name: tokens a second, "ratio": of cached decoding to computing again, "difference": of bytes, at most}."""
    made = ways(length)
    expected = made["again"]()
    np.testing.assert_allclose(made["cached"](), expected, atol=1e-4)
    measured = times(made, budget=budget)
    rates = {name: 1 / seconds for name, seconds in measured.seconds.items()}
    difference = float(np.abs(made["as bytes"]() - expected).max() / np.abs(expected).max())
    return rates | {"ratio": measured.ratio("again", "cached").ratio, "difference": difference}


def benchmark(quick):
    found = {length: tokens_per_second(length) for length in LENGTHS[: 2 if quick else None]}
    rows = [
        (
            length,
            *(f"{one[name]:.0f}" for name in ("again", "cached", "as bytes")),
            f"{one['ratio']:.1f}",
            f"{one['difference']:.1%}",
        )
        for length, one in found.items()
    ]
    print(Table(("tokens there", "again, tokens/s", "cached", "as bytes", "cached / again", "bytes: difference"), rows))
    return {"heads": HEADS, "width": WIDTH, "lengths": {str(length): one for length, one in found.items()}}
