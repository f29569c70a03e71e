# Ctrl-C prints what is known so far and says that it was cut short. 10000 replications would take seconds at least;
# some are complete after half of one.

$ timeout --preserve-status -s INT 0.5 ballast compare --policy random --servers 2 --jobs 20k --replications 10000 --threads 2 >text
! ballast: interrupted: these results are cut short and come from the replications that were complete
? 130
$ grep -c '^random ' text
| 1

$ timeout --preserve-status -s INT 0.5 ballast compare --policy random --servers 2 --jobs 20k --replications 10000 --threads 2 \
>     --format json >json
! ballast: interrupted: these results are cut short and come from the replications that were complete
? 130
$ jq -c '.spec.cut_short, .spec.replications, (.results[0] | .replications > 0 and .replications < 10000 and .response.mean > 0)' json
| true
| 10000
| true

# So does an order to terminate.
$ timeout --preserve-status -s TERM 0.5 ballast compare --policy random --servers 2 --jobs 20k --replications 10000 --format csv >csv
! ballast: interrupted: these results are cut short and come from the replications that were complete
? 130
$ cut -d, -f1 csv
| policy
| "random"

# Nothing is complete yet: that is said too. Policies of which some replications are complete come first.
$ timeout --preserve-status -s INT 0.5 ballast compare --policy jsq --servers 2 --jobs 1G --replications 2 --threads 2 --format json >json
! ballast: interrupted: these results are cut short and come from the replications that were complete
? 130
$ jq -c '.spec.cut_short, (.results[0] | [.replications, .response.mean, .verdict])' json
| true
| [0,null,"undecided"]
$ timeout --preserve-status -s INT 0.5 ballast compare --policy jsq --servers 2 --jobs 1G --replications 2 --threads 2 >text
! ballast: interrupted: these results are cut short and come from the replications that were complete
? 130
$ grep 'no trial done' text | cut -c -21
| jsq     no trial done

# A file is written as well.
$ timeout --preserve-status -s INT 0.5 ballast compare --policy random --servers 2 --jobs 20k --replications 10000 --output file
! ballast: interrupted: these results are cut short and come from the replications that were complete
? 130
$ grep -c '^random ' file
| 1
