# Bad input: one line on standard error that names the option, the value and what would be right; nothing on
# standard output; status 2.

# numbers
$ ballast compare --load 1.5x
! ballast: --load 1.5x: not a load above 0 (to 100), such as 0.9
? 2
$ ballast compare --load -1
! ballast: --load -1: not a load above 0 (to 100), such as 0.9
? 2
$ ballast compare --load 0
! ballast: --load 0: not a load above 0 (to 100), such as 0.9
? 2
$ ballast compare --load nan
! ballast: --load nan: not a load above 0 (to 100), such as 0.9
? 2
$ ballast compare --load=
! ballast: --load : not a load above 0 (to 100), such as 0.9
? 2
$ ballast compare --time 0
! ballast: --time 0: not a length of time above 0, such as 10k
? 2
$ ballast compare --jobs 0
! ballast: --jobs 0: not a whole number of jobs from 1, such as 2M
? 2
$ ballast compare --jobs 1.5
! ballast: --jobs 1.5: not a whole number of jobs from 1, such as 2M
? 2
$ ballast compare --warmup 1.5
! ballast: --warmup 1.5: not auto, mser, or the part of the run to cut, 0 to 0.999
? 2
$ ballast compare --replications 0
! ballast: --replications 0: not a whole number from 1 to 100000
? 2
$ ballast compare --replications two
! ballast: --replications two: not a whole number from 1 to 100000
? 2
$ ballast compare --precision 0
! ballast: --precision 0: not a relative half-width from 0.000001 to 1, such as 0.01, or none
? 2
$ ballast compare --seed -1
! ballast: --seed -1: not a whole number from 0
? 2
$ ballast compare --threads 0
! ballast: --threads 0: not a whole number from 1 to 1024
? 2

# fleets
$ ballast compare --servers 0
! ballast: --servers 0: servers '0': a count must be a whole number from 1 to 100M; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10
? 2
$ ballast compare --servers 5x0
! ballast: --servers 5x0: servers '5x0': a speed must be a number from 1e-9 to 1e9; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10
? 2
$ ballast compare --servers 50x1,
! ballast: --servers 50x1,: servers '50x1,': a count must be a whole number from 1 to 100M; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10
? 2
$ ballast compare --servers 200M
! ballast: --servers 200M: servers '200M': a count must be a whole number from 1 to 100M; write a number such as 100 or groups COUNTxSPEED such as 50x1,50x10
? 2

# policies
$ ballast compare --policy pod:d=0
! ballast: --policy pod:d=0: policy 'pod': d=0 is not a whole number from 1 to 1000000 (servers probed for a job)
? 2
$ ballast compare --policy pod:q=2
! ballast: --policy pod:q=2: policy 'pod' has no parameter 'q': it takes d, replace, pertask, stop
? 2
$ ballast compare --policy pod:d=2,d=3
! ballast: --policy pod:d=2,d=3: policy 'pod': parameter d is given twice; give it once
? 2
$ ballast compare --policy jsq:d=2
! ballast: --policy jsq:d=2: policy 'jsq' takes no parameters, but 'd' was given
? 2
$ ballast compare --policy nobody 2>&1 | sed 's/the policies are .*/the policies are .../'
| ballast: --policy nobody: unknown policy 'nobody': the policies are ...
$ ballast compare --servers 10 --policy pod:d=11,replace=0
! ballast: --policy: policy 'pod': d=11 different servers cannot be had from 10; use d up to 10 or replace=1
? 2

# sizes
$ ballast compare --service 'pareto(0.5)'
! ballast: --service pareto(0.5): law 'pareto(0.5)': with A = 0.5 the mean is infinite; A must be above 1
? 2
$ ballast compare --service 'pareto(0.5,1)'
! ballast: --service pareto(0.5,1): the mean is infinite, and a load needs a finite one; for pareto A must be above 1
? 2
$ ballast compare --service 'erlang(0)'
! ballast: --service erlang(0): law 'erlang(0)': K = 0 must be a whole number from 1 to 1000000
? 2
$ ballast compare --service gauss 2>&1 | sed 's/there are .*/there are .../'
| ballast: --service gauss: law 'gauss': no such law; there are ...

# choices
$ ballast compare --engine fast 2>&1 | sed 's/not one of .*/not one of .../'
| ballast: --engine fast: not one of ...
$ ballast compare --engine markov --policy least-work
! ballast: --policy: engine 'markov' cannot simulate a policy that knows the work at the servers; use event or auto
? 2
$ ballast compare --engine markov --policy jsq --service det
! ballast: --policy: engine 'markov' cannot simulate sizes, standby or set-up times that are not exponential; use event or auto
? 2
$ ballast compare --format xml
! ballast: --format xml: not one of text, csv, json, markdown
? 2
$ ballast compare --time 10 --jobs 10
! ballast: --time and --jobs: both say how long a run is; give one of them
? 2

