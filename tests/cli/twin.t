# The twin, once: what it says of a log, and what it refuses (tests/cross/twin follows one that grows).
$ awk 'BEGIN { srand(7); print "time,duration_s,upstream_addr"; for (t = 0; t < 6000; t++) printf "%.3f,%.3f,10.0.0.%d:80\n", 1772409600 + t / 20 + rand() / 20, 0.1 + 0.05 * rand(), 1 + t % 5 }' >log.csv
$ ballast twin --log log.csv --server-field upstream_addr --service-field duration_s --current-policy round-robin --policy jsq --once --slots 1
| log.csv, 23:59:59 to 00:04:59 UTC: 5999 requests, 20 a second; 5 servers, load 0.501; service recovered
| now: round-robin, mean 125.2 ± 0.4 ms measured, 125.2 ± 0.4 predicted; p99 149.8 ± 0.2 ms measured, 149.8 ± 0.2 predicted
|   they agree: the measured mean less the predicted one is +0.0 ± 0.0 ms
|
| what if                                    mean, ms      p99, ms  mean than now   load  asked
| ─────────────────────────────────────────────────────────────────────────────────────────────
| with jsq                                125.2 ± 0.4  149.8 ± 0.2     +0.0 ± 0.0  0.501    now
| with 2 servers fewer (round-robin)      127.6 ± 0.5  175.4 ± 6.7     +2.4 ± 0.3  0.835    now
| with the traffic doubled (round-robin)   587 ± 29 !         1371                     1    now
| !: queues grow until the end: the longer the window, the worse.
$ ballast twin --log log.csv --server-field upstream_addr --service-field duration_s --current-policy random --policy round-robin --once --slots 1 --remove-servers 0 --traffic-factor 1 | sed -n '/^now/,/^$/p'
| now: random, mean 125.2 ± 0.4 ms measured, 164.3 ± 5.9 predicted; p99 149.8 ± 0.2 ms measured, 412.9 predicted
|   ! the measured mean is 39.53 ms shorter than predicted, where 3.863 ms would be chance; it
|     looks more like round-robin, or servers, slots, dispatchers or delays are not as was said
|
$ ballast twin --log log.csv --server-field upstream_addr --service-field duration_s --once --policy jsq --policy pod-ssp --keep 1000 --remove-servers 5 --traffic-factor 3 --slots 1
| log.csv, 00:04:09 to 00:04:59 UTC: 997 requests, 20.02 a second; 5 servers, load 0.503; service recovered
| now, mean 125.7 ± 1.9 ms measured; p99 149.6 ms measured
|
| what if                            mean, ms  p99, ms  mean than the first   load  asked
| ───────────────────────────────────────────────────────────────────────────────────────
| with jsq                        125.7 ± 1.9    149.6                       0.503    now
| with 3 times the traffic (jsq)      12832 !    25258                        1.51    now
| !: queues grow until the end: the longer the window, the worse.
|   ? only the last 49.9 s are here: there is room for 1000 requests, or no more were read
|   ? with 5 servers fewer (jsq): no server would be left
|   ? with pod-ssp:d1=2,d2=2: policy 'pod-ssp' needs two classes of jobs; say which share of them
|     is high
$ ballast twin --log log.csv --service-field duration_s --once
| log.csv, 23:59:59 to 00:04:59 UTC: 5999 requests, 20 a second; 5 servers, load 0.501; service recovered
| now, mean 125.2 ± 0.4 ms measured; p99 149.8 ± 0.2 ms measured
|
| what if                                   mean, ms      p99, ms  mean than the first   load  asked
| ──────────────────────────────────────────────────────────────────────────────────────────────────
| with least-conn                        125.2 ± 0.4  149.8 ± 0.2                       0.501    now
| with jiq:else=least-conn               125.2 ± 0.4  149.8 ± 0.2           +0.0 ± 0.0  0.501    now
| with jiq:else=hold                     125.2 ± 0.4  149.8 ± 0.2           +0.0 ± 0.0  0.501    now
| with round-robin                       125.2 ± 0.4  149.8 ± 0.2           +0.0 ± 0.0  0.501    now
| with jsq                               125.2 ± 0.4  149.8 ± 0.2           +0.0 ± 0.0  0.501    now
| with jiq                               125.2 ± 0.4  149.8 ± 0.2           +0.0 ± 0.0  0.501    now
| with pi                                125.2 ± 0.4  149.8 ± 0.2           +0.0 ± 0.0  0.501    now
| with lsq:p=1                           125.2 ± 0.4  149.8 ± 0.2           +0.0 ± 0.0  0.501    now
| with ewma:d=2,decay=10                 132.2 ± 1.2  239.2 ± 6.0           +7.0 ± 1.3  0.501    now
| with prequal:r=3                       134.4 ± 1.0  238.1 ± 9.1           +9.2 ± 0.6  0.501    now
| with pod:d=2                           136.0 ± 1.2  251.8 ± 6.2          +10.8 ± 1.1  0.501    now
| with rcpb:c=1                          137.4 ± 1.2  267.6 ± 9.6          +12.2 ± 1.1  0.501    now
| with pod-memory:d=1,b=1                149.6 ± 2.7     306 ± 26          +24.4 ± 1.7  0.501    now
| with random                            164.3 ± 5.9        412.9          +39.0 ± 3.7  0.501    now
| with 2 servers fewer (least-conn)      141.3 ± 1.7  254.6 ± 5.4          +16.0 ± 1.4  0.835    now
| with the traffic doubled (least-conn)   458 ± 53 !        781.1                           1    now
| !: queues grow until the end: the longer the window, the worse.
|   ? that a server works on 1 request at a time is a guess: --slots says it, or the log
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
$ ballast twin --log wait.json --once --slots 1 --policy jsq --remove-servers 0 --traffic-factor 1 | sed -n 2p
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
$ ballast twin --log log.csv --current-policy fastest
! ballast: --current-policy fastest: unknown policy 'fastest': the policies are random, round-robin, jsq, pod, pod-memory, least-work, jiq, pi, rcpb, last-idle, pod-scp, pod-sep, pod-ssp, tabs, rate-idle, least-conn, weighted-random, weighted-round-robin, sed, fastest-idle, lsq, scd, care, board, ewma, prequal
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

