"""The leaf classes every host application registers under the same names."""

import os
import time
from typing import Annotated, Any

import ice
from ice import IceField, Roam


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@ice.leaf("com.sample.ScoreFlow", name="Score check", desc="roam[key] >= score", order=1)
class ScoreFlow:
    score: Annotated[float, IceField(name="threshold", desc="min score")] = 0.0
    key: Annotated[str, IceField(name="key")] = "score"
    memo: str = ""

    def do_flow(self, roam: Roam) -> bool:
        value = roam.get_deep(self.key)
        return is_number(value) and value >= self.score


@ice.leaf("com.sample.AgeFlow", name="Age check")
class AgeFlow:
    min: Annotated[int, IceField(name="minimum")] = 0

    def do_flow(self, roam: Roam) -> bool:
        age = roam.get("age")
        return is_number(age) and age >= self.min


@ice.leaf("com.sample.UidFlow")
class UidFlow:
    def do_flow(self, roam: Roam) -> bool:
        return roam.get("uid") is not None


@ice.leaf("com.sample.AmountResult", name="Issue")
class AmountResult:
    prefix: Annotated[str, IceField(name="prefix")] = ""
    amount: Annotated[int, IceField(name="amount")] = 0

    def do_result(self, roam: Roam) -> bool:
        uid = roam.get("uid")
        if uid is None:
            return False
        roam.put(self.prefix + "sent", {"uid": uid, "amount": self.amount})
        count = roam.get("count")
        roam.put("count", count + 1 if is_number(count) else 1)
        return True


@ice.leaf("com.sample.BoomFlow")
class BoomFlow:
    text: Annotated[str, IceField(name="text")] = "kaboom"

    def do_flow(self, roam: Roam) -> bool:
        raise RuntimeError(self.text)


@ice.leaf("com.sample.SleepNone")
class SleepNone:
    ms: Annotated[int, IceField(name="ms")] = 0

    def do_none(self, roam: Roam) -> None:
        time.sleep(self.ms / 1000)


@ice.leaf("com.sample.EchoNone", desc="copies roam[key] and names the type this language gave it")
class EchoNone:
    key: Annotated[str, IceField(name="key")] = "value"

    def do_none(self, roam: Roam) -> None:
        value = roam.get(self.key)
        roam.put("echo", value)
        roam.put("echoType", type(value).__name__)


@ice.leaf("com.sample.ProbeNone", desc="reads a composite key")
class ProbeNone:
    key: Annotated[str, IceField(name="key")] = ""

    def do_none(self, roam: Roam) -> None:
        value = roam.get("pre_" + self.key)
        roam.put_deep("probe.last", value)


@ice.leaf("com.sample.DerivedNone", desc="reads the key that another key names")
class DerivedNone:
    def do_none(self, roam: Roam) -> None:
        which = roam.get("which")
        roam.put("derived", roam.get(which))


@ice.leaf("com.sample.UnionNone", desc="a literal, or @ and the key to read")
class UnionNone:
    expr: Annotated[str, IceField(name="expr")] = ""

    def do_none(self, roam: Roam) -> None:
        roam.put("union", roam.resolve(self.expr))


@ice.leaf("com.sample.ExitNone", desc="ends the process")
class ExitNone:
    def do_none(self, roam: Roam) -> None:
        os._exit(3)


@ice.leaf("com.sample.NoteResult", desc="adds a line to a file: an effect that outlives the run")
class NoteResult:
    file: Annotated[str, IceField(name="file")] = ""

    def do_result(self, roam: Roam) -> bool:
        with open(self.file, "a", encoding="utf-8") as notes:
            notes.write("called\n")
        return True
