# Makes the commands of condor_pydagman those that users run, before HTCondor's of the same names.
# man finds their manual pages through PATH.
if ($?PATH) then
    if (":${PATH}:" !~ *:/usr/lib/condor_pydagman/bin:*) then
        setenv PATH "/usr/lib/condor_pydagman/bin:${PATH}"
    endif
endif
