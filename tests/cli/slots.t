# Servers that work on several jobs at once, and servers that steal in continuous time.

$ ballast compare --servers 20 --slots 4 --jobs 50k --replications 4 --policy random --policy jiq --policy least-work
| 20 servers of 4 slots at load 0.9, service exp; 4 replications of 50k jobs each, seed 1
|
| policy       mean response                     p50            p99  waits  msgs  bits  theory
| ────────────────────────────────────────────────────────────────────────────────────────────────────
| least-work*  1.033 ± 0.019  ██▍      0.730 ± 0.019  4.69 ± 0.05 !  27.0%  40.0     0  = 1.03 (+0.0%)
| jiq          1.129 ± 0.029  ██▋        0.83 ± 0.03  4.87 ± 0.09 !  28.1%  0.72    20
| random         2.98 ± 0.33  ███████      2.3 ± 0.2       12 ± 2 !  78.5%     0     0  = 2.97 (+0.4%)
|
| No policy can beat 1.0329: one common queue for all 80 slots (M/M/80).
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, with the difference of the simulation.
| *: must know how long every job will take: a lab does, a proxy does not.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 310k would do
$ ballast compare --servers 20 --slots 4 --jobs 5k --replications 2 --policy random --format json | jq -c '[.spec.servers, .spec.slots, .results[0].engine]'
| ["20",4,"event"]

# Common queues: their slots are one, and so it is where jobs are held and every slot asks for one.
$ ballast compare --servers 5 --slots 4 --load 0.9 --jobs 20k --replications 3 --policy central --policy jiq:else=hold --policy delayed-off --policy windowed --format csv | cut -d, -f1-5
| policy,verdict,response.mean,response.mean.ci,response.p50
| "central",stable,1.314288088375528,0.17398498848531874,1.0222215646043773
| "jiq:else=hold",stable,1.314288088375528,0.17398498848531874,1.0222215646043773
| "windowed:nu=0.1",stable,1.3142880883755284,0.17398498848531802,1.0222215646043773
| "delayed-off:mu=0.1,nu=0.1",stable,1.3649409805311306,0.18471086522752747

# What they cannot do.
$ ballast compare --slots 0
! ballast: --slots 0: not a whole number of jobs from 1 to 1M, or all with speeds
? 2
$ ballast compare --slots 4 --policy jsq --engine markov
! ballast: --policy: engine 'markov' knows servers of one slot that neither steal nor fail, and jobs that do not give up; use event or auto
? 2
$ ballast compare --slots 4 --slotted
! ballast: servers that work on 4 jobs at once need continuous time; in slotted time give them a capacity, as in 100x4
? 2
$ ballast compare --slots 4 --high 0.5 --policy pod-ssp
! ballast: --policy: policy 'pod-ssp' with discipline preemptive needs servers of one slot, not 4; use discipline nonpreemptive
? 2
$ ballast compare --steal half --high 0.5 --policy random
! ballast: --policy: servers that steal know one class of jobs; leave out the classes or the stealing
? 2
$ ballast compare --steal half --policy random --engine markov
! ballast: --policy: engine 'markov' knows servers of one slot that neither steal nor fail, and jobs that do not give up; use event or auto
? 2
$ ballast compare --servers 100M --slots 100 --policy random
! ballast: 100000000 servers of 100 slots are 1e+10 slots; there can be 1e+09
? 2

# Without --policy: those that can.
$ ballast compare --servers 4 --slots 2 --high 0.5 --jobs 2k --replications 2 --format csv | sed 1d | cut -d'"' -f2 | cut -d: -f1 | sort | xargs
| ewma jiq jiq jiq jsq least-conn least-work lsq pi pod pod-memory pod-scp prequal random rcpb round-robin tabs

# From an experiment: an axis.
$ cat >slots.yaml <<'END'
> title: Few large servers or many small ones
> fleet: {servers: 16}
> workload: {load: 0.8}
> policies: [random]
> sweep:
>   - {axis: slots, values: [1, 4]}
> run: {jobs: 20k, replications: 4}
> metrics: [response.mean, waiting.probability]
> END
$ ballast check slots.yaml
| slots.yaml: in order; plain 8 trials, quick 8 trials, full 8 trials
$ ballast run slots.yaml --quiet --format csv | cut -d, -f1,4-7
| slots,policy,verdict,response.mean,response.mean.ci
| 1,"random",stable,5.122119644097797,0.2432846103565917
| 4,"random",stable,1.7618800230189662,0.1350955122753251
