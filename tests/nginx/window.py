# SPDX-License-Identifier: BSD-2-Clause
"""The page of ballast_status in a real browser. usage: window.py ADDRESS CONTROL PICTURES|-
Prints a line for each thing that is not so, and ends with 1 then. The line `gone` asks the caller to stop
nginx and to answer with a line."""
import json
import sys
import time
import urllib.request

import looks
from chromium import Chromium
from looks import expect

address, control, pictures = sys.argv[1:]


def servers():
    with urllib.request.urlopen(address + "?format=json") as answer:
        return json.load(answer)["dispatchers"][0]["servers"]


def points():
    with urllib.request.urlopen(address + "?format=history") as answer:
        return len(json.load(answer)["history"][0]["points"])


def loads(page):
    page.screen(1280, 900, False)
    page.go(address)
    expect("the fleet is there", page.until("document.querySelectorAll('.cell').length == 4", 60) is not None)
    drawn = page.until("document.querySelectorAll('path[d]:not(.grid)').length >= 4", 60)
    expect("and lines are drawn", drawn is not None)
    row = "[...document.querySelectorAll('#twin tbody tr')]" \
        ".map(r => r.innerText.replaceAll('\\u00a0', ' ')).join('|')"
    expect("what-ifs appear", page.until(row + ".includes('two servers fewer\\t100 ms')", 60) is not None,
           page.evaluate(row))
    now = page.evaluate("document.getElementById('twin-now').textContent").replace("\u00a0", " ")
    expect("measured beside predicted", "212 ms ± 20.0 ms measured, 208 ms ± 15.0 ms predicted" in now, now)
    expect("those of the urgent", "144 ms" in page.evaluate(row), page.evaluate(row))
    expect("that they part is told", page.evaluate("!document.getElementById('twin-parted').hidden"))


def hostile_text_stays_text(page):
    page.evaluate("document.getElementById('servers-details').open = true")
    page.until("document.querySelectorAll('#servers tbody tr').length == 4", 60)
    whole = page.evaluate("document.body.innerText")
    for text in ("<img src=x onerror=alert(1)>", "<script>bad()</script>", "<b>&up", "<i>gets</i>"):
        expect(f"{text} is shown as it is", text in whole)
    markup = page.evaluate("document.querySelectorAll('img, b b, #twin script').length")
    expect("no markup came of it", markup == 0)
    ran = page.evaluate("""(() => { const s = document.createElement('script');
        s.textContent = 'window.ran = 1'; document.body.append(s); s.remove();
        return window.ran === undefined; })()""")
    expect("a script that slips in does not run", ran)
    end = time.monotonic() + 60
    while not any("Content Security Policy" in said for said in page.said) and time.monotonic() < end:
        page.wait(0.02)
    refused = [said for said in page.said if "Content Security Policy" in said]
    expect("and is refused by the policy", len(refused) == 1, page.said)
    page.said = [said for said in page.said if said not in refused]


def keys_reach_everything(page):
    page.screen(1280, 900, False)
    page.evaluate("document.body.focus(); document.activeElement.blur()")
    page.evaluate("window.reached = new Set()")
    for _ in range(20):
        page.press("Tab")
        page.evaluate("reached.add(document.activeElement)")
    missed = page.evaluate("""[...document.querySelectorAll(
        'select, summary, a, .cell[tabindex="0"], .wide, pre')]
        .filter(e => e.checkVisibility() && !reached.has(e)).map(e => e.outerHTML.slice(0, 60))""")
    expect("Tab reaches everything", missed == [], missed)
    page.evaluate("document.querySelector('.cell[tabindex=\"0\"]').focus()")
    page.press("ArrowRight")
    expect("arrows go from server to server", page.evaluate(
        "document.activeElement === document.querySelectorAll('.cell')[1]"))
    name = servers()[1]["name"]
    told = page.evaluate("document.getElementById('told').textContent")
    expect("and the line below tells of it", told.startswith(name + ": "), told)
    page.evaluate("document.querySelector('#counts-details summary').focus()")
    page.press("Enter")
    expect("Enter opens tables", page.until(
        "document.querySelectorAll('#counts tbody tr').length > 10", 60) is not None)
    unnamed = page.evaluate("""
        [...document.querySelectorAll('table')].filter(t => !t.caption.textContent).length +
        document.querySelectorAll('th:not([scope]), tbody tr:not(:has(th[scope=row]))').length +
        document.querySelectorAll('.cell:not([aria-label])').length""")
    expect("tables have heads and names", unnamed == 0, unnamed)


