"""Programs as people write them for a GPU, at real sizes, against NumPy: nothing here was made for this engine."""

import math

import numpy as np
import pytest
from numba import float32, int32, uint32

from simt import cuda

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def compiled():
    with cuda.engine("compiled"):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@cuda.jit
def mandelbrot(image, left, right, top, bottom, most):
    i, j = cuda.grid(2)
    if i < image.shape[1] and j < image.shape[0]:
        c = complex(left + i * (right - left) / image.shape[1], top + j * (bottom - top) / image.shape[0])
        z, steps = 0j, 0
        for _ in range(most):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                break
            steps += 1
        image[j, i] = steps


def test_mandelbrot():
    image = np.zeros((300, 450), np.uint8)
    mandelbrot[(29, 19), (16, 16)](image, -2.0, 1.0, -1.0, 1.0, 60)
    y, x = np.mgrid[:300, :450]
    c = (-2 + x * 3.0 / 450) + 1j * (-1 + y * 2.0 / 300)
    z, steps, inside = np.zeros_like(c), np.zeros(c.shape, int), np.ones(c.shape, bool)
    for _ in range(60):
        z[inside] = z[inside] ** 2 + c[inside]
        inside &= z.real**2 + z.imag**2 < 4
        steps += inside
    assert (steps != image).mean() < 1e-3  # a rounding apart, some points leave a step earlier


@cuda.jit
def life(old, new):
    i, j = cuda.grid(2)
    height, width = old.shape
    if i >= height or j >= width:
        return
    neighbours = 0
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            if di or dj:
                neighbours += old[(i + di) % height, (j + dj) % width]
    new[i, j] = 1 if neighbours == 3 or (neighbours == 2 and old[i, j]) else 0


def test_game_of_life(rng):
    old = (rng.random((500, 700)) < 0.3).astype(np.uint8)
    new = np.zeros_like(old)
    life[(32, 44), (16, 16)](old, new)
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    neighbours = sum(np.roll(old, shift, (0, 1)) for shift in shifts)
    np.testing.assert_array_equal(new, (neighbours == 3) | ((neighbours == 2) & (old == 1)))


@cuda.jit
def histogram(x, counts):
    own = cuda.shared.array(256, int32)
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(own, x[i], 1)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        cuda.atomic.add(counts, k, own[k])


def test_histogram(rng):
    x, counts = rng.integers(0, 256, 3_000_001).astype(np.uint8), np.zeros(256, np.int32)
    histogram[64, 128](x, counts)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=256))


@cuda.jit
def softmax(x, y):
    row, t, n = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
    s = cuda.shared.array(128, float32)
    largest = float32(-math.inf)
    for c in range(t, n, 128):
        largest = max(largest, x[row, c])
    s[t] = largest
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] = max(s[t], s[t + step])
        cuda.syncthreads()
        step //= 2
    largest = s[0]
    cuda.syncthreads()
    total = float32(0)
    for c in range(t, n, 128):
        total += math.exp(x[row, c] - largest)
    s[t] = total
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    for c in range(t, n, 128):
        y[row, c] = math.exp(x[row, c] - largest) / s[0]


def test_softmax(rng):
    x = rng.standard_normal((1000, 1001)).astype(np.float32)
    y = np.zeros_like(x)
    softmax[1000, 128](x, y)
    powers = np.exp(x.astype(float) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), rtol=1e-5)


@cuda.jit
def bitonic_step(x, j, k):
    i = cuda.grid(1)
    partner = i ^ j
    if partner > i:
        rising = i & k == 0
        if (rising and x[i] > x[partner]) or (not rising and x[i] < x[partner]):
            x[i], x[partner] = x[partner], x[i]


def test_bitonic_sort(rng):
    x = rng.standard_normal(1 << 16).astype(np.float32)
    on_device, k = cuda.to_device(x), 2
    while k <= x.size:
        j = k // 2
        while j > 0:
            bitonic_step[x.size // 256, 256](on_device, j, k)
            j //= 2
        k *= 2
    np.testing.assert_array_equal(on_device.copy_to_host(), np.sort(x))


@cuda.jit
def forces(place, force):
    i, t = cuda.grid(1), cuda.threadIdx.x
    s = cuda.shared.array((128, 3), float32)
    fx = fy = fz = float32(0)
    for tile in range(cuda.gridDim.x):
        for d in range(3):
            s[t, d] = place[tile * 128 + t, d]
        cuda.syncthreads()
        for k in range(128):
            dx, dy, dz = s[k, 0] - place[i, 0], s[k, 1] - place[i, 1], s[k, 2] - place[i, 2]
            r = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + float32(1e-3))
            fx += dx * r * r * r
            fy += dy * r * r * r
            fz += dz * r * r * r
        cuda.syncthreads()
    force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz


def test_bodies_attract_each_other(rng):
    place = rng.random((1024, 3)).astype(np.float32)
    force = np.zeros_like(place)
    forces[8, 128](place, force)
    d = place[None].astype(float) - place[:, None]
    expected = (d / ((d * d).sum(-1) + 1e-3)[..., None] ** 1.5).sum(1)
    np.testing.assert_allclose(force, expected, rtol=2e-3, atol=2e-2)


