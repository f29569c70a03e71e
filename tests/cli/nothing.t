# Runs that measured nothing, or ended before a service could: no verdict, no number in place of one, and no
# success.

$ ballast compare --servers 3 --time 0.001 --policy random --policy tabs
| 3 servers at load 0.9, service exp; 10 replications of 0 jobs each, seed 1
|
| policy              mean response    p99  watts  waits  msgs  bits  theory
| ──────────────────────────────────────────────────────────────────────────
| random                no job done           140                  0  = 10.0
| tabs:mu=0.1,nu=0.1    no job done           140                  6  → 1.00
|
| No policy can beat 3.7235: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers, with the difference of the simulation.
| watts: mean power of a server, busy, idle, in set-up or off.
| !: random, tabs:mu=0.1,nu=0.1: fewer than 100 jobs were measured in a replication
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 3 --time 0.001 --policy jsq --policy tabs --format json |
>     jq -c '.results[] | .policy, .verdict, .response.mean, .waiting.probability, .messages.per_job, (.power.mean | round), .power.energy_per_job'
| "jsq"
| "undecided"
| null
| null
| null
| 140
| null
| "tabs:mu=0.1,nu=0.1"
| "undecided"
| null
| null
| null
| 140
| null
$ ballast compare --servers 3 --time 0.001 --policy jsq --format csv | tail -n 1 | cut -d , -f 1-4
| "jsq",undecided,,
$ ballast compare --servers 3 --time 0.001 --high 0.3 --policy pod-sep
| 3 servers at load 0.9, service exp, 30 % of jobs high; 10 replications of 0 jobs each, seed 1
|
| policy          all jobs  high jobs  theory  p99  low jobs  theory  p99  msgs
| ─────────────────────────────────────────────────────────────────────────────
| pod-sep:d=2  no job done             → 1.21                 → 3.22
|
| No policy can beat 3.7235: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. Percentiles: of the class. msgs: per job, a probe is two.
| theory: → limit of many servers.
| !: pod-sep:d=2: fewer than 100 jobs were measured in a replication
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --slotted --servers 2 --load 0.01 --time 1 --policy jsq
| 2 servers at load 0.01, slotted, batches poisson, whole; 10 replications of 0 jobs each, seed 1
|
| policy  mean response    p50  p99  waits  msgs  bits  theory
| ────────────────────────────────────────────────────────────
| jsq       no job done                              0
|
| Times are in slots.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| !: jsq: fewer than 100 jobs were measured in a replication
| ?: stable or not could not be decided; a longer run (--jobs) tells.

# Queues grow until the first jobs can leave: that is no instability.
$ ballast compare --servers 1000 --time 1 --policy pod --format json | jq -c '.results[].verdict'
| "undecided"
$ ballast compare --servers 1000 --time 9.9 --load 2 --policy pod --format json | jq -c '.results[].verdict'
| "undecided"
$ ballast compare --servers 1000 --time 10 --load 2 --policy pod --format json | jq -c '.results[].verdict'
| "unstable"
$ ballast compare --servers 1000x2 --service 'exp(4)' --time 19 --load 2 --policy pod --format json | jq -c '.results[].verdict'
| "undecided"

# A wish is neither met nor missed by them.
$ ballast priority-share --gain 2 --loss 2 --jobs 5
| At load 0.9 up to 59.21 % of jobs can be high: pod-ssp:d1=2,d2=2 then has gain >= 2 and loss <= 2.
|
|                         wanted  theory  1000 servers
| ────────────────────────────────────────────────────
| gain: pod over high     >= 2    2.0000
| loss: low over pod      <= 2    1.7258
| mean response, high             1.3070
| mean response, low              4.5113
| mean response, pod:d=2          2.6141
|
| ±: 95 % confidence over 10 replications, jobs 5, seed 1. theory: limit of many servers.
| Not confirmed: a class of jobs was not measured. Use longer runs (--jobs).
? 1
$ ballast priority-share --gain 2 --jobs 5 --format json | jq -c '.simulation.confirmed, .simulation.gain'
| false
| {"mean":null,"ci":null}
$ ballast cheapest --delay 0.7 --messages 4 --memory 9 --servers 10 --time 1e-6
| wanted: a mean waiting time of at most 0.7, with at most 4 messages per job and 9 bits of memory
| 10 servers at load 0.9, service exp; 10 replications of 9e-06 jobs each, seed 1
|
| policy                  waiting  theory    msgs  bits  does it?
| ───────────────────────────────────────────────────────────────────────
| round-robin           by theory  = 4.660  0.000     4  no, waits longer
| random                by theory  = 9.000  0.000     0  no, waits longer
| pod:d=2             no job done  → 1.614            0  not sure
| rcpb:c=1,mup=1.19   no job done  → 0.698            4  not sure
| rcpb:c=2,mup=0.699  no job done  → 0.699            8  not sure
|
| undecided: no policy is known to meet this; the nearest is round-robin, which waits 4.66 by theory
| !: pod:d=2, rcpb:c=1,mup=1.19, rcpb:c=2,mup=0.699: fewer than 100 jobs were measured in a
|    replication
| ?: stable or not could not be decided; a longer run (--jobs) tells.
? 1
$ ballast cheapest --delay 0.66 --servers 10
| wanted: a mean waiting time of at most 0.66
| 10 servers at load 0.9, service exp; 10 replications of 500k jobs each or more, seed 1
|
| no policy meets this: even one common queue for all servers (M/M/N) waits 0.6687
? 1
$ ballast cheapest --delay 0.5 --messages 4 --memory 9 --servers 100 --jobs 5 --format csv | sed 's|.*,\(.*,.*\)|\1|'
| doubts,settings
| ,"servers=100; load=0.9; run.jobs=5"
| ,"servers=100; load=0.9; run.jobs=5"
| ,"servers=100; load=0.9; run.jobs=5"
| ,"servers=100; load=0.9; run.jobs=5"
$ ballast tune tabs --servers 1 --load 0.001 --time 0.01 --from 1e-5 --to 1e-4 --points 3
| tabs on 1 servers at load 0.001, service exp, set-up exp(10), 200,140,200,0 W busy, idle, in
| set-up, off; 10 replications, time 0.01, seed 1
|
|   standby   tabs waits  p99  watts  waste         delayed-off waits  watts
| ──────────────────────────────────────────────────────────────────────────
|     1e-05  no job done                                  no job done
| 3.162e-05  no job done                                  no job done
|    0.0001  no job done                                  no job done
| always on  no job done                     (jiq)
|
| The knee is undecided: a standby time of tabs is doubted, and could be it.
| The work alone needs 0.2 W a server. •: no other standby of tabs has less waiting and less power.
| ±: 95 % confidence over replications. standby: mean time that an idle server stays on.
| !: tabs at standby 1e-05, delayed-off at standby 1e-05, tabs at standby 3.162e-05, ...: fewer
|    than 100 jobs were measured in a replication
| ?: stable or not could not be decided; a longer run (--jobs) tells.

# A common queue has no server with two jobs, however many wait; queue.mean counts those.
$ ballast compare --servers 4 --load 0.95 --time 10k --policy central --format json | jq -c '.results[].queue | .mean > 1, .tail'
| true
| [1,0.9464232763561677]

# A bound that says nothing is not shown.
$ ballast compare --high 0.02 --policy pod-sep:d=3 --load 0.99 --jobs 10k --servers 10 --format json |
>     jq -c '.results[].theory.high | .response_mean > 1, .response_bound'
| true
| null
