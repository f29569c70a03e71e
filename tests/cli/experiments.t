# ballast run, check and results: an experiment from its file to its numbers.
$ cat >small.yaml <<'END'
> title: Two choices
> seed: 3
> fleet: {servers: 20}
> sweep: {axis: load, values: [0.5, 0.8]}
> policies: [random, {policy: "pod:d=2", label: two}]
> run: {jobs: 40k, replications: 3}
> metrics: [response.mean, messages.per_job]
> claims:
>   - {id: faster, section: "2", says: Two choices are better than one., measure: ratio, of: two, to: random, expect: {most: 0.95}}
> quick: {run: {replications: 2}}
> full: {sweep: {axis: load, from: 0.1, to: 0.9, step: 0.1}}
> END

$ ballast check small.yaml
| small.yaml: in order; plain 12 trials, quick 8 trials, full 54 trials

# What would be run; nothing is written.
$ ballast run small.yaml --dry-run | sed 's/seed [0-9]*/seed S/; s/about .*/about T/'; ls
| Two choices
| axis load: 0.5 0.8
| load=0.5 random: 3 replications of time 4000, 40000 jobs, seed S
| load=0.5 pod:d=2: 3 replications of time 4000, 40000 jobs, seed S
| load=0.8 random: 3 replications of time 2500, 40000 jobs, seed S
| load=0.8 pod:d=2: 3 replications of time 2500, 40000 jobs, seed S
| 2 points x 2 policies: 12 trials, 0 of them done; the rest takes about T
| small.yaml

# The table and the claims; the results stay in a file here.
$ ballast run small.yaml | sed '/──/d; s/[-+]*[0-9.]* ± [0-9.]*/X ± X/g; s/  */ /g; s/^ //'; ls
| Two choices
| servers 20, jobs 40000, replications 3, seed 3
|
| load policy response.mean messages.per_job vs random
| 0.5 random X ± X 0
| two X ± X 4 X ± X %
| 0.8 random X ± X 0
| two X ± X 4 X ± X %
|
| vs random: response.mean compared with that of random on the same arrivals
|
| holds faster, 2
| Two choices are better than one.
| measured X ± X at load=0.5, expected at most 0.95
|
| 1 claim: 1 holds, 0 do not hold, 0 undecided.
| small.db
| small.yaml

# Nothing is left to do; csv and JSON tell the same.
$ ballast run small.yaml --dry-run --threads 1 | tail -n 1
| 2 points x 2 policies: 12 trials, 12 of them done; the rest takes about 0 s on 1 thread
$ ballast run small.yaml --format csv --output a.csv; ballast results small.db --format csv | cmp - a.csv
$ cut -d, -f1,2,4,5 a.csv; head -n 1 a.csv | tr , '\n' | tail -n 4
| load,label,policy,verdict
| 0.5,random,"random",stable
| 0.5,two,"pod:d=2",stable
| 0.8,random,"random",stable
| 0.8,two,"pod:d=2",stable
| ratio.response.mean.ci
| ratio.messages.per_job
| ratio.messages.per_job.ci
| settings
$ ballast run small.yaml --format csv --seconds | head -n 1 | tr , '\n' | tail -n 1
| settings
$ ballast run small.yaml --format json | jq -c '.experiment, (.results[3] | [.point, .label, .policy, .replications, (.response | keys[0:3]), (.ratio | keys)]), (.claims[] | [.id, .section, .expected, .verdict, .at])'
| {"name":"small","title":"Two choices","mode":"plain","seed":3,"baseline":"random","axes":["load"],"settings":{"fleet":{"servers":"20"},"run":{"jobs":"40000","replications":"3"}}}
| [{"load":0.8},"two","pod:d=2",3,["ci","mean","p50"],["messages.per_job","response.mean"]]
| ["faster","2","at most 0.95","holds","load=0.5"]

# Two modes are two runs; a changed file runs what has changed.
$ ballast run small.yaml --quick --quiet >/dev/null; sed 's/0.5, 0.8/0.5, 0.7/' small.yaml >more.yaml; ballast run more.yaml --db small.db --dry-run | tail -n 1 | sed 's/about .*/about T/'
| 2 points x 2 policies: 12 trials, 6 of them done; the rest takes about T
$ ballast results small.db --list --format markdown | sed 's/[0-9]*-[0-9TZ:-]*Z/TIME/g'
| | run | experiment | mode | trials | started | ended | version |
| |--:|---|---|--:|---|---|---|
| | 1 | small | plain | 12/12 | TIME | TIME | 1.0.0 |
| | 2 | small | quick | 8/8 | TIME | TIME | 1.0.0 |
$ ballast results small.db --list --format csv
! ballast: --list: write text or markdown
? 2
$ ballast results small.db | sed 's/  *[0-9TZ:-]*Z  *[0-9TZ:-]*Z/ STARTED ENDED/'
| run  experiment  mode   trials  started               ended                 version
| ───────────────────────────────────────────────────────────────────────────────────
|   1  small       plain   12/12 STARTED ENDED  1.0.0
|   2  small       quick     8/8 STARTED ENDED  1.0.0
$ ballast results small.db --run 2 --format csv | wc -l; ballast results small.db --run 3
| 5
! ballast: --run 3: there is no such run; there are 1 to 2
? 2

