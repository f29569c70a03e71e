# ballast replay: from a log to a table. Each second for 100 s three jobs of 0.9 s come at once: three servers do them without
# waiting, two cannot keep up.
$ awk 'BEGIN { print "time,duration_s,path"; for (t = 0; t < 100; t++) for (k = 0; k < 3; k++)
>     printf "%d.001,0.9,%s\n", 1772409600 + t, k ? "/search" : "/checkout" }' >threes.csv
$ ballast replay threes.csv --servers 3 --time-field time:start --policy jsq --policy round-robin --policy pi --policy tabs
| log      300 jobs in 99 s, mean service time 900 ms, longest 900 ms
| format   csv
| time     time (start of the request)
| service  duration_s (s)
| skipped  no line
| waiting  none is seen: 0 ± 0 % of the logged time
| span     2026-03-02 00:00:00 to 2026-03-02 00:01:39 UTC
| sizes    p50 898.2 ms, p99 900 ms, squared coefficient of variation 0
| arrivals 3.03 a second, 3.03 in the busiest 1 s
| fleet    3 servers: load 0.909, in the busiest 1 s (from 00:00:00) 0.909
|          a server works on 1 request at a time: assumed; --slots says it
| settings standby det(60), setup det(30)
|
| policy       mean, ms  p50  p99  other logs  waits  msgs    Wh  watts
| ─────────────────────────────────────────────────────────────────────
| jsq               900  899  907  900 to 900   0.0%  6.00  16.2    194
| round-robin       900  899  907  900 to 900   0.0%     0  16.2    194
| pi                900  899  907  900 to 900   0.0%  1.00  16.2    194
| tabs              900  899  907  900 to 900   0.0%  1.00  16.2    194
|
| Response times in ms, best mean first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the mean would lie in 95 % of other logs like this one.
| tabs switches servers off after 1 min idle and on in 30 s: 16.2 Wh, as much as jsq (16.2),
|   whose servers are always on; p99 907 ms compared with 907.
| tabs hardly ever finds a server idle for 1 min, as each gets a job every 990 ms on average;
|   a shorter --standby may save more.

# Too small a fleet: said plainly, and shown all the same.
$ ballast replay threes.csv --servers 2 --time-field time:start --policy jsq --watts 100,100,100,0 | sed -n '/^fleet/,$p'
| fleet    2 servers: load 1.36, in the busiest 1 s (from 00:00:00) 1.36
|          a server works on 1 request at a time: assumed; --slots says it
| settings watts 100,100,100,0
|
| policy  mean, s   p50   p99  other logs  waits  msgs    Wh  watts
| ─────────────────────────────────────────────────────────────────
| jsq      18.5 !  18.5  35.6           ?  99.0%  4.00  7.51    100
|
| Response times in s, best mean first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the mean would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| The fleet is too small: 1.36 times the work that it can do arrives. Queues grow until the log ends.
| If this is the fleet that wrote the log, that cannot be: its times include waiting.
| !: jsq: queues grew until the jobs ended, so that times depend on how long they came

# Ten long jobs within 40 ms ask for a hundred million servers while they come: so many are not taken unasked.
$ awk 'BEGIN { print "time,duration_s"; for (t = 0; t < 10; t++) printf "%.6f,60\n", 1772409600 + t * t * 0.0005 }' >burst.csv
$ ballast replay burst.csv --time-field time:start --policy random --replications 1 | sed -n '/^fleet/,/^$/p'
| fleet    1048576 servers: load 0.0141, in the busiest 1 us (from 00:00:00) 57.2
|          no --servers given: no more are taken, though the load in the busiest 1 us is above 0.7
|          a server works on 1 request at a time: assumed; --slots says it
|

