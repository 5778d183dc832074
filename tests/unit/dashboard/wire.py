"""The dashboard's frames and columns, read by a second implementation."""

import json

import numpy as np


def numbers(column, behind):
    """A column of a frame; the part of it that was sent."""
    if "by" in column:
        return column["start"] + column["by"] * np.arange(column["n"])
    [(name, at)] = [(k, v) for k, v in column.items() if k in ("f32", "f64", "u8", "u16", "u32")]
    kind = np.dtype(f"<{name[0]}{int(name[1:]) // 8}")
    count = column["n"] - (name[0] == "u")
    raw = np.frombuffer(behind[at : at + count * kind.itemsize], kind).astype(float)
    return raw if name[0] == "f" else column["start"] + np.concatenate(([0], np.cumsum(raw)))


def frames(answer):
    """What each frame of an answer says and the bytes behind it."""
    out = []
    while answer:
        told, size = (int.from_bytes(answer[i : i + 4], "little") for i in (0, 4))
        out.append((json.loads(answer[8 : 8 + told]), answer[8 + told : 8 + told + size]))
        answer = answer[8 + told + size :]
    return out


def curves(answer):
    """The curves of an answer to ``/api/curves``, their numbers in place."""
    [(said, behind)] = frames(answer)
    columns = [numbers(c, behind) for c in said["columns"]]
    return [{**c, "steps": columns[c["steps"]], "values": columns[c["values"]]} for c in said["curves"]]


class Browser:
    """Keeps the runs that it was sent, as a page does."""

    def __init__(self):
        self.held = {}

    def take(self, answer):
        """Take an answer to ``/api/page``; how many bytes it had for runs."""
        (_, *runs) = frames(answer)
        for said, behind in runs:
            old = self.held.get(said["id"]) if said["base"] else None
            assert said["base"] == (old and old["version"])
            run = {**(old["run"] if old else {}), **said["run"]}
            if said.get("series"):
                run["series"] = [{**o, **n} for o, n in zip(old["run"]["series"], said["series"], strict=True)]
            columns = []
            for i, column in enumerate(said["columns"]):
                if column is None:
                    columns.append(old["columns"][i])
                else:
                    kept = old["columns"][i][: column["keep"]] if "keep" in column else []
                    columns.append(np.concatenate((kept, numbers(column, behind))))
            self.held[said["id"]] = {"version": said["version"], "run": run, "columns": columns}
        return sum(len(behind) for _, behind in runs), len(runs)

    @property
    def have(self):
        return [f"{id}:{each['version']}" for id, each in self.held.items()]

    def curve(self, id, key):
        run, columns = self.held[id]["run"], self.held[id]["columns"]
        series = next(s for s in run["series"] if s["key"] == key)
        return columns[run["axes"][series["axis"]]], columns[series["values"]]
