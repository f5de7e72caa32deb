"""The path by which workers of an earlier version start the supervisor of their modules."""

import os
import runpy

_PATH = os.path.join(os.path.dirname(__file__), "../placement/child_supervisor.py")
runpy.run_path(_PATH, run_name=__name__)
