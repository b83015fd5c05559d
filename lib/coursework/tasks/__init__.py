"""One module a chapter; each lists its tasks, in the order of the notebook, in `TASKS`."""
