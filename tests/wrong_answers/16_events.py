"""Answers to 16-events."""

from answers import data, edit, replace

says_more = data(
    "right",
    {
        "write w": [],
        "write x": [],
        "blur": ["write x", "write w"],
        "read y": ["blur", "write x"],
        "write x 2": ["blur", "write w"],
        "blur 2": ["read y", "write x 2", "blur"],
        "read y 2": ["blur 2", "read y"],
    },
)


reads_at_once = edit(
    "as_taught", "wrong too-early: Who writes what it reads", replace('"read y": ["blur"]', '"read y": []')
)
second_blur_early = edit(
    "as_taught", "wrong too-early: Who writes what it reads", replace('["write x 2", "read y"]', '["read y"]')
)
last_read_early = edit(
    "as_taught",
    "wrong too-early: Who writes what it reads",
    replace('"read y 2": ["blur 2"]', '"read y 2": ["read y"]'),
)
later = edit(
    "as_taught", "wrong not-allowed: no event of it yet", replace('"read y": ["blur"]', '"read y": ["blur 2"]')
)
misspelt = edit(
    "as_taught", "wrong not-allowed: no command of this program", replace('"read y": ["blur"]', '"read y": ["blurr"]')
)
a_word = edit("as_taught", "wrong not-allowed: a list of names", replace('"read y": ["blur"]', '"read y": "blur"'))
overwritten = edit(
    "as_taught",
    "wrong overwritten: The second must wait for the first",
    replace('"write x 2": ["blur"]', '"write x 2": []'),
)
