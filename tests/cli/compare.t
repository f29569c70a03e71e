# What holds for every comparison, whatever the numbers.

# JSON: one object of the promised shape.
$ ballast compare --servers 10 --jobs 5k --replications 4 --format json >all.json
$ jq -c 'keys, [.version, .spec.servers, .spec.load, .spec.service, .spec.replications, .spec.seed]' all.json
| ["results","settings","spec","version"]
| ["1.0.0","10",0.9,"exp",4,1]
$ jq -e 'def time: (keys - ["mean", "ci", "p50", "p50_ci", "p90", "p90_ci", "p99", "p99_ci", "p999", "p999_ci", "probability"] == []) and
>         (.mean, .ci, .p50, .p90, .p99, .p999 | type == "number") and .p50 <= .p90 and .p90 <= .p99 and .p99 <= .p999 and .ci >= 0;
>     [.results[] | (.policy | type == "string") and (.response | time) and (.waiting | time) and .waiting.mean < .response.mean and
>         (.queue | (.mean, .ci | type == "number") and .tail[0] == 1 and ([.tail[:-1], .tail[1:]] | transpose | all(.[0] >= .[1]))) and
>         (.messages | .per_job - 2 * .probes_per_job - .reports_per_job | fabs < 1e-9) and
>         (.memory_bits | type == "number") and (.verdict | IN("stable", "unstable", "undecided")) and
>         (.theory | . == null or (.response_mean | type == "number")) and
>         (.events | type == "number") and (.seconds | type == "number")] | length >= 8 and all' all.json
| false
? 1

# Best first.
$ jq -e '[.results[] | select(.verdict != "unstable").response.mean] | . == sort' all.json
| true
$ ballast compare --servers 10 --jobs 5k --replications 4 | tail -n +5 | sed '/^$/,$d; s/[* ].*//' >order.text
$ ballast compare --servers 10 --jobs 5k --replications 4 --format csv | tail -n +2 | cut -d'"' -f2 >order.csv
$ jq -r '.results[].policy' all.json | tee order.json | cmp - order.csv && cmp order.json order.text

# A half-width that is not 0 is not shown as 0: where hardly a job waits control variates leave next to nothing.
$ ballast compare --servers 2 --load 1e-6 --jobs 20k --policy random --precision 1% | grep -o '^random *1[0-9.]* Â± [0-9.]*'
| random  1.0000 Â± 0.0001

# Every policy that fits is there.
$ ballast policies --format json | jq -r '.[].name' | sort >known
$ sed 's/:.*//' order.json | sort | comm -23 - known
| jiq
| jiq
$ sed 's/:.*//' order.json | sort | comm -13 - known
| board
| care
| central
| delayed-off
| fastest-idle
| last-idle
| pod-scp
| pod-sep
| pod-ssp
| rate-idle
| scd
| sed
| stealing
| weighted-random
| weighted-round-robin
| windowed

# CSV: as many fields in each row as in the head, and the same numbers as JSON.
$ ballast compare --servers 10 --jobs 5k --replications 4 --format csv >all.csv
$ sed 's/"[^"]*"/text/g' all.csv | awk -F, '{print NF == fields || NR == 1; fields = NF}' | sort -u
| 1
$ head -n 1 all.csv | cut -d, -f-6
| policy,verdict,response.mean,response.mean.ci,response.p50,response.p50.ci
$ sed 1d all.csv | sed 's/"[^"]*"/policy/' | cut -d, -f3,4 >csv.means
$ jq -r '.results[].response | "\(.mean),\(.ci)"' all.json | cmp - csv.means

# The same for any number of threads; another seed, other numbers.
$ for k in 1 2 5; do ballast compare --servers 10 --jobs 5k --replications 4 --format json --threads $k | jq 'del(.results[].seconds)' >threads.$k; done
$ cmp threads.1 threads.2 && cmp threads.1 threads.5
$ for k in 1 5; do ballast compare --servers 10 --jobs 5k --precision 0.05 --policy jsq --policy pod --threads $k --format csv >threads.$k; done
$ cmp threads.1 threads.5
$ ballast compare --servers 10 --jobs 5k --replications 4 --seed 2 --format csv | cmp -s - all.csv
? 1

