# ballast cheapest: what policies cost, and the cheapest for a wanted delay.
$ ballast cheapest --servers 100 --jobs 20k --replications 3 --policy random --policy round-robin --policy jsq --policy pod \
>     --policy pod-memory --policy least-work --policy jiq --policy pi --policy rcpb
| 100 servers at load 0.9, service exp; 3 replications of 20k jobs each, seed 1
|
| policy                    waiting  theory    msgs  (one)  bits  msgs ~  bits ~   vanishes
| ─────────────────────────────────────────────────────────────────────────────────────────
| random                6.6 ± 1.1 !  = 9.000  0.000  0.000     0  0       0        cannot
| round-robin         3.78 ± 0.67 !  = 4.227  0.000  0.000     7  0       log N    no
| jsq                 0.075 ± 0.041  → 0.000    200    100     0  > N     0        yes
| pod:d=2               1.73 ± 0.27  ≈ 1.659   4.00   2.00     0  N       0        cannot
| pod-memory:d=1,b=1  2.30 ± 0.17 !  ≈ 2.248   4.00   2.00     7  N       log N    cannot
| least-work*         0.025 ± 0.029  = 0.022    200    100     0  > N     0        yes
| jiq                 0.087 ± 0.053  → 0.000  0.930  0.930   100  N       > log N  yes
| pi                  0.123 ± 0.074           0.940  0.940   107  N       > log N  may
| rcpb:c=1              1.06 ± 0.28  → 0.818  0.977  0.977     7  N       log N    cannot
|
| waiting: mean time before service, simulated ± 95 %; theory: = exact, ≈ close for so many servers, → limit of many.
| msgs: per job, a probe counted as two (query and reply), and as one. bits: memory of the dispatcher.
| As N servers grow with the load and the parameters as they are: messages in a unit of time, bits of memory,
| and whether the waiting time vanishes:
|   cannot: no symmetric policy can with so few messages and so little memory (Theorem 5 of Gamarnik,
|           Tsitsiklis and Zubeldia 2016: at most a constant times N messages and log N bits)
|   no: it is known not to
|   yes: it is proved to, for every load below 1
|   may: the theorem leaves it open, because of more messages or more memory
| *: must know how long every job will take: a lab does, a proxy does not.
| rcpb: with c growing with N and mup at least 1, or with mu growing with N, the waiting time does vanish.
| !: random, round-robin, pod-memory:d=1,b=1: still settling while it was measured, or perhaps so:
|    the mean may be off by more than chance; --jobs 920k, 46 times as long, would do
$ ballast cheapest --servers 100 --load 0.8 --jobs 20k --replications 3 --policy jiq --policy rcpb:c=3,mup=0.5 --format csv
| policy,verdict,waiting.mean,waiting.mean.ci,theory.waiting_mean,messages.per_job,messages.once_per_job,memory_bits,messages.growth,memory.growth,vanishes,doubts,settings
| "jiq",stable,0.008251989858532644,0.004758494692359762,0,0.9923111465374915,0.9923111465374915,100,N,> log N,yes,,"servers=100; load=0.8; run.jobs=20000; run.replications=3"
| "rcpb:c=3,mup=0.5",stable,0.8540123033513884,0.21241532482817144,0.8204895211390836,0.49615434618839155,0.49615434618839155,21,N,log N,cannot,,"servers=100; load=0.8; run.jobs=20000; run.replications=3"
$ ballast cheapest --servers 1000 --jobs 20k --replications 3 --policy pod:d=3 --format json
| {
|   "version": "1.0.0",
|   "spec": {
|     "servers": "1000",
|     "load": 0.9,
|     "service": "exp",
|     "time": 22.22222222222222,
|     "replications": 3,
|     "seed": 1,
|     "cut_short": false
|   },
|   "settings": {
|     "fleet": {"servers": "1000"},
|     "workload": {"load": "0.9"},
|     "run": {"jobs": "20000", "replications": "3"}
|   },
|   "results": [
|     {
|       "policy": "pod:d=3",
|       "verdict": "stable",
|       "doubts": ["settling"],
|       "time": 22.22222222222222,
|       "waiting": {"mean": 0.8048165450389092, "ci": 0.0632723227620373, "theory": 1.032437217614126, "limit": 1.0278559689952789},
|       "messages": {"probes_per_job": 3, "reports_per_job": 0, "per_job": 6, "once_per_job": 3, "growth": "N"},
|       "memory": {"bits": 0, "growth": "0"},
|       "symmetric": true,
|       "vanishes": "cannot"
|     }
|   ]
| }

