"""States of a group of nodes that runs at one site: which there are, and which moves are legal.

    UNMATCHED --a node could start--> WAITING --a site is claimed--> CLAIMED --read back--> MATCHED
        ^                                |                                                   |   |
        |                             no site, for good                            taken back|   |
        |                                v                                                   |   |
        |                             SITELESS                                               |   |
        +--cleaned-- CLEANING <--nothing of it runs any more, and something cleans up-- LEAVING  |
        +-----------------------nothing of it runs any more-----------------------------/       |
                                                               OVER <--all its nodes ended------+

As with nodes, what DAGMan has decided is in force when it has been read back from the nodes log;
replaying an old log skips what only live running has, so MATCHED follows UNMATCHED there as well.
"""

from __future__ import annotations

from enum import IntEnum


class GroupState(IntEnum):
    """Where a group is."""

    UNMATCHED = 0  # none of its nodes could start so far
    WAITING = 1  # a site is looked for
    CLAIMED = 2  # a site is claimed; waiting to read that in the nodes log
    MATCHED = 3  # its nodes run at its site
    LEAVING = 4  # taken back from its site: what runs there is to end
    CLEANING = 5  # its clean-up node runs at the old site
    OVER = 6  # all its nodes have ended; its claim is given up
    SITELESS = 7  # there is no site for it, and it has waited or tried for long enough


class GroupCause(IntEnum):
    """Why a group moves."""

    NODE_READY = 0
    SITE_CLAIMED = 1
    MATCH_READ = 2
    TAKEN_BACK = 3
    TO_CLEAN_UP = 4
    FREE_AGAIN = 5  # its nodes start over
    NODES_ENDED = 6
    GIVEN_UP = 7


_S, _C = GroupState, GroupCause

GROUP_MOVES: dict[tuple[GroupState, GroupCause], GroupState] = {
    (_S.UNMATCHED, _C.NODE_READY): _S.WAITING,
    (_S.OVER, _C.NODE_READY): _S.WAITING,  # a person wants one of its nodes to run anew
    (_S.WAITING, _C.SITE_CLAIMED): _S.CLAIMED,
    (_S.CLAIMED, _C.MATCH_READ): _S.MATCHED,
    (_S.MATCHED, _C.TAKEN_BACK): _S.LEAVING,
    (_S.LEAVING, _C.TO_CLEAN_UP): _S.CLEANING,
    (_S.LEAVING, _C.FREE_AGAIN): _S.UNMATCHED,
    (_S.CLEANING, _C.FREE_AGAIN): _S.UNMATCHED,
    (_S.MATCHED, _C.NODES_ENDED): _S.OVER,
    (_S.WAITING, _C.GIVEN_UP): _S.SITELESS,
    # a person takes back the site that a rescue file has for it, or that is being claimed
    (_S.WAITING, _C.TAKEN_BACK): _S.LEAVING,
    (_S.CLAIMED, _C.TAKEN_BACK): _S.LEAVING,
    # a node of it was marked done, or cancelled, meanwhile
    (_S.WAITING, _C.NODES_ENDED): _S.OVER,
    (_S.UNMATCHED, _C.GIVEN_UP): _S.SITELESS,
    # a person has its nodes run anew
    (_S.SITELESS, _C.FREE_AGAIN): _S.UNMATCHED,
    # read from an old log
    (_S.UNMATCHED, _C.MATCH_READ): _S.MATCHED,
    (_S.WAITING, _C.MATCH_READ): _S.MATCHED,
    (_S.MATCHED, _C.MATCH_READ): _S.MATCHED,
    (_S.OVER, _C.MATCH_READ): _S.MATCHED,
    (_S.OVER, _C.TAKEN_BACK): _S.LEAVING,
    (_S.UNMATCHED, _C.TAKEN_BACK): _S.LEAVING,
}

# A site is kept for a group in these.
CLAIMING = frozenset((_S.CLAIMED, _S.MATCHED, _S.LEAVING, _S.CLEANING))
# The DAG goes on while a group is in one of these, though none of its nodes does.
UNDER_WAY = frozenset((_S.WAITING, _S.CLAIMED, _S.LEAVING, _S.CLEANING))
