# What an interval may miss is marked, in every command that prints one, and said to programs.

# Ten thousand servers begin idle and are far from full after 50k jobs: the mean is not 10.
$ ballast compare --servers 10000 --jobs 50k --replications 4 --policy random --policy jiq
| 10000 servers at load 0.9, service exp; 4 replications of 50k jobs each, seed 1
|
| policy       mean response                     p50            p99  waits  msgs  bits  theory
| ─────────────────────────────────────────────────────────────────────────────────────────────────────
| jiq     0.8401 ± 0.0065 ?!  ████▋    0.625 ± 0.008  3.42 ± 0.03 !   0.0%  0.93   10k  → 1.00 (-16.0%)
| random    1.264 ± 0.019 ?!  ███████    1.06 ± 0.03  4.05 ± 0.07 !  52.8%     0     0  = 10.0 (-87.4%)
|
| No policy can beat 1.0000: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers, with the difference of the simulation.
| !: jiq, random: still settling while it was measured, or perhaps so: the mean may be off by more
|    than chance; --jobs 20M --warmup 0.92, 400 times as long, would do
| !: random: theory that is exact, or close for so many servers, lies far outside the interval
| !: jiq: the whole interval lies below what no policy can beat
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 310k would do
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 10000 --jobs 50k --replications 4 --policy random --format json | jq -c '.results[] | [.policy, .doubts]'
| ["random",["settling","theory"]]
$ ballast compare --servers 10000 --jobs 50k --replications 4 --policy random --format csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "doubts") at = i } { print $1, $at }'
| policy doubts
| "random" settling theory

# A precision is not reached by such runs, however many there are of them.
$ ballast compare --servers 10000 --jobs 50k --policy random --precision 5% --format json | jq -c '.results[] | [.replications, .precise, .doubts]'
| [10,false,["settling","theory","precision"]]
! ballast: random: precision 0.05 was not reached after 10 replications, the result is doubted: settling theory; use longer runs (--jobs)

# What would do is told, and how much longer it is where that can be said.
$ ballast compare --servers 3 --jobs 1 --policy random --warmup 0.9 | grep 'would do'
|    chance; --jobs 28k --warmup 0.2 would do
|    too short; --jobs 2.5M would do

# With the length left open runs are as long as they must be, and cut as much.
$ ballast compare --servers 2000 --load 0.8 --replications 2 --policy random --format json | jq -c '[.spec.jobs, .spec.warmup, .results[0].doubts]'
| [2400000,0.33,[]]

# Sizes whose third moment is infinite.
$ ballast compare --servers 10 --jobs 20k --service 'pareto(2.2)' --policy jsq | grep -e jsq -e '!:' -e variance
| jsq     2.23 ± 0.55 ?!  ███████  1.37 ± 0.15  10 ± 2 !  60.9%  20.0     0
| !: jsq: job sizes have no third moment, so that the mean has no finite variance and ± is too
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
$ ballast compare --servers 10 --jobs 20k --service 'pareto(3.2)' --policy jsq | grep -e '!:'
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is

# Experiments: the same marks and words.
$ cat >short.yaml <<'END'
> title: too short
> fleet: {servers: 1000}
> workload: {load: 0.9}
> policies: [random, jiq]
> run: {jobs: 20k, replications: 4, precision: 10%, most: 4}
> END
$ ballast run short.yaml
| too short
| servers 1000, load 0.9, jobs 20000, replications 4, precision 0.1, most 4, seed 1
|
| policy       response.mean  response.p99  messages.per_job          vs random
| ─────────────────────────────────────────────────────────────────────────────
| random ?!    2.909 ± 0.094  10.33 ± 0.61                 0
| jiq !      0.9977 ± 0.0059   4.56 ± 0.11   0.9980 ± 0.0043  -65.71 ± 0.91 % !
|
| vs random: response.mean compared with that of random on the same arrivals
|
| !: random, jiq: still settling while it was measured, or perhaps so: the mean may be off by more
|    than chance; jobs: 2M and warmup: 0.92, 100 times as long, would do
| !: random: theory that is exact, or close for so many servers, lies far outside the interval
| !: random, jiq: the wanted precision was not reached
| ?: stable or not could not be decided; a longer run tells.
$ ballast results short.db --format json | jq -c '.results[] | [.label, .precise, .doubts]'
| ["random",false,["settling","theory","precision"]]
| ["jiq",false,["settling","precision"]]
$ ballast report short.db --output short.html && grep -o '<td class="l">[^<]*doubted[^<]*' short.html
| <td class="l">undecided, doubted: settling theory precision
| <td class="l">stable, doubted: settling precision

