"""One conversation of two turns, by a client that was generated from the OpenAPI document."""

import os
import sys

from httpx import Timeout
from rejoin_client import AuthenticatedClient
from rejoin_client.api.runs import begin_run, show_run
from rejoin_client.models import ProblemBody, RunStatus, ShownRun, TakenRun, Wanted

UNDER_WAY = {RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING}


def turn(client: AuthenticatedClient, wanted: Wanted) -> ShownRun:
    """Asks for a turn and waits for its end."""
    taken = begin_run.sync(client=client, body=wanted)
    if not isinstance(taken, TakenRun):
        sys.exit(problem(taken))
    while True:
        run = show_run.sync(taken.run, client=client, wait=30)
        if not isinstance(run, ShownRun):
            sys.exit(problem(run))
        if run.status not in UNDER_WAY:
            return run


def problem(answer: ProblemBody | None) -> str:
    return f"{answer.code.value}: {answer.detail}" if answer else "no answer that can be understood"


def decision(run: ShownRun) -> str:
    return "resumed" if run.session_resumed else f"fresh ({run.reason})"


def main() -> None:
    client = AuthenticatedClient(os.environ["REJOIN_URL"], os.environ["REJOIN_TOKEN"], timeout=Timeout(60))
    first = turn(client, Wanted(project=os.getcwd(), agent="demo", prompt="remember MARK-a"))
    print("first: ", first.status.value, decision(first))
    second = turn(client, Wanted(conversation=str(first.conversation), prompt="which marks were there?"))
    print("second:", second.status.value, decision(second))


main()
