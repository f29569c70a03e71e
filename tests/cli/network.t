# What lies between dispatchers and servers, in every command.

$ ballast compare --servers 10 --dispatchers 2 --delay 'exp(0.05)' --loss 0.01 --heartbeat 5 --jobs 20k --replications 4 --policy jiq --policy least-conn --policy pod:d=2
| 10 servers at load 0.9, service exp, dispatchers 2, delay exp(0.05), loss 0.01, heartbeat 5; 4
| replications of 20k jobs each, seed 1
|
| policy      mean response                   p50           p99   waits  msgs  bits  theory
| ─────────────────────────────────────────────────────────────────────────────────────────
| least-conn    2.40 ± 0.27  ████▊    1.90 ± 0.14   9.0 ± 1.5 !  100.0%  0.44    40
| pod:d=2       3.50 ± 0.37  ██████▉    2.9 ± 0.2  11.5 ± 1.7 !  100.0%  4.44     0
| jiq           3.57 ± 0.53  ███████    2.4 ± 0.3      18 ± 5 !  100.0%  0.59    10
|
| No policy can beat 1.6687: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 310k would do
$ ballast compare --servers 10 --load 0.5 --dispatchers 2 --churn 50,5,lose --fail-fast 0.1 --ejection --jobs 10k --replications 2 --policy jiq
| 10 servers at load 0.5, service exp, dispatchers 2, churn 50,5,lose, fail-fast 0.1,
| ejection yes; 2 replications of 10k jobs each, seed 1
|
| policy  mean response                   p50    p99  waits  msgs  bits  theory
| ─────────────────────────────────────────────────────────────────────────────
| jiq     1.23 ± 0.27 ?  ███████  0.84 ± 0.15  6 ± 3  20.8%  0.44    10
|
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| jiq fails 6.38 % of all jobs: a wrong answer, or none. Its times are of the others.
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 10 --load 0.5 --fail-fast 0.2 --jobs 5k --replications 2 --policy least-conn --format json | jq -c '.settings.network, (.results[0] | .engine, .failed > 0.2)'
| {"fail-fast":"0.2"}
| "network"
| true
$ ballast compare --servers 10 --load 0.5 --jobs 5k --replications 2 --policy least-conn --format json | jq -c '.results[0] | has("failed")'
| false
$ ballast compare --servers 10 --load 0.5 --churn 50,5 --fail-fast 0.2 --jobs 5k --replications 2 --policy least-conn --format csv | grep -c jobs.failed
| 1

# Jobs that wait at a dispatcher for ever, since every report gets lost in the end: that is unstable. One dispatcher
# alone gets all reports with responses.
$ ballast compare --servers 10 --dispatchers 2 --loss 0.1 --jobs 20k --replications 4 --policy jiq:else=hold | grep hold
| jiq:else=hold       unstable                        0    10

# In an experiment file and its report.
$ printf 'title: t\nfleet: {servers: 6}\nworkload: {load: 0.5}\nnetwork: {dispatchers: 2, delay: "exp(0.05)"}\npolicies: [jiq, least-conn]\nsweep: {axis: loss, values: [0, 0.1]}\nrun: {jobs: 20k, replications: 4}\n' >net.yaml; ballast run net.yaml --quiet
| t
| servers 6, load 0.5, dispatchers 2, delay exp(0.05), jobs 20000, replications 4, seed 1
|
| loss  policy      response.mean  response.p99  messages.per_job        vs jiq
| ─────────────────────────────────────────────────────────────────────────────
|    0  jiq         1.421 ± 0.043   6.30 ± 0.37     0.384 ± 0.014
|       least-conn  1.402 ± 0.050   5.80 ± 0.15                 0  -1.4 ± 1.0 %
|  0.1  jiq         1.459 ± 0.032   6.25 ± 0.22   0.3650 ± 0.0033
|       least-conn  1.395 ± 0.020   5.76 ± 0.17                 0  -4.4 ± 1.3 %
|
| vs jiq: response.mean compared with that of jiq on the same arrivals
$ ballast report net.db -o net.html && grep -o 'dispatchers: 2' net.html | head -1
| dispatchers: 2

