# The twin, once: what it says of a log, and what it refuses (tests/cross/twin follows one that grows).
$ awk 'BEGIN { srand(7); print "time,duration_s,upstream_addr"; for (t = 0; t < 6000; t++) printf "%.3f,%.3f,10.0.0.%d:80\n", 1772409600 + t / 20 + rand() / 20, 0.1 + 0.05 * rand(), 1 + t % 5 }' >log.csv
$ ballast twin --log log.csv --server-field upstream_addr --service-field duration_s --now round-robin --policy jsq --once --slots 1
| log.csv, 23:59:59 to 00:04:59 UTC: 5999 requests, 20 a second; 5 servers, load 0.501; service recovered
| now: round-robin, mean 125.2 ± 0.3 ms measured, 125.2 ± 0.3 predicted; p99 149.8 ± 0.1 ms measured, 149.8 ± 0.1 predicted
|   they agree: the measured mean less the predicted one is +0.0 ± 0.0 ms
|
| what if                                      mean, ms      p99, ms  mean than now   load  asked
| ───────────────────────────────────────────────────────────────────────────────────────────────
| with 2 servers fewer (round-robin)        127.6 ± 0.4  175.4 ± 4.3     +2.4 ± 0.3  0.835    now
| with the traffic doubled (round-robin)  586.5 ± 7.8 !    1371 ± 76                     1    now
| with jsq                                  125.2 ± 0.3  149.8 ± 0.1     +0.0 ± 0.0  0.501    now
| !: queues grow until the end: the longer the window, the worse.
$ ballast twin --log log.csv --server-field upstream_addr --service-field duration_s --now random --policy round-robin --once --slots 1 --fewer 0 --traffic 1 | sed -n '/^now/,/^$/p'
| now: random, mean 125.2 ± 0.3 ms measured, 164.3 ± 4.2 predicted; p99 149.8 ± 0.1 ms measured, 413 ± 118 predicted
|   ! the measured mean is 39.53 ms shorter than predicted, where 3.863 ms would be chance; it
|     looks more like round-robin, or servers, slots, dispatchers or delays are not as was said
|
$ ballast twin --log log.csv --server-field upstream_addr --service-field duration_s --once --policy jsq --policy pod-ssp --keep 1000 --fewer 5 --traffic 3 --slots 1
| log.csv, 00:04:09 to 00:04:59 UTC: 997 requests, 20.02 a second; 5 servers, load 0.503; service recovered
| now, mean 125.7 ± 1.3 ms measured; p99 149.6 ms measured
|
| what if                             mean, ms      p99, ms  mean than the first   load  asked
| ────────────────────────────────────────────────────────────────────────────────────────────
| with jsq                         125.7 ± 1.3        149.6                       0.503    now
| with 3 times the traffic (jsq)  12832 ± 23 !  25258 ± 343                        1.51    now
| !: queues grow until the end: the longer the window, the worse.
|   ? only the last 49.9 s are here: there is room for 1000 requests, or no more were read
|   ? with 5 servers fewer (jsq): no server would be left
|   ? with pod-ssp:d1=2,d2=2: policy 'pod-ssp' needs two classes of jobs; say which share of them
|     is high
$ ballast twin --log log.csv --service-field duration_s --once
| log.csv, 23:59:59 to 00:04:59 UTC: 5999 requests, 20 a second; 5 servers, load 0.501; service recovered
| now, mean 125.2 ± 0.3 ms measured; p99 149.8 ± 0.1 ms measured
|
| what if                              mean, ms      p99, ms  mean than the first   load  asked
| ─────────────────────────────────────────────────────────────────────────────────────────────
| with own                          125.2 ± 0.3  149.8 ± 0.1                       0.501    now
| with 2 servers fewer (own)        141.3 ± 1.2  254.6 ± 3.7          +16.0 ± 1.4  0.835    now
| with the traffic doubled (own)  458.2 ± 7.1 !     781 ± 24                           1    now
| with jiq:else=own                 125.2 ± 0.3  149.8 ± 0.1           +0.0 ± 0.0  0.501    now
| with jiq:else=hold                125.2 ± 0.3  149.8 ± 0.1           +0.0 ± 0.0  0.501    now
| with random                       164.3 ± 4.2    413 ± 118          +39.0 ± 3.7  0.501    now
| with round-robin                  125.2 ± 0.3  149.8 ± 0.1           +0.0 ± 0.0  0.501    now
| with jsq                          125.2 ± 0.3  149.8 ± 0.1           +0.0 ± 0.0  0.501    now
| with pod:d=2                      136.0 ± 0.9  251.8 ± 4.6          +10.8 ± 1.1  0.501    now
| with pod-memory:d=1,b=1           149.6 ± 2.0     306 ± 21          +24.4 ± 1.7  0.501    now
| with jiq                          125.2 ± 0.3  149.8 ± 0.1           +0.0 ± 0.0  0.501    now
| with pi                           125.2 ± 0.3  149.8 ± 0.1           +0.0 ± 0.0  0.501    now
| with rcpb:c=1                     137.4 ± 0.9  267.6 ± 5.8          +12.2 ± 1.1  0.501    now
| with lsq:p=1                      125.2 ± 0.3  149.8 ± 0.1           +0.0 ± 0.0  0.501    now
| with ewma:d=2,decay=10            132.2 ± 0.9  239.2 ± 3.4           +7.0 ± 1.3  0.501    now
| with prequal:r=3                  134.4 ± 0.8  238.1 ± 7.1           +9.2 ± 0.6  0.501    now
| !: queues grow until the end: the longer the window, the worse.
$ ballast twin --log log.csv --server-field upstream_addr --service-field duration_s --once --window 1s --policy jsq
| 19 requests in the last 1 s: too few to say anything
? 1

