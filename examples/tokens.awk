# SPDX-License-Identifier: BSD-2-Clause
# Writes a trace of requests to a language model, in the columns of the public traces of Azure: prompts of
# some hundreds to some thousands of tokens, answers of some tens to some hundreds, Poisson arrivals. The
# numbers are drawn here.
#
#     awk -f examples/tokens.awk -v requests=20000 -v rate=10 >tokens.csv
function uniform() { # the minimal standard generator, exact in doubles
    state = (state * 16807) % 2147483647
    return state / 2147483647
}
function exponential(mean) { return -mean * log(uniform()) }
function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()) }
BEGIN {
    state = seed ? seed : 1
    requests = requests ? requests : 20000
    rate = rate ? rate : 10
    print "TIMESTAMP,ContextTokens,GeneratedTokens"
    for (i = 0; i < requests; i++) {
        time += exponential(1 / rate)
        printf "2026-11-16 %02d:%02d:%010.7f,%d,%d\n", time / 3600, time / 60 % 60, time % 60,
            1 + exp(6.5 + 0.9 * normal()), 1 + exp(4.6 + 0.8 * normal())
    }
}