# What happens at stated times: printed as it is read, and seen in the window after it.
$ ballast compare --servers 100 --load 0.5 --dispatchers 2 --events 'loss:20%@10+5  cut:1,1@50+5' --time 60 --window 10 --replications 4 --policy least-conn --format json | jq -c '.settings.network, (.results[0] | .response.mean > 1.6)'
| {"dispatchers":"2","events":"loss:0.2@10+5 cut:1@50+5"}
| true
$ ballast compare --servers 100 --load 0.5 --dispatchers 2 --events 'loss:20%@10+5  cut:1,1@50+5' --time 50 --window 10 --replications 4 --policy least-conn --format json | jq -c '.results[0].response.mean > 1.6'
| false
# Events that are over before jobs are measured, or come after the end, change no time, and that is said.
$ ballast compare --servers 10 --load 0.5 --events 'restart-servers:0.5,1@10+5 loss:0.1@600+10 loss:0.1@1000+10' --time 1000 --replications 2 --policy least-conn --quiet | grep '^Event'
| Event 1, at 10, is not in the times, which are measured from 200 on: see --time and --window.
| Event 3, at 1000, is not in the times, as the run ends at 1000: see --time.
$ ballast compare --servers 10 --load 0.5 --events 'loss:0.1@10+10' --time 1000 --window 10 --replications 2 --policy least-conn --quiet | grep '^Event'
? 1

# In a replay.
$ for i in $(seq 100 399); do echo "10.0.0.1 - - [15/Nov/2026:10:0$((i / 60)):$((i % 60 + 100))"; done | sed 's/:1\([0-9][0-9]\)$/:\1 +0000] "GET \/ HTTP\/1.1" 200 5 "-" "-" 0.500/' >net.log; ballast replay net.log --log-format '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "-" $request_time' --waiting keep --quiet --servers 2 --dispatchers 2 --delay 0.01 --fail-fast 0.5 --policy jiq --policy jiq:else=hold --format json | jq -c '.settings.network, [.results[] | .failed > 0.3]'
| {"dispatchers":"2","delay":"det(0.01)","fail-fast":"0.5"}
| [true,true]
$ ballast replay net.log --log-format '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "-" $request_time' --waiting keep --quiet --servers 4 --dispatchers 2 --fail 1@10s --policy jiq
! ballast: --policy: policy 'jiq' and these settings of the network know no servers that fail at a time; servers come and go with a churn
? 2
$ ballast replay net.log --log-format '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "-" $request_time' --waiting keep --quiet --speedup 10 --dispatchers 2 --delay 0.01 --fail-fast 0.3 --policy jiq --target p90=1s | tail -n 1
| jiq fails 60 % of all jobs on these 5 servers: a wrong answer, or none. The target is met by the others.
$ ballast replay net.log --log-format '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "-" "-" $request_time' --waiting keep --quiet --speedup 10 --dispatchers 2 --delay 0.01 --fail-fast 0.3 --policy jiq --target p90=1s --format json | jq -c '.target.policies[0] | .outcome, .failed > 0.3'
| "found"
| true

# Where stability ends, and prices; a price has a delay of its own.
$ ballast stability jiq:else=hold --servers 10 --dispatchers 2 --delay 0.1 --width 0.1 --quiet --format json | jq -c '.unstable, .doubts'
| 0.85
| []
$ ballast cheapest --servers 10 --dispatchers 2 --message-delay 0.1 --jobs 10k --replications 2 --policy jiq | head -2
| 10 servers at load 0.9, service exp, dispatchers 2, delay det(0.1); 2 replications of 10k jobs
| each, seed 1
$ ballast cheapest --help | grep -c -e '^  --delay '
| 1

# In slotted time there are several dispatchers, and nothing else of it.
$ ballast compare --slotted --servers 10 --dispatchers 3 --time 10k --replications 4 --policy jiq --policy least-conn
| 10 servers at load 0.9, slotted, batches poisson, whole, dispatchers 3; 4 replications of 90k
| jobs each, seed 1
|
| policy      mean response           p50         p99  waits  msgs  bits  theory
| ──────────────────────────────────────────────────────────────────────────────
| jiq         3.897 ± 0.099  █████▎     3          14  80.5%  0.20    10
| least-conn    5.25 ± 0.10  ███████    5  13.2 ± 0.8  91.4%     0    40
|
| Times are in slots.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
$ ballast compare --slotted --servers 10 --delay 0.1 --policy jiq
! ballast: events, delays, losses, heartbeats and servers that fail need continuous time; in slotted time there can be several dispatchers
? 2
$ ballast compare --slotted --servers 10 --dispatchers 3 --policy jiq:else=hold
! ballast: --policy: policy 'jiq:else=hold' needs a dispatcher that can hold jobs, which slotted time does not have
? 2
$ ballast compare --servers 10 --dispatchers 3 --policy central
! ballast: --policy: settings of the network cannot be had with one common queue; leave out one of them
? 2
$ ballast compare --servers 10 --tasks 2 --dispatchers 3 --policy jiq
! ballast: --policy: settings of the network cannot be had with jobs of several tasks; leave out one of them
? 2
$ ballast compare --servers 10 --engine event --dispatchers 3 --policy jiq
! ballast: --policy: engine 'event' cannot simulate settings of the network; use network or auto
? 2