# How long servers stand by and take to start no request tells.
$ ballast twin --log log.csv --service-field duration_s --once --current-policy tabs --policy jsq
! ballast: --current-policy: policy 'tabs' switches servers off; say after which idle time, and how long a start takes: --standby 10s --setup 5s
? 2
$ ballast twin --log log.csv --service-field duration_s --once --policy tabs:else=hold --setup 2s
! ballast: --policy: policy 'tabs' switches servers off; say after which idle time, and how long a start takes: --standby 10s --setup 5s
? 2
$ ballast twin --log log.csv --service-field duration_s --once --current-policy tabs --policy jsq --standby 1s --setup 200ms --slots 1 --quiet | sed -n '2p;/^with jsq/p'
| now: tabs:mu=0.1,nu=0.1,none=hold, mean 125.2 ± 0.4 ms measured, 125.2 ± 0.4 predicted; p99 149.8 ± 0.2 ms measured, 149.8 ± 0.2 predicted
| with jsq                                                 125.2 ± 0.4  149.8 ± 0.2     +0.0 ± 0.0  0.501         all    now
# Where prediction and measurement have parted nothing is recommended: here servers that are never off are said to be.
$ ballast twin --log log.csv --service-field duration_s --once --current-policy tabs --policy jsq --standby 1ms --setup 20s --slots 1 --nginx | grep -i 'parted\|recommend\|upstream'
| # Nothing is recommended: prediction and measurement have parted, and the model of the fleet is not right.
$ ballast twin --log log.csv --service-field duration_s --once --current-policy tabs --policy jsq --standby 1ms --setup 20s --slots 1 --format json | jq -c '[.parted, .recommended]'
| [true,null]
