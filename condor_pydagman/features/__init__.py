"""What this program can do beyond the stock one, and what few DAGs use: a folder for each ability.

`condor_pydagman.feature_table` is what all others go by; no module outside of this folder imports
one of a feature.  Nothing of a feature is imported but for a DAG that wants it, and a folder may be
missing.  The modules of a folder that the core asks for:

- `commands`: its commands, as rows (`features.common.rows`); what a Dag holds of it, and how its
  commands are applied (`graph.apply`).
- `lint`: what the checker finds in it.
- `run`: its class for the engine (`engine.feature`).
- `helper`: what it does outside of the engine (`daemon.helpers`), if it is in `HELPERS`.
- `jobs`: of `MOVES_DATA`, what makes the jobs of DATA nodes (`daemon.ports.Placements`).
- `sockets`, `clients`, `steer_commands`: of `SERVES_CLIENTS`, what people can ask of a running DAG.

What people's programs ask for, of those in `TOLD`:

- `shown`: what the logs tell of it (`follow.tracker`), and all that is said of it: words of events
  and reports (`report.feature_words`), notices (`notices.collect`).
- `explain`: which of that `explain` says of a DAG that does not go on
  (`explain.feature_findings`).
- `outside`: what is known of it beyond the files of a DAG (`monitor.outside_facts`).

What they ask for of those whose `parts` name the module:

- `cli`: adds its `subcommand` to those of `condor_pydagman`.
- `outside`: for which shared things DAGs wait (`monitor.outside_facts`).
- `report`: what `condor_pydagman steer info` says of it.
- `adapters.reopened`: makes a Dag what its last run has made of it (`monitor.plan`).
- `page`: what the page has of it (`web.dag_reader`): tables, marks of boxes, fields of nodes.
"""
