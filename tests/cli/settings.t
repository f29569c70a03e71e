# Settings mean the same on command lines and in experiment files: they come from one table.

# Every field of a model is an option of compare (the clock is --slotted), and is in the manual.
$ ballast check --fields | sed -n '/^### `fleet`/,/^### `policy`/s/^| `\([a-z]*\)`.*/\1/p' | sort >fields
$ ballast compare --help | sed -n 's/^  --\([a-z]*\) .*/\1/p' | sort >options
$ comm -23 fields options | xargs
| clock
$ ballast help --manual | sed -n '/^.Ss ballast compare/,/^.Ss ballast replay/s/^.It Fl -\([a-z]*\).*/\1/p' | sort | cmp - options

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
! ballast: --slots x: not a whole number of jobs from 1 to 1M
! ballast: bad.yaml:2: slots: 'x' is not a whole number of jobs from 1 to 1M
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
! ballast: --start busy=2: start 'busy=2': a fraction is a number from 0 to 1; write idle, or fractions of the servers such as busy=0.1,off=0.9
! ballast: bad.yaml:2: start: start 'busy=2': a fraction is a number from 0 to 1; write idle, or fractions of the servers such as busy=0.1,off=0.9
? 2
