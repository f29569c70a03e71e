# Settings mean the same on command lines and in experiment files: they come from one table.

# groff wants .Pp between paragraphs.
$ ballast help --manual | grep -c '^$'
| 0
? 1

# Every field of a model is an option of compare (the clock is --slotted), and is in the manual.
$ ballast check --fields | sed -n '/^### `fleet`/,/^### `policy`/s/^| `\([a-z-]*\)`.*/\1/p' | sort >fields
$ ballast compare --help | sed -n 's/^  --\([a-z-]*\) .*/\1/p' | sort >options
$ comm -23 fields options | xargs
| clock
$ ballast help --manual | sed -n '/^.Ss ballast compare/,/^.Ss ballast replay/s/^.It Fl -\([a-z-]*\)\( .*\)*$/\1/p' | sort | cmp - options

# The same values.
$ ballast compare --policy random --servers 4 --load 0.5 --jobs 1k >plain
$ ballast compare --policy random --servers 4 --load 50% --jobs 1k --buffer none --high none --precision none --window none | cmp - plain
$ cat >same.yaml <<'END'
> title: x
> fleet: {servers: 4}
> workload: {load: 50%, high: none}
> policies: [random]
> run: {jobs: 1k, precision: none, window: none}
> END
$ ballast check same.yaml
| same.yaml: in order; plain 10 trials, quick 10 trials, full 10 trials

# And the same complaints, in two places.
$ for said in 'load 0' 'buffer 0' 'slots x' 'tasks 0' 'high 2' 'watts 0,0,0,0' 'standby 0' 'victims me' 'service pareto(0.5)' 'start busy=2'; do
>     set -- $said
>     ballast compare --$1 $2
>     section=workload
>     case $1 in buffer | slots | watts | standby | start) section=fleet ;; esac
>     printf 'title: x\nfleet: {servers: 4}\nworkload: {load: 1}\npolicies: [random]\n' | sed "s/^$section: {/$section: {$1: '$2', /; s/load: '0', load: 1/load: 0/" >bad.yaml
>     ballast check bad.yaml
> done
! ballast: --load 0: not a load above 0 (to 100), such as 0.9
! ballast: bad.yaml:3: load: '0' is not a load above 0 (to 100), such as 0.9
! ballast: --buffer 0: not a whole number of jobs from 1, or none
! ballast: bad.yaml:2: buffer: '0' is not a whole number of jobs from 1, or none
! ballast: --slots x: not a whole number of jobs from 1 to 1M, or all with speeds
! ballast: bad.yaml:2: slots: 'x' is not a whole number of jobs from 1 to 1M, or all with speeds
! ballast: --tasks 0: not a whole number from 1 to 10000
! ballast: bad.yaml:3: tasks: '0' is not a whole number from 1 to 10000
! ballast: --high 2: not a share from 0 to 1, such as 0.3, or none
! ballast: bad.yaml:3: high: '2' is not a share from 0 to 1, such as 0.3, or none
! ballast: --watts 0,0,0,0: watts '0,0,0,0': a busy server must draw more than 0
! ballast: bad.yaml:2: watts: watts '0,0,0,0': a busy server must draw more than 0
! ballast: --standby 0: not a mean above 0 or a law, such as 10, det(10) or erlang(4,10)
! ballast: bad.yaml:2: standby: '0' is not a mean above 0 or a law, such as 10, det(10) or erlang(4,10)
! ballast: --victims me: not one of all, others
! ballast: bad.yaml:3: victims: 'me' is not one of all, others
! ballast: --service pareto(0.5): law 'pareto(0.5)': with A = 0.5 the mean is infinite; A must be above 1
! ballast: bad.yaml:3: service: law 'pareto(0.5)': with A = 0.5 the mean is infinite; A must be above 1
! ballast: --start busy=2: start 'busy=2': a fraction is a number from 0 to 1; write idle, or fractions of the servers such as busy=0.1,off=0.9, or with several jobs each busy=0.1,jobs=3,off=0.9
! ballast: bad.yaml:2: start: start 'busy=2': a fraction is a number from 0 to 1; write idle, or fractions of the servers such as busy=0.1,off=0.9, or with several jobs each busy=0.1,jobs=3,off=0.9
? 2

