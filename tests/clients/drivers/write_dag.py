"""Run by the writers' environment: write a DAG with one of the libraries, in the working directory,
and submit it as the library does.

    write_dag.py LIBRARY

Every job appends its name to `ledger`. Prints what the library says of the submission.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path.cwd()
SCRIPT = f"""\
#!/bin/sh
# note.sh NAME [CODE]: writes the name down; fails with CODE when it is first run
echo "$1" >> {HERE}/ledger
test -z "$2" && exit 0
mkdir {HERE}/first.$1 2>/dev/null && exit "$2"
exit 0
"""


def with_ezdag() -> None:
    from ezdag import DAG, Argument, Layer, Node

    dag = DAG("sample")
    log = {"universe": "scheduler", "log": "$(nodename).log"}
    first = Layer(str(HERE / "note.sh"), name="first", retries=2, submit_description=log)
    first += Node(arguments=[Argument("name", "first")])
    second = Layer(str(HERE / "note.sh"), name="second", submit_description=log)
    for number in range(3):
        second += Node(arguments=[Argument("name", f"second.{number}")])
    dag.attach(first)
    dag.attach(second)
    print(dag.submit(HERE, MaxJobs=2).cluster())


def with_pycondor() -> None:
    from pycondor import Dagman, Job

    dag = Dagman("sample", submit=str(HERE))
    directories = {name: str(HERE) for name in ("error", "output", "log", "submit")}
    words = {"executable": str(HERE / "note.sh"), "universe": "scheduler", **directories}
    first = Job("first", dag=dag, retry=2, **words)
    first.add_arg("first 3")
    second = Job("second", dag=dag, **words)
    for number in range(3):
        second.add_arg(f"second.{number}", name=str(number))
    second.add_parent(first)
    inner = Dagman("inner", submit=str(HERE), dag=dag)
    Job("within", dag=inner, **words).add_arg("within")
    inner.add_parent(second)
    dag.build_submit(fancyname=False, submit_options="-maxjobs 2 -force")


def with_bindings() -> None:
    import htcondor2
    from htcondor2 import dags

    words = {"executable": str(HERE / "note.sh"), "universe": "scheduler"}
    note = htcondor2.Submit({**words, "arguments": "$(name)"})
    dag = dags.DAG(
        dagman_config={"DAGMAN_MAX_JOBS_IDLE": 5},
        dagman_job_attributes={"Sample": 7},
        jobstate_log=Path("sample.jobstate"),
        node_status_file=dags.NodeStatusFile(Path("sample.status"), 1),
    )
    first = dag.layer(
        name="first",
        submit_description=htcondor2.Submit({**words, "arguments": "first 3"}),
        retries=2,
        pre=dags.Script(str(HERE / "note.sh"), ["pre"]),
        post=dags.Script(str(HERE / "note.sh"), ["post"]),
    )
    second = first.child_layer(
        name="second",
        submit_description=note,
        vars=[{"name": f"second.{number}"} for number in range(3)],
        category="few",  # its limit is written as `CATEGORY few 1`, which no DAGMan reads
    )
    third = second.child_layer(
        name="third",
        submit_description=note,
        vars=[{"name": f"third.{number}"} for number in range(3)],
        edge=dags.OneToOne(),
    )
    inner = dags.DAG()
    inner.layer(name="within", submit_description=note, vars=[{"name": "within"}])
    inner_file = dags.write_dag(inner, HERE / "inner", dag_file_name="inner.dag")
    third.child_subdag(name="inner", dag_file=inner_file, dir=HERE / "inner")
    end = htcondor2.Submit({**words, "arguments": "end"})
    dag.final(name="end", submit_description=end)
    (HERE / "end.sub").write_text(f"{end}\nqueue\n")  # which write_dag forgets
    file = dags.write_dag(dag, HERE, dag_file_name="sample.dag")
    made = htcondor2.Submit.from_dag(str(file), {"maxjobs": 4})
    print(htcondor2.Schedd().submit(made).cluster())


def with_glue() -> None:
    from glue import pipeline

    dag = pipeline.CondorDAG(str(HERE / "sample.log"))
    dag.set_dag_file(str(HERE / "sample"))
    job = pipeline.CondorDAGJob("scheduler", str(HERE / "note.sh"))
    job.set_sub_file(str(HERE / "note.sub"))
    job.set_stdout_file(str(HERE / "note-$(cluster).out"))
    job.set_stderr_file(str(HERE / "note-$(cluster).err"))
    parents = []
    for name in ("first 3", "second", "third"):
        node = pipeline.CondorDAGNode(job)
        for word in name.split():
            node.add_var_arg(word)
        if len(name.split()) == 1:
            node.add_var_arg("")
        node.set_name(name.split()[0])
        node.set_retry(2)
        node.set_category("few")
        node.set_priority(len(parents))
        for parent in parents:
            node.add_parent(parent)
        parents = [node]
        dag.add_node(node)
    dag.add_maxjobs_category("few", 1)
    dag.write_sub_files()
    dag.write_dag()


def with_nipype() -> None:
    from nipype.interfaces.utility import Function
    from nipype.pipeline import engine

    text = 'def note(name, before=""):\n'
    text += f'    with open("{HERE}/ledger", "a") as ledger:\n        ledger.write(name + "\\n")\n'
    text += "    return name\n"
    flow = engine.Workflow("sample", base_dir=str(HERE))
    nodes = []
    for name in ("first", "second", "third"):
        does = Function(input_names=["name", "before"], output_names=["name"])
        does.inputs.function_str = text
        node = engine.Node(does, name=name)
        node.inputs.name = name
        if nodes:
            flow.connect(nodes[-1], "name", node, "before")
        nodes.append(node)
    words = {"block": True, "dagman_args": "-maxidle 3", "initial_specs": "request_memory = 64"}
    flow.run("CondorDAGMan", plugin_args=words)


def main() -> None:
    (HERE / "note.sh").write_text(SCRIPT)
    (HERE / "note.sh").chmod(0o755)
    globals()["with_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
