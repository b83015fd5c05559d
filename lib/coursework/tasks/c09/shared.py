"""What several tasks of chapter 09 use: inputs, and what may go wrong with a window that slides over a picture."""

import numpy as np

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit


def names_over(rows):
    """The names of the counts that are over their limits."""
    return {o.name for o in rows}


LINE_BLOCK = 32


def along(x, weight, stride, out, step=1):
    """Weighted sums of windows that begin at i * stride, with `step` from one weight to the next, in float64."""
    x, places = x.astype(np.float64), np.arange(out.size) * stride
    if not weight.size or places[-1] + (weight.size - 1) * step >= x.size:
        return NOTHING
    return sum(w * x[places + t * step] for t, w in enumerate(weight.astype(np.float64)))


# what may go wrong with a window that slides over a picture ----------------------------------------------------


def windows(x, weight, padding, mode="constant", top=None):
    """x (channels, height, width) and weight (channels, tall, broad) to one plane, float64. `top`: zeros above and to
    the left, where those are not as many as below and to the right; `padding` is the number on both sides together,
    halved."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    top = padding if top is None else top
    before, after = (top, 2 * padding - top) if top >= 0 else (0, 2 * padding - top)
    if mode != "constant" and padding > min(x.shape[1:]) - 1:
        return NOTHING
    if mode == "abs":
        wide = np.pad(np.pad(x, ((0, 0), (before, 0), (before, 0)), "reflect"), ((0, 0), (0, after), (0, after)))
    else:
        wide = np.pad(x, ((0, 0), (before, after), (before, after)), mode)
    if top < 0:
        wide = wide[:, -top:, -top:]
    high, broad = (n - k + 1 for n, k in zip(wide.shape[1:], weight.shape[1:], strict=True))
    return sum(
        weight[c, ky, kx] * wide[c, ky : ky + high, kx : kx + broad] for c, ky, kx in np.ndindex(*weight.shape)
    ) + np.zeros((high, broad))


def without(weight, ky, kx):
    """The weights with 0 at one place."""
    left = weight.copy()
    left[:, ky, kx] = 0
    return left


def _inner(result, x, padding):
    """A result whose rim is 0, where windows reach beyond the picture."""
    inside = np.zeros_like(result)
    if padding:
        inside[padding:-padding, padding:-padding] = result[padding:-padding, padding:-padding]
    return inside


def _square(weight):
    return weight.shape[1] == weight.shape[2]


BORDERS = (
    (
        lambda x, w, p: windows(x, w, p, "edge") if p else NOTHING,
        "A wrong border: beyond the edge the nearest pixel was used again (an index cut off by min and max). There the "
        "picture counts as 0.",
    ),
    (
        lambda x, w, p: windows(x, w, p, "wrap") if p else NOTHING,
        "A wrong border: beyond the edge the picture begins again at the other side (an index with %, or a negative "
        "one). There it counts as 0.",
    ),
    (
        lambda x, w, p: windows(x, w, p, "reflect") if p else NOTHING,
        "A wrong border: beyond the edge the picture was mirrored. There it counts as 0.",
    ),
    (
        lambda x, w, p: windows(x, w, p, "abs") if p else NOTHING,
        "A wrong border: above and to the left the picture was mirrored (abs of an index). There it counts as 0.",
    ),
    (
        lambda x, w, p: _inner(windows(x, w, p), x, p) if p else NOTHING,
        "A wrong border: out is 0 where a window reaches beyond the picture. Only the pixels that are missing count as "
        "0; those inside still count.",
    ),
    (
        lambda x, w, p: windows(x, w, p, top=0) if p else NOTHING,
        "A wrong border: all zeros stand below and to the right, and everything is shifted. The window of out[0, 0] "
        "begins `padding` pixels above and to the left of the picture.",
    ),
    (
        lambda x, w, p: windows(x, w, p, top=2 * p) if p else NOTHING,
        "A wrong border: all zeros stand above and to the left, and everything is shifted. The window of out[0, 0] "
        "begins `padding` pixels above and to the left of the picture, not twice as many.",
    ),
    (
        lambda x, w, p: windows(x, w, p, top=-p) if p else NOTHING,
        "A wrong border: the padding was added to the index of a pixel, and must be subtracted: the window of out[0, "
        "0] begins above and to the left of the picture.",
    ),
)
TAPS = (
    (
        lambda x, w, p: windows(x, w[:, ::-1, ::-1], p),
        "Wrong taps: the kernel is turned round, in both directions. weight[0, 0] meets the pixel above and to the "
        "left.",
    ),
    (lambda x, w, p: windows(x, w[:, ::-1], p), "Wrong taps: the rows of the weights come in the opposite order."),
    (
        lambda x, w, p: windows(x, w[:, :, ::-1], p),
        "Wrong taps: the columns of the weights come in the opposite order.",
    ),
    (
        lambda x, w, p: windows(x, w.swapaxes(1, 2), p) if _square(w) else NOTHING,
        "Wrong taps: ky and kx are exchanged, in the weights or in the pixels. ky goes with rows, kx with columns.",
    ),
    (lambda x, w, p: windows(x, 0 * w + 1, p), "Wrong taps: these are sums of pixels, and the weights are missing."),
    (
        lambda x, w, p: windows(x, 0 * w + w[:, :1, :1], p),
        "Wrong taps: the first weight was used for all pixels. Which indices of `weight` should change from tap to "
        "tap?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[1])[:, None] < w.shape[1] - 1, w, 0), p),
        "Wrong taps: the last row of weights is missing. How many rounds has the loop over ky?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[2]) < w.shape[2] - 1, w, 0), p),
        "Wrong taps: the last column of weights is missing. How many rounds has the loop over kx?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[1])[:, None] > 0, w, 0), p),
        "Wrong taps: the first row of weights is missing. Does the loop over ky begin at 0?",
    ),
    (
        lambda x, w, p: windows(x, np.where(np.arange(w.shape[2]) > 0, w, 0), p),
        "Wrong taps: the first column of weights is missing. Does the loop over kx begin at 0?",
    ),
)
ONE_TAP = tuple(
    (
        lambda x, w, p, ky=ky, kx=kx: windows(x, without(w, ky, kx), p) if w.shape[1:] == (3, 3) else NOTHING,
        f"A wrong tap: the term of weight[{ky}, {kx}] is missing, everywhere.",
    )
    for ky, kx in np.ndindex(3, 3)
)


def rimmed(x, padding, mode="constant", shift=0):
    """Pictures with so many pixels more on each side, float64. `mode`: as of np.pad, or "negative": what negative
    indices find above and to the left. `shift`: pixels of the rim that stand below and to the right in the place of
    above and to the left."""
    sides, rim = ((0, 0),) * (x.ndim - 2), (padding - shift, padding + shift)
    if mode != "negative":
        return np.pad(x.astype(np.float64), (*sides, rim, rim), mode)
    x = np.pad(x.astype(np.float64), (*sides, (padding, 0), (padding, 0)), "wrap")
    return np.pad(x, (*sides, (0, padding), (0, padding)))
