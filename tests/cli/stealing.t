# Work stealing in slots, from the command line and from an experiment file.

# The table. Which policy it is follows from where the jobs are made.
$ ballast compare --slotted --policy stealing --steal half --placement 'hosts(1)' --servers 16 --time 20k --replications 4
| 16 servers at load 0.9, slotted, generators hosts(1), idle servers steal half; 4 replications of
| 288k jobs each, seed 1
|
| policy    mean response                  p50     p99   waits  msgs  bits  theory
| ────────────────────────────────────────────────────────────────────────────────
| stealing   23.15 ± 0.57  ███████  20.2 ± 0.8  75 ± 2  100.0%  0.45     0
|
| Times are in slots.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| stealing: 0.203 requests a server and slot, 51 % of them get work; a job is stolen 1.99 times.
| stability: open (n is too small: a loaded processor is not asked surely enough (Lemma 4)).
| mean load: Theorem 2 does not apply here; its formula gives 10^4760469.
$ ballast compare --slotted --steal half --placement 1 --servers 16 --time 20k --replications 4 >a
$ ballast compare --slotted --policy stealing --steal half --placement 'hosts(1)' --servers 16 --time 20k --replications 4 | cmp - a

# With generators placed evenly everything is served where and when it is made.
$ ballast compare --slotted --steal one --victims others --servers 16 --time 2k --replications 2 --format json >even.json
$ jq -c '.spec | [.clock, .steal, .victims, .placement, .batch]' even.json
| ["slotted","one","others","even",null]
$ jq -c '.results[0] | [.policy, .engine, .verdict, .response.mean, .queue.total, .stealing.steals, .stealing.moved]' even.json
| ["stealing","stealing","stable",1,0,0,0]
$ jq -e '.results[0] | .stealing.requests | . > 0.09 and . < 0.11' even.json
| true

# Less than Theorem 9 asks for: 2 (1 + 1) < 0.5 x 10.
$ ballast compare --slotted --steal one --placement 'hosts(2)' --servers 10 --load 0.5 --time 20k --format csv | cut -d, -f1-3
| policy,verdict,response.mean
| "stealing",unstable,

# What cannot be is said before anything runs.
$ ballast compare --slotted --policy stealing
! ballast: --policy: policy 'stealing' needs to know how much is stolen, such as half; constant(0) steals nothing
? 2
$ ballast compare --slotted --steal third
! ballast: --steal third: steal 'third': there is no such function; write none, half, one, constant(K), log2, sqrt, fraction(A) with 0 < A <= 0.5 or table(F F ...)
? 2
$ ballast compare --slotted --steal half --victims me
! ballast: --victims me: not one of all, others
? 2
$ ballast compare --slotted --steal half --placement 'hosts(0)'
! ballast: --placement hosts(0): placement 'hosts(0)': the number of hosts is a whole number from 1; write even, hosts(K), moving, walk, longest, shortest, cycling or map(HOST:GENERATORS HOST:GENERATORS ...)
? 2
$ ballast compare --slotted --steal half --placement 'hosts(200)'
! ballast: placement 'hosts(200)' on 100 servers; write hosts(1) to hosts(100)
? 2
$ ballast compare --slotted --steal half --placement 'map(0:99)'
! ballast: placement 'map' places 99 generators on 100 servers; there must be as many generators as servers
? 2
$ ballast compare --steal half --placement even --time 1k --replications 2 | head -1
| 100 servers at load 0.9, slotted, generators even, idle servers steal half; 2 replications of
$ ballast compare --policy stealing --steal half --time 1k --replications 2 | head -1
| 100 servers at load 0.9, slotted, generators even, idle servers steal half; 2 replications of
$ ballast compare --slotted --steal half --load 1.5
! ballast: --policy: policy 'stealing' needs a load of at most 1: it is the probability that a generator makes a job
? 2
$ ballast compare --slotted --steal half --policy jsq
! ballast: --policy: in slotted time servers steal under policy 'stealing' alone, not under 'jsq'; use that or continuous time
? 2
$ ballast compare --slotted --steal half --batch poisson
! ballast: --batch: where servers steal in slotted time, jobs come from generators; leave it out
? 2
$ ballast compare --slotted --steal half --split
! ballast: --policy: policy 'stealing' needs generators of jobs; leave out what is said of batches
? 2
$ ballast compare --victims others
! ballast: --victims: no server steals; add --steal, such as --steal half
? 2
$ ballast compare --slotted --steal half --policy stealing --servers 50x1,50x2
! ballast: --policy: policy 'stealing' needs servers that serve one job in each slot, such as 100
? 2
$ ballast compare --slotted --steal half --policy stealing --engine slotted
! ballast: --policy: engine 'slotted' cannot simulate jobs that are made at the servers and servers that steal; use stealing or auto
? 2

