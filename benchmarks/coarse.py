"""Trainings as tasks of a Dask cluster on this machine: what a task costs, a sweep, epochs in shards, a server, a loss.

    PYTHONPATH=$PWD/lib:$PWD/build/dask python benchmarks/run.py coarse           recorded in results/coarse.json
    PYTHONPATH=$PWD/lib:$PWD/build/dask python benchmarks/run.py coarse --quick   few trainings, not recorded

`make build/dask` makes that folder. Two workers, each a process with one thread; `workers.coarse` has the trainings.
The seconds of a sweep are those of workers that have compiled. A worker is killed (SIGKILL) when a fourth of a sweep is
done.
"""

import os
import signal
import statistics
import time
from collections import Counter

WORKERS = 2


def nothing(x):
    return x


def round_trips(client, count):
    """Seconds of tasks that do nothing, one after the other."""
    found = []
    for number in range(count + 5):
        begin = time.perf_counter()
        client.submit(nothing, number, pure=False).result()
        found.append(time.perf_counter() - begin)
    return found[5:]


def benchmark(quick=False):
    try:
        import distributed
    except ImportError:
        from simt.xray import Unavailable

        raise Unavailable("It needs Dask: `make build/dask`, as the head of benchmarks/coarse.py says.") from None
    from workers import coarse

    rates = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)[:: 3 if quick else 1]
    settings = [{"lr": lr, "width": width, "epochs": 4 if quick else 20} for lr in rates for width in (8, 32)]
    found = {"dask": distributed.__version__, "workers": WORKERS}
    with coarse.cluster(WORKERS) as client:
        client.run(coarse.train, 0.1)  # each worker has compiled
        trips = round_trips(client, 20 if quick else 200)
        found["round trip"] = {"median": statistics.median(trips), "best": min(trips)}
        begin = time.perf_counter()
        losses = coarse.sweep(client, settings)
        spent = time.perf_counter() - begin
        begin = time.perf_counter()
        alone = client.submit(loop, settings, pure=False).result()
        found["sweep"] = {"settings": settings, "losses": losses, "seconds": spent,
                          "seconds of one worker": time.perf_counter() - begin, "same": losses == alone}  # fmt: skip
        found["local"] = {
            str(parts): coarse.local_epochs(client, 3 if quick else 8, parts, 0.5)["losses"] for parts in (1, 2, 4, 8)
        }
        server = coarse.asynchronous(client, WORKERS, 100 if quick else 400, 0.1)
        found["server"] = {"loss": server["loss"], "staleness": dict(sorted(Counter(server["staleness"]).items()))}
        before = client.run(os.getpid)
        victim = next(iter(before.values()))

        def kill(number):
            if number == len(settings) // 4:
                os.kill(victim, signal.SIGKILL)

        begin = time.perf_counter()
        again = coarse.sweep(client, settings, kill)
        found["lost"] = {"seconds": time.perf_counter() - begin, "same": again == losses}
    print(
        f"round trip {1e3 * found['round trip']['median']:.1f} ms; sweep of {len(settings)}: {spent:.2f} s by "
        f"{WORKERS} workers, {found['sweep']['seconds of one worker']:.2f} by one, same losses: "
        f"{found['sweep']['same']}"
    )
    print(f"local SGD: {found['local']}\nserver: {found['server']}\na worker lost: {found['lost']}")
    return found


def loop(settings):
    from workers import coarse

    return [coarse.train(**setting)["loss"] for setting in settings]
