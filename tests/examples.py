"""An example of each command of the DAG language, which is applied, written and read again, and
given to the fuzzer, by the tests that do so with every command.  Those of features are in their
rows."""

from __future__ import annotations

from condor_pydagman.feature_table import FEATURE_OF
from condor_pydagman.features.common.rows import row_of

# What an example of a feature needs before it, beside the JOB lines of A, B and C.
_BEFORE = {
    "SITE_POLICY": "SITE_GROUP",
    "SITE_MATCHED": "SITE_GROUP",
    "SWEEP_PARENT": "SWEEP",
}


def _of_feature(word: str) -> str:
    before = f"{row_of(_BEFORE[word]).example}\n" if word in _BEFORE else ""
    return before + row_of(word).example


# By command word; with the lines that it needs before it, beside the JOB lines of A, B and C.
EXAMPLES = {
    **{word: _of_feature(word) for word in FEATURE_OF},
    "JOB": "JOB D x",
    "FINAL": "FINAL F x",
    "PROVISIONER": "PROVISIONER P x",
    "SERVICE": "SERVICE S x",
    "DATA": "DATA D x",
    "SUBDAG": "SUBDAG EXTERNAL D x.dag",
    "SPLICE": "SPLICE S s.dag",
    "SUBMIT_DESCRIPTION": "SUBMIT-DESCRIPTION s {\n}",
    "DOT": "DOT d",
    "NODE_STATUS_FILE": "NODE_STATUS_FILE s",
    "JOBSTATE_LOG": "JOBSTATE_LOG j",
    "INCLUDE": "INCLUDE s.dag",
    "PARENT": "PARENT A CHILD B",
    "WEAK": "WEAK PARENT A CHILD B",
    "CONNECT": "SPLICE S s.dag\nSPLICE T s.dag\nCONNECT S T",
    "PIN_IN": "PIN_IN A 1",
    "PIN_OUT": "PIN_OUT A 1",
    "SCRIPT": "SCRIPT PRE A x",
    "RETRY": "RETRY A 1",
    "ABORT_DAG_ON": "ABORT-DAG-ON A 1",
    "VARS": "VARS A x=1",
    "PRIORITY": "PRIORITY A 1",
    "PRE_SKIP": "PRE_SKIP A 1",
    "TOLERANCE": "TOLERANCE A 1",
    "CATEGORY": "CATEGORY A c",
    "MAXJOBS": "MAXJOBS c 1",
    "DONE": "DONE A",
    "SAVE_POINT_FILE": "SAVE_POINT_FILE A",
    "CONFIG": "CONFIG c",
    "SET_JOB_ATTR": "SET_JOB_ATTR a = b",
    "ENV": "ENV GET HOME",
    "REJECT": "REJECT",
    "NOT_DONE": "NOT_DONE A",
}
IN_NO_DAG_FILE = frozenset({"REJECT", "GROWN", "NOT_DONE"})  # of one that is to be run
SPLICE = {"s.dag": "JOB X x\nPIN_IN X 1\nPIN_OUT X 1\n"}  # the file that examples name
