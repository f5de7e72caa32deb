"""The tempo of DAGMan: every interval and time-out of the engine, the daemon and the adapters.

Seconds.  The text under each says what it paces, then why it has this number; docs/design.md has
them as a table (`tools/timers.py`).  Times that a user may choose are knobs (`config/table.py`);
those of a feature are in its folder.
"""

from __future__ import annotations

# The loop

SUBMIT_SLICE_S = 0.02
"""Submitting, after which log events and signals have their turn.  A condor_rm is obeyed within a
blink of the eye, however many nodes are ready."""

SERVE_SLICE_S = 0.01
"""Serving clients of a socket in one pass of the loop.  One client takes less; many must not delay
the DAG."""

SCRIPT_SLICE_S = 0.01
"""Starting pending scripts in one pass of the loop.  As for clients."""

LOG_CHECK_S = 60.0
"""Between two reads of the nodes log though inotify tells of nothing.  A watch that was lost must
not stop a DAG."""

TORN_CHECK_S = 0.2
"""Before a half-written event is read again.  The writer is in the middle of a write(2)."""

PARENT_CHECK_S = 60.0
"""Between two looks whether the schedd that started DAGMan lives.  Its successor starts a DAGMan of
its own, which can't begin while this one is there."""

# What is published

PUBLISH_DELAY_S = 0.2
"""From a change to its publishing.  Many changes make one update."""

PUBLISH_OVERDUE_S = 1.0
"""For which publishing may be late while inputs are pending.  They may be pending for a quarter of
an hour."""

FLUSH_INTERVAL_S = 0.02
"""Between two flushes of `.dagman.out` while nodes are submitted.  A submission that takes
long is shown, without a write for each of a thousand nodes."""

FILE_CHECK_S = 1.0
"""Between two looks whether `.dagman.out` is still there.  Somebody may rename or delete it."""

AD_RETRY_S = 60.0
"""Before the job ad is edited again that the schedd would not edit.  The next change edits it as
well."""

AD_RENEW_S = 300.0
"""After which DAG_AdUpdateTime is renewed though nothing has changed.  Clients tell by it whether
the numbers are those of a DAGMan that lives."""

AD_RENEW_ASLEEP_S = 540.0
"""The same for a DAGMan that sleeps, at the least.  `htcondor dag status` warns after 600 s."""

AD_RENEW_SPREAD_S = 50.0
"""Up to which that takes longer.  Not all DAGMans are to ask the schedd at once."""

RENEWAL_TIMEOUT_S = 5.0
"""For the answer of the schedd to a DAGMan that sleeps.  It does nothing else meanwhile."""

JOBSTATE_RETRY_S = 1.0
"""Between two tries to write jobstate.log.  What waits is kept in memory."""

# The nodes log

FIRST_APPEND_RETRY_S = 0.1
"""Before an event is written again that could not be; doubled with each try.  Most faults pass at
once."""

APPEND_RETRY_S = 1.0
"""The same, at most; after 60 tries the DAG ends.  Whoever has filled the disk has a minute."""

UNDER_WAY_RETRY_S = 0.02
"""Before an event is written while another writer is in the middle of one.  That takes less than a
millisecond."""

TORN_TIMEOUT_S = 3.0
"""For a half-written event; then it is read as it is, or an event is appended after it.  A writer
that takes longer has died."""

CONFIRM_TIMEOUT_S = 60.0
"""Before a journal record that was not read back is written once more.  It may be in a part of the
log that a reader had to pass over."""

# Jobs

FIRST_SUBMIT_BACKOFF_S = 1.0
"""Before the next submission after one has failed; doubled with each failure.  As the stock program
does."""

MAX_SUBMIT_BACKOFF_S = 60.0
"""The same, at most.  The stock program's has no limit."""

MAX_RETRY_DELAY_S = 30 * 24 * 3600
"""Before the retry of a node whose RETRY has no MAX-DELAY, at most.  A BACKOFF grows without
bounds."""

CONFIRM_LOST_S = 20.0
"""For which a proc must be missing in the queue before it counts as lost.  Its end may be on the
way into the log."""

LOG_SILENT_S = 300.0
"""Without an event, once a job has ended, after which the schedd is asked whether jobs are lost;
doubled each time: the DAG's jobs may take so long.  An answer costs it a pass through its queue."""

FIRST_QUERY_DELAY_S = 1.0
"""Before the schedd is asked again for its queue; doubled with each try.  The schedd may be
starting."""

MAX_QUERY_DELAY_S = 60.0
"""The same, at most.  A DAG that waits for this answer submits nothing."""

REMOVAL_RETRY_S = 10.0
"""Before a removal that has failed is requested again.  The schedd may be starting."""

REMOVAL_GRACE_S = 1.0
"""Before the rest of a cluster with a failed proc is removed.  Procs that fail for the same reason
end by themselves, and count as what they are."""

DRAINED_GRACE_S = 2.0
"""After which a halted DAG with nothing in flight ends, unless it is resumed.  Who halts a DAG may
think better of it."""

FINAL_TIMEOUT_S = 60.0
"""For removed jobs to end when the FINAL node has ended.  The schedd removes what is left."""

# The start and the end

CONTACT_TIMEOUT_S = 20.0
"""For the schedd to put the address of the command socket into the job ad, at the start; then the
DAG begins without.  As START_TIMEOUT_S."""

START_TURN_TIMEOUT_S = 60.0
"""In which no DAGMan gets a turn to start, before one that waits starts without.  A start takes
less than a second of CPU, and those that hang must not delay others for longer."""

