# Any percentile, by one name everywhere; and shares in percent wherever one is taken.

$ ballast compare --servers 4 --jobs 20k --replications 3 --policy jsq --policy random --percentiles 50,95,99.9
| 4 servers at load 0.9, service exp; 3 replications of 20k jobs each, seed 1
|
| policy  mean response        p50          p95      p99.9  waits  msgs  bits  theory
| ───────────────────────────────────────────────────────────────────────────────────────────
| jsq       3.30 ± 0.50  2.4 ± 0.4  9.3 ± 1.5 !  21 ± 10 !  75.9%  8.00     0  ≈ 3.24 (+1.9%)
| random     10.0 ± 3.2      7 ± 3     29 ± 7 !   50 ± 7 !  90.3%     0     0  = 10.0 (+0.5%)
|
| No policy can beat 2.9694: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, ≈ approximation for so many servers, with the difference of the simulation.
| !: percentiles: some rest on fewer than ten spells of long queues in a run, so that their ± is
|    too short; --jobs 3.1M would do
$ ballast compare --servers 4 --jobs 20k --replications 3 --policy jsq --percentiles 95 --format csv >both.csv
$ head -n 1 both.csv | tr ',' '\n' | grep 'p95'
| response.p95
| response.p95.ci
| waiting.p95
| waiting.p95.ci
$ ballast compare --servers 4 --jobs 20k --replications 3 --policy jsq --percentiles p97.5 --percentiles 999 --format json |
>     jq -c '.results[0] | .response | .p975 > .p90 and .p975 < .p99 and .p975_ci > 0, keys'
| true
| ["ci","mean","p50","p50_ci","p90","p90_ci","p975","p975_ci","p99","p999","p999_ci","p99_ci","rare"]
# One run has no interval.
$ ballast compare --servers 4 --jobs 20k --replications 1 --policy jsq --percentiles 95 | sed -n '/^jsq/p'
| jsq           3.087 ?  ███████  8.671 !  74.2%  8.00     0  ≈ 3.24 (-4.8%)
# Of classes, those of each.
$ ballast compare --servers 4 --jobs 20k --replications 3 --policy pod-sep --high 30% --percentiles 95 | sed -n '/^policy/p;/^pod/p'
| policy            all jobs      high jobs  theory            p95       low jobs  theory       p95  msgs
| pod-sep:d=2  4.120 ± 0.498  1.242 ± 0.048  → 1.21  3.67 ± 0.14 !  5.371 ± 0.668  → 3.22  15 ± 3 !  4.00
$ ballast compare --servers 4 --jobs 20k --replications 3 --policy pod-sep --high 30% --percentiles 95 --format csv |
>     head -n 1 | tr ',' '\n' | grep 'p95$'
| response.p95
| waiting.p95
| high.response.p95
| high.waiting.p95
| low.response.p95
| low.waiting.p95

# In experiment files: metrics, figures and claims; by theory, too, where that knows the law.
$ cat >p.yaml <<'END'
> title: percentiles
> fleet: {servers: 4}
> workload: {load: 50%}
> policies: [random, jsq]
> metrics: [p95, waiting.p97.5]
> run: {jobs: 20k, replications: 5}
> figures: [{id: tail, title: Tail, kind: bars, y: p95}]
> claims:
>   - {id: exact, says: As M/M/1 has it., metric: p95, measure: ratio, of: random, to: theory, expect: {near: 1, within: 10%}}
>   - {id: better, says: The shortest queue is better., metric: waiting.p97.5, measure: ratio, of: jsq, to: random, expect: {most: 80%}}
> END
$ ballast run p.yaml
| percentiles
| servers 4, load 0.5, jobs 20000, replications 5, seed 1
|
| policy   response.p95   waiting.p975      vs random
| ───────────────────────────────────────────────────
| random    5.90 ± 0.25    5.85 ± 0.29
| jsq     3.448 ± 0.065  1.915 ± 0.078  -41.6 ± 2.0 %
|
| vs random: response.p95 compared with that of random on the same arrivals
|
|   holds          exact
|     As M/M/1 has it.
|     measured 0.985 ± 0.042, expected 1 ± 10 %
|
|   holds          better
|     The shortest queue is better.
|     measured 0.327 ± 0.012, expected at most 0.8
|
| 2 claims: 2 hold, 0 do not hold, 0 undecided.
$ ballast run p.yaml --format csv | head -n 1 | tr ',' '\n' | grep 'p95\|p975'
| response.p95
| response.p95.ci
| waiting.p975
| waiting.p975.ci
| ratio.response.p95
| ratio.response.p95.ci
| ratio.waiting.p975
| ratio.waiting.p975.ci
$ ballast run p.yaml --format json | jq -c '.results[0].metrics | (keys | map(select(test("p95|p975")))), (."response.p95" | keys)'
| ["response.p95","waiting.p975"]
| ["ci","mean"]
$ ballast report p.db -o p.html && grep -c 'response.p95\|95th percentile of the response time' p.html | xargs test 0 -lt

