# Speeds by the number in service, found in a log or said, and replays on servers that have them. The log is made as
# examples/batches.awk makes it.
$ cat >batches.awk <<'END'
> function uniform() { # the minimal standard generator, exact in doubles
>     state = (state * 16807) % 2147483647
>     return state / 2147483647
> }
> function exponential(mean) { return -mean * log(uniform()) }
> function speed(k,   m) { # of each of k
>     m = k < most ? k : most
>     return m / (1 + slowdown * (m - 1)) / k
> }
> BEGIN {
>     state = seed ? seed : 1
>     requests = requests ? requests : 20000
>     servers = servers ? servers : 3
>     most = most ? most : 8
>     slowdown = slowdown == "" ? 0.15 : slowdown
>     load = load ? load : 0.7
>     gap = 100 / (servers * load * most / (1 + slowdown * (most - 1)))
>     print "timestamp,duration_ms,upstream_addr"
>     begin = 1792000000000
>     comes = exponential(gap)
>     while (done < requests) {
>         ends = 1e300
>         for (s = 1; s <= servers; s++) { # the next that ends: the least is left of it
>             for (i = 1; i <= n[s]; i++) {
>                 at = now + left[s, i] / speed(n[s])
>                 if (at < ends) { ends = at; who = s; which = i }
>             }
>         }
>         then = comes < ends ? comes : ends
>         for (s = 1; s <= servers; s++)
>             for (i = 1; i <= n[s]; i++)
>                 left[s, i] -= (then - now) * speed(n[s])
>         now = then
>         if (comes <= ends) {
>             s = 1 + int(uniform() * servers)
>             left[s, ++n[s]] = exponential(100)
>             came[s, n[s]] = now
>             comes += exponential(gap)
>         } else {
>             printf "%.6f,%.3f,10.0.0.%d:80\n", (begin + now) / 1000, now - came[who, which], who
>             left[who, which] = left[who, n[who]]
>             came[who, which] = came[who, n[who]]
>             n[who]--
>             done++
>         }
>     }
> }
> END
$ awk -f batches.awk -v requests=8000 >log.csv
$ ballast replay log.csv --speeds find --policy random --policy least-conn --quiet | sed -n '/^servers/,/^span/p;/^fleet/,/^settings/p;/^policy/,/^random/p'
| servers  3 (upstream_addr)
|          each: batch(9,0.168), shared by all that are there, which explains the times best
|          slowdown 0.116 to 0.212 (95 %), from 8000 requests, of which 96.7 % left others behind
|          more likely than 18 slots of full speed, in order: by 9.1 standard deviations
|          more likely than cores(4.49), shared by all that are there: by 5.2 standard deviations
|          work done per second with so many there: 1: 0.98 ± 0.12, 2: 1.74 ± 0.13, 3: 2.34 ±
|          0.15, 5: 2.89 ± 0.17, 7: 3.77 ± 0.25, 10: 3.59 ± 0.43, 14: 4.03 ± 0.82
|          seldom more than 15 there (1 % of requests): how fast servers are with more is a guess
|          logged: mean 177.7 ms, p99 910.5 ms; work at full speed: mean 96.02 ms, p99 445.6 ms
| span     2026-10-14 17:46:40 to 2026-10-14 17:48:18 UTC
| fleet    3 servers: load 0.68, in the busiest 1 s (from 17:46:53) 0.949
|          no --servers given: as many as the log names
| settings speeds batch(9,0.168)
| policy             mean, ms          p50       p99  other logs  waits  msgs    Wh  watts
| ────────────────────────────────────────────────────────────────────────────────────────
| least-conn  154.994 ± 0.053          103   744 ± 8  136 to 176   0.0%     0  16.3    200
| random          178.1 ± 3.0  115.0 ± 0.9  917 ± 51  155 to 205   0.0%     0  16.2    198
$ ballast replay log.csv --speeds 'batch(8,0.15)' --policy random --quiet | sed -n '/^servers/,/^span/p;/^policy/,/^random/p'
| servers  3 (upstream_addr)
|          each: batch(8,0.15), shared by all that are there, as --speeds says
|          logged: mean 177.7 ms, p99 910.5 ms; work at full speed: mean 99.49 ms, p99 461.7 ms
| span     2026-10-14 17:46:40 to 2026-10-14 17:48:18 UTC
| policy     mean, ms      p50       p99  other logs  waits  msgs    Wh  watts
| ────────────────────────────────────────────────────────────────────────────
| random  178.6 ± 3.7  115 ± 1  927 ± 58  155 to 206   0.0%     0  16.2    198
$ ballast replay log.csv --speeds find --policy random --quiet --format json | jq -c '.times.speeds | [.text, .slots, .found, .told, .best]'
| ["batch(9,0.168)",0,true,true,"batch"]
$ awk -f batches.awk -v requests=8000 -v most=2 -v slowdown=0 >cores.csv
$ ballast replay cores.csv --speeds find --policy random --quiet | sed -n '/^servers/,/^span/p'
| servers  3 (upstream_addr)
|          each: cores(1.85), shared by all that are there, which explains the times best
|          cores 1.75 to 2 (95 %), from 8000 requests, of which 81.3 % left others behind
|          more likely than 17 slots of full speed, in order: by 14.5 standard deviations
|          not told apart from batch(2,0.078), shared by all that are there: 0.1 standard
|          deviations
|          work done per second with so many there: 1: 0.991 ± 0.05, 2: 1.91 ± 0.085, 3: 1.7 ±
|          0.091, 5: 1.83 ± 0.14, 7: 1.89 ± 0.21, 10: 1.72 ± 0.3, 14: 1.26 ± 0.48
|          seldom more than 13 there (1 % of requests): how fast servers are with more is a guess
|          logged: mean 193.6 ms, p99 1.274 s; work at full speed: mean 93.43 ms, p99 431.1 ms
| span     2026-10-14 17:46:40 to 2026-10-14 17:49:51 UTC