# How many servers does each policy need? Energy at that size, and what one fewer would do.
$ ballast replay threes.csv --servers 5 --time-field time:start --policy jsq --policy round-robin --policy random --target p99=1s \
>     | sed -n '/^Servers/,$p'
| Servers needed for p99 ≤ 1 s, 1 slot each (assumed)
|
| policy       servers   load  p99, ms  one fewer    Wh  watts
| ────────────────────────────────────────────────────────────
| jsq            3 (?)  0.909      907      35550  16.2    194
| round-robin    3 (?)  0.909      907      35550  16.2    194
| random       128 (?)  0.021      907       1085   502    141
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p99). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.
| (?): it cannot be told, by too few jobs or queues that remember for too long.
$ ballast replay threes.csv --slots 3 --time-field time:start --policy jsq --target p99.9=1s | sed -n '/^fleet/,$p'
| fleet    2 servers of 3 slots: load 0.455, in the busiest 1 s (from 00:00:00) 0.455
|          no --servers given: so many that the load in the busiest 1 s is at most 0.7
|
| policy  mean, ms  p50  p99  p99.9  other logs  waits  msgs    Wh  watts
| ───────────────────────────────────────────────────────────────────────
| jsq          900  899  907    907           ?   0.0%  4.00  10.8    194
|
| Response times in ms, best p99.9 first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the p99.9 would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
|
| Servers needed for p99.9 ≤ 1 s, 3 slots each
|
| policy  servers   load  p99.9, ms  one fewer    Wh  watts
| ─────────────────────────────────────────────────────────
| jsq       1 (?)  0.909        907             5.39    194
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p99.9). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.
| (?): it cannot be told, by too few jobs or queues that remember for too long.
$ ballast replay threes.csv --time-field time:start --policy jsq --target p50=800ms | sed -n '/^Servers/,$p'
| Servers needed for p50 ≤ 800 ms, 1 slot each (assumed)
|
| No number of servers will do: with no job waiting the p50 would still be 898.2 ms.
$ ballast replay threes.csv --time-field time:start --policy jsq --target p50=800ms >text
? 1

# Classes: the third of all jobs that is high is served first.
$ ballast replay threes.csv --servers 2 --speedup 0.7 --time-field time:start --high '^/checkout' --policy jsq \
>     --discipline nonpreemptive | sed -n '/^classes/,/^jsq/p'
| classes  33.3 % of jobs are high
| fleet    2 servers: load 0.955, in the busiest 1 s (from 00:00:00) 0.955
|          a server works on 1 request at a time: assumed; --slots says it
| settings discipline nonpreemptive
|
| policy  mean, s   p50   p99    other logs  high p99  low p99  waits  msgs    Wh  watts
| ──────────────────────────────────────────────────────────────────────────────────────
| jsq        1.32  1.27  1.81  1.32 to 1.33     0.907     1.81  66.3%  4.00  15.6    197

# Standard input, JSON and csv.
$ ballast replay - --servers 3 --time-field time:start --policy jsq --policy tabs --target p99=1s --format json <threes.csv >json
$ jq -c '.log.jobs, .spec, .demand.busiest' json
| 300
| {"servers":"3","servers_given":true,"slots":1,"slots_guessed":true,"speedup":1,"load":0.9090909090909118,"busiest_load":0.9090909090909118,"standby":"det(60)","setup":"det(30)","watts":"200,140,200,0","replications":5,"seed":1}
| {"window":1,"rate":3.0303030303030303,"work":2.7272727272727355,"at":1772409600}
$ jq -c '.results[] | [.policy, .response.mean, .waiting_probability, .power.kwh, .jobs, .replications]' json
| ["jsq",0.9000000000000027,0,0.01615500000000004,1500,5]
| ["tabs",0.9000000000000027,0,0.016155000000000124,1500,5]
$ jq -c '.target.metric, .target.without_waiting, .target.policies[]' json
| "p99"
| 0.8999648437500027
| {"policy":"jsq","service_times":"as logged","outcome":"found","servers":3,"servers_low":null,"servers_high":null,"load":0.9090909090909118,"value":0.9068359375000027,"value_ci":0,"one_fewer":35.550000000000104,"kwh":0.01615500000000004,"watts":194.05405405405455,"doubts":[],"fleets_tried":2}
| {"policy":"tabs","service_times":"as logged","outcome":"found","servers":3,"servers_low":null,"servers_high":null,"load":0.9090909090909118,"value":0.9068359375000027,"value_ci":0,"one_fewer":40.35750000000012,"kwh":0.016155000000000124,"watts":194.0540540540555,"doubts":[],"fleets_tried":2}
$ jq -c '.history | .first, (.rate | length), (.policies[] | [.policy, (.p99 | length), .watts[0]])' json
| 1772409600.001
| 96
| ["jsq",96,582.5454545454545]
| ["tabs",96,582.5454545454545]
$ ballast replay threes.csv --servers 3 --time-field time:start --policy jsq --replications 2 --format csv >csv
$ cut -d , -f 1-4 csv
| policy,load,response.mean,response.mean.ci
| "jsq",0.9090909090909118,0.9000000000000027,0

