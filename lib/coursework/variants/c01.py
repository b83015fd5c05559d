"""Other numbers for the predictions of chapter 01."""

from . import Asked, Variants


def bus(car, bus, jobs):
    many, from_here = bus + jobs - 1, (bus - 1) // (car - 1) + 1
    fewer = from_here - 1
    return {
        "many": Asked(
            f"cycles that the bus needs for {jobs} jobs that do not depend on each other",
            many,
            {
                bus * jobs: "It begins a job in each cycle, and does not wait until the last one is done.",
                jobs: f"After {jobs} cycles the last job has begun. When is it done?",
                bus + jobs: f"The first job begins in cycle 0, so the last one begins in cycle {jobs - 1}.",
                car * jobs: "That is the car. When does the last job begin on the bus, and how long does it take?",
            },
            "When does the last job begin, and how long does it take?",
        ),
        "from_here": Asked(
            "the smallest number of such jobs for which the bus is done before the car",
            from_here,
            {
                fewer: f"For {fewer} jobs the car needs {car * fewer} cycles, the bus {bus} + {fewer - 1}. That is not "
                "before.",
                from_here + 1: f"One fewer is enough: n jobs keep the bus for {bus} + (n - 1) cycles.",
            },
            f"The car needs {car} n cycles, the bus {bus} for the first job and one more for each other job.",
        ),
        "chain": Asked(
            f"cycles that the bus needs for {jobs} jobs of which each needs the result of the one before",
            bus * jobs,
            {
                many: "Each job has to wait for the one before: nothing is in flight beside it.",
                car * jobs: "That is the car.",
            },
            "How many jobs can be in flight at a time?",
        ),
    }


def predict(degree, elements, lanes, units, latency, workers, hours, serial):
    flops, parallel = 2 * degree * elements, hours - serial
    return {
        "flops": Asked(
            f"flops of a polynomial of degree {degree} for {elements} elements, multiply and add counted as one each",
            flops,
            {
                degree * elements: "Each step of the rule is a multiply and an add: two flops.",
                2 * degree: "That is one element.",
                2 * elements: "That is one step of the rule for all elements. How many steps are there?",
            },
            "Count the multiplies and adds of one element first.",
        ),
        "intensity": Asked(
            "arithmetic intensity of that loop in flop per byte, float32, each element read once and written once",
            flops / (2 * 4 * elements),
            {
                degree / 2: "Each element is read and written: twice 4 bytes.",
                2 * degree: "That is flop per element. How many bytes is an element read and written?",
                degree / 8: "Half of it. Is a multiply-add one flop or two, and has a float32 4 bytes or 8?",
                degree: "That is flop per number moved. A float32 has 4 bytes.",
            },
            "flops of one element over bytes of one element.",
        ),
        "instructions": Asked(
            f"multiply-add instructions of that loop, if each handles {lanes} lanes",
            degree * elements // lanes,
            {
                degree * elements: f"That is without vectors. One instruction does {lanes} elements.",
                flops // lanes: "A multiply-add is two flops, but one instruction.",
                elements // lanes: "That is the number of vectors. How many multiply-adds does each need?",
            },
            "How many vectors are there, and how many multiply-adds does each go through?",
        ),
        "in_flight": Asked(
            f"chains that keep a core busy which can begin {units} steps in each cycle, with a latency of {latency} "
            "cycles",
            latency * units,
            {
                latency: f"With {latency} chains, one step can begin in each cycle. The core can begin {units}.",
                latency * units * lanes: "The lanes of a vector work side by side: a chain is a chain of vectors.",
                latency // units: "In flight is throughput times latency, not latency over throughput.",
            },
            "Little's law: how many steps begin until the first one is done?",
        ),
        "scaled": Asked(
            f"scaled speed-up of {workers} workers whose run takes {hours} hours, {serial} of them serial",
            (serial + workers * parallel) / hours,
            {
                hours * workers / (serial * workers + parallel): (
                    "That is Amdahl's law, with the share as one worker sees it. Add up what one worker would need."
                ),
                workers: "The serial part does not get faster.",
                workers * parallel / hours: (
                    f"That is the parallel part alone, {parallel} of {hours} hours with {workers} workers. The serial "
                    "part is work, too."
                ),
            },
            f"How many hours would one worker need for all of it? Divide by {hours}.",
        ),
    }


VARIANTS = {
    "01-bus": Variants(
        {"car": 4, "bus": 30, "jobs": 100},
        {"car": (3, 4, 5, 6), "bus": (24, 27, 30, 34, 40), "jobs": (80, 100, 120, 150)},
        "the car takes {car} cycles for a job, the bus {bus}, and `many` and `chain` are about {jobs} jobs.",
        bus,
        lambda car, bus, jobs: (bus - 1) % (car - 1) != 0,
    ),
    "01-predict": Variants(
        {"degree": 8, "elements": 1000, "lanes": 8, "units": 2, "latency": 4, "workers": 8, "hours": 8, "serial": 2},
        {
            "degree": (6, 8, 10, 12),
            "elements": (800, 1000, 1200, 1600),
            "lanes": (4, 8, 16),
            "units": (2, 3),
            "latency": (4, 5),
            "workers": (6, 8, 12),
            "hours": (8, 10),
            "serial": (2,),
        },
        "the polynomial has degree {degree}, for {elements} elements, and an instruction handles {lanes} lanes. The "
        "core can begin {units} multiply-adds in each cycle, each takes {latency} cycles. {workers} workers need "
        "{hours} hours for the job, {serial} of them serial.",
        predict,
        lambda elements, lanes, **others: elements % lanes == 0,
    ),
}
