"""What condor_dag_checker finds in DAG files, by the rules of the stock tool and by our own.  Pure;
files are seen through a `World`.
"""
