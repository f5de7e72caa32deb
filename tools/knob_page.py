"""Writes the manual page of the configuration knobs from their table, so that the two agree.

`python -m tools.generate` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman import __version__
from condor_pydagman.config import Kind, Knob, knobs
from tools.man_pages import reflow

DATE = "2026-11-21"  # of the last change that matters to readers
PAGE = r""".\" Made by tools/knob_page.py from the table of knobs.
.TH CONDOR_PYDAGMAN_CONFIG 5 "{date}" "condor_pydagman {version}" "HTCondor"
.nh
.ad l
.SH NAME
condor_pydagman_config \- configuration knobs of condor_submit_dag and condor_dagman
.SH DESCRIPTION
A knob is a line
.I NAME = value
of HTCondor's configuration.
It is read when a command starts, and not again while a DAG runs.
Who sets it last wins:
.IP 1. 4
the configuration of the pool;
.IP 2. 4
the environment, as
.BR _CONDOR_\fINAME\fR ;
.IP 3. 4
the file that the DAG names with
.BR CONFIG ,
or
.B condor_submit_dag \-config
does;
.IP 4. 4
an option of the command line, where there is one.
.PP
.B DAGMAN.\fINAME = value
sets a knob for
.BR condor_dagman (1)
alone,
.B TOOL.\fINAME = value
for
.BR condor_submit_dag (1)
alone.
.PP
A CONFIG file is written in HTCondor's configuration language:
.BR include ,
.BR use ,
.B if
and macros work in it.
A mistake in it ends
.BR condor_submit_dag ,
before anything is submitted.
.PP
Numbers and booleans may be ClassAd expressions:
.BR "DAGMAN_MAX_JOBS_IDLE = 5 * 10" .
A fraction loses what is behind the point where a whole number is wanted.
A boolean is
.BR True ,
.B False
or a number, which is false if it is 0;
.B yes
and
.B T
are refused.
A knob that is set to nothing has its default.
.PP
A value of the wrong type is refused, with its knob, its place and what was expected.
So is one out of range where the range is called enforced below; otherwise the nearest value of the
range is taken and a note written into
.IR .dagman.out .
.PP
Where a knob is called a limit, what the administrator sets, in the pool's configuration or the
environment, or else the default, is the most that a user can have; 0 is no limit.
.B DAGMAN_DISABLE_ADMIN_THROTTLE_LIMITING
lifts this.
.PP
.B condor_pydagman knobs
shows what is in force, and where it was set.
.SH KNOBS
{live}.SH KNOBS WITHOUT EFFECT
These are read and checked, and do nothing.
{idle}.SH KNOBS OF ALL HTCONDOR
These count for DAGMan as for HTCondor's daemons.
.TP
The command socket
NETWORK_INTERFACE, BIND_ALL_INTERFACES, ENABLE_IPV4, ENABLE_IPV6, LOWPORT and HIGHPORT, IN_LOWPORT
and IN_HIGHPORT, TCP_FORWARDING_HOST, NETWORK_HOSTNAME.
.TP
What stands before a line of .dagman.out
ALL_DEBUG, DEFAULT_DEBUG, DEBUG_TIME_FORMAT, LOGS_USE_TIMESTAMP.
.TP
Times in the nodes log
DEFAULT_USERLOG_FORMAT_OPTIONS.
.TP
Which schedd
SCHEDD_ADDRESS_FILE, SCHEDD_DAEMON_AD_FILE.
.SH SEE ALSO
.BR condor_pydagman (1),
.BR condor_submit_dag (1),
.BR condor_dagman (1),
.BR condor_config_val (1)
"""


def text() -> str:
    """The whole page."""
    live = "".join(map(_entry, (knob for knob in knobs() if not knob.no_effect)))
    idle = "".join(map(_entry, (knob for knob in knobs() if knob.no_effect)))
    page = PAGE.format(date=DATE, version=__version__, live=live, idle=idle)
    return "".join(f"{line}\n" for line in reflow(page.splitlines()))


def _entry(knob: Knob) -> str:
    lines = [".TP", f".B {_roff(knob.name)}", _roff(knob.meaning)]
    lines += [_roff(line) for line in _details(knob)]
    return "\n".join(lines) + "\n"


def _details(knob: Knob) -> Iterator[str]:
    kind = knob.kind.value[0].upper() + knob.kind.value[1:]
    unit = f" {knob.unit}" if knob.unit else ""
    value = f"{knob.default:g}" if isinstance(knob.default, float) else knob.default
    yield f"{kind}; default {value}{unit}." if value != "" else f"{kind}; empty by default."
    if knob.range() not in ("", "any") and knob.kind is not Kind.BOOLEAN:
        yield f"Range: {knob.range()}{', enforced' if knob.refused else ''}."
    if knob.stock is not None:
        stock = f"{knob.stock:g}" if isinstance(knob.stock, float) else knob.stock
        yield f"Stock's default is {stock}.  Why ours differs: {knob.why}."
    if knob.caps:
        yield "A limit."
    yield f"Read by {' and '.join(knob.programs)}."
    if knob.no_effect:
        both = "Nor does it have one in stock: " if knob.no_effect_in_stock else "No effect: "
        yield f"{both}{knob.no_effect}."


def _roff(words: object) -> str:
    """Text as roff takes it: no line begins with a control character, minus signs stay, what is
    in backquotes is bold."""
    line = str(words).replace("\\", r"\e").replace("-", r"\-")
    line = re.sub("`([^`]+)`", r"\\fB\1\\fR", line)
    return r"\&" + line if line.startswith((".", "'")) else line