# A claim that does not hold is an outcome.
$ sed 's/most: 0.95/most: 0.01/' small.yaml >wrong.yaml; ballast run wrong.yaml --db small.db | sed -n '/does not hold/s/  */ /gp'; ballast run wrong.yaml --db small.db >/dev/null
|  does not hold faster, 2
| 1 claim: 0 hold, 1 does not hold, 0 undecided.
? 1

# Interrupted, it says how to go on; another one may look on, but not write.
$ printf 'title: long\nfleet: {servers: 50}\nworkload: {load: 0.9}\npolicies: [random]\nrun: {jobs: 1M, replications: 500}\n' >long.yaml
> ballast run long.yaml 2>err & until ballast results long.db 2>/dev/null | grep -q 'not complete'; do sleep 0.05; done
> ballast run long.yaml; echo $?
> ballast results long.db | awk 'NR == 3 { print $2, $6, $7 }'
> kill -INT $!; wait $!; echo $?; sed 's/after [0-9]*/after K/' err
| 2
| long not complete
| 130
| ballast: interrupted: stopped after K of 500 trials; they are kept in long.db, and the same command goes on from there
! ballast: long.db: another run is writing to it; wait for it to end, or name another file

# What is wrong, in one line and with nothing else.
$ printf 'title: x\nfleet: {servers: 0}\nworkload: {load: 0.5}\npolicies: [jsq]\n' >bad.yaml; ballast run bad.yaml
! ballast: bad.yaml:2: servers: servers '0': a count must be a whole number from 1 to 100M; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10
? 2
$ printf 'title: x\nfleet: {servers: 9}\nworkload: {load: 0.5}\npolicies: [jsq]\nsweep: {axis: lode, values: [1]}\n' >bad.yaml; ballast check small.yaml bad.yaml 2>err; echo $?; cut -c 1-60 err
| small.yaml: in order; plain 12 trials, quick 8 trials, full 54 trials
| 2
| ballast: bad.yaml:5: axis: there is no field 'lode' to sweep
$ printf 'title: x\nfull: {run: {jobs: -1}}\nfleet: {servers: 9}\nworkload: {load: 0.5}\npolicies: [jsq]\n' >bad.yaml; ballast check bad.yaml
! ballast: bad.yaml:2: jobs: '-1' is not a whole number of jobs from 1, such as 2M (with --full)
? 2
$ ballast run nothing.yaml
! ballast: nothing.yaml: cannot be read: No such file or directory
? 2
$ ballast run
! ballast: run: name the experiment: ballast run FILE.yaml
? 2
$ ballast run small.yaml --quick --full
! ballast: --full : quick or full, not both
? 2
$ ballast run small.yaml --output no/where.txt --db small.db
! ballast: --output: 'no/where.txt' cannot be written: No such file or directory; choose another place
? 2