RECOVERY_TIMEOUT_S = 5.0
"""For a recovery to come to rest, once the log has been replayed; then another DAGMan has its turn.
The schedd has answered by then, unless it hangs."""

TURN_LOOK_S = 0.02
"""Between two looks for a turn, of the one DAGMan that looks.  A start takes longer."""

LINE_LOOK_S = 2.0
"""Between two looks for a signal, of those that wait in line to be that one.  Hundreds of them take
little of a processor."""

SIGNAL_LOOK_S = 0.1
"""Between two looks for a signal while DAGMan waits for its contact.  There is no loop yet."""

START_TIMEOUT_S = 20.0
"""For the schedd to answer what precedes the first node.  It answers in milliseconds unless it
hangs, and a DAG must not wait for that."""

FIRST_NOTICE_RETRY_S = 1.0
"""Before the schedd is told again of the end of the DAG; doubled with each try.  The schedd may be
starting."""

MAX_NOTICE_RETRY_S = 30.0
"""The same, at most.  A DAG that has ended should leave the queue soon after the schedd is back."""

REMOVAL_TIMEOUT_S = 20.0
"""For the schedd to accept the last removals when DAGMan's job is removed.  It removes the
jobs itself when DAGMan has left the queue."""

LEAVE_TIMEOUT_S = 0.5
"""For pending requests when DAGMan leaves to be started again.  The next DAGMan finds out what has
become of them."""

# The process that asks the schedd

CHILD_IDLE_S = 20.0
"""Without a request, after which the process leaves.  It has 3 to 4 MB; to fork another one takes
milliseconds."""

LOOK_IDLE_S = 0.5
"""The same after a look at DAGMan's job ad.  Looks recur: they do not keep the process."""

GIVE_UP_S = 10.0
"""For a call that hangs while the removal of all jobs waits behind it.  Who removes a DAG wants its
jobs gone."""

SEND_TIMEOUT_S = 10
"""For a child process to take a request.  An idle one reads at once."""

KILL_TIMEOUT_S = 0.5
"""For a killed child process to end.  One that waits for a disk may take longer."""

FIRST_PROCESS_RETRY_S = 1.0
"""Before a child process is started again that the machine did not have; doubled with each try.
Requests wait: nothing is refused for that."""

MAX_PROCESS_RETRY_S = 30.0
"""The same, at most.  The DAG goes on soon after the machine has them again."""

HISTORY_TIMEOUT_S = 300.0
"""For a search of the history, in a process of its own, which the kernel ends then.  The history
may have gigabytes."""

HISTORY_MARGIN_S = 3600
"""By which a job must have ended before this run to end a search of the history.  Clocks differ,
and a schedd that was down moves completed jobs to the history when it is up again."""

# Scripts and clients

SCRIPT_RETRIES_S = (0.1, 0.2, 0.4, 0.8)
"""Before each further try to start a script for which the machine had no process; then it has
failed.  Scripts behind it wait as long."""

REPLY_TIMEOUT_S = 3.0
"""For the schedd to note a halt, before the client that asked for it is answered.  DAGMan has
obeyed by then."""

CLIENT_TIMEOUT_S = 20.0
"""For everything that a client of the command socket sends.  The stock program's
SEC_TCP_SESSION_TIMEOUT."""

BUSY_CLIENT_TIMEOUT_S = 1.0
"""The same while others wait.  Clients of HTCondor send all they have at once."""

ACCEPT_RETRY_S = 1.0
"""For which no client is accepted after one could not be.  There may be no descriptors, and poll(2)
would tell of the client again at once."""

REPORT_INTERVAL_S = 60.0
"""Between two lines about clients that were refused.  Anybody may connect, and nobody must
fill `.dagman.out`."""

ANSWER_TIMEOUT_S = 30.0
"""For a DAGMan to answer one of people's programs over the local socket.  DAGMan waits for the
schedd for up to 20 s before it answers."""

CONNECT_RETRY_S = 0.01
"""Between two tries to connect to the local socket while too many others wait.  DAGMan accepts 16
in one pass of its loop."""

DIRECTORY_MAKING_S = 2.0
"""Between mkdir and chmod of a directory that users share, at most.  Who finds it in between waits;
then it is not ours."""

READING_TIMEOUT_S = 10.0
"""For a process that reads what others wrote, at most.  Descriptions take some milliseconds; those
that never end are refused after this time."""

READING_CPU_S = 5
"""The same, of CPU, which the kernel ends.  It is less than the time-out, so that a machine with
much to do has as much again for all else."""

CLAIMS_LOCK_TIMEOUT_S = 20.0
"""For other DAGMans to decide in a directory of claims.  A round takes milliseconds; a queue of
hundreds of DAGMans has its turn."""

CLAIMS_UNFINISHED_S = 3600.0
"""Before a file in a directory of claims is removed that a killed process had begun to write.  To
write one takes milliseconds."""

FIRST_LOCK_LOOK_S = 0.001
"""Between the first looks at a lock of a directory that users share; then longer each time.  Who
holds it does so for milliseconds."""

MAX_LOCK_LOOK_S = 0.02
"""Between later looks.  Hundreds that wait for one lock take little of a processor."""

# Sleep

SLEEP_AGAIN_S = 5.0
"""Awake after a wake that has brought nothing, and between looks whether it may sleep.  What comes
late, such as the answer of the schedd, comes within that time."""

LEAST_SLEEP_S = 30.0
"""To sleep.  A start takes a tenth of a second of a processor, which a shorter sleep does not
save."""
