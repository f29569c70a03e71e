# Completion in bash, from the tables of commands and options.
$ ballast help --completion >ballast.bash
$ cat >complete <<'END'
> . ./ballast.bash
> COMP_WORDS=("$@")
> COMP_CWORD=$(($# - 1))
> _ballast
> echo "${COMPREPLY[*]}"
> END
$ complete() { bash complete "$@"; }; complete ballast re; complete ballast compare --st; complete ballast compare --policy pod-; complete ballast compare --format ''; complete ballast compare --discipline p; complete ballast compare --engine s
| replay report results
| --standby --start --steal
| pod-memory pod-scp pod-sep pod-ssp
| text markdown csv json
| preemptive ps
| slotted stealing
$ touch a.yaml b.db; complete() { bash complete "$@"; }; complete ballast run a; complete ballast report --output b; complete ballast fluid t; complete ballast help sh; complete ballast tune ''; complete ballast priority-share --format ''; complete ballast compare --load ''; complete ballast policies --format ''
| a.yaml
| b.db ballast.bash
| tabs
|
| tabs slots
| text markdown json
|
| text json markdown

# Every option of every command.
$ for command in $(ballast --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do ballast $command --help | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p' | sort >told; bash complete ballast $command -- | tr ' ' '\n' | grep -v -e '^--help$' | sort | cmp - told || echo $command; done
