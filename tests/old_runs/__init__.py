"""Runs that earlier versions have left on disk and in the queue, and what is to become of them.

`runs/VERSION/NAME/` has the files of one DAG, cut off in the middle: as they were when DAGMan was
stopped, with `@DIR@` for the directory; `queue.json` has the ads of its jobs. `expected.json` has
what becomes of them.  `tests/unit/test_old_runs.py` compares with that.  At first it is what the
version says that has left them; when a later one does something else on purpose,

    .venv/bin/python -m tests.old_runs.record VERSION --only-expect

writes what is done now, and the difference is reviewed as any other.

To add the runs of a version: in a checkout of it, which has this folder and `tests/pool/` (copy
them if it has none),

    .venv/bin/python -m tests.old_runs.record VERSION [NAME ...]

which plays the DAGs of `scenes.py` on a personal HTCondor; `readers.py` is the only module of
this folder that knows the insides of the package.
"""