# Theorem 5 does not speak of this.
$ ballast cheapest --servers 10x1,10x2 --jobs 20k --replications 3 --policy random --policy jsq
| 10x1,10x2 servers at load 0.9, service exp; 3 replications of 20k jobs each, seed 1
|
| policy      waiting  theory   msgs  (one)  bits  msgs ~  bits ~  vanishes
| ────────────────────────────────────────────────────────────────────────────
| random     unstable          0.000  0.000     0  0       0       not covered
| jsq     0.36 ± 0.11           40.0   20.0     0  > N     0       not covered
|
| waiting: mean time before service, simulated ± 95 %; theory: = exact, ≈ close for so many servers, → limit of many.
| msgs: per job, a probe counted as two (query and reply), and as one. bits: memory of the dispatcher.
| As N servers grow with the load and the parameters as they are: messages in a unit of time, bits of memory,
| and whether the waiting time vanishes:
|   not covered: the theorem is about symmetric policies, equal servers, exponential sizes, jobs of one task
|           and one class, and loads below 1

# Wishes.
$ ballast cheapest --servers 100 --load 0.8 --delay 0.5 --messages 4 --memory 20 --jobs 20k --replications 4
| wanted: a mean waiting time of at most 0.5, with at most 4 messages per job and 20 bits of memory
| 100 servers at load 0.8, service exp; 4 replications of 20k jobs each, seed 1
|
| policy                    waiting  theory    msgs  bits  does it?
| ─────────────────────────────────────────────────────────────────────────
| rcpb:c=2,mup=1.12   0.416 ± 0.072  → 0.311   1.07    14  yes, cheapest
| rcpb:c=1,mup=2.02   0.433 ± 0.062  ≈ 0.404   1.95     7  yes, cheapest
| pod:d=2                 by theory  ≈ 0.968   4.00     0  no, waits longer
| pod-memory:d=1,b=1      by theory  ≈ 1.453   4.00     7  no, waits longer
| round-robin             by theory  = 1.716  0.000     7  no, waits longer
| random                  by theory  = 4.000  0.000     0  no, waits longer
|
| yes: by the 95 % interval of the simulation, or by theory that is exact (=) or close (≈).
| cheapest: nothing that does costs less of one and no more of the other.
$ ballast cheapest --servers 100 --load 0.8 --delay 0.05 --messages 1 --memory 20 --jobs 20k --replications 4
| wanted: a mean waiting time of at most 0.05, with at most 1 message per job and 20 bits of memory
| 100 servers at load 0.8, service exp; 4 replications of 20k jobs each, seed 1
|
| policy                waiting  theory    msgs  bits  does it?
| ─────────────────────────────────────────────────────────────────────
| rcpb:c=2,mup=1  0.469 ± 0.062  → 0.364  0.966    14  no, waits longer
| round-robin         by theory  = 1.716  0.000     7  no, waits longer
| random              by theory  = 4.000  0.000     0  no, waits longer
|
| no policy meets this; the nearest is rcpb:c=2,mup=1, which waits 0.469 ± 0.062
| With more messages it can be done, by theory: rcpb:c=2,mup=3.51 waits 0.04991, for 3.51 messages a job and 14 bits.
| With more memory it can be done, by theory: rcpb:c=16,mup=1 waits 0.04938, for 1 message a job and 112 bits.
? 1
$ ballast cheapest --servers 100 --load 0.8 --delay 0.05 --messages 0 --memory 0 --jobs 20k --replications 4 --format json
| {
|   "version": "1.0.0",
|   "spec": {
|     "delay": 0.05,
|     "messages": 0,
|     "memory": 0,
|     "servers": "100",
|     "load": 0.8,
|     "service": "exp",
|     "time": 250,
|     "replications": 4,
|     "seed": 1
|   },
|   "settings": {
|     "fleet": {"servers": "100"},
|     "workload": {"load": "0.8"},
|     "run": {"jobs": "20000", "replications": "4"}
|   },
|   "offers": [
|     {
|       "policy": "random",
|       "verdict": "stable",
|       "doubts": [],
|       "time": 0,
|       "waiting": {"mean": null, "ci": null, "theory": 4.000000000000001, "limit": 4.000000000000001},
|       "messages": {"probes_per_job": 0, "reports_per_job": 0, "per_job": 0, "once_per_job": 0, "growth": "0"},
|       "memory": {"bits": 0, "growth": "0"},
|       "symmetric": true,
|       "vanishes": "cannot",
|       "wish": "missed",
|       "cheapest": false,
|       "by": "theory"
|     }
|   ],
|   "floor_waiting": 0.0009823213317179391,
|   "more_messages": "pod:d=14",
|   "more_memory": null
| }
? 1
$ ballast cheapest --servers 100 --load 0.8 --delay 0.5 --messages 2 --memory 20 --jobs 20k --replications 4 --format csv
| policy,verdict,waiting.mean,waiting.mean.ci,theory.waiting_mean,messages.per_job,messages.once_per_job,memory_bits,wish,cheapest,by,doubts,settings
| "rcpb:c=2,mup=1.12",stable,0.41567492065273637,0.07238657118726298,0.3107520198881294,1.0709730862816405,1.0709730862816405,14,met,yes,simulation,,"servers=100; load=0.8; run.jobs=20000; run.replications=4"
| "rcpb:c=1,mup=2",stable,0.4343874657071009,0.05479109426573291,0.407886979927892,1.9159773388801422,1.9159773388801422,7,met,yes,simulation,,"servers=100; load=0.8; run.jobs=20000; run.replications=4"
| "round-robin",stable,,,1.7156604216831959,0,0,7,missed,no,theory,,"servers=100; load=0.8; run.jobs=20000; run.replications=4"
| "pod:d=1",stable,3.850037605757203,0.3477808466015034,4.000000000000001,2,1,0,undecided,no,simulation,settling,"servers=100; load=0.8; run.jobs=20000; run.replications=4"
| "random",stable,,,4.000000000000001,0,0,0,missed,no,theory,,"servers=100; load=0.8; run.jobs=20000; run.replications=4"