# Nothing, one request, and many at one moment, of which none is known to be complete.
$ : >empty.csv; head -n 2 log.csv >one.csv
$ awk 'BEGIN { print "time,duration_s,upstream_addr"; for (t = 0; t < 500; t++) print "1772409600.000,0.100,10.0.0.1:80" }' >moment.csv
$ for log in empty one moment; do ballast twin --log $log.csv --service-field duration_s --once; done
| no request has been seen yet
| 0 requests in the last 5 min: too few to say anything
| 0 requests in the last 5 min: too few to say anything
? 1

# What a request waited at the dispatcher belongs to it, and is no service.
$ awk 'BEGIN { for (t = 0; t < 400; t++) printf "{\"ballast_start\":\"%.6f\",\"ballast_wait\":\"1.000000\",\"ballast_time\":\"0.0%d1000\",\"ballast_server\":\"127.0.0.1:%d\"}\n", 1794814766 + t / 10, 2 + t % 5, 8000 + t % 2 }' >wait.json
$ ballast twin --log wait.json --once --slots 1 --policy jsq --fewer 0 --traffic 1 | sed -n 2p
| now, mean 1.041 ± 0.001 s measured; p99 1.064 s measured

# Bad input.
$ ballast twin
! ballast: which traffic? say it with --log FILE, or name the URL of ballast_status
? 2
$ ballast twin --log nothing.log
! ballast: --log: 'nothing.log' cannot be read: No such file or directory
? 2
$ ballast twin --log -
! ballast: --log -: name a file: what comes through a pipe does not grow
? 2
$ mkfifo pipe; ballast twin --log pipe --once
! ballast: --log: 'pipe' is no file; only a file can be followed
? 2
$ ballast twin --log log.csv --now fastest
! ballast: --now fastest: unknown policy 'fastest': the policies are random, round-robin, jsq, pod, pod-memory, least-work, jiq, pi, rcpb, pod-scp, pod-sep, pod-ssp, tabs, own, weighted-random, weighted-round-robin, sed, fastest-idle, lsq, ewma, prequal
? 2
$ ballast twin --log log.csv --window 5
! ballast: --window 5: '5' needs a unit: ns, us, ms, s, min or h, as in 200ms
? 2
$ ballast twin --log log.csv --window 10ms
! ballast: --window 10ms: a length of time from 1s to 86400s is wanted
? 2
$ ballast twin --log log.csv --share 2
! ballast: --share 2: not a share of a core from 0.001 to 1, such as 0.25
? 2
$ ballast twin --log log.csv --keep 10
! ballast: --keep 10: not a whole number from 1000 to 100M
? 2
$ ballast twin --log log.csv --publish no/where.json
! ballast: --publish: 'no/where.json' cannot be written: No such file or directory; choose another place
? 2
$ ballast twin --log log.csv --publish log.csv
! ballast: --publish log.csv: that is the log; choose another place
? 2
$ ballast twin --log log.csv --format csv
! ballast: --format: write text or json
? 2
$ ballast replay --follow nothing.log
! ballast: --log: 'nothing.log' cannot be read: No such file or directory
? 2
