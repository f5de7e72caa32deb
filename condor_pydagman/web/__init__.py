"""A page on which a user sees and steers running DAGs, and its server.

`application` has the routes and who may use them (`access`); what it shows of one DAG is kept by
`live_dag`.  aiohttp is imported by the modules that need it, which only `condor_pydagman web` does.
"""
