# SPDX-License-Identifier: BSD-2-Clause
"""What a page looks like, for tests in a real browser: texts that lie upon each other, what is wider than the screen,
paper and ink; and how what is not so is told."""
import time

# Texts that lie upon each other, and what is wider than the screen.
LOOK = """(() => {
    const boxes = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode, range = document.createRange(), parent = node.parentElement;
        if (!node.textContent.trim() || parent.closest('script, style, option') ||
            !parent.checkVisibility()) continue;
        range.selectNodeContents(node);
        for (const r of range.getClientRects())
            if (r.width && r.height) boxes.push({text: node.textContent, l: r.left + 1, r: r.right - 1,
                t: r.top + 0.2 * r.height, b: r.bottom - 0.2 * r.height, wide: parent.closest('.wide')});
    }
    const collide = [];
    boxes.sort((a, b) => a.t - b.t);
    boxes.forEach((a, i) => {
        for (let k = i + 1; k < boxes.length && boxes[k].t < a.b; k++) {
            const b = boxes[k];
            if (a.l < b.r && b.l < a.r && b.t < a.b && a.t < b.b)
                collide.push(a.text + ' / ' + b.text);
        }
    });
    const edge = document.documentElement.clientWidth;
    const light = colour => { const [r, g, b] = colour.match(/[0-9]+/g).map(Number);
        return (0.3 * r + 0.6 * g + 0.1 * b) / 255; };
    const style = getComputedStyle(document.body), twin = document.getElementById('twin');
    return {texts: boxes.length, collide, cut: boxes.filter(b => !b.wide && b.r > edge + 1).map(b => b.text),
        sideways: document.documentElement.scrollWidth - edge,
        scrolls: twin.offsetWidth - twin.parentNode.clientWidth, paper: light(style.backgroundColor),
        contrast: Math.abs(light(style.color) - light(style.backgroundColor))};
})()"""

wrong = 0


def expect(what, so, seen=""):
    global wrong
    if not so:
        wrong += 1
        print(f"# not so: {what} {seen}", flush=True)


def judge(seen, dark, texts):
    return (("texts are there", seen["texts"] > texts, seen["texts"]),
            ("no text lies upon another", not seen["collide"], seen["collide"][:9]),
            ("none is cut", not seen["cut"], seen["cut"][:9]),
            ("nothing is wider than the screen", seen["sideways"] <= 0, seen["sideways"]),
            ("nor are the what-ifs", seen["scrolls"] <= 0, seen["scrolls"]),
            ("paper and ink differ", seen["contrast"] > 0.6, seen["contrast"]),
            ("as the scheme wants", (seen["paper"] < 0.5) == dark, seen["paper"]))


def every_screen(page, pictures, texts=40, name=""):
    for width, height in ((1280, 900), (390, 844)):
        for dark in (False, True):
            page.screen(width, height, dark)
            page.wait(0.15)
            end = time.monotonic() + 30  # until it has been drawn
            told = judge(page.evaluate(LOOK), dark, texts)
            while not all(so for _, so, _ in told) and time.monotonic() < end:
                page.wait(0.1)
                told = judge(page.evaluate(LOOK), dark, texts)
            for what, so, value in told:
                expect(f"{width} px, {'dark' if dark else 'light'}: {what}", so, value)
            if pictures != "-":
                page.picture(f"{pictures}/{name}{width}-{'dark' if dark else 'light'}.png")
