# ballast fit: from a log to an experiment file.

# Two kinds of requests, of 0.4 s and of 10 s, more of them at noon than at night. The numbers are those of a
# Weyl sequence, so that every awk makes the same.
$ awk 'function u() { x += 0.61803398874989; x -= int(x); y += 0.75487766624669; y -= int(y); return 1 - y }
>     BEGIN { print "time,duration_s"
>         for (t = 0; t < 86400; t += 8 * (1.2 + cos(t / 13750.99)) + 2) {
>             d = -log(u()) * (x < 0.9 ? 0.4 : 10)
>             printf "%.3f,%.6f\n", 1700000000 + t + d, d + 0.000001
>         } }' >day.csv
$ ballast fit day.csv --servers 4 --output day.yaml
| log      10286 jobs in 24 h, mean service time 1.366 s, longest 65.74 s
| format   csv
| time     time (end of the request; duration_s is subtracted)
| service  duration_s (s)
| skipped  no line
| order    time goes back: 1081 lines are over a second behind an earlier one; jobs are sorted
| waiting  none is seen: requests that found the fewest others took 8 % longer
| arrivals 0.1191 a second; a curve of 96 points 899.9 s apart, from 0.429 to 2.33 times the mean
| flow     more regular than the Poisson process that simulations draw: true delays are shorter
|          (dispersion of counts 0.261 in 10 s, 0.0208 in 100 s)
| fleet    4 servers: load 0.0407 on average, 0.0949 at the peak
|
| law        parameters     bic  distance     c2     p50    p90    p99  p99.9
| ───────────────────────────────────────────────────────────────────────────
| the log                                  9.917  0.3213  1.639   23.1  46.09
| exp                 1  +13678    0.3508      1  0.9468  3.145  6.291  9.436
| lognormal           2   +1608    0.0931   15.6  0.3353  2.873  16.55  59.55
| moments             2   +2310    0.1680  9.917  0.5318  2.005   22.3  54.99
| hyper ◀             3      +0    0.0009  9.974  0.3208  1.641  23.13  46.21
| phase               5     +18    0.0009  9.973  0.3208  1.641  23.13  46.21
|
| ◀ the least bic: up to 6 exponential branches, by expectation maximisation
|   hyper(0.899558719,2.505443,0.100441281,0.09974938)
|
| bic: Schwarz's criterion above that of the best. distance: of the distribution functions, at
| most; a law known beforehand would exceed 0.0134 in one of 20 samples. c2: squared coefficient
| of variation. Percentiles are in seconds. Every law has the mean of the log, 1.365978 s.
$ cut -c 1-100 day.yaml
| # A workload fitted by ballast 1.0.0 to day.csv
| # log      10286 jobs in 24 h, mean service time 1.366 s, longest 65.74 s
| # format   csv
| # time     time (end of the request; duration_s is subtracted)
| # service  duration_s (s)
| # skipped  no line
| # order    time goes back: 1081 lines are over a second behind an earlier one; jobs are sorted
| # waiting  none is seen: requests that found the fewest others took 8 % longer
| title: 'Fitted to day.csv'
| about: >
|   The sizes of the log as a law and its arrivals as a Poisson process whose rate follows a
|   curve. Times are in seconds.
| unit: seconds
| fleet:
|   servers: 4
| workload:
|   # in seconds; squared coefficient of variation 9.974, of the log 9.917; the distribution
|   # functions differ by 0.0008531 at most
|   service: "hyper(0.899558719,2.505443,0.100441281,0.09974938)"
|   # arrivals in 96 bins of 899.9 s over their mean; times are seconds since
|   # 2023-11-14 22:13:19 UTC
|   curve: >-
|     table(449.927:0.429321 1349.781:0.429321 2249.635:0.438654 3149.489:0.429321 4049.343:0.438654
|     4949.197:0.438654 5849.051:0.447988 6748.905:0.447988 7648.758:0.457321 8548.612:0.457321
|     9448.466:0.475987 10348.32:0.48532 11248.174:0.48532 12148.028:0.503986 13047.882:0.522652
|     13947.736:0.522652 14847.59:0.550651 15747.444:0.559984 16647.298:0.587984 17547.152:0.597317
|     18447.006:0.625316 19346.86:0.653315 20246.714:0.681314 21146.568:0.709314 22046.421:0.737313
|     22946.275:0.774645 23846.129:0.811977 24745.983:0.858643 25645.837:0.905308 26545.691:0.961307
|     27445.545:1.007972 28345.399:1.073304 29245.253:1.138635 30145.107:1.2133 31044.961:1.287964
|     31944.815:1.362629 32844.669:1.45596 33744.523:1.54929 34644.377:1.651954 35544.23:1.745285
|     36444.084:1.847949 37343.938:1.941279 38243.792:2.043943 39143.646:2.127941 40043.5:2.202605
|     40943.354:2.267937 41843.208:2.305269 42743.062:2.333269 43642.916:2.323935 44542.77:2.305269
|     45442.624:2.267937 46342.478:2.202605 47242.332:2.137274 48142.186:2.03461 49042.04:1.950612
|     49941.893:1.847949 50841.747:1.754618 51741.601:1.642621 52641.455:1.558623 53541.309:1.45596
|     54441.163:1.371962 55341.017:1.287964 56240.871:1.2133 57140.725:1.138635 58040.579:1.073304
|     58940.433:1.007972 59840.287:0.961307 60740.141:0.905308 61639.995:0.858643 62539.849:0.821311
|     63439.703:0.774645 64339.556:0.737313 65239.41:0.709314 66139.264:0.681314 67039.118:0.653315
|     67938.972:0.625316 68838.826:0.60665 69738.68:0.578651 70638.534:0.569318 71538.388:0.541318
|     72438.242:0.531985 73338.096:0.513319 74237.95:0.503986 75137.804:0.494653 76037.658:0.48532
|     76937.512:0.466654 77837.366:0.466654 78737.219:0.457321 79637.073:0.447988 80536.927:0.447988
|     81436.781:0.438654 82336.635:0.438654 83236.489:0.429321 84136.343:0.438654 85036.197:0.429321
|     85936.051:0.429321 86385.978:0.429321)
| policies: ["random", "round-robin", "pod:d=2", "jiq", "jsq"]
| baseline: random
| # the log is at 0.04066
| sweep:
|   axis: load
|   values: [0.02033, 0.0305, 0.04066, 0.05083, 0.06099, 0.08132]
| # the time of the log, from its beginning with an idle fleet
| run:
|   time: 86385.978
|   warmup: 0
|   replications: 20
| quick:
|   run: {replications: 5}
| metrics: [response.mean, response.p90, response.p99, response.p999, messages.per_job]
| figures:
|   - {id: mean, title: Mean response time, x: load, y: response.mean, log-y: yes}
|   - {id: tail, title: 99th percentile of the response time, x: load, y: response.p99, log-y: yes}
$ ballast check day.yaml
| day.yaml: in order; plain 600 trials, quick 150 trials, full 600 trials
$ ballast run day.yaml --quick --quiet --threads 2 >table && wc -l <table
| 40
$ ballast fit day.csv --servers 2 --slots 2 --law lognormal --format json --output forced.yaml |
>     jq -c '.best, .chosen, .model.servers, .model.slots, .model.service, [.fits[].method], .log.jobs'
| "hyper"
| "lognormal"
| "2"
| 2
| "lognormal(15.59962,1.365978)"
| ["exp","lognormal","moments","hyper","phase"]
| 10286
$ sed -n '/^fleet:/,/^  # arrivals/p' forced.yaml
| fleet:
|   servers: 2
|   slots: 2
| workload:
|   # in seconds; squared coefficient of variation 15.6, of the log 9.917; the distribution
|   # functions differ by 0.09314 at most
|   service: "lognormal(15.59962,1.365978)"
|   # arrivals in 96 bins of 899.9 s over their mean; times are seconds since

