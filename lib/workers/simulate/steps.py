"""One training step of a Transformer on a cluster: its time, part by part, and what a GPU has to hold.

`step` counts: matrix products by their operations and bytes (roofline), element-wise kernels by their bytes, messages
by alpha-beta links (links.py), the pipeline by its bubble. It runs nothing. `search` tries all grids.

A grid cuts the work: `tensor` GPUs share each matrix, `context` GPUs each sequence, `pipeline` stages the layers, and
`data` replicas the batch; experts are spread over `expert` of the replicas. Numbers of GPUs run in this order, tensor
fastest, so that what talks most is nearest.
"""

from dataclasses import dataclass, fields, replace
from itertools import product


class Impossible(ValueError):
    """A grid that this model, batch or cluster cannot have."""


@dataclass(frozen=True)
class Grid:
    """How a model and its batch are cut, and how a step is run. tensor * pipeline * data * context GPUs.

    expert: of data * context GPUs, how many share the experts among them
    zero: what the replicas share among them (Rajbhandari and others 2020): 0 nothing, 1 the optimizer's state, 2 also
        the gradients, 3 also the weights
    microbatch: sequences that pass through the network together
    interleave: parts of the model on each GPU, v of them make the bubble v times as short
    recompute: "none"; "selective", the attention's scores; "full", each layer's forward pass (Chen and others 2016)
    sequence_parallel: norms and dropout are shared by the tensor group, too (Korthikanti and others 2023)
    flash: attention without its scores in memory, and without what the causal mask hides (Dao and others 2022)
    overlap: whose messages travel beside computing: "tensor" in the backward pass, "gemm" in both, "data", "pipeline"
    gradient_bytes: of a gradient, on the way and in memory
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    context: int = 1
    expert: int = 1
    zero: int = 1
    microbatch: int = 1
    interleave: int = 1
    recompute: str = "none"
    sequence_parallel: bool = True
    flash: bool = True
    overlap: tuple = ("tensor", "data", "pipeline")
    gradient_bytes: int = 4

    @property
    def size(self):
        """GPUs."""
        return self.tensor * self.pipeline * self.data * self.context

    def __str__(self):
        cuts = [f"{name} {n}" for name, n in (("tensor", self.tensor), ("pipeline", self.pipeline), ("data", self.data),
                ("context", self.context), ("expert", self.expert)) if n > 1] or ["one GPU"]  # fmt: skip
        how = [f"microbatch {self.microbatch}"]
        how += [f"ZeRO-{self.zero}"] * (self.data * self.context > 1) + [f"interleave {self.interleave}"] * (
            self.interleave > 1
        )
        how += [f"recompute {self.recompute}"] * (self.recompute != "none")
        return " x ".join(cuts) + "; " + ", ".join(how)

    def but(self, **changes):
        """The same with other fields."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Step:
    """What `step` found. time: seconds; parts: {what: seconds of it that nothing hides}; memory: bytes of the GPU that
    holds most; holds: {what: bytes}; mfu: model's operations (Model.flops_per_token) over the peak of all GPUs."""

    model: object
    grid: Grid
    cluster: object
    batch: int
    parts: dict
    holds: dict

    @property
    def time(self):
        return sum(self.parts.values())

    @property
    def memory(self):
        return sum(self.holds.values())

    @property
    def tokens_per_second(self):
        return self.batch * self.model.sequence / self.time

    @property
    def mfu(self):
        return self.tokens_per_second * self.model.flops_per_token / (self.cluster.size * self.cluster.gpu.flops)

    @property
    def bubble(self):
        """The part of the step that the pipeline's begin and end take."""
        return self.parts["bubble"] / self.time

    def __str__(self):
        rows = [f"{self.grid}", f"{self.time:.3g} s, MFU {self.mfu:.1%}, {self.memory / 1e9:.1f} GB"]
        rows += [f"  {name:10} {seconds / self.time:6.1%}" for name, seconds in self.parts.items() if seconds]
        return "\n".join(rows)


