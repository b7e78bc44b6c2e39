"""The pages of the workbench and what they ask for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fewer.errors import InputError
from fewer.evaluate import Comparison
from fewer.files import write_atomically
from fewer.logs import LOGGER
from fewer.report import run_report, slider_stops, worries
from fewer.report._page import environment_of
from fewer.run.folder import RESULT
from fewer.run.request import PREFER, RARE
from fewer.run.selection import Selection
from fewer.serve import _choices, _work
from fewer.serve._choices import Choices, FieldError
from fewer.serve._folder import ENDINGS, OURS, PAGE, Folder, safe_name
from fewer.serve._guard import PAGE_POLICY, Access, Guard
from fewer.serve._jobs import Jobs, read_json

HERE = Path(__file__).parent
# Bytes of a question; tables have a limit of their own.
MOST_BODY = 8 << 20
# The choices that say how a table is read.
READING = ("target", "groups", "weights", "time", "task", "kinds", "missing", "encoding", "sheet", "skip")
# Seconds between two looks at a run that somebody watches.
TICK = 0.4
Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Settings:
    """What a workbench may do.

    Parameters
    ----------
    folder : path
        Where tables and runs are; nothing else is read or written.
    access : Access
        Who may ask.
    max_upload : int, default=2**30
        Bytes of a table that is sent.
    max_jobs : int, default=2
        Runs at the same time.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fewer.serve import Access, Settings
    >>> Settings(Path("study"), Access("a token of your own"), max_jobs=1).max_upload
    1073741824
    """

    folder: Path
    access: Access
    max_upload: int = 1 << 30
    max_jobs: int = 2


def make_app(settings: Settings) -> Starlette:
    """Return the workbench as an ASGI application.

    Parameters
    ----------
    settings : Settings
        Folder, access and limits.

    Returns
    -------
    starlette.applications.Starlette

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fewer.serve import Access, Settings, make_app
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     app = make_app(Settings(Path(folder), Access("a token of your own")))
    >>> [route.path for route in app.routes][:3]
    ['/', '/table', '/run']
    """
    bench = _Bench(settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warm = asyncio.create_task(bench.warm_up())
        yield
        warm.cancel()
        bench.workers.close()
        await run_in_threadpool(bench.jobs.close)

    routes = [
        Route("/", _told(bench.home)),
        Route("/table", _told(bench.table)),
        Route("/run", _told(bench.run)),
        Route("/page", _told(bench.page)),
        Route("/download", _told(bench.download)),
        Route("/api/state", _told(bench.listing)),
        Route("/api/run", _told(bench.run_state)),
        Route("/api/events", _told(bench.events)),
        Route("/api/upload", _told(bench.upload), methods=["PUT"]),
        Route("/api/inspect", _told(bench.inspect), methods=["POST"]),
        Route("/api/start", _told(bench.start), methods=["POST"]),
        Route("/api/again", _told(bench.again), methods=["POST"]),
        Route("/api/stop", _told(partial(bench.act, bench.jobs.stop)), methods=["POST"]),
        Route("/api/resume", _told(partial(bench.act, bench.jobs.resume)), methods=["POST"]),
        Route("/api/delete", _told(partial(bench.act, bench.jobs.delete)), methods=["POST"]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, access=settings.access)], lifespan=lifespan)
    app.state.bench = bench
    return app


def _told(answer: Answer) -> Answer:
    """Turn what cannot be done into one sentence: on a page for people, as JSON for scripts."""

    async def tell(request: Request) -> Response:
        about = {}
        try:
            return await answer(request)
        except InputError as error:
            message, code = " ".join(str(error).split()), 400
            about = {"field": error.field} if isinstance(error, FieldError) else {}
        except ClientDisconnect:
            return PlainTextResponse("", 499)
        except Exception as error:
            LOGGER.exception("%s %s failed", request.method, request.url.path)
            message, code = f"This is a bug in fewer; please report it: {type(error).__name__}: {error}", 500
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": message, **about}, code)
        return HTMLResponse(_render("trouble.html", message=message), code)

    return tell


class _Bench:
    """A folder, its runs, and the answers to what the pages ask."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = Folder(settings.folder)
        self.jobs = Jobs(self.folder, settings.max_jobs)
        self.workers = _work.Workers()
        self._pages: dict[str, tuple[int, str]] = {}
        self._understood: dict[str, dict[str, Any]] = {}

    async def warm_up(self) -> None:
        """Load what reading needs, so that the first table does not wait for it."""
        with contextlib.suppress(InputError):
            await self.workers.call(_work.warm_up)

    async def home(self, request: Request) -> Response:
        about = await run_in_threadpool(self._listing)
        limit = self.settings.max_upload
        return HTMLResponse(_render("home.html", kinds=ENDINGS, limit=limit, folder=str(self.folder.path), **about))

    async def table(self, request: Request) -> Response:
        name = self.folder.table(request.query_params.get("name")).name
        again = request.query_params.get("again")
        job = self.folder.job(self.folder.run(again).name) if again else None
        catalogues = {
            "methods": _choices.catalogue(), "metrics": _choices.METRICS, "prefer": PREFER,
            "kinds": _choices.KINDS, "rare": RARE, "tasks": _choices.TASKS, "offered": _choices.offered(),
        }  # fmt: skip
        before = (job or {}).get("choices", {})
        return HTMLResponse(_render("table.html", name=name, before=before, **catalogues))

    async def run(self, request: Request) -> Response:
        state = await self._state(request)
        place = self.folder.run(state["id"]) / RESULT
        results = await run_in_threadpool(_told_of, place) if state["state"] != "running" else _told_of(None)
        return HTMLResponse(_render("run.html", run=state, prefer=PREFER, **results))

    async def page(self, request: Request) -> Response:
        page = await self._page(self.folder.run(request.query_params.get("id")))
        return HTMLResponse(page, headers={"content-security-policy": PAGE_POLICY})

    async def _page(self, place: Path) -> str:
        page = place / PAGE
        if page.is_file() and not page.is_symlink() and "operating_point" in read_json(place / RESULT):
            return await run_in_threadpool(page.read_text, encoding="utf-8")
        try:
            stamp = (place / RESULT).stat().st_mtime_ns
        except OSError:
            raise InputError("No results yet.") from None
        known = self._pages.get(place.name)
        if known is None or known[0] != stamp:
            known = (stamp, await self.workers.call(run_report, str(place)))
            if len(self._pages) > 8:
                self._pages.clear()
            self._pages[place.name] = known
        return known[1]

    async def download(self, request: Request) -> Response:
        """Send the reduced table, the page, the code or the answer itself."""
        asked = request.query_params
        place = self.folder.run(asked.get("id"))
        result = await run_in_threadpool(read_json, place / RESULT)
        if not result:
            raise InputError("Nothing to download yet.")
        what, stem = asked.get("what", "table"), safe_name(place.name) or "run"
        if what == "page":
            return _file(await self._page(place), f"{stem}.html", "text/html; charset=utf-8")
        if what == "code":
            command = " ".join(str(result.get("command") or "This answer came without code.").split())
            return _file(str(result.get("code") or f"# {command}\n"), f"{stem}.py", "text/x-python; charset=utf-8")
        if what == "answer":
            return _file(json.dumps(result, ensure_ascii=False, indent=1), f"{stem}.json", "application/json")
        if what not in ("table", "spreadsheet", "parquet", "pipeline"):
            raise InputError("Available downloads: table, spreadsheet, parquet, page, code, pipeline and answer.")
        features = features_of(result, asked.get("prefer"), asked.get("size"))
        if what == "pipeline":
            text = await run_in_threadpool(_pipeline, result, features)
            return _file(text, f"{stem}-pipeline.json", "application/json")
        path, target, choices = self._source(place.name)
        content = await self.workers.call(_work.reduced, str(path), features, target, what, choices)
        kind = ("parquet", "application/octet-stream") if what == "parquet" else ("csv", "text/csv; charset=utf-8")
        return _file(content, f"{stem}.{kind[0]}", kind[1])

    def _source(self, run: str) -> tuple[Path, str | None, dict[str, Any]]:
        """Return the table of a run, its target and how it is read."""
        state = self.jobs.state(run)
        if not state["table"]:
            raise InputError("It is not known which table this run used. Download the results and use fewer transform.")
        choices = (self.folder.job(run) or {}).get("choices", {})
        return self.folder.table(state["table"]), state["target"], choices

    async def listing(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._listing))

    def _listing(self) -> dict[str, Any]:
        runs = []
        for name in self.folder.runs():
            with contextlib.suppress(InputError):  # deleted meanwhile
                runs.append(self.jobs.state(name))
        return {"tables": self.folder.tables(), "runs": runs}

    async def _state(self, request: Request) -> dict[str, Any]:
        name = request.query_params.get("id")
        return await run_in_threadpool(self.jobs.state, self.folder.run(name).name)

    async def run_state(self, request: Request) -> Response:
        return JSONResponse(await self._state(request))

    async def events(self, request: Request) -> Response:
        """Send the progress of a run until it ends or the page is closed."""
        await self._state(request)

        async def tell() -> AsyncIterator[str]:
            last, sent = "", time.monotonic()
            while True:
                try:
                    state = await self._state(request)
                except InputError as error:
                    state = {"state": "deleted", "message": str(error)}
                steady = {**state, "progress": {**state.get("progress", {}), "elapsed": None, "left": None}}
                text = json.dumps(steady)
                if text != last or time.monotonic() - sent > 1.0:
                    yield f"data: {json.dumps(state)}\n\n"
                    last, sent = text, time.monotonic()
                if state["state"] != "running" or await request.is_disconnected():
                    return
                await asyncio.sleep(TICK)

        return StreamingResponse(tell(), media_type="text/event-stream")

    async def upload(self, request: Request) -> Response:
        length = request.headers.get("content-length", "")
        expected = int(length) if length.isdigit() else None
        name = request.query_params.get("name", "")
        kept = await self.folder.receive(name, request.stream(), self.settings.max_upload, expected)
        return JSONResponse({"name": kept})

    async def inspect(self, request: Request) -> Response:
        content = await _body(request)
        path = self.folder.table(content.get("table"))
        choices = Choices.read({"target": "?", **content}).to_dict() | {"target": content.get("target") or None}
        return JSONResponse(await self._inspect(path, choices))

    async def _inspect(self, path: Path, choices: dict[str, Any]) -> dict[str, Any]:
        """Say what is understood of a table; a large one is not read again for the same question."""
        about = path.stat()
        asked = [path.name, about.st_mtime_ns, about.st_size, *(choices.get(name) for name in READING)]
        key = json.dumps(asked, sort_keys=True)
        if (known := self._understood.get(key)) is None:
            known = await self.workers.call(_work.inspect, str(path), choices)
            if len(self._understood) > 20:
                self._understood.clear()
            self._understood[key] = known
        return known

    async def start(self, request: Request) -> Response:
        content = await _body(request)
        content.pop("schema", None)
        return await self._begin(Choices.read(content))

    async def again(self, request: Request) -> Response:
        """Start a run once more without some columns."""
        content = await _body(request)
        job, without = self.folder.job(self.folder.run(content.get("id")).name), content.get("without")
        if job is None:
            raise InputError("This run was started in a terminal. Use the command in its report.")
        if not isinstance(without, list) or not all(isinstance(name, str) for name in without):
            raise InputError("The columns to exclude must be a list of names. Reload the page.")
        before = {**job["choices"], "schema": None}
        kinds = {**(before.get("kinds") or {}), **dict.fromkeys(without, "left out")}
        return await self._begin(Choices.read({**before, "kinds": kinds}))

    async def _begin(self, choices: Choices) -> Response:
        path = self.folder.table(choices.table)
        inspection = await self._inspect(path, choices.to_dict())
        if choices.readings is None:
            name = _work.schema_name(inspection["schema"], path.name)
            await run_in_threadpool(write_atomically, self.folder.path / OURS / name, inspection["schema"].encode())
            choices = Choices.read({**choices.to_dict(), "schema": f"{OURS}/{name}"})
        names = [column["name"] for column in inspection["columns"] if column["role"] == "feature"]
        run = await run_in_threadpool(self.jobs.start, choices, names[:5000])
        return JSONResponse({"id": run})

    async def act(self, action: Callable[[str], None], request: Request) -> Response:
        """Stop, resume or delete a run."""
        name = self.folder.run((await _body(request)).get("id")).name
        await run_in_threadpool(action, name)
        return JSONResponse({"id": name})