# A log of servers that hardly ever have two requests says nothing, and says so.
$ awk -f batches.awk -v requests=2000 -v most=64 -v slowdown=0 -v load=0.002 >light.csv
$ ballast replay light.csv --speeds find --policy random --quiet | sed -n '/^servers/,/^span/p'
| servers  3 (upstream_addr)
|          each: batch(3,0.097), shared by all that are there, which is the best guess: the log
|          cannot tell
|          slowdown 0.038 to 0.156 (95 %), from 2000 requests, of which 11.2 % left others behind
|          not told apart from 3 slots of full speed, in order: 0.5 standard deviations
|          not told apart from cores(2.23), shared by all that are there: 0.1 standard deviations
|          work done per second with so many there: 1: 0.999 ± 0.046, 2: 1.86 ± 0.25
|          seldom more than 2 there (1 % of requests): how fast servers are with more is a guess
|          logged: mean 100.1 ms, p99 491.3 ms; work at full speed: mean 98.99 ms, p99 479.5 ms
| span     2026-10-14 17:46:43 to 2026-10-14 17:55:04 UTC

# Where no server is named, speeds can only be said.
$ cut -d, -f1,2 log.csv >nameless.csv
$ ballast replay nameless.csv --speeds find --policy random --quiet
! ballast: speeds are fitted to logs that name the server of each request; see --server-field
? 2
$ ballast replay nameless.csv --speeds 'cores(4)' --servers 3 --policy random --quiet | sed -n '/^servers/,/^span/p'
| servers  each: cores(4), shared by all that are there, as --speeds says
|          no server is named, so that service times are taken as work at full speed
| span     2026-10-14 17:46:40 to 2026-10-14 17:48:18 UTC