# Heads name every setting that has not its default, in text, csv and JSON.
$ ballast compare --policy tabs --servers 5 --load 0.5 --curve 'sine(0.5,60)' --standby 'det(10)' --setup 5 --buffer 9 --start busy=0.2,off=0.4 --warmup 0.1 --tasks 1 --jobs 1k --replications 2 | sed '/^$/,$d'
| 5 servers at load 0.5, service exp, buffer 9, standby det(10), setup exp(5),
| start busy=0.2,off=0.4, curve sine(0.5,60); 2 replications of 1000 jobs each, warmup 0.1, seed 1
$ ballast compare --policy jiq --servers 5 --load 0.5 --curve 'table(0:1 5:2)' --window 10 --jobs 1k --engine event --precision 50% --most 20 --format json | jq -c .settings
| {"fleet":{"servers":"5"},"workload":{"load":"0.5","curve":"table(0:1 5:2)"},"run":{"jobs":"1000","precision":"0.5","most":"20","window":"10","engine":"event"}}
! ballast: jiq: precision 0.5 was not reached after 10 replications, the result is doubted: few; use longer runs (--jobs)
$ ballast compare --policy jiq --servers 5 --load 0.5 --curve 'table(0:1 5:2)' --window 10 --jobs 1k --engine event --format csv | sed 's/.*,settings/settings/; s/.*,"/"/'
| settings
| "servers=5; load=0.5; curve=table(0:1 5:2); run.jobs=1000; run.window=10; run.engine=event"
$ ballast compare --policy jiq --servers 5 --load 0.5 --curve 'table(0:1 5:2)' --window 10 --jobs 1k --engine event --format json | jq '{title: "again", policies: ["jiq"]} + .settings' >again.yaml; ballast run again.yaml --format json | jq -c .experiment.settings
| {"fleet":{"servers":"5"},"workload":{"load":"0.5","curve":"table(0:1 5:2)"},"run":{"jobs":"1000","window":"10","engine":"event"}}
$ ballast cheapest --policy jiq --servers 5 --buffer 9 --warmup mser --jobs 1k | sed '/^$/,$d'
| 5 servers at load 0.9, service exp, buffer 9; 10 replications of 1000 jobs each, warmup mser,
| seed 1
$ ballast tune tabs --servers 5 --curve 'sine(0.5,60)' --window 50 --points 2 --time 200 --replications 2 | sed '/^$/,$d'
| tabs on 5 servers at load 0.3, service exp, set-up exp(10), 200,140,200,0 W busy, idle, in
| set-up, off, curve sine(0.5,60); 2 replications, time 200, window 50, seed 1
$ ballast stability jsq --servers 2 --standby 3 --tasks 2 --time 50k --width 0.3 --format csv | sed -n '1s/.*,//p; 2s/.*,"/"/p'
| settings
| "servers=2; standby=exp(3); tasks=2; run.time=50000"
$ ballast fluid tabs --load 0.5 --service 'erlang(2)' --curve 'sine(0.5,20)' --until 2 --points 2 | sed '/^$/,$d'
| tabs:mu=0.1,nu=0.1 at load 0.5 from busy=0.1,off=0.9: fluid model, service erlang(2),
| curve sine(0.5,20)
$ ballast priority-share --gain 1.1 --servers 10 --jobs 100 --replications 2 --theory-only --format json | jq -c .settings
| {"fleet":{"servers":"10"},"workload":{"load":"0.9"},"run":{"jobs":"100","replications":"2"}}
$ printf '{"time": "2026-01-01T00:00:0%sZ", "request_time": 0.5}\n' 1 2 3 4 5 6 7 8 >log.json
$ ballast replay log.json --servers 2 --policy tabs --standby 20s --watts 10,5,10,0 | grep settings
| settings standby det(20), setup det(30), watts 10,5,10,0
$ ballast replay log.json --servers 2 --policy jiq --format json | jq -c .settings
| {"fleet":{"servers":"2","standby":"det(60)","setup":"det(30)"},"run":{"replications":"5"}}
$ ballast replay log.json --servers 2 --policy jiq --format csv | sed 's/.*,settings/settings/; s/.*,"/"/'
| settings
| "servers=2; standby=det(60); setup=det(30); run.replications=5"
$ sed 's/^run: {/run: {warmup: 0.3, /; s/4}/4, buffer: 7}/; s/50%, /30%, tasks: 1, /' same.yaml >told.yaml; echo 'sweep: {axis: load, values: [0.5, 0.6]}' >>told.yaml
$ ballast run told.yaml | sed '/^$/,$d'
| x
| servers 4, buffer 7, jobs 1000, warmup 0.3, seed 1
$ ballast results told.db --format json | jq -c .experiment.settings
| {"fleet":{"servers":"4","buffer":"7"},"run":{"jobs":"1000","warmup":"0.3"}}
$ ballast results told.db --format csv | sed 's/.*,settings/settings/; s/.*,"/"/'
| settings
| "servers=4; buffer=7; load=0.5; run.jobs=1000; run.warmup=0.3"
| "servers=4; buffer=7; load=0.6; run.jobs=1000; run.warmup=0.3"
