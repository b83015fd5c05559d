"""A trained network made smaller: fewer bits for a number, fewer numbers, or a smaller network that learns from it.

    from training.smaller import calibration, networks, quantized, storage
    parts = networks.parts(data.digits)
    model = networks.trained(networks.digits(seed=0), parts.train)
    small = quantized.quantized(model, bits=4)
    accuracy(small, *parts.validation), storage.nbytes(small)

All functions leave the network that they are given as it is, and return another. A network is made of Linear and Conv2d
layers, in host memory. Settings are chosen on a validation part, and only what was chosen sees the test part.

Its files, in reading order:

networks.py       two networks, data in three parts        parametrized.py   a weight that is computed of other numbers
folding.py        batch norm becomes part of a weight      storage.py        bytes of a network, from what is stored

calibration.py    the range of numbers to be rounded       rounded.py        a weight as codes and scales
quantized.py      weights and activations of few bits      gptq.py           rounding that corrects what comes after
awq.py            larger steps where activations are small kv_cache.py       keys and values of few bits

pruning.py        weights that become zero                 filters.py        whole filters that go
order.py          pruning before quantising, and after it  low_rank.py       two thin matrices for one
codebook.py       a few values, shared by k-means          hashed.py         a few values, shared by a hash
distillation.py   a small network learns from a large one  lora.py           a few numbers that learn, all others rest
data_files.py     pictures on their way from the disk
"""