def features_of(result: dict[str, Any], prefer: str | None, size: str | None) -> list[str]:
    """Return the features of an answer: those of the run, of another preference, or of a number of them.

    Parameters
    ----------
    result : dict
        From `result.json`.
    prefer, size : str or None
        As in the form; None takes the answer.

    Returns
    -------
    list of str

    Examples
    --------
    >>> evidence = {"features": ["b", "a"], "answers": [{"size": 1, "places": [1]}, {"size": 2, "places": [0, 1]}]}
    >>> result = {"features": ["b"], "curve": {"answers": {"fewest": ["a"]}}, "evidence": evidence}
    >>> features_of(result, None, None), features_of(result, "fewest", None), features_of(result, None, "2")
    (['b'], ['a'], ['b', 'a'])
    """
    curve = result.get("curve") or {}
    if prefer:
        features = curve.get("answers", {}).get(prefer)
    elif size:
        evidence = result.get("evidence") or {}
        places = {str(answer["size"]): answer["places"] for answer in evidence.get("answers", ())}
        features = [evidence["features"][place] for place in places[size]] if size in places else None
    else:
        features = result.get("features")
    if features is None:
        raise InputError("This run has no result for that choice. Choose another, or start a new run.")
    if not features:
        raise InputError("No feature was selected, so there is nothing to keep.")
    return list(features)