# options, operands, commands
$ ballast compare --loud 2>&1 | sed 's/it takes .*/it takes .../'
| ballast: compare: unknown option '--loud'; did you mean '--load'?
$ ballast compare -l 0.9 2>&1 | sed 's/it takes .*/it takes .../'
| ballast: compare: unknown option '-l'; it takes ...
$ ballast compare --load
! ballast: --load: a value is missing: --load X (arriving work over the fleet's capacity, where batch does not tell it (default 0.9))
? 2
$ ballast compare --quiet=yes
! ballast: --quiet: takes no value, but 'yes' was given
? 2
$ ballast compare 0.9
! ballast: compare: unexpected argument '0.9'; usage: ballast compare [options]
? 2
$ ballast compre 2>&1 | sed 's/the commands are .*/the commands are .../'
| ballast: unknown command 'compre'; did you mean 'compare'?
$ ballast help compre 2>&1 | sed 's/the commands are .*/the commands are .../'
| ballast: unknown command 'compre'; did you mean 'compare'?
$ ballast help compare policies
! ballast: help: unexpected argument 'policies'; usage: ballast help [COMMAND] [options]
? 2
$ ballast policies nobody 2>&1 | sed 's/the policies are .*/the policies are .../'
| ballast: unknown policy 'nobody': the policies are ...
$ ballast policies --format csv
! ballast: --format csv: not one of text, json, markdown
? 2

# The status of those behind a sed.
$ ballast compare --policy nobody 2>/dev/null
? 2
$ ballast compare --service gauss 2>/dev/null
? 2
$ ballast compare --engine fast 2>/dev/null
? 2
$ ballast compare --loud 2>/dev/null
? 2
$ ballast compre 2>/dev/null
? 2
$ ballast help compre 2>/dev/null
? 2
$ ballast policies nobody 2>/dev/null
? 2

# Nonsense cannot break the line, nor reach the terminal as an escape sequence.
$ ballast compare --policy "$(printf 'a\nb\033[1m')" 2>&1 | sed 's/the policies are .*/the policies are .../'
| ballast: --policy a b?[1m: unknown policy 'a b?[1m': the policies are ...
$ ballast compare --servers "$(head -c 5000 /dev/zero | tr '\0' 9)" 2>&1 | wc -l
| 1

# Too many policies: 65 of them.
$ ballast compare $(yes -- --policy=random | head -n 65)
! ballast: --policy random: too many; at most 64 policies can be compared at once
? 2

# parts of a model that do not fit each other
$ ballast compare --high 0.5 --buffer 2 --policy pod-ssp
! ballast: --policy: a policy that moves jobs cannot be had with buffers at the servers; leave out one of them
? 2
$ ballast compare --batch poisson
! ballast: --batch: batches arrive in slotted time; add --slotted, or use --tasks
? 2
$ ballast compare --slotted --service det
! ballast: --service: in slotted time every job is one unit of capacity; leave it out
? 2
$ ballast compare --policy pod-ssp
! ballast: --policy: policy 'pod-ssp' needs two classes of jobs; say which share of them is high
? 2

# More than two classes.
$ ballast compare --servers 10 --load 0.9 --classes 0.2,0.3 --policy pod-sep
! ballast: --classes 0.2,0.3: classes '0.2,0.3': the sum of the shares must be 1; write the shares of 2 to 8 classes, the most urgent first, such as 0.2,0.3,0.5
? 2
$ ballast compare --servers 10 --load 0.9 --classes 0.2,0.3,0.5 --high 0.3 --policy pod-sep
! ballast: --high 0.3: the shares of more than two classes are said (classes); leave one out
? 2
$ ballast compare --servers 10 --load 0.9 --classes 0.2,0.3,0.5 --slots 2 --policy pod-sep
! ballast: --policy: servers of several slots cannot be had with discipline preemptive; leave out one of them
? 2
$ ballast compare --servers 10 --load 0.9 --classes 0.2,0.3,0.5 --dispatchers 2 --policy pod-ssp
! ballast: --policy: settings of the network cannot be had with jobs of more than two classes that move; leave out one of them
? 2
$ ballast compare --slotted --servers 10 --load 0.5 --start busy=0.5,off=0.2 --policy pi
! ballast: servers that start in set-up or off need continuous time
? 2