# With a wanted precision runs are as long as that takes, unless they are told how long; it is reached by longer
# ones where it is high.
$ for p in 5% 0.2%; do ballast compare --servers 10 --load 50% --policy random --precision $p --format json | jq -c '[.spec.jobs < 2e6, .spec.jobs == 50000, .results[0].precise, .results[0].replications <= 60]'; done
| [true,true,true,true]
| [true,false,true,true]
$ ballast compare --servers 10 --load 50% --policy random --precision 5% --jobs 20k --replications 12 --seed 2 --format json | jq -c '[.spec.jobs, .results[0].replications]'
| [20000,12]
$ for p in none 5%; do ballast compare --servers 10 --load 50% --policy jsq --jobs 5k --precision $p | grep -c 'control variates'; done
| 0
| 1
$ for k in 1 5; do ballast compare --servers 10 --load 50% --precision 0.4% --policy jsq --policy pod --threads $k --format csv >threads.$k; done
$ cmp threads.1 threads.5

$ ballast compare --servers 10 --load 50% --policy jsq --jobs 5k --precision 5% --format json | grep controls
|       "controls": 2,

# Unstable systems have no mean, but messages; they come last.
$ ballast compare --servers 5x1,5x10 --load 0.9 --jobs 100k --replications 5 --policy random --policy jsq --format json |
>     jq -c '.results[] | [.policy, .verdict, .response.mean > 0, .messages.per_job]'
| ["jsq","stable",true,20]
| ["random","unstable",false,0]
$ ballast compare --servers 10 --load 1.2 --jobs 100k --replications 5 --policy random --policy jsq --format csv | cut -d, -f-6
| policy,verdict,response.mean,response.mean.ci,response.p50,response.p50.ci
| "random",unstable,,,,
| "jsq",unstable,,,,

# Text: at most 100 columns (bytes of one character counted once).
$ wide() { sed 's/[\o200-\o277]//g' | awk 'length > 110'; }
> ballast compare --jobs 5k --replications 3 | wide
> ballast compare --servers 50x1,50x10 --jobs 20k --replications 3 | wide
> ballast compare --servers 10k --load 0.99 --jobs 50k --replications 2 | wide
> ballast compare --servers 1 --service 'hyper(10,0.001)' --jobs 5k --replications 3 | wide
> ballast compare --servers 3 --load 1.3 --service 'pareto(1.5)' --jobs 5k --replications 3 | wide
| theory: = exact, â limit of many servers, â approximation for so many servers, with the difference of the simulation.
| âââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââââ
| rcpb:c=1               0.839 Â 0.074 ?!  âââââ      3.31 Â 0.12 !    193   6.0%   12.1     14  â 2.000 (-58.0%)
| pod:d=2                1.074 Â 0.024 ?!  âââââââ    3.57 Â 0.07 !    185  46.9%   4.00      0  â 5.437 (-80.2%)
| pod-memory:d=1,b=1     1.203 Â 0.025 ?!  âââââââ      3.7 Â 0.3 !    182  61.3%   4.00     14  â 6.235 (-80.7%)
| theory: = exact, â limit of many servers, â approximation for so many servers, with the difference of the simulation.

# One replication has no interval, and it is not known whether it is stable.
$ ballast compare --servers 3 --policy jsq --jobs 5k --replications 1 --format json | jq -c '.results[0] | [.response.ci, .verdict]'
| [null,"undecided"]

# Numbers with suffixes; the wanted length either way.
$ ballast compare --servers 1k --load 0.5 --policy random --jobs 10k --replications 2 --format json | jq -c '.spec | [.servers, .time, .jobs]'
| ["1000",20,10000]
$ ballast compare --servers 1k --load 0.5 --policy random --time 0.02k --replications 2 --format json | jq -c '.spec | [.servers, .time, .jobs]'
| ["1000",20,10000]

# A precision that cannot be had in the allowed number of replications is a warning.
$ ballast compare --servers 2 --policy random --load 0.5 --jobs 10 --replications 2 --precision 0.000001 --format json | jq -c '.results[0] | [.precise, .replications]'
| [false,1000]
! ballast: random: precision 1e-06 was not reached after 1000 replications, the result is doubted: settling theory few; use longer runs (--jobs)
$ ballast compare --servers 2 --policy random --load 0.5 --jobs 10k --precision 0.02 --format json | jq -c '.results[0] | .precise and .response.ci <= 0.02 * .response.mean'
| true

# A progress bar on a terminal, and only there; not when it is told to be quiet.
$ TERM=xterm script -qec 'ballast compare --policy jsq --servers 3 --jobs 100k --replications 5 >/dev/null' /dev/null | tr '\r' '\n' | grep -q '100 %'
$ TERM=xterm script -qec 'ballast compare --policy jsq --servers 3 --jobs 100k --replications 5 --quiet >/dev/null' /dev/null | wc -c
| 0

