"""Ten thousand workers, simulated: what a training step costs on machines that nobody here has.

    from workers import simulate
    from workers.simulate import Grid

    model, machines = simulate.models["gpt-175b"], simulate.cluster("h100", 512)
    print(simulate.step(model, Grid(tensor=8, pipeline=8, data=8), machines, batch=1024))
    print(simulate.best(model, machines, batch=1024))

Its files, in reading order:

links.py    messages and collectives: alpha-beta     cards.py    GPUs, links and clusters of data sheets
models.py   shapes: parameters, operations           steps.py    a step of a grid: time, memory, search
runs.py     published runs, and how far off we are   events.py   noise, failures, asynchronous updates
streams.py  batches and weights from outside memory  local.py    processes of one machine, beside measured runs
"""

from .cards import GPUS, LINKS, Cluster, cluster
from .events import checkpointed, daly, pipelined, slowest, updates, young
from .links import Link
from .local import fit_link, local
from .models import Model, models
from .steps import Grid, Impossible, Step, best, search, step
from .streams import streamed

__all__ = [
    "GPUS",
    "LINKS",
    "Cluster",
    "Grid",
    "Impossible",
    "Link",
    "Model",
    "Step",
    "best",
    "checkpointed",
    "cluster",
    "daly",
    "fit_link",
    "local",
    "models",
    "pipelined",
    "search",
    "slowest",
    "step",
    "streamed",
    "updates",
    "young",
]
