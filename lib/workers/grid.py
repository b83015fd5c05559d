"""A grid of workers: pipeline x data x tensor, each direction with groups of its own.

    grid = Grid(group, pipeline=2, data=2, tensor=2)            # 8 workers
    stage = tensor_parallel(stages[grid.pipeline.rank], grid.tensor)
    model = DataParallel(stage, grid.data)

Neighbours in rank share a tensor group: tensor parallel sends the most, and neighbours are on one machine. Next come
data groups, and pipeline groups, which send the least, are farthest apart. Narayanan and others 2021, section 3.
"""


class Grid:
    """The groups that a worker is in: `tensor`, `data` and `pipeline`, and `group`, all of them.

    pipeline, data, tensor: sizes, whose product is the group's size, else ValueError. Worker r has the place
    (r // (data * tensor), r // tensor % data, r % tensor). All workers make it at once.
    """

    def __init__(self, group, pipeline=1, data=1, tensor=1):
        if pipeline * data * tensor != group.size:
            raise ValueError(
                f"a grid of {pipeline} x {data} x {tensor} has {pipeline * data * tensor} workers; "
                f"expected {group.size}, the size of the group."
            )
        self.group, self.sizes = group, (pipeline, data, tensor)
        p, rest = divmod(group.rank, data * tensor)
        d, t = divmod(rest, tensor)
        self.place = p, d, t
        self.tensor = group.split(p * data + d)
        self.data = group.split(p * tensor + t)
        self.pipeline = group.split(d * tensor + t)
