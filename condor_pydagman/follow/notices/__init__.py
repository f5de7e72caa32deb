"""What there is to say to people of a DAG that is followed, each thing in one place.

`notices_of` collects it: what the core of DAGMan has to say, and what features have.  `watch`,
`explain`, the report and the page show the same.
"""