@cuda.jit
def transpose(a, b):
    s = cuda.shared.array((32, 33), float32)
    x, y = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(0, 32, 8):
        if y + ty + k < a.shape[0] and x + tx < a.shape[1]:
            s[ty + k, tx] = a[y + ty + k, x + tx]
    cuda.syncthreads()
    for k in range(0, 32, 8):
        if x + ty + k < b.shape[0] and y + tx < b.shape[1]:
            b[x + ty + k, y + tx] = s[tx, ty + k]


def test_transpose(rng):
    a = rng.random((1000, 1500)).astype(np.float32)
    b = np.zeros((1500, 1000), np.float32)
    transpose[(47, 32), (32, 8)](a, b)
    np.testing.assert_array_equal(b, a.T)


@cuda.jit(device=True)
def xorshift(state):
    """Marsaglia, Xorshift RNGs (2003). numba makes 64 bits of a shift, so each step is cut to 32."""
    state = uint32(state ^ (state << 13))
    state = uint32(state ^ (state >> 17))
    return uint32(state ^ (state << 5))


@cuda.jit
def darts(hits, throws):
    state, own = uint32((cuda.grid(1) + 1) * 2654435761), 0
    for _ in range(throws):
        state = xorshift(state)
        x = state / 4294967296.0
        state = xorshift(state)
        y = state / 4294967296.0
        if x * x + y * y < 1:
            own += 1
    cuda.atomic.add(hits, 0, own)


def test_pi_by_darts():
    hits = np.zeros(1, np.int64)
    darts[64, 64](hits, 1000)
    deviation = math.sqrt(math.pi / 4 * (1 - math.pi / 4) / 4_096_000)
    assert abs(hits[0] / 4_096_000 - math.pi / 4) < 5 * deviation


@cuda.jit
def visit(first, neighbours, distance, level, changed):
    v = cuda.grid(1)
    if v < distance.size and distance[v] == level:
        for e in range(first[v], first[v + 1]):
            w = neighbours[e]
            if cuda.atomic.cas(distance, w, -1, level + 1) == -1:
                changed[0] = 1


def test_breadth_first_search(rng):
    n, degree = 20_000, 4
    first = np.arange(0, n * degree + 1, degree).astype(np.int32)
    neighbours = rng.integers(0, n, n * degree).astype(np.int32)
    distance = np.full(n, -1, np.int32)
    distance[0] = 0
    level, changed = 0, np.ones(1, np.int32)
    while changed[0]:
        changed[0] = 0
        visit[(n + 127) // 128, 128](first, neighbours, distance, level, changed)
        level += 1
    expected, front, level = np.full(n, -1), np.array([0]), 0
    expected[0] = 0
    while front.size:
        found = np.unique(neighbours.reshape(n, degree)[front])
        front, level = found[expected[found] < 0], level + 1
        expected[front] = level
    np.testing.assert_array_equal(distance, expected)


@cuda.jit
def diffuse(old, new):
    s = cuda.shared.array((18, 18), float32)
    i, j = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    height, width = old.shape
    if j < height and i < width:
        s[ty, tx] = old[j, i]
        if tx == 1 and i > 0:
            s[ty, 0] = old[j, i - 1]
        if tx == 16 and i + 1 < width:
            s[ty, 17] = old[j, i + 1]
        if ty == 1 and j > 0:
            s[0, tx] = old[j - 1, i]
        if ty == 16 and j + 1 < height:
            s[17, tx] = old[j + 1, i]
    cuda.syncthreads()
    if 0 < i < width - 1 and 0 < j < height - 1:
        new[j, i] = 0.25 * (s[ty, tx - 1] + s[ty, tx + 1] + s[ty - 1, tx] + s[ty + 1, tx])


def test_heat_with_a_halo(rng):
    old = rng.random((505, 611)).astype(np.float32)
    new, expected = np.zeros_like(old), np.zeros_like(old)
    diffuse[(39, 32), (16, 16)](old, new)
    expected[1:-1, 1:-1] = (old[1:-1, :-2] + old[1:-1, 2:] + old[:-2, 1:-1] + old[2:, 1:-1]) / 4
    np.testing.assert_allclose(new, expected, rtol=1e-5)


@cuda.jit
def scan_of_blocks(x, y):
    s = cuda.shared.array(0, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    distance = 1
    while distance < cuda.blockDim.x:
        before = s[t - distance] if t >= distance else float32(0)
        cuda.syncthreads()
        s[t] += before
        cuda.syncthreads()
        distance *= 2
    if i < x.size:
        y[i] = s[t]


def test_scan(rng):
    x = rng.integers(0, 9, 100_000).astype(np.float32)
    y = np.zeros_like(x)
    scan_of_blocks[(x.size + 255) // 256, 256, 0, 1024](x, y)
    expected = np.concatenate([np.cumsum(part) for part in np.split(x, range(256, x.size, 256))])
    np.testing.assert_array_equal(y, expected)