# How often the page has looked, and had when it first showed a server ejected.
COUNT = """(() => {
    const look = window.fetch;
    window.looks = 0;
    window.fetch = (what, ...more) => { looks += what.endsWith('?format=json'); return look(what, ...more); };
    new MutationObserver(() => { if (document.querySelector('.cell.ejected')) window.shown ??= looks; })
        .observe(document.body, {subtree: true, childList: true, attributes: true});
})()"""


# The page looks every half a second: what it shows with the second look after the module itself says so is
# shown within two seconds, on a machine that has the time.
def a_server_that_fails_is_seen(page):
    page.evaluate(COUNT)
    urllib.request.urlopen(control + "/set?server=0&mode=fail").read()
    end = time.monotonic() + 60
    while time.monotonic() < end and not any(s["state"] == "ejected" for s in servers()):
        time.sleep(0.02)
    before = page.evaluate("looks")
    took = page.until("window.shown !== undefined", 60)
    looks = page.evaluate("shown") - before if took is not None else None
    expect("with the second look", looks is not None and looks <= 2, looks)
    print(f"# seen {took:.2f} s after the module has" if took is not None else "# never seen", flush=True)


def a_stalled_connection_is_told(page):
    expect("no alarm before", page.until("document.getElementById('alarm').hidden", 60) is not None)
    print("gone", flush=True)
    sys.stdin.readline()
    page.said.clear()
    took = page.until("document.getElementById('alarm').innerText.startsWith('No answer for')", 60)
    expect("it is said", took is not None)
    expect("and what is old is dimmed", page.evaluate("document.body.classList.contains('stalled')"))


# A page that is opened now shows what was before, with values at its axes.
# nginx must have them first: the page asks once a minute.
def the_last_hour_is_there(page):
    end = time.monotonic() + 60
    while points() < 5 and time.monotonic() < end:
        time.sleep(0.1)
    page.go(address)
    hour = "typeof histories == 'undefined' ? [] : [...histories.values()][0]?.hour ?? []"
    expect("points of nginx", page.until(f"({hour}).length >= 5", 60) is not None)
    expect("they are drawn", page.until(
        f"document.querySelector('path.c0')?.getAttribute('d')?.split(/[ML]/).length > ({hour}).length", 60)
        is not None)
    expect("requests came in them", page.evaluate(f"({hour}).some(point => point.rate > 0)"))
    expect("and took some time", page.evaluate(f"({hour}).some(point => point.times.some(t => t[1] > 0))"))
    axes = page.evaluate("[...document.querySelectorAll('figure:not([hidden]) .y')].map(y => y.innerText)")
    expect("axes have values", len(axes) >= 6 and all(len(a.split()) >= 3 for a in axes), axes)
    cells = page.evaluate("[...document.querySelectorAll('.cell span')].map(s => s.textContent)")
    expect("cells have labels", len(set(cells)) == 4 and all(cells), cells)


page = Chromium()
try:
    loads(page)
    hostile_text_stays_text(page)
    looks.every_screen(page, pictures)
    keys_reach_everything(page)
    the_last_hour_is_there(page)
    a_server_that_fails_is_seen(page)
    expect("the console is empty", page.said == [], page.said)
    elsewhere = [url for url in page.asked if not url.startswith(address.rsplit("/", 1)[0] + "/")
                 and url not in ("about:blank", "data:,")]
    expect("nothing was asked for elsewhere", elsewhere == [], elsewhere)
    a_stalled_connection_is_told(page)
finally:
    page.close()
sys.exit(looks.wrong > 0)
