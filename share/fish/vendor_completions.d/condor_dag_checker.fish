# Completion of condor_dag_checker for fish; made by tools/completion.py.
complete -c condor_dag_checker -k -x -a '(__fish_complete_suffix .dag)'
complete -c condor_dag_checker -o bundle
complete -c condor_dag_checker -o help
complete -c condor_dag_checker -o Statistics
complete -c condor_dag_checker -o json
complete -c condor_dag_checker -o Lint
complete -c condor_dag_checker -o Strict
complete -c condor_dag_checker -o CheckExternalFiles
complete -c condor_dag_checker -o CheckJDL
complete -c condor_dag_checker -o CheckScripts
complete -c condor_dag_checker -o CheckSubDags
complete -c condor_dag_checker -o AllowIllegalChars
complete -c condor_dag_checker -o JoinNodes
complete -c condor_dag_checker -o NoJoinNodes
complete -c condor_dag_checker -o UseDagDir
