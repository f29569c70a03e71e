# Two classes of jobs.

$ ballast compare --servers 100 --load 0.9 --high 0.3 --policy pod-ssp --policy pod-sep --policy pod-scp --policy pod --policy random \
>     --jobs 50k --replications 4
| 100 servers at load 0.9, service exp, 30 % of jobs high; 4 replications of 50k jobs each, seed 1
|
| policy                     all jobs      high jobs  theory            p99       low jobs  theory           p99  msgs
| ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
| pod:d=2               2.710 ± 0.119  2.702 ± 0.124  → 2.61  8.97 ± 0.12 !  2.714 ± 0.119  → 2.61   9.1 ± 0.4 !  4.00
| pod-sep:d=2           2.711 ± 0.119  1.214 ± 0.013  → 1.21  5.46 ± 0.16 !  3.350 ± 0.164  → 3.22  11.5 ± 0.4 !  4.00
| pod-ssp:d1=2,d2=2     2.715 ± 0.151  1.086 ± 0.027  → 1.07  4.92 ± 0.06 !  3.412 ± 0.205  → 3.27  12.9 ± 0.5 !  4.00
| pod-scp:d1=1,d2=2   4.901 ± 0.304 !  3.663 ± 0.272  → 3.51   12.9 ± 0.5 !  5.431 ± 0.313  → 5.26  17.7 ± 0.6 !  2.60
| random             9.434 ± 0.870 ?!  9.420 ± 0.895  = 10.0       41 ± 3 !  9.439 ± 0.861  = 10.0  40.2 ± 0.5 !     0
|
| No policy can beat 1.0217: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. Percentiles: of the class. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers.
| pod-ssp:d1=2,d2=2 moves 0.284 low jobs to another server per high job.
| !: pod-scp:d1=1,d2=2, random: still settling while it was measured, or perhaps so: the mean may
|    be off by more than chance; --jobs 920k, 18 times as long, would do
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 310k would do
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 100 --load 0.9 --high 0.3 --discipline nonpreemptive --policy pod --policy random --service 'hyper(2)' \
>     --jobs 50k --replications 4
| 100 servers at load 0.9, service hyper(2), 30 % of jobs high (nonpreemptive); 4 replications of
| 50k jobs each, seed 1
|
| policy           all jobs      high jobs  theory           p99        low jobs  theory           p99  msgs
| ──────────────────────────────────────────────────────────────────────────────────────────────────────────
| pod:d=2     3.315 ± 0.289  2.288 ± 0.095          11.6 ± 0.7 !   3.753 ± 0.364          16.8 ± 0.9 !  4.00
| random   12.154 ± 2.196 !  2.860 ± 0.129  = 2.85  13.8 ± 1.3 !  16.195 ± 3.094  = 19.5     72 ± 13 !     0
|
| Times are in mean service times.
| ±: 95 % confidence over replications. Percentiles: of the class. msgs: per job, a probe is two.
| theory: = exact.
| !: random: still settling while it was measured, or perhaps so: the mean may be off by more than
|    chance; --jobs 1.4M, 27 times as long, would do
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 460k would do

# One replication has no interval, a class without jobs no mean, an unstable system neither.
$ ballast compare --servers 10 --load 0.9 --high 0 --policy pod-ssp --jobs 20k --replications 1
| 10 servers at load 0.9, service exp, 0 % of jobs high; 1 replications of 20k jobs each, seed 1
|
| policy             all jobs  high jobs  theory  p99  low jobs  theory      p99  msgs
| ────────────────────────────────────────────────────────────────────────────────────
| pod-ssp:d1=2,d2=2   3.123 ?             → 1.00          3.123  → 2.61  12.13 !  4.00
|
| No policy can beat 1.6687: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. Percentiles: of the class. msgs: per job, a probe is two.
| theory: → limit of many servers.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 310k would do
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 10 --load 1.2 --high 0.5 --policy pod-ssp --jobs 20k --replications 4
| 10 servers at load 1.2, service exp, 50 % of jobs high; 4 replications of 20k jobs each, seed 1
|
| policy             all jobs  high jobs  theory  p99  low jobs  theory  p99  msgs
| ────────────────────────────────────────────────────────────────────────────────
| pod-ssp:d1=2,d2=2  unstable             → 1.41                 → inf        4.00
|
| Times are in mean service times.
| ±: 95 % confidence over replications. Percentiles: of the class. msgs: per job, a probe is two.
| theory: → limit of many servers.
| pod-ssp:d1=2,d2=2 moves 0.191 low jobs to another server per high job.
| unstable: the queue grows without bound, so there is no mean.

