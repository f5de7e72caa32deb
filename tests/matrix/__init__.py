"""The tests with other versions of Python and of HTCondor's bindings, and a page of the results."""