# The number of threads changes nothing; another seed does.
$ ballast replay threes.csv --servers 4 --time-field time:start --policy random --threads 1 >one
$ ballast replay threes.csv --servers 4 --time-field time:start --policy random --threads 2 | cmp - one
$ ballast replay threes.csv --servers 4 --time-field time:start --policy random --seed 2 | cmp -s - one
? 1

# A figure and a page.
$ ballast replay threes.csv --servers 3 --time-field time:start --policy jsq --policy tabs --figure f.svg --report r.html >text
$ grep -c '<svg' f.svg r.html
| f.svg:1
| r.html:1
$ grep -o '<th scope="row" class="l">[a-z]*' r.html
| <th scope="row" class="l">jsq
| <th scope="row" class="l">tabs
$ grep -o '"Content-Security-Policy" content="[^;"]*' r.html
| "Content-Security-Policy" content="default-src 'none'
$ grep -E '(src|href)="?[a-z]*:?//' r.html
? 1

# Servers that are off: whoever refuses many jobs comes last, and no number of servers helps.
$ awk 'BEGIN { print "time,duration_s"; for (t = 0; t < 50; t++) printf "%d.001,0.9\n", 1772409600 + 100 * t }' >rare.csv
$ ballast replay rare.csv --servers 2 --policy tabs --policy jsq --target p99=1s --standby 70s --setup 1s | sed -n '/^policy/,$p'
| policy  mean, ms   p50   p99  other logs  waits  msgs   Wh  watts
| ─────────────────────────────────────────────────────────────────
| jsq        900 !   902   907           ?   0.0%  4.00  382    140
| tabs      1880 !  1905  1912           ?  98.0%  2.98  141   51.9
|
| Response times in ms, best p99 first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the p99 would lie in 95 % of other logs like this one;
|   ?: it cannot be told, by too few jobs or queues that remember for too long.
| !: jsq, tabs: fewer than 100 jobs were measured in a replication
| tabs switches servers off after 70 s idle and on in 1 s: 141 Wh, 63.0 % less than jsq (382),
|   whose servers are always on; p99 1912 ms compared with 907.
|
| Servers needed for p99 ≤ 1 s, 1 slot each (assumed)
|
| policy  servers   load  p99, ms  one fewer   Wh  watts
| ──────────────────────────────────────────────────────
| jsq     1 (?) !  0.009      907             191    141
| tabs     > 1024
|
| Found by replays: so many servers meet the target and refuse no job; one fewer, tried too, do not
|   (one fewer: their p99). That more servers are never worse is assumed. In brackets: where the number
|   would lie in 95 % of other logs like this one.
| (?): it cannot be told, by too few jobs or queues that remember for too long.
| !: jsq: fewer than 100 jobs were measured in a replication
| > N: not met with N servers, the most that were tried.

# Time goes back where a file ends before it begins; the beginnings of requests need no order.
$ (cat threes.csv; sed 1d threes.csv) >twice.csv
$ ballast replay twice.csv --servers 6 --policy jsq --time-field time:end | grep ^order
| order    time goes back: 294 lines are over a second behind an earlier one; jobs are sorted
$ ballast replay twice.csv --servers 6 --policy jsq --time-field time:start | grep -c ^order
| 0
? 1
$ ballast replay twice.csv --servers 6 --policy jsq --time-field time:end --format json | jq -c '.log | .backwards, .unordered'
| 294
| 297

# Lines that were skipped, in one line each.
$ (cat threes.csv; printf '1772409700.5,-,/%0150d\n' 7; printf '\1\2\n'; printf 1772409) >odd.csv
$ ballast replay odd.csv --servers 3 --policy jsq --time-field time:start | sed -n '/^skipped/,/^span/p'
| skipped  3 lines: 1 (no service time, or not one), 1 (binary), 1 (cut off at the end of the
|          file)
|          odd.csv:302: 1772409700.5,-,/000000000000000000 ... 0000000000000000000000000000000007
|          odd.csv:303: ??
|          odd.csv:304: 1772409
| waiting  none is seen: 0 ± 0 % of the logged time
| span     2026-03-02 00:00:00 to 2026-03-02 00:01:39 UTC

# Patterns that tell nothing apart.
$ ballast replay threes.csv --servers 3 --policy jsq --high '^/cart' >text
! ballast: --high ^/cart: no job matches
$ ballast fit threes.csv --high . --output every.yaml --quiet
! ballast: --high .: every job matches

