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
! ballast: --policy: engine 'markov' cannot simulate servers of several slots; use event or auto
? 2
$ ballast compare --slots 4 --slotted
! ballast: servers that work on 4 jobs at once need continuous time; in slotted time give them a capacity, as in 100x4
? 2
$ ballast compare --slots 4 --high 0.5 --policy pod-ssp
! ballast: --policy: servers of several slots cannot be had with discipline preemptive; leave out one of them
? 2
$ ballast compare --steal half --high 0.5 --policy random
! ballast: --policy: servers that steal cannot be had with classes of jobs; leave out one of them
? 2
$ ballast compare --steal half --policy random --engine markov
! ballast: --policy: engine 'markov' cannot simulate servers that steal; use event or auto
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
$ ballast tune slots --servers 4 --speeds 'cores(2)' --load 0.8 --jobs 5k --replications 3 --policy round-robin --target mean=3 | head -12
| round-robin on 4 servers with speeds cores(2) at load 0.8 of the best, service exp; 3
| replications, jobs 5000, seed 1
|
| slots  speed   load  mean response  over  waits   random
| ────────────────────────────────────────────────────────────────
|     1    50%  1.600     overloaded
|     2   100%  0.800      2.0 ± 0.8   +1%  61.4%  = 2.778  ◀ best
|     3   100%  0.800      2.0 ± 0.8   +1%  43.1%  = 2.778  ◀ best
|     4   100%  0.800      2.0 ± 0.8   +0%  30.8%  = 2.778  ◀ best
|     6   100%  0.800      2.0 ± 0.8   +0%  15.0%  = 2.778  ◀ best
|     8   100%  0.800      2.0 ± 0.8   +0%   7.5%  = 2.778  ◀ best
|   all   100%  0.800      2.0 ± 0.8   +0%   0.0%  = 2.778  ◀ best
$ ballast tune slots --servers 4 --speeds 'cores(2)' --load 0.8 --jobs 5k --replications 2 --format csv | cut -d, -f1-4
| slots,speed,load,verdict
| 1,0.5,1.6,overloaded
| 2,1,0.8,stable
| 3,1,0.8,undecided
| 4,1,0.8,undecided
| 6,1,0.8,stable
| 8,1,0.8,undecided
| all,1,0.8,undecided
$ ballast tune slots --servers 4 --speeds 'cores(2)' --load 0.8 --jobs 5k --replications 2 --format json | jq -c '[.policy, (.points[] | .slots)], (.points[1] | keys)'
| ["jiq:else=least-conn",1,2,3,4,6,8,"all"]
| ["best","doubts","load","meets","random.response.mean","response.mean","response.mean.ci","response.p99","response.p99.ci","slots","speed","verdict","waiting.probability"]
$ ballast tune slots
! ballast: tune slots needs --speeds, such as 'cores(4)' or 'batch(8,0.15)': without them more slots are always better
? 2
$ ballast tune slots --speeds 'cores(2)' --load 1
! ballast: load 1; tuning slots needs one above 0 and below 1
? 2
$ ballast tune slots --speeds 'cores(2)' --policy jsq --policy jiq
! ballast: tune slots: 2 policies; give one
? 2
$ ballast tune slots --servers 4 --speeds 'cores(2)' --load 0.8 --jobs 5k --replications 2 --policy jiq:else=hold --format csv | cut -d, -f1-4
| slots,speed,load,verdict
| 1,0.5,1.6,overloaded
| 2,1,0.8,stable
| 3,1,0.8,stable
| 4,1,0.8,stable
| 6,1,0.8,stable
| 8,1,0.8,stable
$ ballast tune slots --speeds 'cores(2)' --target p99
! ballast: --target p99: not a target; write mean, or a percentile such as p95 or p99.9, and a number of mean service times: p99=10
? 2
$ ballast tune slots --speeds 'cores(2)' --target p99=soon
! ballast: --target p99=soon: not a time above 0 behind mean= or a percentile, in mean service times, such as p99=10
? 2
$ ballast tune slots --speeds 'cores(2)' --setup 5
! ballast: tune slots: --setup is for tune tabs; leave it out
? 2
$ ballast tune slots --speeds 'cores(2)' --from 5
! ballast: tune slots: --from and --to are for tune tabs; leave them out
? 2
$ ballast tune tabs --target p99=3
! ballast: tune tabs: --target is for tune slots; leave it out
? 2
$ ballast compare --speeds 'cores(2)' --policy random
! ballast: speeds cores(2) have no effect on a server that works on one job at a time; say with slots how many it works on at once, such as 16, or all
? 2
$ ballast compare --slots all --policy random
! ballast: a server with slots all needs speeds, such as cores(4): otherwise it could do any amount of work at once
? 2
$ ballast compare --speeds 'core(2)' --policy random
! ballast: --speeds core(2): speeds 'core(2)': this is none of them; write cores(4), batch(8,0.15) or table(1:1 2:1.8 8:4.5), which tells the total speed with so many jobs in service, or none
? 2
$ ballast compare --servers 4 --speeds 'batch(8,0.15)' --slots 8 --dispatchers 2 --delay 0.1 --high 0.3 --discipline nonpreemptive --load 0.8 --jobs 20k --replications 3 --policy jiq:else=hold --policy least-conn
| 4 servers of 8 slots at load 0.8, service exp, 30 % of jobs high (nonpreemptive),
| speeds batch(8,0.15), dispatchers 2, delay det(0.1); 3 replications of 20k jobs each, seed 1
|
| policy              all jobs      high jobs  theory          p99       low jobs  theory          p99  msgs
| ──────────────────────────────────────────────────────────────────────────────────────────────────────────
| least-conn     1.941 ± 0.075  1.932 ± 0.136          8.3 ± 1.8 !  1.946 ± 0.055          8.3 ± 0.3 !     0
| jiq:else=hold  2.016 ± 0.100  1.969 ± 0.139          8.4 ± 1.6 !  2.036 ± 0.095          8.5 ± 0.7 !  0.95
|
| Times are in mean service times.
| ±: 95 % confidence over replications. Percentiles: of the class. msgs: per job, a probe is two.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 73k would do
$ ballast compare --servers 4 --speeds 'cores(2)' --slots all --policy jiq:else=hold
! ballast: --policy: servers that work on all jobs that are there (slots all) cannot be had with jobs that wait at the dispatcher; leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots all --steal half --policy random
! ballast: --policy: servers that work on all jobs that are there (slots all) cannot be had with servers that steal; leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --policy central
! ballast: --policy: one common queue cannot be had with servers whose speed depends on the jobs in service (speeds); leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --policy least-work
! ballast: --policy: servers whose speed depends on the jobs in service (speeds) cannot be had with a policy that knows the work at the servers; leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --high 0.5 --policy pod-sep
! ballast: --policy: servers of several slots cannot be had with discipline preemptive; leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --discipline lifo --policy random
! ballast: speeds cores(2) cannot be had with discipline lifo, only with fifo and nonpreemptive; leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --patience "exp(3)" --policy random
! ballast: --policy: jobs that give up (patience) cannot be had with servers whose speed depends on the jobs in service (speeds); leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --failures mtbf=100,mttr=1 --policy random
! ballast: --policy: servers that fail (failures) cannot be had with servers whose speed depends on the jobs in service (speeds); leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --classes 0.3,0.3,0.4 --discipline nonpreemptive --policy random --load 0.8 --jobs 5k --replications 2
| 4 servers of 4 slots at load 0.8, service exp, classes 0.3,0.3,0.4 (nonpreemptive),
| speeds cores(2); 2 replications of 5000 jobs each, seed 1
|
| policy         all jobs        class 1  theory        class 2  theory        class 3  theory  msgs
| ──────────────────────────────────────────────────────────────────────────────────────────────────
| random  3.131 ± 4.329 ?  2.004 ± 1.406          2.372 ± 2.857          4.544 ± 8.164             0
|
| Times are in mean service times.
| ±: 95 % confidence over replications. Class 1 is the most urgent. msgs: per job, a probe is two.
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --policy jiq:else=hold --backlog 5
! ballast: --policy: a bounded backlog cannot be had with servers of several slots; leave out one of them
? 2
$ ballast compare --servers 4 --speeds 'cores(2)' --slots 4 --policy random --engine markov
! ballast: --policy: engine 'markov' cannot simulate servers of several slots and servers whose speed depends on the jobs in service (speeds); use event or auto
? 2
