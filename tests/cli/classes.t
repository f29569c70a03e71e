# Two classes of jobs.

$ ballast compare --servers 100 --load 0.9 --high 0.3 --policy pod-ssp --policy pod-sep --policy pod-scp --policy pod --policy random \
>     --jobs 50k --replications 4
| 100 servers at load 0.9, service exp, 30 % of jobs high; 4 replications of 50k jobs each, seed 1
|
| policy                  all jobs      high jobs  theory   p99       low jobs  theory   p99  msgs
| ────────────────────────────────────────────────────────────────────────────────────────────────
| pod-ssp:d1=2,d2=2  2.636 ± 0.074  1.072 ± 0.006  → 1.07  4.88  3.305 ± 0.096  → 3.27  12.5  4.00
| pod-sep:d=2        2.639 ± 0.058  1.209 ± 0.027  → 1.21  5.47  3.251 ± 0.078  → 3.22  11.3  4.00
| pod:d=2            2.640 ± 0.057  2.645 ± 0.069  → 2.61  8.89  2.637 ± 0.053  → 2.61  8.86  4.00
| pod-scp:d1=1,d2=2  4.754 ± 0.163  3.512 ± 0.174  → 3.51  12.6  5.285 ± 0.162  → 5.26  17.8  2.60
| random             8.961 ± 1.201  8.925 ± 1.083  = 10.0  34.7  8.977 ± 1.252  = 10.0  35.1     0
|
| No policy can beat 1.0217: one common queue for all servers (M/M/N).
| ±: 95 % confidence over replications. p99: of the class. msgs: per job, a probe is two.
| theory: = exact, → limit of many servers.
| pod-ssp:d1=2,d2=2 moves 0.285 low jobs to another server per high job.
$ ballast compare --servers 100 --load 0.9 --high 0.3 --discipline nonpreemptive --policy pod --policy random --service 'hyper(2)' \
>     --jobs 50k --replications 4
| 100 servers at load 0.9, service hyper(2), 30 % of jobs high (nonpreemptive); 4 replications of 50k jobs each, seed 1
|
| policy         all jobs      high jobs  theory   p99        low jobs  theory   p99  msgs
| ────────────────────────────────────────────────────────────────────────────────────────
| pod:d=2   3.215 ± 0.397  2.260 ± 0.128          11.5   3.625 ± 0.505          16.4  4.00
| random   12.889 ± 2.812  2.854 ± 0.157  = 2.85  13.6  17.229 ± 3.981  = 19.5  75.7     0
|
| ±: 95 % confidence over replications. p99: of the class. msgs: per job, a probe is two.
| theory: = exact.

# One replication has no interval, a class without jobs no mean, an unstable system neither.
$ ballast compare --servers 10 --load 0.9 --high 0 --policy pod-ssp --jobs 20k --replications 1
| 10 servers at load 0.9, service exp, 0 % of jobs high; 1 replications of 20k jobs each, seed 1
|
| policy             all jobs  high jobs  theory  p99  low jobs  theory   p99  msgs
| ─────────────────────────────────────────────────────────────────────────────────
| pod-ssp:d1=2,d2=2   3.266 ?             → 1.00          3.266  → 2.61  11.1  4.00
|
| No policy can beat 1.6687: one common queue for all servers (M/M/N).
| ±: 95 % confidence over replications. p99: of the class. msgs: per job, a probe is two.
| theory: → limit of many servers.
| ?: stable or not could not be decided; a longer run (--jobs) tells.
$ ballast compare --servers 10 --load 1.2 --high 0.5 --policy pod-ssp --jobs 20k --replications 4
| 10 servers at load 1.2, service exp, 50 % of jobs high; 4 replications of 20k jobs each, seed 1
|
| policy             all jobs  high jobs  theory  p99  low jobs  theory  p99  msgs
| ────────────────────────────────────────────────────────────────────────────────
| pod-ssp:d1=2,d2=2  unstable             → 1.41                 → inf        4.00
|
| ±: 95 % confidence over replications. p99: of the class. msgs: per job, a probe is two.
| theory: → limit of many servers.
| pod-ssp:d1=2,d2=2 moves 0.193 low jobs to another server per high job.
| unstable: the queue grows without bound, so there is no mean.

# In JSON, only where there are classes.
$ ballast compare --servers 100 --high 0.3 --policy pod-sep --jobs 50k --replications 2 --format json | jq -c '.spec |
>     {high, discipline}'
| {"high":0.3,"discipline":"auto"}
$ ballast compare --servers 100 --high 0.3 --policy pod-sep --jobs 50k --replications 2 --format json | jq -c '.results[0] |
>     .classes | .moves_per_high_job, (.high, .low | keys, (.response, .waiting | keys), .probes_per_job)'
| 0
| ["probes_per_job","response","waiting"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci","probability"]
| 2
| ["probes_per_job","response","waiting"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci"]
| ["ci","mean","p50","p50_ci","p90","p90_ci","p99","p999","p999_ci","p99_ci","probability"]
| 2
$ ballast compare --servers 100 --high 0.3 --policy pod-sep --jobs 50k --replications 2 --format json | jq -c '.results[0] |
>     .theory | .high, .low | map_values(if . == null then . else . * 1e6 | round end)'
| {"response_mean":1208813,"response_bound":168939,"waiting_mean":null,"waiting_probability":null,"response_p50":null,"response_p90":null,"response_p99":null,"response_p999":null}
| {"response_mean":3216305,"response_bound":3661965,"waiting_mean":null,"waiting_probability":810000,"response_p50":null,"response_p90":null,"response_p99":null,"response_p999":null}
$ ballast compare --servers 100 --policy pod --jobs 50k --replications 2 --format json | jq -c '.results[0] | has("classes"),
>     (.theory | has("high")), .spec.high'
| false
| false
| null
$ ballast compare --servers 100 --high 0.3 --policy pod-ssp:d1=2,d2=3 --jobs 50k --replications 2 --format csv | awk -F, '
>     NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i }
>     NR == 2 { for (i = 1; i <= NF; i++) if (name[i] ~ /probes_per_job$|^theory/) printf "%s %.6g\n", name[i], $(i + 1) }'
| messages.probes_per_job 2.30211
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
! ballast: --high 1.5: not a share from 0 to 1, such as 0.3
? 2
$ ballast compare --high 0.3 --discipline lifo
! ballast: --discipline lifo: not one of auto, fifo, preemptive, nonpreemptive
? 2
$ ballast compare --discipline preemptive --policy pod
! ballast: discipline 'preemptive' needs two classes of jobs; say which share of them is high
? 2
$ ballast compare --high 0.3 --discipline fifo --policy pod-ssp
! ballast: --policy: policy 'pod-ssp' needs servers that tell classes apart; use discipline auto, preemptive or nonpreemptive
? 2
$ ballast compare --high 0.3 --tasks 3 --policy pod-scp
! ballast: --policy: policy 'pod-scp' cannot divide jobs of 3 tasks; use tasks 1
? 2
$ ballast compare --slotted --high 0.3 --policy pod
! ballast: classes and jobs of several tasks need continuous time
? 2