# What cannot be read or replayed.
$ ballast replay
! ballast: which log? name one or more files, or - for standard input
? 2
$ ballast replay missing.log
! ballast: 'missing.log' cannot be read: No such file or directory
? 2
$ : >empty.log; ballast replay empty.log
! ballast: there is no line in these logs
? 2
$ head -n 2 threes.csv >one.csv; ballast replay one.csv
! ballast: all jobs (1) arrive at one moment, so there is no rate of arrivals; a replay needs jobs at different times
? 2
$ ballast replay threes.csv --servers 0
! ballast: --servers 0: servers '0': a count must be a whole number from 1 to 100M; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10
? 2
$ ballast replay threes.csv --speedup 0
! ballast: --speedup 0: not a number from 1e-6 to 1e6, such as 2
? 2
$ ballast replay threes.csv --target p99=200
! ballast: --target p99=200: '200' needs a unit: ns, us, ms, s, min or h, as in 200ms
? 2
$ ballast replay threes.csv --target q95=200ms
! ballast: --target q95=200ms: not a target; write mean, or a percentile such as p95 or p99.9, and a time: p99=200ms
? 2
$ ballast replay threes.csv --target p99=1s --servers 2x1,2x2
! ballast: --target: this fleet has speeds 1 and 2: say whose number is looked for, as in 2x1,Nx2
? 2
$ ballast replay threes.csv --standby 10
! ballast: --standby 10: '10' needs a unit: ns, us, ms, s, min or h, as in 200ms
? 2
$ ballast replay threes.csv --policy tabs:mu=1,nu=1
! ballast: --policy tabs:mu=1,nu=1: in a replay its times are said by --standby and --setup, such as 60s; write 'tabs'
? 2
$ ballast replay threes.csv --policy windowed:nu=1
! ballast: --policy windowed:nu=1: in a replay its times are said by --standby and --setup, such as 60s; write 'windowed'
? 2
$ ballast replay threes.csv --policy windowed:window=1,tick=2
! ballast: --policy: policy 'windowed': there should be 1 to 100000 ticks of 2 in a window of 1; change tick or window
? 2
$ ballast replay threes.csv --autoscale --servers 2 --slots 2 --setup 1s --standby 1s | sed -n '/^fleet/p; /^policy/,/^$/p'
| fleet    2 servers of 2 slots: load 0.682, in the busiest 1 s (from 23:59:59) 0.682
| policy          mean, ms  p50  p99  other logs  waits  msgs    Wh  watts  server h
| ──────────────────────────────────────────────────────────────────────────────────
| jiq                  900  899  907  900 to 900   0.0%  1.00  10.8    194    0.0555
| tabs                 900  899  907  900 to 900   0.0%  1.67  10.8    194    0.0555
| tabs:else=hold       900  899  907  900 to 900   0.0%  1.67  10.8    194    0.0555
| delayed-off          900  899  907  900 to 900   0.0%     0  10.8    194    0.0555
| windowed             900  899  907  900 to 900   0.0%     0  10.8    194    0.0555
|
$ ballast replay threes.csv --autoscale --fail 1@1s --servers 3
! ballast: --autoscale: policy 'tabs' lets jobs wait in front of the servers, and knows none that fail at a time; use one that does not (of tabs: tabs:none=refuse)
? 2
$ ballast replay threes.csv --policy pod-ssp
! ballast: --policy pod-ssp: needs two classes of jobs; say with --high which are high
? 2
$ ballast replay threes.csv --discipline preemptive
! ballast: --discipline: it tells classes of jobs apart; say with --high which are high
? 2
$ ballast replay threes.csv --high-field path
! ballast: --high-field: which values are high? add --high PATTERN
? 2
$ ballast replay threes.csv --figure f.gif
! ballast: --figure f.gif: the name must end in .svg, .png, .pdf, .eps or .csv
? 2
$ ballast replay threes.csv --report nowhere/r.html
! ballast: --report: 'nowhere/r.html' cannot be written: No such file or directory; choose another place
? 2
$ ballast replay threes.csv --output nowhere/text
! ballast: --output: 'nowhere/text' cannot be written: No such file or directory; choose another place
? 2
$ ballast replay threes.csv --high '('
! ballast: pattern '(' cannot be read beyond its character 1: missing closing parenthesis
? 2