# Without --output the experiment is the output, and the table is for the eyes.
$ ballast fit day.csv --quiet >same.yaml && ballast check same.yaml
| same.yaml: in order; plain 600 trials, quick 150 trials, full 600 trials
$ ballast fit day.csv 2>&1 >/dev/null | head -n 3
| log      10286 jobs in 24 h, mean service time 1.366 s, longest 65.74 s
| format   csv
| time     time (end of the request; duration_s is subtracted)

# Nothing is written when something is wrong.
$ ballast fit
! ballast: which log? name one or more files, or - for standard input
? 2
$ ballast fit nowhere.log
! ballast: 'nowhere.log' cannot be read: No such file or directory
? 2
$ ballast fit day.csv --law gamma
! ballast: --law gamma: not one of det, exp, erlang, lognormal, moments, hyper, phase
? 2
$ ballast fit day.csv --law erlang --output never.yaml
! ballast: --law erlang: there is none that is as variable as these sizes (c2 9.92); leave it out to see which there are
? 2
$ ballast fit day.csv --format csv
! ballast: --format csv: not one of text, markdown, json
? 2
$ ballast fit day.csv --high-field user
! ballast: --high-field: which values are high? add --high PATTERN
? 2
$ head -n 2 day.csv >one.csv && ballast fit one.csv
! ballast: all jobs arrive at the same moment, which tells no rate; a longer log is needed
? 2
$ : >empty.csv && ballast fit empty.csv --output never.yaml
! ballast: there is no line in these logs
? 2
$ test -e never.yaml
? 1

# Stamps of whole seconds: the reason why nothing can be told is their steps, not the number of requests.
$ awk 'BEGIN { print "time,duration"; for (i = 0; i < 35000; i++) printf "%d,0.0%d1\n", i / 140, i % 7 + 1 }' >whole.csv
$ ballast fit whole.csv --service-field duration:s --output whole.yaml | grep -A 3 flow
| flow     unknown: times in steps of 1 s are too coarse to tell whether it is like a Poisson
|          process; windows of 10 s, of which there must be 100, need a log of 1000 s, and this
|          one has 250 s
| fleet    9 servers: load 0.638 on average; chosen for 0.7 at the peak, --servers says otherwise
