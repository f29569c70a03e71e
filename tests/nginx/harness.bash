# SPDX-License-Identifier: BSD-2-Clause
# For the tests of the live half: real nginx processes and real servers on loopback. Sourced by the scripts
# next to it, which get the paths of the programs, define functions and end with `run_tests NAME...`: each
# function is one test of the output, and fails when one of its checks does (is, at_most, at_least, check).
#
# Everything lives in a private directory, and every process that was started is ended by its id, however the
# script ends. A test also fails when the log of nginx tells of a crash or of something that should never be.
# One that fails while the machine stands still is tried again, at most five times (TEST_TRIES, a line `# retried:
# ...` each): each test is a shell of its own, so that nothing is left of the last try. TEST_ONLY='NAME...' runs
# these functions alone.
# shellcheck shell=bash

set -u
work=$(mktemp -d)
nginx=${TEST_NGINX:-$(PATH=$PATH:/usr/sbin command -v nginx || true)} # TEST_NGINX: another one, for which the module was built
declare -A kept=()    # processes to end: name -> pid
declare -a ports=()   # of the servers of the app
control=              # and where it is controlled
nginx_pid=
nginx_group= # of all its processes, also after an upgrade
worker_count=
stood_still=$work.witness # where the witness tells of it
claims=/tmp/ballast-ports.$UID # a file for each port that a test has, with the number of its process
failed=false
export LC_ALL=C
ulimit -n "$(ulimit -Hn)"