# What cannot be.
$ ballast cheapest --messages 2
! ballast: --messages: a budget for what? add --delay W, the mean waiting time that is wanted
? 2
$ ballast cheapest --memory 2
! ballast: --memory: a budget for what? add --delay W, the mean waiting time that is wanted
? 2
$ ballast cheapest --delay 0
! ballast: --delay 0: not a mean waiting time above 0, such as 0.1
? 2
$ ballast cheapest --delay 1 --messages -1
! ballast: --messages -1: not a number of messages per job from 0, such as 1.5
? 2
$ ballast cheapest --delay 1 --policy jiq
! ballast: --policy: with --delay all policies are looked at; leave it out
? 2
$ ballast cheapest --delay 1 --load 1.2
! ballast: theory knows the cheapest policy for equal servers, exponential sizes, one class of jobs of one task and a load below 1; compare the policies on this model instead
? 2
$ ballast cheapest --delay 1 --service det
! ballast: theory knows the cheapest policy for equal servers, exponential sizes, one class of jobs of one task and a load below 1; compare the policies on this model instead
? 2
$ ballast cheapest --slotted
! ballast: --slotted: prices are those of continuous time
? 2
$ ballast cheapest --slots 4
! ballast: --slots: prices are those of servers that work on one job at a time and do not steal
? 2
$ ballast cheapest --steal half
! ballast: --steal: prices are those of servers that work on one job at a time and do not steal
? 2
$ ballast cheapest --policy rcpb:c=100
! ballast: --policy: policy 'rcpb': c=100 names cannot be had of 100 servers; c must be below their number
? 2
$ ballast cheapest somewhere
! ballast: cheapest: unexpected argument 'somewhere'; usage: ballast cheapest [options]
? 2

# Where a precision is wanted there may be more replications than the head says, and it says so.
$ ballast cheapest --servers 5 --load 0.5 --policy random --jobs 2k --precision 5% | head -2
| 5 servers at load 0.5, service exp; at least 10 replications of 2000 jobs each, precision 0.05,
| seed 1
