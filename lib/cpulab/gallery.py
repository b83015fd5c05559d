"""The gallery of the library's GPU kernels: what each asks of memory, counted; and what the compiler makes of it.

    shown = by_folder(rung for rung in implementations.everything() if rung.device == "gpu")
    shown["matrix"]        # shows in a notebook and on a page; print gives text

Both records are made without a GPU: benchmarks/results/gallery.json by the x-ray, compiled.json by the compiler for
GPUs.
"""

from html import escape

from simt import show

from .measure.machine_code import machine_code
from .measure.records import recorded

ARCHITECTURE = "sm_80"
WIDTH, HEIGHT, LANES = 200, 44, 32


def by_folder(rungs):
    """A `Gallery` for each folder of the library, in the order in which the rungs come."""
    folders = {}
    for rung in rungs:
        folders.setdefault(rung.function.__module__.split(".")[1], []).append(rung)
    return {name: Gallery(there) for name, there in folders.items()}


class Gallery:
    """Cards of GPU rungs, rows of `dlkernels.implementations`."""

    def __init__(self, rungs):
        self.rungs = rungs
        self.record = recorded("gallery")
        self.kept = {row["name"]: row for row in self.record.data["rows"]}

    def facts(self, rung):
        """[(launch, counted, request)] of a rung's own kernels; request: its lanes and a sentence, or None."""
        return [(_launch(row), _counted(row), row["request"]) for row in self.kept[rung.name]["launches"]]

    def _helped(self, rung):
        """A line about the kernels of other rungs that it launches, or none."""
        names = self.kept[rung.name]["helpers"]
        return [f"Kernels of other rungs that it launches: {', '.join(names)}."] if names else []

    def __repr__(self):
        lines = []
        for rung in self.rungs:
            lines.append(f"{rung.name}: {rung.adds}")
            lines += [f"    {launch}: {counted}" for launch, counted, _ in self.facts(rung)]
            lines += [f"    {helped}" for helped in self._helped(rung)]
            lines.append(f"    {_compiled(rung)}")
        return "\n".join(lines)

    def _repr_html_(self):
        operations = dict.fromkeys(rung.operation for rung in self.rungs)
        return "".join(self._operation(name) for name in operations)

    def _operation(self, name):
        rungs = [rung for rung in self.rungs if rung.operation == name]
        cards = "".join(map(self._card, rungs))
        number = f"{len(rungs)} ways" if len(rungs) > 1 else "1 way"
        return f"<details><summary><code>{escape(name)}</code>, {number}</summary>{cards}</details>"

    def _card(self, rung):
        parts = "".join(
            f"<p>{_drawing(request)}{escape(launch)}: {escape(counted)}</p>"
            for launch, counted, request in self.facts(rung)
        )
        parts += "".join(f"<p>{escape(helped)}</p>" for helped in self._helped(rung))
        return (
            f'<div class="gallery-card" id="{escape(rung.card)}"><p><b>{show.code(rung.name)}</b> '
            f"<small>{show.breakable(rung.place)}</small><br>"
            f"{show.sentence(rung.adds)}</p>{parts}<p>{escape(_compiled(rung))}</p></div>"
        )


def _launch(row):
    """As "matmul_kernel, 4 x 4 blocks of 16 x 16, 3 times"."""
    count = show.axes(tuple(row["grid"]), tuple(row["block"]))
    grid, block = (" × ".join(map(str, row[key][:count])) for key in ("grid", "block"))
    times = f", {row['times']} times" if row["times"] > 1 else ""
    blocks = "block" if row["grid"] == [1, 1, 1] else "blocks"
    return f"{row['kernel']}, {grid} {blocks} of {block}{times}"


def _counted(row):
    """As "4.0 sectors a request, 100% of the bytes used; 2,048 bytes of shared memory, no bank conflicts; 2
    barriers"."""
    found = []
    if row["sectors_per_request"] is not None:
        found.append(f"{row['sectors_per_request']:.1f} sectors a request, {row['efficiency']:.0%} of the bytes used")
    if row["bank_ways"] is not None:
        ways = row["bank_ways"]
        conflicts = f"at most {ways}-way conflicts" if ways > 1 else "no bank conflicts"
        found.append(f"{row['shared_bytes']:,} bytes of shared memory, {conflicts}")
    for key in ("barriers", "atomics"):
        if row[key]:
            found.append(f"{row[key]:,} {key[:-1] if row[key] == 1 else key}")
    return "; ".join(found) or "no memory touched"


def _compiled(rung):
    """As "sm_80: 40 registers, no spills"; the registers of each of the rung's kernels."""
    views = []
    for number in range(len(rung.kernels)):
        try:
            views.append(machine_code(rung, ARCHITECTURE, number))
        except LookupError:  # for float64 only, say
            continue
    if not views:
        return "compiled when it is launched, for its sizes"
    registers = ", ".join(str(view.registers) for view in views)
    spilled = sum(view.spill_store_bytes + view.spill_load_bytes for view in views)
    return f"{ARCHITECTURE}: {registers} registers, {f'{spilled} bytes spilled' if spilled else 'no spills'}"


def _drawing(request):
    """The lanes of the costliest request above, the memory from its first to its last sector below."""
    if request is None:
        return ""
    lanes = request["lanes"]
    end = max(offset for _, offset in lanes) // 32 * 32 + 32
    top, bottom = 6, HEIGHT - 8
    lines = "".join(
        f'<path d="M{(lane + 0.5) * WIDTH / LANES:.1f} {top}L{(offset + 2) * WIDTH / end:.1f} {bottom}"/>'
        for lane, offset in lanes
    )
    sectors = sorted({offset // 32 for _, offset in lanes})
    boxes = "".join(
        f'<rect x="{32 * sector * WIDTH / end:.1f}" y="{bottom}" width="{max(32 * WIDTH / end - 0.5, 0.5):.1f}" '
        'height="6"/>'
        for sector in sectors
    )
    return (
        f'<svg class="gallery-request" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(request["alt"], quote=True)}">{lines}{boxes}</svg>'
    )
