"""One arm: task after task, with what its memory gives it. All but the memory is the same in all arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.learning.memories import Attempt, Memory, Ran, Recalled
from benchmarks.learning.policy import Agent
from benchmarks.learning.reading import read
from benchmarks.learning.tasks import Task
from benchmarks.learning.world import World

ATTEMPTS = 2  # a task that is rejected twice has failed


def simulate(world: World, tasks: Sequence[Task], memory: Memory) -> Iterator[Ran]:
    """The runs as they went, oldest first."""
    agent, said = Agent(world), list[str]()
    for task in tasks:
        if task.chat:
            said.append(f"- {task.chat}")
        recalled = memory.recall(task.command, task.at)
        ran = _run(world, agent, task, recalled, said)
        memory.record(ran)
        yield ran


def _run(world: World, agent: Agent, task: Task, recalled: Recalled, said: Sequence[str]) -> Ran:
    """`said`: what the user said in passing, word for word. It is in the prompt whatever the memory is."""
    advice = read("\n".join((*said, "", recalled.text)), world)
    kind = world.kinds[task.kind]
    attempts: list[Attempt] = []
    for number in range(ATTEMPTS):
        plan = agent.own_plan(task, advice) if number else agent.first_plan(task, advice)
        verdict = world.attempt(kind, task.said, plan.actions, run=task.run, attempt=number)
        if task.called_off:
            begun = verdict._replace(done=verdict.done[:1], score=0, reason="the user stopped it")
            return Ran(task, recalled, (Attempt(plan.origin, begun),), "cancelled")
        attempts.append(Attempt(plan.origin, verdict))
        if verdict.good:
            return Ran(task, recalled, tuple(attempts), "success")
        advice = advice.with_reason(verdict.reason)
    return Ran(task, recalled, tuple(attempts), "failed")


def simulate_oracle(world: World, tasks: Sequence[Task]) -> Iterator[Ran]:
    """What somebody reaches who knows the world: only noise is left."""
    agent = Agent(world)
    for task in tasks:
        plan = agent.best_plan(task)
        verdict = world.attempt(world.kinds[task.kind], task.said, plan.actions, run=task.run, attempt=0)
        outcome = "success" if verdict.good else "failed"
        yield Ran(task, Recalled(), (Attempt("best", verdict),), outcome)
