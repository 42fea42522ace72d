// Short names for what the API sends. The types themselves are generated from its OpenAPI document.

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type Attachment = Schemas["Attachment"];
export type Conversation = Schemas["ConversationDetail"];
export type ConversationRow = Schemas["ListedRow"];
export type Decision = Schemas["Decision"];
export type GuardCheck = Schemas["GuardCheck"];
export type ProblemBody = Schemas["ProblemBody"];
export type Question = Schemas["QuestionBody"];
export type AskedHere = Schemas["AskedHere"];
export type Receipt = Schemas["Receipt"];
export type Run = Schemas["ShownRun"];
export type RunStatus = Schemas["RunStatus"];
export type Queue = Schemas["ShownQueue"];
export type QueueChange = Schemas["QueueChange"];
export type TakenRun = Schemas["TakenRun"];
export type TreePage = Schemas["TreePage"];
export type TreeEntry = Schemas["TreeEntry"];
export type TurnBody = Schemas["TurnBody"];
export type TurnStatus = Schemas["TurnStatus"];
export type TurnsWindow = Schemas["TurnsWindow"];
export type Usage = Schemas["Usage"];
export type Wanted = Schemas["Wanted"];
export type Why = Schemas["Why"];
export type Project = Schemas["Project"];