$ ballast replay - threes.csv - <threes.csv
! ballast: - is standard input, which can be read only once
? 2
$ ballast replay threes.csv --output threes.csv
! ballast: --output threes.csv: that is one of the logs; choose another place
? 2
$ ballast replay - --report threes.csv <threes.csv
! ballast: --report threes.csv: that is one of the logs; choose another place
? 2
$ ballast fit threes.csv --output ./threes.csv
! ballast: --output ./threes.csv: that is one of the logs; choose another place
? 2
$ ballast replay threes.csv --report r.html --output r.html
! ballast: --report r.html: that is where --output goes; choose another place
? 2
$ mkdir place; ballast replay threes.csv --report place
! ballast: --report: 'place' cannot be written: Is a directory; choose another place
? 2
$ ballast replay odd.csv --log-format csv --service-field path
! ballast: 'odd.csv': path is '/checkout', which is no length of time; name another field
? 2

# A field that is there, but is no number.
$ printf 'time,path,duration_s\n1.5,/a,0.1\n2.5,/b,0.2\n' >three.csv; ballast replay three.csv --service-field path
! ballast: 'three.csv': path is '/a', which is no length of time; name another field
? 2

# Stealing.
$ ballast replay threes.csv --servers 3 --steal half --policy random --format json | jq -c '.spec.steal'
| "half"
$ ballast replay threes.csv --servers 3 --steal half --policy random | grep stealing
| stealing a server that runs out of work steals from another: half
$ ballast replay threes.csv --servers 3 --steal half --policy jsq --high .
! ballast: --high .: every job matches
! ballast: --policy: servers that steal cannot be had with classes of jobs; leave out one of them
? 2
$ ballast replay threes.csv --servers 3 --steal most
! ballast: --steal most: steal 'most': there is no such function; write none, half, one, constant(K), log2, sqrt, fraction(A) with 0 < A <= 0.5 or table(F F ...)
? 2

# Ctrl-C leaves nothing behind.
$ timeout --preserve-status -s INT 1 ballast replay threes.csv --policy random --replications 100000 --output o.txt --report o.html
! ballast: interrupted
? 130
$ ls | grep '^o[.]'
? 1

# Times that hardly differ are drawn from 0, not as a range of noise.
$ awk 'BEGIN { print "start,duration_s"; for (i = 0; i < 2000; i++) printf "%.3f,%.2f\n", 1772409600 + i / 10, i % 7 ? 0.25 : 0.24 }' >flat.csv
$ ballast replay flat.csv --servers 5 --policy jsq --replications 1 --figure flat.svg >text; grep -o '>25[0-9.]*<' flat.svg
| >250<

# What switching servers off would have cost: bursts of 40 jobs of half a second, two minutes apart.
$ awk 'BEGIN { print "start,duration_s"; for (i = 0; i < 2000; i++) printf "%.3f,0.5\n", 1772409600 + int(i / 40) * 120 + i % 40 * 0.1 }' >bursts.csv
$ ballast replay bursts.csv --autoscale --servers 8 --setup 1s --standby 5s --cost-per-hour 0.2 --quiet | sed -n '/^policy/,$p'
| policy             mean, ms       p50        p99    other logs  waits  msgs    kWh  watts   cost  server h
| ──────────────────────────────────────────────────────────────────────────────────────────────────────────
| jiq                     500       502        504    500 to 500   0.0%  1.00   1.85    141   2.62      13.1
| tabs:else=hold          926       900       1507    904 to 949  73.5%  1.39  0.156   12.0  0.190     0.952
| delayed-off             926       900       1507    904 to 949  78.4%     0  0.157   12.0  0.191     0.954
| tabs            939.5 ± 2.1  721 ± 53  2420 ± 57    918 to 961  56.2%  1.07  0.157   12.0  0.191     0.954
| windowed               2675      2804       3108  2564 to 2791  98.0%     0   1.06   81.3   1.49      7.43
|
| Response times in ms, best mean first. waits: jobs that wait at all. msgs: per job, a probe is two.
| Energy of the whole fleet until the last job has left; watts: mean of a server.
| cost: servers that are on, 0.2 an hour each.
| server h: hours for which servers are on or in set-up, all together.
| ±: 95 % confidence over 5 replays of the same jobs with other random choices of the policy.
| other logs: where the mean would lie in 95 % of other logs like this one.
| tabs:else=hold switches servers off after 5 s idle and on in 1 s: 0.156 kWh, 91.5 % less than jiq (1.85),
|   whose servers are always on; p99 1507 ms compared with 504.
| delayed-off switches servers off after 5 s idle and on in 1 s: 0.157 kWh, 91.5 % less than jiq (1.85),
|   whose servers are always on; p99 1507 ms compared with 504.
| tabs switches servers off after 5 s idle and on in 1 s: 0.157 kWh, 91.5 % less than jiq (1.85),
|   whose servers are always on; p99 2420 ms compared with 504.
| windowed has as many on as the jobs of the last 1 min want, and on in 1 s: 1.06 kWh, 42.4 % less than jiq (1.85),
|   whose servers are always on; p99 3108 ms compared with 504.
$ ballast replay bursts.csv --autoscale --servers 8 --setup 1s --standby 5s --quiet --format json | jq -c '.results[] | [.policy, (.server_hours * 100 | round)]'
| ["jiq",1308]
| ["tabs:else=hold",95]
| ["delayed-off",95]
| ["tabs",95]
| ["windowed",743]
$ ballast replay bursts.csv --autoscale --servers 8 --setup 1s --standby 5s --quiet --format csv | head -n 1 | grep -o server_hours
| server_hours
$ ballast replay bursts.csv --policy windowed:target=0.5 --policy tabs:else=least-conn --servers 8 --quiet | grep -o '^windowed:target=0.5 \|^tabs:else=least-conn '
| tabs:else=least-conn 
| windowed:target=0.5 

