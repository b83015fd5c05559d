"""What `make gpu-record` timed of a vector add with its copies: points beside the model of chapter 5.2."""

from .records import recorded


def recorded_transfers(folder=None):
    """{"pageable": (elements, seconds), "pinned": ...}: copies and kernel together; {} where no GPU is recorded."""
    try:
        lines = recorded("gpu", folder).data["transfers"]["lines"]
    except (FileNotFoundError, KeyError):
        return {}
    seconds = {(line["name"], line["size"]): line["seconds"] for line in lines if "error" not in line}
    sizes = sorted({size for _, size in seconds})
    return {
        name: (sizes, [seconds[name, size] + seconds["kernel", size] for size in sizes])
        for name in ("pageable", "pinned")
        if sizes
    }