# What cannot be read.
$ ballast compare --dispatchers 0
! ballast: --dispatchers 0: '0' is neither a number of dispatchers from 1 to 4096 nor shares of the jobs that sum to 1, such as 0.5,0.3,0.2
? 2
$ ballast compare --dispatchers 0.5,0.6
! ballast: --dispatchers 0.5,0.6: the shares of the dispatchers sum to 1.1, not to 1
? 2
$ ballast compare --delay 0
! ballast: --delay 0: not a time above 0, a law such as exp(0.1) or uniform(0.05,0.15), or none
? 2
$ ballast compare --delay 'exp(-1)'
! ballast: --delay exp(-1): law 'exp(-1)': M = -1 is out of range; it must lie between 1e-30 and 1e+30
? 2
$ ballast compare --loss 1
! ballast: --loss 1: not a probability from 0 to 0.99, such as 0.01
? 2
$ ballast compare --timeout 0
! ballast: --timeout 0: not a time above 0, such as 10, or none
? 2
$ ballast compare --heartbeat -1
! ballast: --heartbeat -1: not a time above 0, such as 10, or none
? 2
$ ballast compare --churn 10
! ballast: --churn 10: '10' is neither none nor the mean times for which servers work and are down, such as 1000,10 or, if their jobs are lost, 1000,10,lose
? 2
$ ballast compare --fail-fast 1.5
! ballast: --fail-fast 1.5: '1.5' is neither none nor the share of servers that fail fast, such as 0.1, or with the time that they take, 0.1,0.05
? 2

$ ballast compare --events 'cut:0.3@1000+50 reboot@3'
! ballast: --events cut:0.3@1000+50 reboot@3: 'reboot@3': the kinds are restart-dispatchers, restart-servers, cut and loss; write none, or events such as cut:0.3@1000+50 restart-dispatchers@2000+10
? 2
$ ballast compare --events 'cut:0.3@1000'
! ballast: --events cut:0.3@1000: 'cut:0.3@1000': cut and loss need a length, as in @1000+50; write none, or events such as cut:0.3@1000+50 restart-dispatchers@2000+10
? 2
$ ballast compare --servers 10 --events 'cut:0.04@1000+50' --policy jiq
! ballast: --policy: event 1 concerns a share of 0.04 of 10 servers, which is none
? 2
$ ballast compare --servers 10 --churn 100,1 --events 'restart-servers@1000' --policy jiq
! ballast: --policy: servers that come and go with a churn are not restarted by events; leave out one of the two
? 2
$ ballast compare --slotted --servers 10 --events 'loss:0.1@1000+50' --policy jiq
! ballast: events, delays, losses, heartbeats and servers that fail need continuous time; in slotted time there can be several dispatchers
? 2

# So many that no run would end.
$ ballast compare --servers 10 --load 0.5 --churn 1e-9,1e-9 --policy jiq
! ballast: --policy: there would be 2e+09 heartbeats, failures and returns for each job, and there may be 100000: give longer times
? 2
$ ballast compare --servers 10 --load 0.5 --heartbeat 1e-9 --policy jiq
! ballast: --policy: there would be 2e+09 heartbeats, failures and returns for each job, and there may be 100000: give longer times
? 2

# Two jobs of 10 at two servers; the one at the first server fails at 1 and is held, since it does not go there again. The third
# job, of 1, comes at 5 and waits behind it, though the first server is free: answers take 10, 20 and 6, not 1.
$ awk 'BEGIN { print "time,duration_s"; split("0 0.1 5", t); split("10 10 1", d)
>     for (i = 1; i <= 3; i++) printf "%.3f,%s\n", 1772409600 + t[i], d[i] }' >held.csv
$ ballast replay held.csv --servers 2 --time-field time:start --policy jiq:else=hold --events 'restart-servers:0.5,1@1' \
>     --format json --quiet | jq '.results[].response.mean | round'
| 12

$ ballast replay held.csv --servers 2 --time-field time:start --policy jsq --events 'loss:0.1@1+1 restart-servers:0.5,1@5'
! ballast: --events: at 5 s the log is over, which takes 5 s; give a time within it
? 2
$ ballast replay held.csv --servers 2 --time-field time:start --policy jsq --speedup 2 --events 'restart-servers:0.5,1@2.5'
! ballast: --events: at 2.5 s the log is over, which takes 2.5 s; give a time within it
? 2

# A policy that chooses by loads is told the last one of a server that is no longer ejected, and uses it again.
$ ballast compare --servers 10 --load 0.5 --churn 300,20 --ejection --policy lsq --jobs 50k --replications 4 --format json \
>     --quiet | jq '.results[0].response.mean | . > 1 and . < 1.5'
| true
