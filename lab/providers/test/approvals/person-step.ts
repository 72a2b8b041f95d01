import { createOpenAI } from '@ai-sdk/openai';
import {
  approve,
  cancel,
  createAgentLoop,
  deny,
  editMessage,
  HoldfastError,
  pendingApprovals,
  regenerate,
  sendMessage,
  SessionRuntime,
  type AgentState,
  type SessionAction,
} from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { fromAiSdkTools } from '@holdfast/driver-ai-sdk/tools';
import { SqliteSessionStore } from '@holdfast/store-sqlite';

/** An act of a person on a session. `call` is the id of a tool execution. */
export type PersonAct =
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'approve' | 'deny'; readonly call: string }
  | { readonly type: 'edit'; readonly text: string }
  | { readonly type: 'create' | 'fork' | 'regenerate' | 'cancel' };

/** An act on a session of a database file, with a model at an address. */
export interface PersonStep {
  readonly file: string;
  readonly url: string;
  readonly sessionId: string;
  readonly act: PersonAct;
}

/** The session after a step. */
export interface StepEnd {
  readonly sessionId: string;
  readonly status: string;
  readonly response: string;
  /** The ids of the tool executions that wait for a decision. */
  readonly waiting: readonly string[];
  /** The code of the error with which the step was refused. */
  readonly refusedWith?: string;
}

/** Takes a step with a runtime of its own, which knows only what the file holds. */
export async function takeStep({ file, url, sessionId, act }: PersonStep): Promise<StepEnd> {
  const store = await SqliteSessionStore.open({ path: file });
  try {
    const runtime = new SessionRuntime({ store, agents: { reader: await agentAt(url) } });
    return await stepEnd(runtime, sessionId, act);
  } finally {
    await store.close();
  }
}

async function agentAt(url: string) {
  const openai = createOpenAI({ apiKey: 'none', baseURL: url });
  const docs = openai.tools.mcp({
    serverLabel: 'docs',
    serverUrl: 'https://docs.example/mcp',
    requireApproval: 'always',
  });
  return createAgentLoop({
    driver: aiSdkDriver({ model: openai('gpt-5'), maxRetries: 0 }),
    tools: await fromAiSdkTools({ docs }),
  });
}

async function stepEnd(runtime: SessionRuntime, sessionId: string, act: PersonAct): Promise<StepEnd> {
  try {
    const changed = await changedSession(runtime, sessionId, act);
    return endOf(changed.sessionId, changed.state);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { ...endOf(sessionId, (await runtime.get(sessionId)).state), refusedWith: error.code };
  }
}

async function changedSession(runtime: SessionRuntime, sessionId: string, act: PersonAct) {
  if (act.type === 'create') return runtime.create({ definition: { name: 'reader' } });
  if (act.type === 'fork') return runtime.fork(sessionId);
  const { state } = await runtime.get(sessionId);
  return runtime.execute(sessionId, actionOf(act, state), { whenBusy: 'refuse', waitSeconds: 60 });
}

function actionOf(act: Exclude<PersonAct, { type: 'create' | 'fork' }>, state: AgentState): SessionAction {
  switch (act.type) {
    case 'send':
      return sendMessage(act.text);
    case 'approve':
      return approve(act.call);
    case 'deny':
      return deny(act.call);
    case 'edit':
      return editMessage(lastQuestion(state), act.text);
    case 'regenerate':
      return regenerate();
    case 'cancel':
    default:
      return cancel();
  }
}

function lastQuestion({ messages }: AgentState): string {
  const question = messages.toArray().findLast(({ role }) => role === 'user');
  if (question === undefined) throw new Error('The conversation has no user message.');
  return question.id;
}

function endOf(sessionId: string, state: AgentState): StepEnd {
  const waiting = pendingApprovals(state).map(({ id }) => id);
  return { sessionId, status: state.status ?? 'none', response: state.finalResponse ?? '', waiting };
}