def step(model, grid, cluster, batch):
    """A Step of `batch` sequences. Impossible says what does not fit, and what to change."""
    check(model, grid, cluster, batch)
    holds = memory(model, grid, batch)
    found = Step(model, grid, cluster, batch, _parts(model, grid, cluster, batch), holds)
    if found.memory > cluster.gpu.memory:
        most = max(holds, key=holds.get)
        raise Impossible(
            f"a GPU would hold {found.memory / 1e9:.0f} GB, and {cluster.gpu.name} has {cluster.gpu.memory / 1e9:.0f}; "
            f"the most are {most} ({holds[most] / 1e9:.0f} GB). Cut the model further, or raise zero or recompute."
        )
    return found


# ---- what a grid may be ----------------------------------------------------------------------------------------------


def check(model, grid, cluster, batch):
    """Impossible where grid and model, batch or cluster do not fit, memory apart."""
    for field in ("tensor", "pipeline", "data", "context", "expert", "microbatch", "interleave"):
        if getattr(grid, field) < 1:
            raise Impossible(f"{field} is {getattr(grid, field)}; expected 1 or more.")
    t, p, d, c, e = grid.tensor, grid.pipeline, grid.data, grid.context, grid.expert
    if grid.size != cluster.size:
        raise Impossible(
            f"tensor {t} x pipeline {p} x data {d} x context {c} = {grid.size} GPUs; the cluster has {cluster.size}."
        )
    if t > cluster.node:
        raise Impossible(f"tensor {t} goes beyond a node of {cluster.node} GPUs; expected no more.")
    if model.heads % t or model.mlp_width % t:
        raise Impossible(f"tensor {t} does not divide {model.heads} heads and an MLP of {model.mlp_width}.")
    if model.sequence % (2 * c if c > 1 else 1):
        raise Impossible(f"context {c} does not cut a sequence of {model.sequence} into pairs of equal parts.")
    stages = p * grid.interleave
    if model.layers % stages and (model.layers + 2) % stages:
        raise Impossible(
            f"pipeline {p} x interleave {grid.interleave} = {stages} parts do not divide {model.layers} layers, nor "
            f"{model.layers + 2} with embedding and logits as a layer each."
        )
    if grid.interleave > 1 and p == 1:
        raise Impossible(f"interleave {grid.interleave} without a pipeline; expected 1.")
    if batch % (d * grid.microbatch):
        raise Impossible(f"data {d} x microbatch {grid.microbatch} does not divide a batch of {batch} sequences.")
    if grid.interleave > 1 and batch // (d * grid.microbatch) % p:
        raise Impossible(
            f"{batch // (d * grid.microbatch)} microbatches for an interleaved pipeline of {p}; expected a multiple."
        )
    if e > 1 and ((d * c) % e or model.experts % e):
        raise Impossible(f"expert {e} does not divide data x context = {d * c} and {model.experts} experts.")
    if grid.zero not in range(4) or grid.recompute not in ("none", "selective", "full"):
        raise Impossible(
            f"zero is {grid.zero}, recompute {grid.recompute!r}; expected 0 to 3; none, selective or full."
        )
    if grid.zero > 1 and p > 1:
        raise Impossible(
            f"ZeRO-{grid.zero} with a pipeline would gather or sum for each microbatch; expected zero 0 or 1."
        )


