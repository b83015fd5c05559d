"""What the translator says of a kernel that it does not take."""

from simt.errors import KernelError


class Refused(KernelError):
    """The kernel cannot be translated. reason: what stands in the way, and what to write instead; line: where."""

    def __init__(self, what, *, site=None, kernel=""):
        self.what = what
        super().__init__(
            f"OpenCL C has no way to say this, or the translator knows none: {what}", site=site, kernel=kernel
        )