# An experiment that sweeps all of it; numbers stand for constants and for hosts.
$ cat >steal.yaml <<'END'
> title: Stealing
> fleet: {servers: 8}
> workload: {clock: slotted, victims: others}
> sweep:
>   - {axis: steal, values: [half, 2, table(0 0 1)]}
>   - {axis: placement, values: [1, moving, map(0:4 7:4)]}
>   - {axis: load, values: [0.3, 0.5]}
> policies: [stealing]
> run: {time: 3k, replications: 3}
> metrics: [queue.total, stealing.requests, stealing.moved]
> claims:
>   - {id: calm, says: Half is enough., measure: verdict, of: stealing, where: {steal: half}, expect: stable}
>   - {id: more, says: Each of them asks., metric: stealing.requests, of: stealing, expect: {least: 0.01}}
> END
$ ballast check steal.yaml
| steal.yaml: in order; plain 54 trials, quick 54 trials, full 54 trials
$ ballast run steal.yaml --dry-run | sed 's/seed [0-9]*/seed S/; s/about .*/about T/' | head -n 8
| Stealing
| axis steal: half 2 table(0 0 1)
| axis placement: 1 moving map(0:4 7:4)
| axis load: 0.3 0.5
| steal=half placement=1 load=0.3 stealing: 3 replications of time 3000, 7200 jobs, seed S
| steal=half placement=1 load=0.5 stealing: 3 replications of time 3000, 12000 jobs, seed S
| steal=half placement=moving load=0.3 stealing: 3 replications of time 3000, 7200 jobs, seed S
| steal=half placement=moving load=0.5 stealing: 3 replications of time 3000, 12000 jobs, seed S
$ ballast run steal.yaml | grep -v '──' | sed 's/[-+]*[0-9.]* ± [0-9.]*/X ± X/g; s/  */ /g; s/^ //'
| Stealing
| servers 8, clock slotted, victims others, time 3000, replications 3, seed 1
|
| steal placement load policy queue.total stealing.requests stealing.moved
| half 1 0.3 stealing X ± X X ± X X ± X
| 0.5 stealing X ± X X ± X X ± X
| moving 0.3 stealing X ± X X ± X X ± X
| 0.5 stealing X ± X X ± X X ± X
| map(0:4 7:4) 0.3 stealing X ± X X ± X X ± X
| 0.5 stealing X ± X X ± X X ± X
| 2 1 0.3 stealing unstable X ± X X ± X
| 0.5 stealing unstable X ± X X ± X
| moving 0.3 stealing X ± X X ± X X ± X
| 0.5 stealing X ± X X ± X X ± X
| map(0:4 7:4) 0.3 stealing X ± X X ± X X ± X
| 0.5 stealing ? X ± X X ± X X ± X
| table(0 0 1) 1 0.3 stealing unstable 0.875 X ± X
| 0.5 stealing unstable 0.875 X ± X
| moving 0.3 stealing X ± X X ± X X ± X
| 0.5 stealing X ± X X ± X X ± X
| map(0:4 7:4) 0.3 stealing X ± X X ± X X ± X
| 0.5 stealing unstable 0.75 X ± X
|
| ?: stable or not could not be decided; a longer run tells.
|
| holds calm
| Half is enough.
| measured stable at steal=half placement=1 load=0.3, expected stable
|
| holds more
| Each of them asks.
| measured X ± X at steal=2 placement=moving load=0.5, expected at least 0.01
|
| 2 claims: 2 hold, 0 do not hold, 0 undecided.
$ sed -i 's/half, 2/half, 0.7/' steal.yaml; ballast check steal.yaml
! ballast: steal.yaml:5: steal: steal '0.7': a constant is a whole number from 0 to 1e9; write none, half, one, constant(K), log2, sqrt, fraction(A) with 0 < A <= 0.5 or table(F F ...)
? 2
$ sed -i 's/half, 0.7/half, 2/; s/7:4/7:5/' steal.yaml; ballast check steal.yaml
! ballast: steal.yaml:3: workload: at steal=half placement=map(0:4 7:5) load=0.3: placement 'map' places 9 generators on 8 servers; there must be as many generators as servers
? 2

# In continuous time an idle server asks once, and with heartbeats again at each of them: 2.9 and 2.3 service times.
$ ballast compare --steal half --policy random --jobs 50k --replications 4 --format json >once.json
$ ballast compare --steal half --policy random --jobs 50k --replications 4 --heartbeat 1 --format json >again.json
$ jq -s '[.[].results[0] | .response.mean > 2.6, .stealing.requests > 0.35]' -c once.json again.json
| [true,false,false,true]