def _layers(model, grid):
    """(layers on a GPU of the middle, on the one with the logits)."""
    parts = grid.pipeline * grid.interleave
    most = -(-model.layers // parts) * grid.interleave
    return most, most - (1 if model.layers % parts else 0)


# ---- memory ----------------------------------------------------------------------------------------------------------


def memory(model, grid, batch):
    """{"weights", "gradients", "optimizer", "activations": bytes on the GPU that holds most}.

    bfloat16 weights, gradients of grid.gradient_bytes, float32 master weights and Adam's two moments. Activations as
    Korthikanti and others 2023 (table 2) count them; a pipeline's first stage holds those of `pipeline` microbatches.
    """
    t, p, replicas = grid.tensor, grid.pipeline, grid.data * grid.context
    layers, _ = _layers(model, grid)
    dense = model.attention_parameters / t + model.small_parameters
    experts = model.experts / grid.expert * model.expert_parameters / t
    ends = (model.embedding_parameters + (0 if model.tied or p > 1 else model.vocabulary * model.width)) / t
    local_dense, local_experts = layers * dense + ends, layers * experts
    share = (replicas, replicas / grid.expert)  # among how many replicas dense and experts' numbers are

    def held(nbytes, cut):
        return nbytes * (local_dense / share[0] + local_experts / share[1] if cut else local_dense + local_experts)

    gathered = 2 * 2 * (dense + experts) if grid.zero == 3 else 0  # the layer that runs, and the next
    return {
        "weights": held(2, grid.zero == 3) + gathered,
        "gradients": held(grid.gradient_bytes, grid.zero >= 2),
        "optimizer": held(12, grid.zero >= 1),
        "activations": _activations(model, grid, batch, layers),
    }


def layer_activations(model, grid):
    """Bytes that one layer keeps of one microbatch, between forward and backward."""
    tokens, t = grid.microbatch * model.sequence / grid.context, grid.tensor
    h, mask = model.width, 1 if model.dropout else 0
    outside = t if grid.sequence_parallel else 1  # what norms, dropout and residual sums keep, is whose
    norms = 4 * h + 4 * h + 2 * mask * h  # what goes into two norms, and out of them into matrices; two masks
    inside = 2 * h + 4 * model.kv_width + 2 * h  # queries, keys and values, what goes into the output's matrix
    inside += model.active * (6 if model.gated else 4) * model.mlp_width
    scores = 5 if model.dropout else 4
    scores = 0 if grid.flash or grid.recompute == "selective" else scores * model.heads * model.sequence
    return tokens * (norms / outside + (inside + scores) / t)


def _activations(model, grid, batch, layers):
    p, v, t = grid.pipeline, grid.interleave, grid.tensor
    micro = batch // (grid.data * grid.microbatch)
    tokens = grid.microbatch * model.sequence / grid.context
    layer_bytes = layer_activations(model, grid)
    kept = 2 * tokens * model.width / (t if grid.sequence_parallel else 1) if grid.recompute == "full" else layer_bytes
    flying = min(p, micro) * (1 + (p - 1) / (p * v) if v > 1 and micro >= p else 1)
    logits = 4 * tokens * model.vocabulary / t if p == 1 else 0
    return layers * kept * flying + (layer_bytes if grid.recompute == "full" else 0) + logits


# ---- time ------------------------------------------------------------------------------------------------------------


@dataclass
class _Pass:
    """One layer's forward or backward pass of one microbatch: seconds of computing, of messages that nothing hides."""

    compute: float = 0.0
    tensor: float = 0.0
    context: float = 0.0
    expert: float = 0.0

    def __add__(self, other):
        return _Pass(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __mul__(self, times):
        return _Pass(*(getattr(self, f.name) * times for f in fields(self)))

    @property
    def seconds(self):
        return self.compute + self.tensor + self.context + self.expert


def matmul(gpu, m, n, k):
    """Seconds for (m, k) @ (k, n) in bfloat16: the roofline."""
    return max(2 * m * n * k / (gpu.flops * gpu.kernels), 2 * (m * k + k * n + m * n) / (gpu.bandwidth * gpu.traffic))


def _layer(model, grid, cluster):
    """(forward, backward) of a layer, as _Pass."""
    gpu, t, h = cluster.gpu, grid.tensor, model.width
    tokens = grid.microbatch * model.sequence / grid.context
    traffic = gpu.bandwidth * gpu.traffic

    # matrices: queries, keys and values; output; MLP, whose rows an all-to-all has spread over the experts
    rows, local = tokens * model.active * grid.expert / model.experts, model.experts / grid.expert
    matrices = matmul(gpu, tokens, (h + 2 * model.kv_width) / t, h) + matmul(gpu, tokens, h, h / t)
    matrices += local * (
        matmul(gpu, rows, (2 if model.gated else 1) * model.mlp_width / t, h)
        + matmul(gpu, rows, h, model.mlp_width / t)
    )
    # attention: two products; without flash also the scores' way through softmax and dropout
    core = 4 * tokens * model.sequence * h / t / (gpu.flops * gpu.kernels)
    scores = tokens * model.sequence * model.heads / t
    core = core / 2 if grid.flash else core + (13 if model.dropout else 8) * scores / traffic
    # element-wise: two norms, two sums with residual and dropout; the MLP's activation
    outside = t if grid.sequence_parallel else 1
    around = tokens * h * ((22 if model.dropout else 20) / outside) / traffic
    around += tokens * model.active * (6 if model.gated else 4) * model.mlp_width / t / traffic
    if model.experts > 1:  # tokens are sorted by expert, and back: written and read
        around += 8 * tokens * model.active * h / outside / traffic

    both = cluster.group(t).all_reduce(2 * tokens * h) * 2 if t > 1 else 0.0
    around_ring = cluster.group(grid.context, t)
    keys = around_ring.all_gather(2 * grid.microbatch * model.sequence * 2 * model.kv_width / t)
    swap = 2 * cluster.group(grid.expert, t * grid.context).all_to_all(2 * tokens * model.active * h / outside)
    keys, swap = (keys if grid.context > 1 else 0.0), (swap if grid.expert > 1 else 0.0)

    def exposed(seconds, hides):
        """What computing does not hide; the first of 8 pieces cannot be hidden."""
        return max(seconds - matrices, seconds / 8) if hides & set(grid.overlap) else seconds

    forward = _Pass(matrices + core + around, exposed(both, {"gemm"}), keys, swap)
    compute = 2 * matrices + (2.5 if grid.flash else 2) * core + 2 * around
    backward = _Pass(compute, exposed(both, {"tensor", "gemm"}), 2 * keys, swap)
    if grid.recompute == "full":
        backward = backward + forward
    elif grid.recompute == "selective" and not grid.flash:
        backward.compute += core
    return forward, backward


def _parts(model, grid, cluster, batch):
    gpu, t, p, v = cluster.gpu, grid.tensor, grid.pipeline, grid.interleave
    micro = batch // (grid.data * grid.microbatch)
    tokens = grid.microbatch * model.sequence / grid.context
    forward, backward = _layer(model, grid, cluster)
    head = 3 * matmul(gpu, tokens, model.vocabulary / t, model.width)
    head += 3 * 4 * tokens * model.vocabulary / t / (gpu.bandwidth * gpu.traffic)  # softmax of float32 logits

    # the slowest stage sets the pace; the first microbatch's way through the others is the bubble
    middle, last = _layers(model, grid)
    layer = forward + backward
    stage = layer * middle
    if p == 1 or last * layer.seconds + head > stage.seconds:
        stage = layer * last + _Pass(head)
    others = model.layers * layer.seconds + head - stage.seconds
    far = cluster.group(p, t * grid.context * grid.data)
    hand = far.send(2 * tokens * model.width / t) if p > 1 else 0.0
    sends = 0 if "pipeline" in grid.overlap else 2 * v * micro * hand
    parts = {
        "compute": micro * stage.compute,
        "tensor": micro * stage.tensor,
        "context": micro * stage.context,
        "expert": micro * stage.expert,
        "pipeline": sends,
        "bubble": max(others, 0.0) / v + 2 * (p - 1) * hand,
    }
    parts["data"] = _data(model, grid, cluster, micro, stage.seconds, middle)
    held = memory(model, grid, batch)["optimizer"]
    parts["optimizer"] = (30 / 12) * held / (gpu.bandwidth * gpu.traffic)  # 12 bytes held, 14 read and 16 written
    return parts


def _data(model, grid, cluster, micro, seconds, layers):
    """Seconds of gradients and weights between replicas that nothing hides. seconds: of one microbatch's passes."""
    t, c, e = grid.tensor, grid.context, grid.expert
    dense = layers * (model.attention_parameters / t + model.small_parameters) + model.embedding_parameters / t
    experts = layers * model.experts / e * model.expert_parameters / t
    spans = [(dense, cluster.group(c * grid.data, t))]
    if e > 1:
        spans.append((experts, cluster.group(c * grid.data // e, t * e)))
    else:
        spans[0] = (dense + experts, spans[0][1])
    total = room = 0.0
    for numbers, group in spans:
        if group.size == 1:
            continue
        gradients, weights = numbers * grid.gradient_bytes, numbers * 2
        if grid.zero == 0:
            total += group.all_reduce(gradients)
        elif grid.zero == 1:
            total += group.reduce_scatter(gradients) + group.all_gather(weights)
        else:
            total += micro * group.reduce_scatter(gradients)
            total += (2 * micro if grid.zero == 3 else 1) * group.all_gather(weights)
    if "data" not in grid.overlap:
        return total
    room = seconds * (micro if grid.zero > 1 else 1)  # one microbatch's passes, or all; the last layer's cannot hide
    return max(total - room, total / (layers * (micro if grid.zero > 1 else 1)))


# ---- search ----------------------------------------------------------------------------------------------------------


def search(model, cluster, batch, **held):
    """All Steps that are possible, the fastest first. held: fields of a Grid that are given, as zero=1 or tensor=8.

    Tried are tensor and context in powers of two, all pipelines that divide the layers, microbatches of 1 to 8, ZeRO 1
    and (without a pipeline) 3, interleaves, recomputation, experts spread as far as they go. Context beyond 1 only
    where a sequence has 16,384 tokens or more.
    """
    unknown = set(held) - {f.name for f in fields(Grid)}
    if unknown:
        raise TypeError(
            f"a Grid has no {', '.join(sorted(unknown))}; it has {', '.join(f.name for f in fields(Grid))}."
        )

    def among(name, values):
        return (held[name],) if name in held else values

    powers, found = [1 << k for k in range(15)], []
    tensors = [n for n in powers if n <= cluster.node and not model.heads % n]
    contexts = [n for n in powers if n <= model.sequence // 4096] if model.sequence >= 16384 else [1]
    cuts = range(1, min(model.layers, cluster.size) + 1)
    pipelines = [n for n in cuts if not model.layers % n or not (model.layers + 2) % n]
    for t, c, p in product(among("tensor", tensors), among("context", contexts), among("pipeline", pipelines)):
        d, left = divmod(cluster.size, t * c * p)
        if left:
            continue
        spread = [n for n in powers if not model.experts % n and not (d * c) % n][-1:] or [1]
        tried = {
            "tensor": (t,),
            "context": (c,),
            "pipeline": (p,),
            "data": among("data", (d,)),
            "expert": among("expert", spread),
            "zero": among("zero", (1,) if p > 1 else (1, 3)),
            "microbatch": among("microbatch", (1, 2, 4, 8)),
            "recompute": among("recompute", ("none", "full")),
            "interleave": among("interleave", (1, 2, 3, 4, 6, 8, 12) if p > 1 else (1,)),
        }
        tried |= {name: (value,) for name, value in held.items() if name not in tried}
        for values in product(*tried.values()):
            try:
                found.append(step(model, Grid(**dict(zip(tried, values, strict=True))), cluster, batch))
            except Impossible:
                continue
    return sorted(found, key=lambda candidate: candidate.time)


def best(model, cluster, batch, **held):
    """The fastest Step of `search`. Impossible where there is none."""
    found = search(model, cluster, batch, **held)
    if not found:
        raise Impossible(
            f"no grid of {cluster.size} GPUs runs this model with a batch of {batch} sequences; take more GPUs, or a "
            "batch that more numbers divide."
        )
    return found[0]
