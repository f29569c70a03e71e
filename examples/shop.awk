# SPDX-License-Identifier: BSD-2-Clause
# The access log of a small shop that does not exist, as its nginx would have written it: requests come at rates that
# swing over the day, nginx passes them to ten servers in turn, each of which does one at a time, so that some wait.
# Pictures are served by nginx itself. Needs nothing but awk and sort:
#
#     awk -f shop.awk | sort -s -k 13,13 >shop.log                     five hours in the evening
#     awk -v from=0 -v to=24 -f shop.awk | sort -s -k 13,13 >day.log   the whole day
#
# The format is combined with $msec $request_time $upstream_response_time $upstream_addr behind it.
function uniform() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
function expo() { return -log(uniform()) }
function normal() { return sqrt(2 * expo()) * cos(6.283185307 * uniform()) }

function write_line(end, path, took, at_server, server,   clock) {
    clock = int(end)
    printf "198.51.100.%d - - [%02d/Mar/2026:%02d:%02d:%02d +0000] ", 1 + 250 * uniform(), \
        2 + clock / 86400, clock / 3600 % 24, clock / 60 % 60, clock % 60
    printf "\"GET %s HTTP/1.1\" 200 512 \"-\" \"-\" %.3f %.3f %s %s\n", path, midnight + end, took, at_server, server
}

BEGIN {
    seed = 20260302
    midnight = 1772409600
    if (to == "") {
        from = 16
        to = 21
    }
    for (t = 3600 * from; t < 3600 * to; ) {
        hour = t / 3600
        t += expo() / (2 + 6 * exp(-((hour - 11) / 2.5) ^ 2) + 9 * exp(-((hour - 19.5) / 2) ^ 2))
        u = uniform()
        if (u < 0.02) {
            write_line(t, "/logo.png", 0, "-", "-")
            continue
        }
        path = u < 0.07 ? "/checkout" : u < 0.4 ? "/search" : "/item"
        size = (path == "/checkout" ? 1.2 : path == "/search" ? 0.8 : 0.25) * exp(0.7 * normal())
        server = requests++ % 10
        free[server] = (free[server] > t ? free[server] : t) + size
        write_line(free[server], path, free[server] - t, sprintf("%.3f", free[server] - t), "10.0.0." (server + 1) ":80")
    }
}
