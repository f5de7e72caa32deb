#!/bin/sh
# Run a DAG at three sites, each a personal HTCondor of its own: sh examples/run_sites.sh [DAG]
#
# It makes a private Python environment (.venv), starts four personal HTCondors on this machine (an
# access point and three sites), publishes the sites, runs a DAG of examples/sites (units.dag if
# none is named; placed.dag moves its data by DATA nodes, many.dag has 40 such units), shows where its
# groups have run, and stops all again.
set -eu

dag=${1:-units.dag}
root=$(cd "$(dirname "$0")/.." && pwd -P)
sh "$root/tools/environment.sh"
export PATH="$root/.venv/bin:$PATH"

mkdir -p "$root/var"
place=$root/var
# DAGMan refuses a nodes log below /tmp, where it might be deleted automatically.
case $place in /tmp/*) place=/var/tmp ;; esac
home=$(mktemp -d "$place/sites.XXXXXX")
chmod 755 "$home"
monitor=

stop() {
    trap - EXIT
    [ -z "$monitor" ] || { kill "$monitor" && wait "$monitor"; } 2>/dev/null || true
    for pool in access north south west; do
        condor_pydagman pool stop --dir "$home/$pool" &
    done
    wait
    exit "$1"
}
trap 'stop $?' EXIT
trap 'echo "interrupted"; exit 130' INT
trap 'exit 143' TERM HUP

at() {
    pool=$1
    shift
    condor_pydagman pool run --dir "$home/$pool" "$@"
}

mkdir -p "$home/access/config.d"
cat >"$home/access/config.d/sites" <<EOF
# Sites are near here: ask them often how jobs are, and do not wait for more jobs before a call.
CONDOR_JOB_POLL_INTERVAL = 1
GRIDMANAGER_JOB_PROBE_INTERVAL = 1
GRIDMANAGER_CONTACT_SCHEDD_DELAY = 1
C_GAHP_CONTACT_SCHEDD_DELAY = 1
CGAHP_SCHEDD_INTERACTION_TIME = 1
PYDAGMAN_SITES_DIR = $home/claims
EOF
mkdir -m 1777 "$home/claims"
for pool in access north south west; do
    condor_pydagman pool start --slots 8 --dir "$home/$pool" &
done
wait

# What the administrator of the access point writes: a description of each site, and a probe.
at access sh -c 'cp -R "$1" "$2" && mkdir "$2/sites"' copy "$root/examples/sites" "$home/access/work"
work=$home/access/work
for site in north south west; do
    # The pool's user makes it, so that jobs can write there.
    at "$site" mkdir "$home/$site/area"
    pool=$(at "$site" condor_status -collector -af MyAddress)
    schedd=$(at "$site" condor_status -schedd -af Name)
    cat >"$work/sites/$site.ad" <<EOF
Name            = "$site"
MaxMatches      = 3
Grid            = "example"
Schedd          = "$schedd"
Pool            = "$pool"
Door            = "file://$home/$site/area"
SiteEnvironment = "AREA=$home/$site/area"
EOF
    cat >"$work/sites/$site.probe" <<EOF
#!/bin/sh
# How many jobs wait there.
echo "QueueDepth = \$(ls "$home/$site/area" | wc -l)"
EOF
    chmod 755 "$work/sites/$site.probe"
done
# Something is wrong with this one, which its ad does not tell.
at west touch "$home/west/area/broken"

cd "$work"
at access sh many.sh
at access condor_pydagman sites monitor --check sites
condor_pydagman pool run --dir "$home/access" condor_pydagman sites monitor --interval 5 sites &
monitor=$!
sleep 3
code=0
at access condor_pydagman sites list
at access condor_pydagman run "$dag" || code=$?
grep -h 'Group u' "$dag.dagman.out" | cut -d' ' -f3-
for result in u*out.out results/*; do
    [ ! -e "$result" ] || cat "$result"
done
echo "exit code of the DAG: $code"
exit "$code"