# A time that is computed is no time at a server, so that it is the work, whether or not the log names servers: half a
# millisecond for each of 100 tokens on average, although other requests were there.
$ awk -F, 'NR == 1 {print $0 ",tokens"} NR > 1 {print $0 "," NR * 7919 % 199 + 1}' log.csv >tokens.csv
$ ballast replay tokens.csv --service 'tokens*0.5ms' --speeds 'batch(8,0.15)' --policy random --quiet | sed -n '/^log/p;/^servers/,/^span/p'
| log      8000 jobs in 98.01 s, mean service time 50.01 ms, longest 99.5 ms
| servers  3 (upstream_addr)
|          each: batch(8,0.15), shared by all that are there, as --speeds says
|          service times are computed, and taken as work at full speed
| span     2026-10-14 17:46:40 to 2026-10-14 17:48:18 UTC
$ ballast replay tokens.csv --service 'tokens*0.5ms' --speeds 'batch(8,0.15)' --policy random --quiet --format json | jq -c '.times | [.kind, .waiting_share, .slots, .slots_low, .slots_high, .logged_load, .load]'
| ["service alone",0,0,0,null,null,null]
$ ballast replay tokens.csv --service 'tokens*0.5ms' --speeds find --policy random
! ballast: --speeds find: speeds are found in times that were measured, and those of --service are computed; name the field of a measured time with --service-field
? 2

# What cannot be.
$ ballast replay tokens.csv --service 'tokens*0.5ms' --service-field duration_ms --policy random
! ballast: --service computes a service time, and --service-field names one; leave out one of them
? 2
$ ballast replay log.csv --speeds find --waiting keep --policy random
! ballast: --speeds tell who waits, and --waiting keep has no effect; leave out one of them
? 2
$ ballast test-server --tokens 5
! ballast: --tokens 5: not two numbers of seconds, to read a token of the prompt and to write one, such as 0.0002,0.025
? 2
$ ballast test-server --tokens 1,0
! ballast: --tokens 1,0: not two numbers of seconds, to read a token of the prompt and to write one, such as 0.0002,0.025
? 2
$ ballast test-server --tokens 0.1,0.1 --burn
! ballast: test-server: --burn streams no tokens; leave out one of --burn and --tokens
? 2
$ ballast replay log.csv --speeds found
! ballast: --speeds found: speeds 'found': this is none of them; write cores(4), batch(8,0.15) or table(1:1 2:1.8 8:4.5), which tells the total speed with so many jobs in service, or none
? 2
$ ballast replay log.csv --speeds find --policy jiq:else=hold --quiet
! ballast: --policy: servers that work on all jobs that are there (slots all) cannot be had with jobs that wait at the dispatcher; leave out one of them
? 2
$ ballast replay log.csv --speeds find --steal half --policy random --quiet
! ballast: --policy: servers that work on all jobs that are there (slots all) cannot be had with servers that steal; leave out one of them
? 2

# Policies that hold, classes and stealing need a number of slots, which is that of the replayed fleet.
$ ballast replay log.csv --speeds find --slots 8 --policy jiq:else=hold --policy least-conn --quiet | sed -n '/^fleet/,/^settings/p;/^policy/,/^jiq/p'
| fleet    3 servers of 8 slots: load 0.711, in the busiest 1 s (from 17:46:53) 0.991
|          no --servers given: as many as the log names
|          --slots is for this fleet alone: what the log's servers did is found from their times
| settings speeds batch(9,0.168)
| policy              mean, ms          p50      p99  other logs  waits  msgs    Wh  watts
| ────────────────────────────────────────────────────────────────────────────────────────
| least-conn     156.21 ± 0.13          104      744  136 to 179   3.4%     0  16.3    200
| jiq:else=hold  165.77 ± 0.36  111.2 ± 0.8  787 ± 8  144 to 191   4.2%  1.84  16.2    198
$ ballast replay log.csv --speeds find --slots 8 --policy jiq:else=hold --target p99=800ms --quiet | sed -n '/^Servers/,/^jiq/p'
| Servers needed for p99 ≤ 800 ms, 8 slots and batch(9,0.168) each
|
| policy         servers   load  p99, ms  one fewer    Wh  watts
| ──────────────────────────────────────────────────────────────
| jiq:else=hold    3 (?)  0.711  787 ± 8       6833  16.2    198
$ ballast replay log.csv --speeds find --slots 4 --steal half --policy random --quiet | sed -n '/^stealing/p;/^random/p'
| stealing a server that runs out of work steals from another: half
| random  909 ± 57  726 ± 74  2706 ± 180           ?  94.0%  0.0103  16.4    200