# Figures go to a directory that need not be there.
$ ballast figure p.db --format svg -o drawn
| drawn/p-tail.svg
$ ballast figure p.db --format svg -o no/where
! ballast: --output no/where: cannot be made: No such file or directory
? 2
$ ballast figure p.db --format svg -o p.yaml
! ballast: 'p.yaml/p-tail.svg' cannot be written: Not a directory; choose another place
? 2

# What is none is told with what would be right.
$ for bad in p0 p100 p101 p9. p95x; do
>     sed "s/\[p95/[$bad/" p.yaml >bad.yaml; ballast check bad.yaml
>     ballast compare --percentiles "$bad"; ballast replay no.log --target "$bad=2s"
> done
! ballast: bad.yaml:5: metrics: 'p0' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --percentiles p0: 'p0' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --target p0=2s: 'p0' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: bad.yaml:5: metrics: 'p100' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --percentiles p100: 'p100' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --target p100=2s: 'p100' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: bad.yaml:5: metrics: 'p101' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --percentiles p101: 'p101' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --target p101=2s: 'p101' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: bad.yaml:5: metrics: 'p9.' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --percentiles p9.: 'p9.' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --target p9.=2s: 'p9.' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: bad.yaml:5: metrics: 'p95x' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --percentiles p95x: 'p95x' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
! ballast: --target p95x=2s: 'p95x' is not a percentile; write p and a number above 0 and below 100: p50, p95, p99.9
? 2

# Shares.
$ same() { ballast compare --servers 4 --jobs 2k --replications 2 --policy random "$1" "$2" >one 2>warned &&
>     ballast compare --servers 4 --jobs 2k --replications 2 --policy random "$1" "$3" 2>warned | cmp - one; }
> same --load 90% 0.9; same --precision 50% 0.5; same --high 30% 0.3; same --warmup 20% 0.2; same --loss 1% 0.01
> same --dispatchers 60%,40% 0.6,0.4; same --fail-fast 25% 0.25; same --start busy=50% busy=0.5
> same --steal 'fraction(50%)' 'fraction(0.5)'; same --curve 'sine(50%,10)' 'sine(0.5,10)'
$ ballast stability random --servers 2 --from 50% --to 99% --width 20% --format json >one
$ ballast stability random --servers 2 --from 0.5 --to 0.99 --width 0.2 --format json | jq -c 'del(.seconds)' >two
$ jq -c 'del(.seconds)' one | cmp - two

