# SPDX-License-Identifier: BSD-2-Clause
"""The page of ballast_status with other nginx (`fleet=`), and with hundreds of servers, in a real browser.

usage: fleet_page.py partition|crowd ADDRESS PICTURES|-
Prints a line for each thing that is not so, and ends with 1 then. Lines of `partition` that begin with `please ` ask the
caller to do something, and to answer with a line."""
import sys

import looks
from chromium import Chromium
from looks import expect

ROWS = """[...document.querySelectorAll('#hears tbody tr')].map(r => [...r.cells].map(c => c.innerText).join(' | '))
    .join('; ')"""
# Own answers that were asked for while the one that does not answer still was: the page does not wait for it.
COUNT = """(() => {
    const look = window.fetch;
    let waits = 0;
    window.meanwhile = 0;
    window.fetch = (what, ...more) => {
        if (waits && what.startsWith(location.pathname + '?format=json')) meanwhile++;
        const answer = look(what, ...more);
        if (what.startsWith('/d2?')) {
            waits++;
            answer.finally(() => waits--).catch(() => {});
        }
        return answer;
    };
})()"""


def please(what):
    print("please " + what, flush=True)
    sys.stdin.readline()


def pairs(page, wanted, what):
    expect(what, page.until(f"{ROWS} == '{wanted}'", 60) is not None, page.evaluate(ROWS))


def partition(page):
    page.screen(1280, 900, False)
    page.go(address)
    both = "10.9.0.13:8080 | both | both; 10.9.0.14:8080 | both | both"
    pairs(page, both, "all hear each other")
    expect("columns are dispatchers", page.evaluate(
        "[...document.querySelectorAll('#hears thead th')].map(c => c.innerText).join(' ')")
        == "Station 10.9.0.11:7700 10.9.0.12:7700")
    please("cut one way")
    pairs(page, both.replace("both", "only the station hears", 1), "one way is cut")
    deaf = "getComputedStyle(document.querySelector('#hears td.deaf')).fontWeight"
    expect("which is seen", page.evaluate(deaf) == "700", page.evaluate(deaf))
    troubled = "document.getElementById('hears-silent').innerText"
    expect("and told", page.evaluate(troubled) == "1 of 4 pairs do not hear each other.", page.evaluate(troubled))
    looks.every_screen(page, pictures, 20, "partition-")
    please("cut both ways")
    pairs(page, "10.9.0.13:8080 | neither | neither; 10.9.0.14:8080 | both | both", "both ways are cut")
    page.evaluate("{ const which = document.getElementById('which'); which.value = 'app, at /d2';"
                  " which.dispatchEvent(new Event('change')); }")
    expect("one of them can be chosen", page.until("document.querySelectorAll('.cell').length == 2", 60) is not None)
    page.evaluate(COUNT)
    please("take a host away")
    silent = "document.getElementById('hears-silent').innerText"
    expect("it does not answer", page.until(silent + ".startsWith('No answer: /d2.')", 60) is not None, page.evaluate(silent))
    pairs(page, "10.9.0.13:8080 | neither | no, as far as known; 10.9.0.14:8080 | both | no, as far as known",
          "what it said is left out")
    expect("the page goes on meanwhile", page.until("meanwhile > 1", 60) is not None)
    expect("and stays at what was chosen", page.evaluate("document.getElementById('which').value") == "app, at /d2")
    about = page.evaluate("document.getElementById('about').innerText")
    expect("and says that it is old", about.startswith("no answer, what is shown is old"), about)


def crowd(page):
    page.screen(390, 844, False)
    page.go(address)
    took = page.until("document.querySelectorAll('.cell').length == 300", 60)
    expect("all servers are there", took is not None)
    counts = "[...document.querySelectorAll('#legend li')].map(li => Number(li.innerText.split(' ').at(-1)))"
    expect("all in some state", page.evaluate(f"{counts}.reduce((sum, n) => sum + n, 0)") == 300)
    hears = page.until("document.querySelectorAll('#hears tbody tr').length == 120", 60)
    expect("all stations are there", hears is not None)
    silent = page.evaluate("document.getElementById('hears-silent').innerText")
    expect("what is no status is told", silent == "No answer: /odd.json, /none. 1 of 2880 pairs do not hear each other.",
           silent)
    expect("and is no alarm", page.until("document.getElementById('alarm').hidden", 60) is not None)
    first = "document.querySelector('#hears tbody tr')"
    expect("those with trouble come first", page.evaluate(first + ".innerText").startswith("10.1.0.77:8080"),
           page.evaluate(first + ".innerText")[:99])
    labels = page.evaluate("[...document.querySelectorAll('.cell span')].map(s => s.textContent)")
    expect("cells have labels", len(set(labels)) == 300 and all(labels), labels[:9])
    page.evaluate("document.getElementById('servers-details').open = true")
    rows = page.until("document.querySelectorAll('#servers tbody tr').length == 300", 60)
    expect("all rows are there", rows is not None)
    looks.every_screen(page, pictures, 3000, "crowd-")
    page.screen(390, 844, False)
    page.evaluate("document.querySelector('.cell[tabindex=\"0\"]').focus()")
    page.press("ArrowDown")
    number = page.evaluate("[...document.querySelectorAll('.cell')].indexOf(document.activeElement)")
    across = page.evaluate("getComputedStyle(document.getElementById('fleet')).gridTemplateColumns.split(' ').length")
    expect("the arrow goes to the row below", number == across and across > 5, (number, across))
    told = page.evaluate("document.getElementById('told').innerText")
    name = page.evaluate(f"document.querySelectorAll('#servers tbody th')[{number}].innerText")
    expect("whose name is told", told.startswith(name + ": "), told)
    wide = page.evaluate("""[...document.querySelectorAll('.wide')].filter(e => e.checkVisibility() &&
        e.scrollWidth > e.clientWidth).every(e => { e.scrollLeft = 99999; return e.scrollLeft > 0; })""")
    expect("what is wide can be scrolled", wide)
    expect("the console is empty", page.said == [], page.said)


what, address, pictures = sys.argv[1:]
page = Chromium()
try:
    {"partition": partition, "crowd": crowd}[what](page)
finally:
    page.close()
sys.exit(looks.wrong > 0)