def _told_of(place: Path | None) -> dict[str, Any]:
    """Return what the page of a run shows: the verdict, the scores, warnings, and the answers at other sizes."""
    result = {} if place is None else read_json(place)
    answer: dict[str, Any] = {"features": result.get("features") or [], "prefer": result.get("prefer") or ""}
    answer |= {"answers": (result.get("curve") or {}).get("answers") or {}, "stops": []}
    shown: dict[str, Any] = {"answer": answer, **dict.fromkeys(("verdict", "scores"), "")}
    shown |= {name: [] for name in ("suspicions", "suspects", "warnings")}
    if not result:
        return shown
    is_detector = "operating_point" in result
    try:
        text = json.dumps(result)
        outcome = Comparison.from_json(text) if "methods" in result else Selection.from_json(text)
        shown |= {"verdict": outcome.verdict, "suspicions": outcome.suspicions, "suspects": outcome.suspects}
        if isinstance(outcome, Comparison):
            shown["warnings"] = outcome.notes
        else:
            shown |= {"scores": outcome.scores, "warnings": worries(outcome)}
            answer["stops"] = slider_stops(outcome) if answer["features"] and not is_detector else []
    except (InputError, KeyError, TypeError, AttributeError, ValueError, IndexError):
        shown["verdict"] = shown["verdict"] or "The result of this run is damaged. Start the run again."
    if is_detector:
        lines = str(result.get("summary", "")).split("\n")  # the hull's own rates are too good
        shown["verdict"] = " ".join(line for line in lines if line.startswith(("Expected", "Of 1,000")))
    return shown


def _pipeline(result: dict[str, Any], features: list[str]) -> str:
    if "operating_point" in result or "methods" in result:
        raise InputError("Only a selection has a pipeline. Download the results or the code.")
    return Selection.from_json(json.dumps(result)).pipeline_json(features if features != result["features"] else None)


async def _body(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise InputError("The request must be JSON.")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BODY:
            raise InputError("The request is too large.")
        parts.append(part)
    try:
        content = json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        raise InputError("The request must be JSON.") from None
    if not isinstance(content, dict):
        raise InputError("The request must be a JSON object.")
    return content


def _file(content: str | bytes, name: str, kind: str) -> Response:
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    plain = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    shown = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return Response(data, media_type=kind, headers={"content-disposition": shown})


def _render(template: str, **content: Any) -> str:
    """Fill a template; everything that is put in is escaped."""
    environment = environment_of("fewer.serve")
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return environment.get_template(template).render(**content)
