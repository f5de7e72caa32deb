"""Real clients of DAGMan, each run under the stock program and ours: sh tests/clients/run.sh"""
