# SPDX-License-Identifier: BSD-2-Clause
# A name server for tests that source it after harness.bash: names.py, whose answers are lines of a file.
# shellcheck shell=bash

start_names() { # lines of names.py
    answers_are "$@"
    mkfifo "$work/names.out"
    python3 "$(dirname "${BASH_SOURCE[0]}")/names.py" "$work/names" >"$work/names.out" 2>"$work/names.err" &
    kept[names]=$!
    read -r resolver <"$work/names.out"
}

answers_are() { # from now on
    printf '%s\n' "$@" >"$work/names.new"
    mv "$work/names.new" "$work/names"
}

asked() { # how many questions the name server has had
    wc -l <"$work/names.asked"
}

asked_again() {
    local before
    before=$(asked)
    within 60 eval "[ \"\$(asked)\" -gt $before ]"
}

services() { # PRIORITY,WEIGHT,SERVER...: the lines of a service at servers of the app
    local record priority weight server
    for record; do
        IFS=, read -r priority weight server <<<"$record"
        echo "srv $priority $weight ${ports[$server]} host$server.test"
    done
    echo '127.0.0.1'
}

answer_services() {
    local -a lines
    mapfile -t lines < <(services "$@")
    answers_are "${lines[@]}"
}
