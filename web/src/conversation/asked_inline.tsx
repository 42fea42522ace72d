// A question inside the turn that asked it. Its name in addresses is the daemon's to tell.

import { createResource, Show, type JSX } from "solid-js";
import { get } from "../api/client";
import type { AskedHere, Question } from "../api/types";
import { QuestionForm } from "../ui/question_form";
import { Failure, Loading } from "../ui/states";
import type { ConversationModel } from "./model";
import type { Turn } from "./turn";

export function AskedInline(props: { model: ConversationModel; turn: Turn; question: Question }): JSX.Element {
  const [asked, { refetch }] = createResource(
    () => props.question.id,
    async (id) => {
      const { questions } = await get<{ questions: AskedHere[] }>("/questions", { conversation: props.model.id, open: true });
      return questions.find((one) => one.run === props.turn.id && one.question.id === id)?.id;
    },
  );
  return (
    <Show when={!asked.error} fallback={<Failure error={asked.error} again={() => void refetch()} />}>
      <Show when={asked()} fallback={<Loading lines={1} label="Loading the question" />}>
        {(id) => <QuestionForm id={id()} question={props.question} />}
      </Show>
    </Show>
  );
}