# A price: no offer is met, or missed, by a result that is doubted; theory that is exact needs none.
$ ballast cheapest --servers 10000 --load 0.9 --delay 4 --messages 0 --jobs 20k --replications 4
| wanted: a mean waiting time of at most 4, with at most 0 messages per job
| 10000 servers at load 0.9, service exp; 4 replications of 20k jobs each, seed 1
|
| policy                        waiting  theory    msgs     bits  does it?
| ────────────────────────────────────────────────────────────────────────────────
| least-conn                       0 ?!  → 0.000  0.000   140000  not sure
| ewma:d=2,decay=10  0.0753 ± 0.0048 ?!           0.000  1280000  not sure
| round-robin                 by theory  = 4.179  0.000       14  no, waits longer
| random                      by theory  = 9.000  0.000        0  no, waits longer
|
| undecided: no policy is known to meet this; the nearest is least-conn, which waits 0
| With more messages it can be done, by theory: rcpb:c=9999,mup=0.112 waits 3.98, for 0.112 messages a job and 139986 bits.
| !: least-conn, ewma:d=2,decay=10: still settling while it was measured, or perhaps so: the mean
|    may be off by more than chance; --jobs 1.7M, 82 times as long, would help
| !: least-conn, ewma:d=2,decay=10: the whole interval lies below what no policy can beat
| ?: stable or not could not be decided; a longer run (--jobs) tells.
? 1
$ ballast cheapest --servers 10000 --jobs 20k --replications 4 --policy random --policy pod:d=2 --format json | jq -c '.results[] | [.policy, .doubts]'
| ["random",["settling","theory","bound"]]
| ["pod:d=2",["settling","theory","bound"]]

# A share: not confirmed by runs that were too short to tell.
$ ballast priority-share --servers 10000 --load 0.95 --d1 2 --d2 4 --gain 2.5 --loss 2 --jobs 100k --replications 4 | tail -4
| !: pod-ssp:d1=2,d2=4, pod:d=2: still settling while it was measured, or perhaps so: the mean may
|    be off by more than chance; --jobs 1.1M --warmup 0.91, 11 times as long, would help
| !: pod-ssp:d1=2,d2=4, pod:d=2: theory that is exact, or close for so many servers, lies far
|    outside the interval
$ ballast priority-share --servers 10000 --load 0.95 --d1 2 --d2 4 --gain 2.5 --loss 2 --jobs 100k --replications 4 --format json | jq -c '.simulation | [.confirmed, .doubts]'
| [false,["settling","theory"]]

# Tuning: no knee where a point is doubted.
$ ballast tune tabs --servers 10 --points 3 --setup 1 --jobs 5k --replications 4 --service 'pareto(2.5)' | sed -n '3,$p'
|
|   standby             tabs waits        p99  watts  waste         delayed-off waits  watts
| ──────────────────────────────────────────────────────────────────────────────────────────
|      0.01  132.0349 ± 99.5786 ?!  294 ± 191  113.0  +105%         0.3932 ± 0.0119 !   83.9
|         1      0.5729 ± 0.1538 !      9 ± 3   97.8   +63%         0.2086 ± 0.0044 !   81.9
|       100      0.0146 ± 0.0052 !  4.1 ± 0.3  128.5  +114%         0.0122 ± 0.0031 !  111.0
| always on      0.0005 ± 0.0007 !  3.9 ± 0.7  158.1  +162%  (jiq)
|
| The knee is undecided: a standby time of tabs is doubted, and could be it.
| The work alone needs 60.0 W a server. •: no other standby of tabs has less waiting and less power.
| ±: 95 % confidence over replications. standby: mean time that an idle server stays on.
| !: tabs at standby 0.01, delayed-off at standby 0.01, tabs at standby 1, ...: job sizes have no
|    third moment, so that the mean has no finite variance and ± is too short
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast tune tabs --servers 10 --points 3 --setup 1 --jobs 5k --replications 4 --service 'pareto(2.5)' --format json | jq -c '[.knee, .doubted, .points[0].tabs.doubts]'
| [null,true,["tail"]]

# The frontier: chance is not bounded where sizes have no second moment.
$ ballast stability random --servers 2 --service 'pareto(1.9)' --width 0.5 --time 4000 | grep '!'
| !: job sizes have no second moment, so that drifts have no finite variance: claims may be wrong more often.
$ ballast stability random --servers 2 --service 'pareto(1.9)' --width 0.5 --time 4000 --format json | jq -c .doubts
| ["tail"]