# In JSON, only where there are classes.
$ ballast compare --servers 100 --high 0.3 --policy pod-sep --jobs 50k --replications 2 --format json | jq -c '.spec |
>     {high, discipline}'
| {"high":0.3,"discipline":"auto"}
$ ballast compare --servers 100 --high 0.3 --policy pod-sep --jobs 50k --replications 2 --format json | jq -c '.results[0] |
>     .classes | .moves_per_high_job, (.high, .low | keys, (.response, .waiting | keys), .probes_per_job)'
| 0
| ["probes_per_job","probes_per_job_ci","queue","response","waiting"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci","rare"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci","probability","probability_ci","rare"]
| 2
| ["probes_per_job","probes_per_job_ci","response","waiting"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci","rare"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci","probability","probability_ci","rare"]
| 2
$ ballast compare --servers 100 --high 0.3 --policy pod-sep --jobs 50k --replications 2 --format json | jq -c '.results[0] |
>     .theory | .high, .low | map_values(if . == null then . else . * 1e6 | round end)'
| {"response_mean":1208813,"response_bound":null,"waiting_mean":null,"waiting_probability":null,"response_p50":null,"response_p90":null,"response_p99":null,"response_p999":null}
| {"response_mean":3216305,"response_bound":3661965,"waiting_mean":null,"waiting_probability":810000,"response_p50":null,"response_p90":null,"response_p99":null,"response_p999":null}
$ ballast compare --servers 100 --policy pod --jobs 50k --replications 2 --format json | jq -c '.results[0] | has("classes"),
>     (.theory | has("high")), .spec.high'
| false
| false
| null
$ ballast compare --servers 100 --high 0.3 --policy pod-ssp:d1=2,d2=3 --jobs 50k --replications 2 --format csv | awk -F, '
>     NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i }
>     NR == 2 { for (i = 1; i <= NF; i++) if (name[i] ~ /probes_per_job$|^theory.*response_mean/) printf "%s %.6g\n", name[i], $(i + 1) }'
| messages.probes_per_job 2.30276
| high.probes_per_job 3
| low.probes_per_job 2
| theory.response_mean 2.39207
| theory.high.response_mean 1.01968
| theory.low.response_mean 2.98023

# What does not fit.
$ ballast compare --policy pod-ssp
! ballast: --policy: policy 'pod-ssp' needs two classes of jobs; say which share of them is high
? 2
$ ballast compare --high 1.5
! ballast: --high 1.5: not a share from 0 to 1, such as 0.3, or none
? 2
$ ballast compare --high 0.3 --discipline lifo
! ballast: servers that serve the last job first (discipline lifo) know one class of jobs; leave out the classes or the discipline
? 2
$ ballast compare --discipline sjf
! ballast: --discipline sjf: not one of auto, fifo, preemptive, nonpreemptive, ps, lifo
? 2
$ ballast compare --discipline lifo --slots 2 --policy pod
! ballast: --policy: discipline lifo cannot be had with servers of several slots; leave out one of them
? 2
$ ballast compare --discipline lifo --steal half --policy pod
! ballast: --policy: discipline lifo cannot be had with servers that steal; leave out one of them
? 2
$ ballast compare --discipline lifo --patience 'exp(2)' --policy pod
! ballast: --policy: jobs that give up (patience) cannot be had with discipline lifo; leave out one of them
? 2
$ ballast compare --discipline lifo --delay 0.1 --policy pod
! ballast: --policy: settings of the network cannot be had with discipline lifo; leave out one of them
? 2
$ ballast compare --discipline lifo --policy central
! ballast: --policy: one common queue cannot be had with discipline lifo; leave out one of them
? 2
$ ballast compare --discipline lifo --engine markov --policy pod
! ballast: --policy: engine 'markov' cannot simulate discipline lifo; use event or auto
? 2
$ ballast compare --slotted --discipline lifo --policy pod
! ballast: discipline 'lifo' needs continuous time
? 2
$ ballast compare --discipline preemptive --policy pod
! ballast: discipline 'preemptive' needs two classes of jobs; say which share of them is high
? 2
$ ballast compare --high 0.3 --discipline fifo --policy pod-ssp
! ballast: --policy: policy 'pod-ssp' needs servers that tell classes apart; use discipline auto, preemptive or nonpreemptive
? 2
$ ballast compare --high 0.3 --tasks 3 --policy pod-scp
! ballast: --policy: a policy that tells classes of jobs apart cannot be had with jobs of several tasks; leave out one of them
? 2
$ ballast compare --slotted --high 0.3 --policy pod
! ballast: classes and jobs of several tasks need continuous time
? 2
