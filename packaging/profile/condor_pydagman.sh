# Makes the commands of condor_pydagman those that users run, before HTCondor's of the same names.
# man finds their manual pages through PATH; bash and fish their completions through XDG_DATA_DIRS.
case ":${PATH-}:" in
*:/usr/lib/condor_pydagman/bin:*) ;;
*)
    PATH=/usr/lib/condor_pydagman/bin${PATH:+:$PATH}
    XDG_DATA_DIRS=/usr/lib/condor_pydagman/share:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}
    export PATH XDG_DATA_DIRS
    ;;
esac
