# SPDX-License-Identifier: BSD-2-Clause
# Writes a log of servers that batch, or share their cores, to try what `ballast replay --speeds find` sees in it:
# requests come at random, each to a random server, which works on k requests at k / (1 + slowdown (k - 1)), for k up
# to `most`. Times are in milliseconds; a request alone takes 100 ms on average.
#
#     awk -f examples/batches.awk -v requests=20000 -v most=8 -v slowdown=0.15 >log.csv
function uniform() { # the minimal standard generator, exact in doubles
    state = (state * 16807) % 2147483647
    return state / 2147483647
}
function exponential(mean) { return -mean * log(uniform()) }
function speed(k,   m) { # of each of k
    m = k < most ? k : most
    return m / (1 + slowdown * (m - 1)) / k
}
BEGIN {
    state = seed ? seed : 1
    requests = requests ? requests : 20000
    servers = servers ? servers : 3
    most = most ? most : 8
    slowdown = slowdown == "" ? 0.15 : slowdown
    load = load ? load : 0.7
    gap = 100 / (servers * load * most / (1 + slowdown * (most - 1)))
    print "timestamp,duration_ms,upstream_addr"
    begin = 1792000000000
    comes = exponential(gap)
    while (done < requests) {
        ends = 1e300
        for (s = 1; s <= servers; s++) { # the next that ends: the least is left of it
            for (i = 1; i <= n[s]; i++) {
                at = now + left[s, i] / speed(n[s])
                if (at < ends) { ends = at; who = s; which = i }
            }
        }
        then = comes < ends ? comes : ends
        for (s = 1; s <= servers; s++)
            for (i = 1; i <= n[s]; i++)
                left[s, i] -= (then - now) * speed(n[s])
        now = then
        if (comes <= ends) {
            s = 1 + int(uniform() * servers)
            left[s, ++n[s]] = exponential(100)
            came[s, n[s]] = now
            comes += exponential(gap)
        } else {
            printf "%.6f,%.3f,10.0.0.%d:80\n", (begin + now) / 1000, now - came[who, which], who
            left[who, which] = left[who, n[who]]
            came[who, which] = came[who, n[who]]
            n[who]--
            done++
        }
    }
}