# Tables as Markdown, wherever there are tables.
$ ballast run p.yaml --format markdown | sed -n '/^|/p'
| | policy | response.p95 | waiting.p975 | vs random |
| |---|--:|--:|--:|
| | random | 5.90 ± 0.25 | 5.85 ± 0.29 |  |
| | jsq | 3.448 ± 0.065 | 1.915 ± 0.078 | -41.6 ± 2.0 % |
$ ballast priority-share --load 0.95 --d1 2 --gain 2.5 --loss 2 --theory-only --format markdown | sed -n '/^|/p'
| |  | wanted | theory |
| |---|---|--:|
| | gain: pod over high | \>= 2.5 | 2.5001 |
| | loss: low over pod | \<= 2 | 1.8833 |
| | mean response, high |  | 1.3532 |
| | mean response, low |  | 6.3714 |
| | mean response, pod:d=2 |  | 3.3830 |
$ ballast stability random --servers 2 --width 20% --format markdown | sed -n '/^|--\|^| load/p'
| | load | verdict | drift | looks | run | growth |
| |--:|---|--:|--:|--:|--:|
$ ballast cheapest --servers 10 --jobs 2k --policy jsq --format markdown | sed -n '/^|/p'
| | policy | waiting | theory | msgs | (one) | bits | msgs ~ | bits ~ | vanishes |
| |---|--:|---|--:|--:|--:|---|---|---|
| | jsq | 1.26 ± 0.35 ! | → 0.000 | 20.0 | 10.0 | 0 | \> N | 0 | yes |
$ ballast tune tabs --servers 4 --jobs 2k --setup 10 --points 3 --format markdown | sed -n '/^|--/p'
| |--:|--:|--:|--:|--:|---|--:|--:|
$ ballast fluid pod:d=2 --until 1 --format markdown | sed -n '/^|--/p'
| |--:|--:|--:|--:|

# Jobs that give up, servers that fail.
$ ballast compare --servers 4 --load 1.2 --jobs 20k --replications 4 --patience 'exp(2)' --policy random --policy central \
>     --policy jsq | sed -n '/^policy/,$p'
| policy   mean response                     p50          p99  waits  msgs  bits  theory
| ──────────────────────────────────────────────────────────────────────────────────────────────
| jsq      1.451 ± 0.037  ██████▏    1.15 ± 0.03  5.50 ± 0.18  67.5%  8.00     0
| central  1.477 ± 0.033  ██████▎    1.23 ± 0.02    5.3 ± 0.3  78.9%     0     0  = 1.47 (+0.3%)
| random   1.648 ± 0.027  ███████  1.333 ± 0.005  5.97 ± 0.17  75.9%     0     0  = 1.65 (-0.3%)
|
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, with the difference of the simulation.
| random: 36.34 ± 0.41 % of jobs give up (theory: 36.62 %); times are of the others.
| central: 24.1 ± 1.0 % of jobs give up (theory: 23.96 %); times are of the others.
| jsq: 26.64 ± 0.91 % of jobs give up; times are of the others.
$ ballast compare --servers 4 --load 0.95 --jobs 20k --replications 4 --failures mtbf=50,mttr=5,seen=no --policy random |
>     sed -n '/^policy/,$p'
| policy  mean response    p50  p99  waits  msgs  bits  theory
| ──────────────────────────────────────────────────────────────────
| random       unstable                        0     0  load < 0.909
|
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, with the difference of the simulation.
| unstable: the queue grows without bound, so there is no mean. load < x: what theory allows.
$ ballast compare --servers 4 --load 0.5 --jobs 20k --replications 4 --failures mtbf=50,mttr=5,jobs=lost --policy jiq |
>     sed -n '/^jiq/p'
| jiq     1.357 ± 0.093  ███████  0.87 ± 0.04  7.2 ± 0.9  21.3%  0.80     4
| jiq loses 0 % of all jobs at full buffers and refuses 0.00933 % with no server on.
| jiq fails 1.99 % of all jobs: a wrong answer, or none. Its times are of the others.
$ ballast compare --patience 'exp(2)' --policy least-work
! ballast: --policy: jobs that give up (patience) cannot be had with a policy that knows the work at the servers; leave out one of them
? 2
$ ballast compare --patience 'exp(2)' --slotted
! ballast: jobs that give up (patience) and servers that fail (failures) need continuous time
? 2
$ ballast compare --failures 'mtbf=det(1e-30),mttr=det(1e-30)' --policy random
! ballast: --policy: there would be 1.11e+30 heartbeats, failures and returns for each job, and there may be 100000: give longer times
? 2
$ ballast compare --failures mtbf=10
! ballast: --failures mtbf=10: 'mtbf=10': both mtbf and mttr are needed; write none, or mtbf=1000,mttr=10 (means or laws), and if wanted jobs=resume, restart or lost, and seen=yes or no
? 2
$ ballast compare --failures mtbf=10,mttr=1 --policy tabs
! ballast: --policy: servers that fail (failures) cannot be had with policies that switch servers off; leave out one of them
? 2