# The twin: now is as measured, and holding is with so many slots.
$ ballast twin --log log.csv --speeds find --slots 8 --current-policy random --window 10min --once --policy least-conn --policy jiq:else=hold --remove-servers 0 --traffic-factor 1
| log.csv, 17:38:15 to 17:48:15 UTC: 7822 requests, 81.67 a second; 3 servers that work on all jobs at once, speeds batch(9,0.168), load 0.681; service recovered, shared
| now: random, mean 178 ± 40 ms measured, 181 ± 28 predicted; p99 911.2 ms measured, 984.4 predicted
|   they agree: the measured mean less the predicted one is -4 ± 14 ms
|
| what if             mean, ms  p99, ms  mean than now   load  asked
| ──────────────────────────────────────────────────────────────────
| with least-conn     155 ± 19    743.2       -26 ± 15  0.681    now
| with jiq:else=hold  166 ± 24    791.7       -15 ± 15  0.712    now
|   ? for 504 s nothing arrived: a gap in the log, or in the traffic
$ ballast twin --log log.csv --speeds 'batch(8,0.15)' --current-policy random --window 10min --once --policy jiq:else=hold --format json | jq -c '[.slots, .speeds, .service_times, .parted]'
| ["all","batch(8,0.15)","recovered, shared",false]
$ ballast twin --log log.csv --current-policy random --window 10min --once --policy least-conn --format json | jq -c '[.slots, .speeds, .parted]'
| [6,null,false]
$ ballast twin --log cores.csv --speeds 'cores(2)' --slots 4 --current-policy random --window 10min --once --policy least-conn --format json | jq -c '[.slots, .speeds]'
| [4,"cores(2)"]
$ ballast twin --log log.csv --speeds find --waiting keep --once --policy least-conn
! ballast: --speeds tell who waits, and --waiting keep has no effect; leave out one of them
? 2
$ sed 's/\.[0-9]*,/,/' log.csv >seconds.csv
$ ballast twin --log seconds.csv --speeds find --once --policy least-conn
! ballast: --speeds: times of this log are whole seconds, in which it is not seen who was there together; log milliseconds ($msec in nginx)
? 2
$ ballast twin --log log.csv --speeds 'core(2)' --once --policy least-conn
! ballast: --speeds core(2): speeds 'core(2)': this is none of them; write cores(4), batch(8,0.15) or table(1:1 2:1.8 8:4.5), which tells the total speed with so many jobs in service, or none
? 2

# A fitted fleet has them, and its experiment gives the times of the log.
$ ballast fit log.csv --speeds find --quiet | sed -n '/^fleet/,/^workload/p'
| fleet:
|   # as many as the log names
|   servers: 3
|   slots: all
|   speeds: "batch(9,0.168)"
| workload:
$ ballast fit log.csv --speeds find --quiet --slots 8 --output fitted.yaml
$ sed -n '/^fleet/,/^workload/p' fitted.yaml
| fleet:
|   # as many as the log names
|   servers: 3
|   slots: 8
|   speeds: "batch(9,0.168)"
| workload:
$ ballast check fitted.yaml
| fitted.yaml: in order; plain 100 trials, quick 60 trials, full 100 trials
$ ballast fit log.csv --speeds 'batch(8,0.15)' --format json --output fitted.yaml | jq -c '.model | [.slots, .speeds]'
| ["all","batch(8,0.15)"]
$ ballast fit log.csv --quiet | sed -n '/^fleet/,/^workload/p'
| fleet:
|   # as many as the log names
|   servers: 3
|   slots: 6
| workload:
$ ballast fit seconds.csv --speeds find
! ballast: --speeds: times of this log are whole seconds, in which it is not seen who was there together; log milliseconds ($msec in nginx)
? 2
