"""When each thread prepares operands for itself.

Weights or pixels that all threads need can be turned by all of them together, each a part. What one core wrote must
then come to the others, line by line from its cache; where threads are few and operands small, all of it is made again
sooner.
"""

PREPARED = 64  # uses of a number, multiply-adds, for each thread: to prepare it takes as long as about 30
MOST = 3 << 20  # bytes: more would not stay in the cache of a core


def pays(threads, uses, size):
    """Whether threads prepare `size` bytes each for itself, of which every number is used in so many multiply-adds."""
    return threads == 1 or (PREPARED * threads <= uses and size <= MOST)
