# SPDX-License-Identifier: BSD-2-Clause
# Turns a trace of tokens (examples/tokens.awk, or one of Azure's) into requests that the stand-in engine
# understands, for `ballast load --replay`:
#
#     awk -F, -f examples/inference/requests.awk tokens.csv >requests.csv
NR == 1 {
    for (i = 1; i <= NF; i++) {
        sub(/\r$/, "", $i)
        column[$i] = i
    }
    if (!column["TIMESTAMP"] || !column["ContextTokens"] || !column["GeneratedTokens"]) {
        print "requests.awk: no columns TIMESTAMP, ContextTokens and GeneratedTokens" >"/dev/stderr"
        exit 1
    }
    print "TIMESTAMP,duration_ms,method,path"
    next
}
{
    prompt = $column["ContextTokens"] + 0
    tokens = $column["GeneratedTokens"] + 0
    printf "%s,%.3f,GET,/generate?prompt=%d&tokens=%d\n", $column["TIMESTAMP"], prompt * 0.2 + tokens * 25, prompt, tokens
}