end_all() {
    local name
    for name in "${!kept[@]}"; do
        kill -KILL "${kept[$name]}" 2>/dev/null
        kill_group "${kept[$name]}" # workers outlive a killed master
    done
    [ -z "$nginx_group" ] || kill_group "$nginx_group"
    # Wardens outlive a killed keeper, and apps do not outlive their wardens.
    pgrep -f -- "$work/keeper/" | xargs -r kill -KILL 2>/dev/null
}
finish() {
    end_all
    grep -lx -- "$$" "$claims"/* 2>/dev/null | xargs -r rm -f
    rm -rf "$work" "$stood_still"
}
trap finish EXIT
trap 'exit 130' INT TERM

kill_group() { # the processes of the group that this one leads
    kill -KILL -- "-$1" 2>/dev/null
}

# ---- checks ----

note() {
    printf '# %s\n' "$*"
}

check() { # what, command...: it must succeed
    local what=$1
    shift
    "$@" && return
    note "not so: $what"
    failed=true
}

is() { # what, value, wanted
    [ "$2" = "$3" ] && return
    note "$1: $2, wanted $3"
    failed=true
}

compare() { # what, value, operator of awk, limit
    awk -v a="$2" -v b="$4" "BEGIN { exit !(a != \"\" && a + 0 == a && a $3 b) }" && return
    note "$1: $2, wanted $3 $4"
    failed=true
}

at_most() { # what, value, limit
    compare "$1" "$2" '<=' "$3"
}

at_least() { # what, value, limit
    compare "$1" "$2" '>=' "$3"
}

within() { # seconds, command...: waits until it succeeds; false if it does not in that time
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

# ---- servers ----

# servers, slots, law of the service times: sets ports and control.
start_app() {
    local line
    rm -f "$work/app"
    mkfifo "$work/app"
    "$app" "$@" >"$work/app" 2>"$work/app.err" &
    kept[app]=$!
    exec 8<"$work/app"
    read -r -u 8 line || { note "the app did not start: $(cat "$work/app.err")"; failed=true; }
    read -r control line <<<"$line"
    read -r -a ports <<<"$line"
}

stop_app() {
    [ -n "${kept[app]-}" ] || return 0
    kill "${kept[app]}" 2>/dev/null
    cat <&8 >/dev/null
    wait "${kept[app]}" 2>/dev/null
    unset 'kept[app]'
    exec 8<&-
}

app_set() { # query: server=1&mode=fail
    curl -sf "http://127.0.0.1:$control/set?$1"
}

app_get() { # expression of jq over its statistics
    curl -sf "http://127.0.0.1:$control/stats" | jq -r "$1"
}

app_log() {
    curl -sf "http://127.0.0.1:$control/log"
}

app_reset() {
    curl -sf "http://127.0.0.1:$control/reset"
}

app_idle() {
    [ "$(app_get .present)" = 0 ]
}

# The lines `server 127.0.0.1:PORT PARAMETERS;` of all servers of the app.
server_lines() {
    local port
    for port in "${ports[@]}"; do
        echo "server 127.0.0.1:$port ${1-};"
    done
}

# ---- nginx ----

# A port that nobody listens at, below those that the kernel gives to clients, and that no test has got, here or
# next to it: two could choose the same before either binds it, and for datagrams both would have it.
free_port() {
    local port
    mkdir -p "$claims"
    while :; do
        port=$((20000 + (RANDOM + 32768 * (RANDOM % 2)) % 12000))
        claim "$port" || continue
        answers "$port" || break
    done
    echo "$port"
}

claim() { # port: is it ours now, and was nobody's? Who was killed has lost its claims.
    (set -C && echo $$ >"$claims/$1") 2>/dev/null && return
    ! kill -0 "$(cat "$claims/$1")" 2>/dev/null && echo $$ >"$claims/$1"
}

# Writes the configuration; standard input is the inside of http { }, where PORT, PORT2 and PORT3 stand for
# free ports. `processes` workers; `main` may have directives for the outermost level, `events` for events {
# }.
write_conf() {
    local user=
    worker_count=${processes:-2}
    [ "$(id -u)" -ne 0 ] || user='user root;'
    port=$(free_port) port2=$(free_port) port3=$(free_port)
    mkdir -p "$work/nginx"
    {
        cat <<END
${module:+load_module $module;}
daemon on; $user ${main-}
worker_processes $worker_count; worker_shutdown_timeout ${shutdown:-30s};
pid $work/nginx/pid; error_log $work/nginx/error.log ${level:-info};
events { worker_connections ${connections:-4096}; ${events-} }
http {
    access_log off;
    client_body_temp_path $work/nginx/a; proxy_temp_path $work/nginx/b; fastcgi_temp_path $work/nginx/c;
    uwsgi_temp_path $work/nginx/d; scgi_temp_path $work/nginx/e;
    proxy_http_version 1.1; proxy_set_header Connection "";
END
        sed -e "s/PORT2/$port2/g; s/PORT3/$port3/g; s/PORT/$port/g; s|WORK|$work|g"
        echo '}'
    } >"$work/nginx.conf"
}

answers() { # port: does somebody listen there?
    (exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Configuration on standard input, as above. The master leads a group of its own.
start_nginx() {
    local conf try
    conf=$(cat)
    for try in 1 2 3 4 5; do
        write_conf <<<"$conf"
        : >"$work/nginx/error.log"
        if setsid "${under[@]}" "$nginx" -e stderr -p "$work/nginx/" -c "$work/nginx.conf" >"$work/nginx.out" 2>&1; then
            within 60 test -s "$work/nginx/pid"
            nginx_pid=$(cat "$work/nginx/pid") nginx_group=$nginx_pid
            within 60 answers "$port" && within 60 all_work && return
            break
        fi
        grep -q 'Address already in use' "$work/nginx.out" "$work/nginx/error.log" || break
    done
    note "nginx did not start (try $try): $(head -n 5 "$work/nginx.out" "$work/nginx/error.log")"
    failed=true
    return 1
}
under=() # what nginx is run by

# Is this configuration refused, with that text in the message?
refused() { # text; the configuration on standard input
    write_conf
    if "$nginx" -t -e stderr -p "$work/nginx/" -c "$work/nginx.conf" >"$work/nginx.out" 2>&1; then
        note "taken, but should be refused: $1"
        failed=true
    elif ! grep -qF -- "$1" "$work/nginx.out"; then
        note "refused without '$1': $(grep -v 'test failed' "$work/nginx.out" | head -n 3)"
        failed=true
    fi
}

gone() { # pid: it has ended, whether or not somebody has asked how
    ! grep -qs '^State:.[^ZX]' "/proc/$1/status"
}

# Pids of those that have not been told to end. One that was just forked is none yet: it has its title when it has
# begun. Angie adds the number of its configuration. Under valgrind there are no titles.
workers() {
    if [[ ${under[*]-} == valgrind* ]]; then
        pgrep -P "$nginx_pid"
    else
        pgrep -P "$nginx_pid" -f 'worker process( #[0-9]+)?$'
    fi
}

# A master that is told to end before it has workers hears it with the next signal only.
has_workers() { # master
    pgrep -P "$1" >/dev/null
}

all_work() { # the master listens before there is any of them
    [ "$(workers | wc -l)" -ge "$worker_count" ]
}

# Lets nginx end, at once (TERM, unless another signal is named) or gracefully (QUIT), and looks at its log.
stop_nginx() {
    [ -n "$nginx_pid" ] || return 0
    kill "-${1:-TERM}" "$nginx_pid" 2>/dev/null
    within 60 gone "$nginx_pid" || { note "nginx does not end"; failed=true; }
    kill_group "$nginx_group"
    nginx_pid='' nginx_group=''
    check_log
}

# Lines that must never be; a pattern in `allowed` excuses some. A port that somebody else had for a moment, while
# nginx tried again, is no fault.
check_log() {
    local bad
    bad=$(grep -aE '\[(alert|emerg|crit)\]|exited on signal' "$work/nginx/error.log" |
        grep -av 'bind() to .* failed (98: Address already in use)' |
        grep -avE "${allowed:-^$}" | head -n 5)
    [ -z "$bad" ] || { note "in the log of nginx: $bad"; failed=true; }
}
allowed=

get() { # path, arguments of curl...: the answer's body
    local path=$1
    shift
    curl -s --max-time 100 "$@" "http://127.0.0.1:$port$path"
}

status() { # path, arguments of curl...: the answer's status
    get "$1" -o /dev/null -w '%{http_code}' "${@:2}"
}

reload() { # and wait until there are other workers, and those before have been told to end
    workers >"$work/workers"
    kill -HUP "$nginx_pid"
    within 60 other_workers
}

other_workers() {
    workers | grep -qvxFf "$work/workers" || return
    [[ ${under[*]-} == valgrind* ]] || { all_work && ! workers | grep -qxFf "$work/workers"; }
}

# ---- what the module knows ----

dispatchers() { # expression of jq over the list of dispatchers, at `location = /ballast { ballast_status; }`
    get /ballast | jq -r ".dispatchers | $1"
}

under_way() { # requests at servers or waiting, as the module counts
    dispatchers '[.[] | (.servers[].in_flight, .held[])] | add'
}

settled() {
    [ "$(under_way)" = 0 ]
}

# ---- requests that stay ----

# So many requests (else one) are at the app until `vacate`, and take slots: what comes then is not served unless
# there are more. One after the other: two that come together may both choose the same idle server.
occupy() {
    local i
    app_set 'mode=hang'
    for ((i = 0; i < ${1-1}; i++)); do
        curl -s --max-time 300 -o /dev/null "http://127.0.0.1:$port/" &
        kept[stays$i]=$!
        check "$((i + 1)) stay at the app" within 60 eval "[ \"\$(app_get .present)\" = $((i + 1)) ]"
    done
    app_set 'mode=ok'
}

vacate() {
    local name
    for name in "${!kept[@]}"; do
        [[ $name == stays* ]] || continue
        kill "${kept[$name]}" 2>/dev/null # it may have had an answer
        wait "${kept[$name]}" 2>/dev/null
        unset "kept[$name]"
    done
}

# ---- load ----

# Name of the result, then arguments of `ballast load`: the result is JSON in $work/NAME.json.
load() {
    local name=$1
    shift
    "$ballast" load "$@" --format json --quiet >"$work/$name.json" 2>"$work/$name.err" ||
        { note "ballast load: $(tail -n 1 "$work/$name.err")"; failed=true; }
}

loaded() { # name, expression of jq
    jq -r "$2" "$work/$1.json"
}

# ---- running ----

# The function of that name, with nothing of what went before: 0 if all its checks have succeeded.
try() {
    find "$work" -mindepth 1 -delete
    : >"$stood_still"
    (
        trap end_all EXIT
        trap 'exit 130' INT TERM
        failed=false
        check "there is a test $1" declare -F "$1" >/dev/null
        "$1"
        stop_nginx
        stop_app
        ! $failed
    )
}

# Does the machine excuse that this test has failed?
excused() { # name
    sleep 0.3 # let the witness write
    [ -s "$stood_still" ] || return
    note "retried: ${1//_/ }: the machine stood still for $(sort -n "$stood_still" | tail -n 1) ms"
}

run_tests() {
    local name number=0 bad=0 tries
    # shellcheck disable=SC2086 # names
    [ -z "${TEST_ONLY-}" ] || set -- $TEST_ONLY
    echo "1..$#"
    "$(dirname "${BASH_SOURCE[0]}")/../witness" $$ >>"$stood_still"
    for name; do
        number=$((number + 1))
        local begun=$EPOCHREALTIME
        tries=1
        until try "$name"; do
            if [ "$tries" -ge "${TEST_TRIES:-5}" ] || ! excused "$name"; then
                echo "not ok $number - ${name//_/ }"
                bad=1
                continue 2
            fi
            tries=$((tries + 1))
        done
        echo "ok $number - ${name//_/ } # $(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $begun }") s"
    done
    exit $bad
}
