# browser.py FILE: what a heat map as a page does in Chromium, headless: the
# pointer is told range, time and value; wheel, buttons and dragging zoom and
# move, also where nothing came; and it is light or dark as the viewer is. Ends
# with an assertion that names what it does not.
import fcntl, json, os, subprocess, sys, tempfile, time

class Browser:
    """One page, by the debugging protocol over a pipe: messages end by NUL."""
    def __init__(self, profile):
        take, self.to = os.pipe()
        self.out, give = os.pipe()
        def place():
            ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 50) for fd in (take, give)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--window-size=1200,800", "--remote-debugging-pipe",
             "--user-data-dir=" + profile],
            preexec_fn=place, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(take)
        os.close(give)
        self.number, self.rest, self.session, self.errors = 0, b"", None, []
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page,
                                 flatten=True)["sessionId"]
        self.call("Runtime.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.out, 1 << 16)
                assert more, "the browser ended"
                self.rest += more
            one, self.rest = self.rest.split(b"\0", 1)
            reply = json.loads(one)
            if reply.get("method") == "Runtime.exceptionThrown":
                self.errors.append(reply)
            if reply.get("id") == self.number:
                assert "error" not in reply, reply
                return reply["result"]

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def mouse(self, kind, at, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1],
                  **more)

    def click(self, at, count):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, at, button="left", clickCount=count)

def look(page, path):
    page.call("Page.navigate", url="file://" + os.path.abspath(path))
    while page.value("document.readyState+(typeof reset)") != "completefunction":
        time.sleep(0.1)
    # Where the cells are, by the drawing's own scale.
    left, top, right, bottom = page.value("""(()=>{const m=heat.getScreenCTM(),
        p=(x,y)=>new DOMPoint(x,y).matrixTransform(m),a=p(box[0],box[1]),
        b=p(box[0]+box[2],box[1]+box[3]);return [a.x,a.y,b.x,b.y]})()""")
    columns, rows, values, all = page.value("[columns,rows,values,all]")
    def cell(column, row):
        return (left + (right - left) * (column + 0.5) / columns,
                top + (bottom - top) * (row + 0.5) / len(rows))
    def tip():
        return page.value("tip.style.display=='block'?tip.textContent:''")

    peak = max(range(len(values)), key=values.__getitem__)
    empty = min(range(len(values)), key=values.__getitem__)
    assert values[empty] == 0, "no cell is empty"
    for i in (peak, empty):
        page.mouse("mouseMoved", cell(i % columns, i // columns))
        lines = tip().split("\n")
        shown = page.value("[time(%d),number(%r)+' '+unit]" %
                           (i % columns, values[i]))
        assert lines[0] == rows[i // columns], ("range", lines)
        assert lines[1].startswith(shown[0] + " to "), ("time", lines)
        assert lines[2] == shown[1], ("value", lines)
    page.mouse("mouseMoved", (2, 2))
    assert tip() == "", "it is told outside"

    for i in (peak, empty):
        at = cell(i % columns, i // columns)
        for _ in range(6):
            page.mouse("mouseWheel", at, deltaX=0, deltaY=-120)
        view = page.value("view")
        assert view[2] < all[2] and view[3] < all[3], ("wheel", view)
        page.mouse("mouseMoved", at)
        assert tip().startswith(rows[i // columns] + "\n"), "zoom moves it"
        page.mouse("mousePressed", at, button="left", clickCount=1)
        for step in (1, -1):
            page.mouse("mouseMoved", (at[0] + 40 * step, at[1] + 40 * step),
                       button="left", buttons=1)
        page.mouse("mouseReleased", at, button="left", clickCount=1)
        assert page.value("view") != view, "drag"
        page.click(at, 1)
        page.click(at, 2)
        assert page.value("view") == all, "double click"
        assert page.value("String(getSelection())") == "", "text is selected"
    for button, smaller in (("in", True), ("out", False), ("in", True),
                            ("all", False)):
        page.value("document.getElementById('%s').click()" % button)
        assert (page.value("view") != all) == smaller, button

    seen = set()
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        seen.add(page.value("""['body','.plot','.c1','.key'].map(s=>{const c=
            getComputedStyle(document.querySelector(s));
            return c.backgroundColor+c.fill}).join()"""))
    assert len(seen) == 2, ("light and dark are the same", seen)
    assert not page.errors, page.errors

with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    page = Browser(profile)
    try:
        look(page, sys.argv[1])
    finally:
        page.process.terminate()
        page.process.wait()