# A curve that lies in another file becomes part of the experiment when it is read: results do not need it any
# more, nor trust it. Values of an axis keep its name.
$ printf '0 1\n5 2 # noon\n10 0.5\n' >day.txt
$ printf '%s\n' 'title: Ä day' 'fleet: {servers: 4}' 'policies: [jsq]' 'run: {time: 40, replications: 2}' \
>     'workload: {load: 0.4, curve: &day file(day.txt) repeat} # daily' \
>     "sweep: {axis: curve, values: [*day, file(day.txt), {value: \"file(day.txt)\", label: once}]}" >day.yaml
$ ballast run day.yaml --db day.db | grep -o '.* jsq'
| table(0:1 5:2 10:0.5) repeat  jsq
|                file(day.txt)  jsq
|                         once  jsq
| !: jsq at curve=table(0:1 5:2 10:0.5) repeat, jsq at curve=file(day.txt), jsq
$ echo '0 7' >day.txt
$ ballast results day.db --run 1 --format csv >before; rm day.txt; mkfifo day.txt
$ ballast results day.db --run 1 --format csv | cmp before - && cut -d , -f 1-3 before
| curve,label,seed
| table(0:1 5:2 10:0.5) repeat,jsq,1345072051792989
| table(0:1 5:2 10:0.5),jsq,37486767640149
| table(0:1 5:2 10:0.5),jsq,37486767640149
$ ballast report day.db --output day.html && grep -A 1 'curve: ' day.html
| workload: {load: 0.4, curve: &amp;day &quot;table(0:1 5:2 10:0.5) repeat&quot;} # daily
| sweep: {axis: curve, values: [*day, {value: &quot;table(0:1 5:2 10:0.5)&quot;, label: &#39;file(day.txt)&#39;}, {value: &quot;table(0:1 5:2 10:0.5)&quot;, label: once}]}
$ ballast run day.yaml --db day.db
! ballast: day.yaml:5: curve: 'day.txt' is a device or a pipe, not a file with a table in it
? 2
$ rm day.txt && ballast check day.yaml
! ballast: day.yaml:5: curve: cannot read 'day.txt': No such file or directory
? 2
$ printf 'title: x\npolicies: [jsq]\nworkload:\n  load: 0.5\n  curve: |\n    file(/dev/zero)\n' >block.yaml; ballast check block.yaml
! ballast: block.yaml:5: curve: write file(PATH) on the line of its field
? 2
$ sed -i 's/|//; s/.*file/   file/' block.yaml; ballast check block.yaml
! ballast: block.yaml:6: curve: '/dev/zero' is a device or a pipe, not a file with a table in it
? 2

# Files of results that are none.
$ ballast run small.yaml --db small.yaml
! ballast: small.yaml: not a store of results, nor any other SQLite file; name another file
? 2
$ ballast results a.csv
! ballast: a.csv: not a store of results, nor any other SQLite file; name another file
? 2
$ ballast results none.db
! ballast: none.db: cannot be read: No such file or directory
? 2
$ ballast run small.yaml --db no/where.db
! ballast: no/where.db: cannot be written: No such file or directory; name another file
? 2

# The documentation of the fields comes from the program.
$ ballast check --schema | jq -r '.allOf[0].required | join(" ")'
| title policies
$ ballast check --fields | sed -n '1,8p'
|
| ### `experiment`
|
| An experiment file.
|
| | field | kind | default | meaning |
| |---|---|---|---|
| | `title` | text | required | one line |

# All mistakes at once, in all modes.
$ cat >wrong.yaml <<'END'
> title: x
> fleet: {servers: 20, bufer: 3}
> policies: [random, "pod:d=0"]
> sweep: {axis: load, values: [0.5, 2x]}
> run: {jobs: 0}
> claims:
>   - {id: a, says: x, of: "pod:d=0", expect: {most: 1}}
>   - {id: b, says: x, of: random, expect: {least: 2, most: 1}}
> quick: {run: {warmup: 3}}
> full: {run: {warmup: 4}}
> END
$ ballast check wrong.yaml small.yaml
| small.yaml: in order; plain 12 trials, quick 8 trials, full 54 trials
! ballast: wrong.yaml:2: fleet: there is no field 'bufer'; did you mean 'buffer'?
! ballast: wrong.yaml:3: policies: policy 'pod': d=0 is not a whole number from 1 to 1000000 (servers probed for a job)
! ballast: wrong.yaml:4: load: '2x' is not a load above 0 (to 100), such as 0.9
! ballast: wrong.yaml:5: jobs: '0' is not a whole number of jobs from 1, such as 2M
! ballast: wrong.yaml:8: expect: `least` is 2 and `most` is 1; nothing lies between them
! ballast: wrong.yaml:9: warmup: '3' is not auto, mser, or the part of the run to cut, 0 to 0.999 (with --quick)
! ballast: wrong.yaml:10: warmup: '4' is not auto, mser, or the part of the run to cut, 0 to 0.999 (with --full)
? 2
$ ballast run wrong.yaml
! ballast: wrong.yaml:2: fleet: there is no field 'bufer'; did you mean 'buffer'?
? 2

# What is said of results that are doubted says so: a claim, and what is compared with a doubted baseline.
$ cat >doubted.yaml <<END
> title: Too short for its fleet
> fleet: {servers: 2000}
> workload: {load: 0.95}
> policies: [random, jiq]
> run: {jobs: 100k, replications: 3}
> metrics: [response.mean]
> claims:
>   - {id: faster, says: Asking is faster., measure: ratio, of: jiq, to: random, expect: {most: 1}}
>   - {id: quick, says: It takes a service time., of: jiq, expect: {most: 2}}
> END
$ ballast run doubted.yaml
| Too short for its fleet
| servers 2000, load 0.95, jobs 100000, replications 3, seed 1
|
| policy       response.mean          vs random
| ─────────────────────────────────────────────
| random ?!    4.948 ± 0.063
| jiq        1.0019 ± 0.0070  -79.75 ± 0.22 % !
|
| vs random: response.mean compared with that of random on the same arrivals
|
| !: random: still settling while it was measured, or perhaps so: the mean may be off by more than
|    chance; jobs: 17M and warmup: 0.94, 170 times as long, would do
| !: random: theory that is exact, or close for so many servers, lies far outside the interval
| ?: stable or not could not be decided; a longer run tells.
|
|   holds, doubted: settling theory  faster
|     Asking is faster.
|     measured 0.2025 ± 0.0022, expected at most 1
|
|   holds          quick
|     It takes a service time.
|     measured 1.0019 ± 0.0070, expected at most 2
|
| 2 claims: 2 hold, 0 do not hold, 0 undecided.
| 1 of these rests on results that are doubted.
$ ballast run doubted.yaml --format json | jq -c '.claims[] | [.id, .verdict, .doubts]'
| ["faster","holds",["settling","theory"]]
| ["quick","holds",[]]

# A file of a policy is looked for next to the experiment.
$ mkdir -p elsewhere; printf 'policies: [./mine.so, jiq]\nsweep: {axis: load, values: [0.5]}\n' >elsewhere/mine.yaml
$ ballast check elsewhere/mine.yaml
! ballast: elsewhere/mine.yaml:1: policies: cannot load the policy 'elsewhere/./mine.so': No such file or directory
? 2
