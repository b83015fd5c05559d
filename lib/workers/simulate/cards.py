"""Hardware as its data sheets have it: GPUs, the links between them, and clusters of both.

| | GPU | inside a node | between nodes, for each GPU |
|---|---|---|---|
| a100 | A100 SXM 80 GB | NVLink 3 | InfiniBand HDR |
| h100 | H100 SXM 80 GB | NVLink 4 | InfiniBand NDR |
| h200 | H200 SXM 141 GB | NVLink 4 | InfiniBand NDR |

A data sheet's bandwidth is a peak, and NVLink's counts both directions: a Link's beta is one direction. What bytes get
of it is the same part everywhere, LINK. Latencies are those that NCCL reckons with for a step of a ring.
"""

from dataclasses import dataclass, replace

from .links import Group, Link

# NVIDIA's NCCL developers on NVLink 4: 450 GB/s one way, of which collectives get 370 (nccl-tests issue 212).
LINK = 0.82
NCCL = "alpha: NCCL 2.19, src/graph/tuning.cc, hwLat of Ring/Simple; efficiency: nccl-tests issue 212"


@dataclass(frozen=True)
class GPU:
    """flops: dense bfloat16 on tensor cores, per second; bandwidth: of its memory, bytes/s; memory: bytes.

    kernels: the part of `flops` that matrix products reach, *fitted*, see runs.py; traffic: the part of `bandwidth`
    that element-wise kernels reach, assumed.
    """

    name: str
    flops: float
    bandwidth: float
    memory: float
    kernels: float
    source: str
    traffic: float = 0.8


GPUS = {
    "a100": GPU("A100 SXM 80 GB", 312e12, 2039e9, 80e9, 0.722, "NVIDIA A100 Tensor Core GPU data sheet, 2021"),
    "h100": GPU("H100 SXM 80 GB", 989.4e12, 3350e9, 80e9, 0.584, "NVIDIA H100 Tensor Core GPU data sheet, 2023"),
    "h200": GPU("H200 SXM 141 GB", 989.4e12, 4800e9, 141e9, 0.584, "NVIDIA H200 Tensor Core GPU data sheet, 2024"),
}
LINKS = {
    "nvlink3": Link("NVLink 3", 3.4e-6, 300e9, LINK, f"A100 data sheet: 600 GB/s both ways; {NCCL}"),
    "nvlink4": Link("NVLink 4", 3.4e-6, 450e9, LINK, f"H100 data sheet: 900 GB/s both ways; {NCCL}"),
    "hdr": Link("InfiniBand HDR", 14e-6, 25e9, LINK, f"200 Gbit/s a port; {NCCL}"),
    "ndr": Link("InfiniBand NDR", 14e-6, 50e9, LINK, f"400 Gbit/s a port; {NCCL}"),
}
JOINED = {"a100": ("nvlink3", "hdr"), "h100": ("nvlink4", "ndr"), "h200": ("nvlink4", "ndr")}


@dataclass(frozen=True)
class Cluster:
    """size: GPUs in all; node: GPUs in one island; near, far: Links; rails: a network port for each GPU, and
    collectives that use all ports of a node (Group)."""

    gpu: GPU
    size: int
    near: Link
    far: Link
    node: int = 8
    rails: bool = True

    def group(self, size, stride=1):
        """The Group of GPUs 0, stride, 2 stride, ...: those that are `stride` apart."""
        inside = max(1, min(size, self.node // stride)) if stride < self.node else 1
        while size % inside:
            inside -= 1
        return Group(inside, size // inside, self.near, self.far, self.rails)

    def but(self, **changes):
        """The same with other fields."""
        return replace(self, **changes)


def cluster(gpu, size, node=8, rails=True):
    """`size` GPUs of a kind ("a100", "h100", "h200") with the links of this file. KeyError names the kinds."""
    if gpu not in GPUS:
        raise KeyError(f"no card for {gpu!r}; there are {', '.join(GPUS)}. Make a Cluster of your own for others.")
    if size < 1:
        raise ValueError(f"a cluster of {size} GPUs; expected 1 or more.")
    near, far = JOINED[gpu]
    return Cluster(GPUS[gpu], size, LINKS[near], LINKS[far], min(node, size), rails)
