"""Answers to 01-roof."""


def by_intensity(flops, nbytes, peak, bandwidth):
    """right"""
    if flops / nbytes > peak / bandwidth:
        return flops / peak * 1e-9, "arithmetic"
    return nbytes / bandwidth * 1e-9, "memory"


def a_list(flops, nbytes, peak, bandwidth):
    """right"""
    times = {"arithmetic": flops / (peak * 1e9), "memory": nbytes / (bandwidth * 1e9)}
    longest = max(times, key=times.get)
    return [times[longest], longest]


def no_giga(flops, nbytes, peak, bandwidth):
    """wrong units: 1 G is 1e9"""
    a, m = flops / peak, nbytes / bandwidth
    return max(a, m), "arithmetic" if a > m else "memory"


def gib(flops, nbytes, peak, bandwidth):
    """wrong units: 2**30 is a GiB"""
    a, m = flops / (peak * 2**30), nbytes / (bandwidth * 2**30)
    return max(a, m), "arithmetic" if a > m else "memory"


def the_shorter(flops, nbytes, peak, bandwidth):
    """wrong shorter: the longer one decides"""
    a, m = flops / (peak * 1e9), nbytes / (bandwidth * 1e9)
    return min(a, m), "arithmetic" if a < m else "memory"


def the_sum(flops, nbytes, peak, bandwidth):
    """wrong sum: while the next data is on its way"""
    a, m = flops / (peak * 1e9), nbytes / (bandwidth * 1e9)
    return a + m, "arithmetic" if a > m else "memory"


def crossed(flops, nbytes, peak, bandwidth):
    """wrong crossed: bytes to the bandwidth"""
    a, m = flops / (bandwidth * 1e9), nbytes / (peak * 1e9)
    return max(a, m), "arithmetic" if a > m else "memory"


def names_exchanged(flops, nbytes, peak, bandwidth):
    """wrong bound: The seconds are right"""
    a, m = flops / (peak * 1e9), nbytes / (bandwidth * 1e9)
    return max(a, m), "memory" if a > m else "arithmetic"


def seconds_alone(flops, nbytes, peak, bandwidth):
    """wrong type: Return two values"""
    return max(flops / (peak * 1e9), nbytes / (bandwidth * 1e9))


def speed(flops, nbytes, peak, bandwidth):
    """wrong other: Two times"""
    return min(peak, flops / nbytes * bandwidth), "memory"
