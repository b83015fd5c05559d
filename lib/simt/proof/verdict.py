"""What a proof came to, in words."""

from dataclasses import dataclass

from ..show import sentence

FREE, FAILS, UNKNOWN = "free", "fails", "not provable"
ASSUMED = (
    "arrays that are different parameters do not overlap, and none overlaps itself",
    "no index lies outside its array, nothing is divided by zero, and no integer overflows",
    "a launch has one thread, and one block, along each axis that the kernel never asks for",
    "every loop ends",
)
NATURAL = "integers among the arguments are 0 or more"


@dataclass(frozen=True, repr=False)
class Verdict:
    """kind: "free", "fails" or "not provable". block: the only block that was looked at, None for every one.

    fails: `launch` is one in which the x-ray found `finding`. not provable: `reason` says why, `site` where (or None),
    and `ran` which launches the x-ray looked at instead, none of which showed a race. assumed: sentences.
    """

    kernel: str
    kind: str
    block: tuple | None = None
    launch: object = None
    finding: object = None
    reason: str = ""
    site: object = None
    ran: tuple = ()
    assumed: tuple = ASSUMED

    @property
    def free(self):
        return self.kind == FREE

    @property
    def fails(self):
        return self.kind == FAILS

    @property
    def sizes(self):
        """What a proof speaks about."""
        if self.block is None:
            return "every block size up to 1024, every grid and every array size"
        return f"blocks of {' x '.join(map(str, self.block))} threads, every grid and every array size"

    def __str__(self):
        if self.kind == FREE:
            return f"{self.kernel}: free of races for {self.sizes}.\nAssumed: {'; '.join(self.assumed)}."
        if self.kind == FAILS:
            return f"{self.kernel}: fails, for example when launched as `{self.launch}`:\n{self.finding.message}"
        where = f" (line {self.site.line}: `{self.site.text}`)" if self.site else ""
        ran = "; ".join(f"`{launch}`" for launch in self.ran) or "nothing"
        seen = "The x-ray found no race in what was run" if self.ran else "What was run"
        return f"{self.kernel}: not provable: {self.reason}{where}.\n{seen}: {ran}."

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return "".join(f"<p>{sentence(line)}</p>" for line in str(self).splitlines())

    def to_dict(self):
        """What JSON can hold."""
        told = {"kernel": self.kernel, "verdict": self.kind, "block": list(self.block) if self.block else None}
        if self.fails:
            told["launch"] = str(self.launch)
            told |= {
                name: self.finding.to_dict()[name] for name in ("kind", "array", "index", "lines", "threads", "message")
            }
        if self.free and NATURAL in self.assumed:
            told["assumed"] = NATURAL
        if self.kind == UNKNOWN:
            told |= {
                "reason": self.reason,
                "at": self.site.text if self.site else "",
                "ran": [str(launch) for launch in self.ran],
            }
        return told
