# What a table means, in a few sentences: true for every kind of table. And tables for a ticket.

# A best one, a dearer one that is as good, and none that is doubted.
$ ballast compare --servers 10 --load 0.5 --jobs 50k --replications 5 --policy jsq --policy least-conn --policy random --explain | sed '1,/^±/d'
| theory: = exact, ≈ approximation for so many servers, with the difference of the simulation.
|
| A job is answered soonest under jsq, in 1.02 on average and within 4.73 in 99 of 100 cases;
| least-conn comes next, and this run cannot tell the two apart. Use least-conn: it takes 0
| messages a job and 40 bits of memory, where jsq, hardly faster, takes 20. Every row is stable
| and none is doubted; ± is a 95 % interval over replications.

# Some are unstable, and the best must know sizes: then the best of the others is told.
$ ballast compare --servers 20x1,5x4 --load 0.8 --jobs 100k --replications 5 --policy least-work --policy least-conn --policy random --explain | tail -n 5
|
| A job is answered soonest under least-conn, in 0.72 on average and within 4.01 in 99 of 100
| cases; no other row that can be relied on is there to compare it with. Use least-conn: it takes
| 0 messages a job and 125 bits of memory. 1 of 3 rows is unstable at this load: not slow, but
| never catching up, and rows with * need to know what no proxy knows.

# All are unstable.
$ ballast compare --servers 4 --load 1.3 --jobs 20k --replications 3 --policy jsq --policy random --explain | tail -n 4
|
| Every policy here is unstable: queues grow for as long as the run lasts, so that there are no
| response times to compare. Lower the load, add servers, or try policies that know more of the
| servers. 2 of 2 rows are unstable at this load: not slow, but never catching up.

# Alone, and doubted: too short to settle.
$ ballast compare --servers 100 --load 0.99 --jobs 5k --replications 3 --policy random --seed 2 --explain | tail -n 3
| No row can be relied on: whatever has a mean is doubted, or stable or not is undecided. Do not
| choose by this table yet. 1 of 1 rows is doubted or undecided: longer or more runs (--jobs,
| --replications) would tell.

# One replication has no interval, and nothing can be told apart.
$ ballast compare --servers 4 --load 0.5 --jobs 5k --replications 1 --policy jsq --policy random --explain | tail -n 3
| No row can be relied on: whatever has a mean is doubted, or stable or not is undecided. Do not
| choose by this table yet. 2 of 2 rows are doubted or undecided: longer or more runs (--jobs,
| --replications) would tell.

$ ballast compare --explain --format json
! ballast: --explain: sentences belong below a table; use --format text or markdown
? 2

# Markdown.
$ ballast compare --servers 4 --load 50% --jobs 20k --replications 3 --policy jsq --policy least-work --format markdown
| 4 servers at load 0.5, service exp; 3 replications of 20k jobs each, seed 1
|
| | policy | mean response |  | p50 | p99 | waits | msgs | bits | theory |
| |---|--:|---|--:|--:|--:|--:|--:|---|
| | least-work\* | 1.089 ± 0.043 | ██████▋ | 0.78 ± 0.02 | 4.8 ± 0.4 | 17.5% | 8.00 | 0 | = 1.09 (+0.2%) |
| | jsq | 1.156 ± 0.033 | ███████ | 0.80 ± 0.03 | 5.26 ± 0.08 | 14.6% | 8.00 | 0 | ≈ 1.16 (-0.2%) |
|
| No policy can beat 1.0870: one common queue for all servers (M/M/N).
| Times are in mean service times.
| ±: 95 % confidence over replications. waits: jobs that wait at all. msgs: per job, a probe is two.
| theory: = exact, ≈ approximation for so many servers, with the difference of the simulation.
| *: must know how long every job will take: a lab does, a proxy does not.

# Shares in percent.
$ ballast compare --servers 4 --load 50% --high 30% --jobs 2k --replications 2 --precision 50% --warmup 10% --policy jsq | head -n 2
| 4 servers at load 0.5, service exp, 30 % of jobs high; at least 2 replications of 2000 jobs
| each, precision 0.5, warmup 0.1, seed 1
$ ballast compare --load % --policy jsq
! ballast: --load %: not a load above 0 (to 100), such as 0.9
? 2
$ ballast compare --format markup
! ballast: --format markup: not one of text, csv, json, markdown
? 2