# What finds no server on waits for the one that it wakes, as it does live; the paper's variant, by its name, refuses it. With one
# server that is awakened for each of them and goes to sleep again, such jobs cause three reports.
$ ballast replay rare.csv --servers 2 --policy tabs --policy tabs:else=hold --policy tabs:none=refuse --standby 70s --setup 1s --format json | jq -c '.results[] | [.policy, .response.mean, .refused]'
| ["tabs",1.8799999999999857,0]
| ["tabs:else=hold",1.8799999999999857,0]
| ["tabs:none=refuse",0.9,0.98]
$ ballast replay rare.csv --servers 2 --policy tabs --policy tabs:else=hold --policy tabs:none=refuse --standby 70s --setup 1s | grep '^settings\|^tabs'
| settings standby det(70), setup det(1)
| tabs                1880 !  1905  1912           ?  98.0%  2.98  141   51.9
| tabs:else=hold      1880 !  1905  1912           ?  98.0%  2.98  141   51.9
| tabs:none=refuse     900 !   904   907           ?   0.0%  1.98  139   51.0
| tabs:none=refuse refuses 98 % of all jobs because no server is on; its times are of the others.
$ ballast replay rare.csv --servers 2 --quiet | grep -o '^tabs[^ ]*\|^jiq[^ ]*' | sort -u
| jiq
| jiq:else=hold
| jiq:else=least-conn
| tabs:else=hold
# Service times that are computed from columns.
$ printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2026-11-16 18:15:46.6805900,400,40\n2026-11-16 18:15:47.2224670,800,60\n' >tokens.csv; ballast replay tokens.csv --servers 2 --policy jsq --service 'ContextTokens*0.2ms + GeneratedTokens*25ms' --quiet | sed -n '/^log/p; /^time/p; /^service/p; /^waiting/p'
| log      2 jobs in 541.9 ms, mean service time 1.37 s, longest 1.66 s
| time     timestamp (start of the request)
| service  ContextTokens*0.2ms + GeneratedTokens*25ms
| waiting  none in the service times, by the name of their field
$ ballast replay tokens.csv --servers 2 --policy jsq --service 'ContextTokens*0.2ms + GeneratedTokens'
! ballast: 'tokens.csv': 'ContextTokens*0.2ms + GeneratedTokens', at '+ GeneratedTokens': a time and a number cannot be added; give both a unit, as in 25ms
? 2
$ ballast replay tokens.csv --servers 2 --policy jsq --service 'Tokens*1ms'
! ballast: 'tokens.csv': the log has no field 'Tokens'; it has TIMESTAMP, ContextTokens, GeneratedTokens
? 2
$ printf '{"time":"2026-11-16T18:15:46.680Z","usage":{"prompt_tokens":400,"completion_tokens":40}}\n{"time":"2026-11-16T18:15:47.222Z","usage":{"prompt_tokens":"800","completion_tokens":60}}\n{"time":"2026-11-16T18:15:48.222Z","usage":null}\n' >tokens.json; ballast replay tokens.json --servers 2 --policy jsq --service 'usage.prompt_tokens*0.2ms + "usage.completion_tokens"*25ms' --quiet | sed -n '/^log/p; /^time/p; /^skipped/p'
| log      2 jobs in 542 ms, mean service time 1.37 s, longest 1.66 s
| time     time (start of the request)
| skipped  1 line: 1 (no service time, or not one)