# The program of `make demo` is this command, linked from half of the objects.
$ ballast compare --servers 10 --jobs 5000 --policy jiq --policy pod:d=2 >whole
> ballast-demo --servers 10 --jobs 5000 --policy jiq --policy pod:d=2 >demo && cmp whole demo
$ ballast-demo --servers 0
! ballast: --servers 0: servers '0': a count must be a whole number from 1 to 100M; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10
? 2

# Chains of a few servers, and what has none.
$ ballast compare --servers 2 --load 0.5 --exact --policy jsq --policy random --jobs 20k --format json | jq -c '.results[].theory | [.kind, .source, .states > 100, (.response_mean * 1e6 | round)]'
| ["exact","Markov chain",true,1426321]
| ["exact","M/M/1",false,2000000]
$ ballast compare --servers 2 --load 0.5 --exact --policy prequal --jobs 20k | grep ^prequal
| prequal:r=3  1.534 Â± 0.027  â–ˆâ–ˆâ–ˆâ–ˆâ–ˆâ–ˆâ–ˆ  1.092 Â± 0.017  6.73 Â± 0.15  37.8%  4.00   390
! ballast: prequal:r=3: --exact: no chain is known for this policy on this fleet
$ ballast compare --servers 9 --load 0.5 --exact --policy jsq --policy pi --jobs 20k | grep '^jsq\|^pi'
| jsq     1.0294 Â± 0.0087  â–ˆâ–ˆâ–ˆâ–ˆâ–ˆâ–ˆâ–‰  0.712 Â± 0.009  4.76 Â± 0.07   3.2%  18.0     0  = 1.03 (-0.2%)
| pi      1.0467 Â± 0.0087  â–ˆâ–ˆâ–ˆâ–ˆâ–ˆâ–ˆâ–ˆ  0.718 Â± 0.009  4.95 Â± 0.08   3.0%  0.97    13
! ballast: pi: --exact: the chain is too large; fewer servers or a lower load would do

# Theory of percentiles: by a chain, by the expansion where it is close, else the limit; and a run that is too short
# to agree with a chain, which says so.
$ ballast compare --servers 30 --load 0.7 --exact --theory --policy jsq --policy pod:d=2 --policy jiq --policy prequal --jobs 100k 2>/dev/null | sed -n '/^policy/,/^$/p'
| policy         mean response            p50                    p99          waits  msgs  bits  theory
| â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€â”€
| jsq          1.0191 Â± 0.0037  0.706 Â± 0.004  = 0.71  4.703 Â± 0.019  = 4.69   2.0%  60.0     0  = 1.02 (-0.1%)
| jiq          1.0201 Â± 0.0041  0.705 Â± 0.004  = 0.71  4.726 Â± 0.016  = 4.72   1.9%  0.98    30  = 1.02 (-0.1%)
| prequal:r=3  1.6003 Â± 0.0093  1.217 Â± 0.008            6.40 Â± 0.05          51.8%  6.00  1700
| pod:d=2        1.651 Â± 0.011  1.237 Â± 0.009  â‰ˆ 1.24    6.73 Â± 0.05  â‰ˆ 6.73  49.8%  4.00     0  â‰ˆ 1.656 (-0.3%)
|
$ ballast compare --servers 30 --load 0.7 --policy pod:d=2 --jobs 20k --format json | jq -c '.results[0].theory | [.response_p99, .expansion.response_p99, .expansion.response_p99_error] | map(. * 1e4 | round)'
| [65607,67315,283]
$ ballast compare --servers 20 --load 0.95 --exact --policy jsq --jobs 500 --warmup 0 --replications 40 --format json | jq -c '.results[0].doubts'
| ["settling","theory","bound"]
$ ballast compare --servers 20 --load 0.95 --policy jsq --jobs 500 --warmup 0 --replications 40 --format json | jq -c '.results[0].doubts'
| ["settling","theory","bound"]
$ ballast compare --servers 20 --load 0.95 --exact --policy jsq --jobs 500 --warmup 0 --replications 40 | grep '^!: jsq'
| !: jsq: still settling while it was measured, or perhaps so: the mean may be off by more than
| !: jsq: theory that is exact, or close for so many servers, lies far outside the interval
| !: jsq: the whole interval lies below what no policy can beat
