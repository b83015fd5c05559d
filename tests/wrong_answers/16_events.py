"""Answers to 16-events."""

from answers import edit, replace


def as_taught():
    """right"""
    return {
        "write w": [],
        "write x": [],
        "blur": ["write w", "write x"],
        "read y": ["blur"],
        "write x 2": ["blur"],
        "blur 2": ["write x 2", "read y"],
        "read y 2": ["blur 2"],
    }


def says_more():
    """right"""
    return {
        "write w": [],
        "write x": [],
        "blur": ["write x", "write w"],
        "read y": ["blur", "write x"],
        "write x 2": ["blur", "write w"],
        "blur 2": ["read y", "write x 2", "blur"],
        "read y 2": ["blur 2", "read y"],
    }


as_in_the_program = edit(
    as_taught, "wrong old-value: Who still reads what is in it", replace('["write x 2", "read y"]', '["write x 2"]')
)
second_image_at_once = edit(
    as_taught,
    "wrong old-value: Who still reads what is in it",
    replace('"write x 2": ["blur"]', '"write x 2": ["write x"]'),
)
no_weights = edit(
    as_taught, "wrong too-early: Who writes what it reads", replace('["write w", "write x"]', '["write x"]')
)
reads_at_once = edit(
    as_taught, "wrong too-early: Who writes what it reads", replace('"read y": ["blur"]', '"read y": []')
)
second_blur_early = edit(
    as_taught, "wrong too-early: Who writes what it reads", replace('["write x 2", "read y"]', '["read y"]')
)
last_read_early = edit(
    as_taught, "wrong too-early: Who writes what it reads", replace('"read y 2": ["blur 2"]', '"read y 2": ["read y"]')
)
in_order = edit(
    as_taught, "wrong needless: could run at the same time", replace('"write x": []', '"write x": ["write w"]')
)
second_write_late = edit(
    as_taught, "wrong needless: could run at the same time", replace('"write x 2": ["blur"]', '"write x 2": ["read y"]')
)
later = edit(as_taught, "wrong not-allowed: no event of it yet", replace('"read y": ["blur"]', '"read y": ["blur 2"]'))
misspelt = edit(
    as_taught, "wrong not-allowed: no command of this program", replace('"read y": ["blur"]', '"read y": ["blurr"]')
)
a_word = edit(as_taught, "wrong not-allowed: a list of names", replace('"read y": ["blur"]', '"read y": "blur"'))
overwritten = edit(
    as_taught,
    "wrong overwritten: The second must wait for the first",
    replace('"write x 2": ["blur"]', '"write x 2": []'),
)
