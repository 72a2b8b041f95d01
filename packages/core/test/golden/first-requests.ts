import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AgentSession, AgentState, createAgentLoop, StateFormatError, tool, type Tool } from '@holdfast/core';
import { STRICTEST_FORM, USUAL_FORM, type InferenceRequest, type RequestForm } from '@holdfast/core/driver';
import { applyOutcome } from '@holdfast/core/engine';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { writeGolden } from './write-golden.ts';

/** The golden files of first requests, one for each state and session that an earlier release stored. */
export const requestsFolder: string = fileURLToPath(new URL('./first-requests/', import.meta.url));

/** The folders of stored states and sessions, and how their files are read. */
const SOURCES: Readonly<Record<string, (json: unknown) => AgentState>> = {
  v1: (json) => AgentState.fromJSON(json),
  'v2-open': (json) => AgentState.fromJSON(json),
  'agent-session/v1': (json) => AgentSession.fromJSON(json).state,
  'agent-session/v2': (json) => AgentSession.fromJSON(json).state,
};

/** The stored states by a name of their own. */
export async function storedStates(): Promise<ReadonlyMap<string, AgentState>> {
  const states = new Map<string, AgentState>();
  for (const [folder, read] of Object.entries(SOURCES)) {
    const url = new URL(`./${folder}/`, import.meta.url);
    for (const file of (await readdir(url)).toSorted()) {
      const json: unknown = JSON.parse(await readFile(new URL(file, url), 'utf8'));
      states.set(`${folder.replace('/', '-')}-${file.replace('.json', '')}`, read(json));
    }
  }
  return states;
}

/** Returns the first request of a stored state that continues, in the usual form and in the strictest one. */
export async function firstRequests(state: AgentState): Promise<object> {
  return {
    usual: await firstRequest(state, USUAL_FORM),
    strictest: await firstRequest(state, STRICTEST_FORM),
  };
}

const AT = Date.UTC(2027, 0, 1);

/** A state that asks for nothing receives a message of the user; one that waits for a person, a decision. */
async function firstRequest(state: AgentState, form: RequestForm): Promise<object | null> {
  const asked = state.hasActiveExecution ? state : withQuestion(state);
  const ended = withQuestion(state.withExecutionCompleted(AT));
  for (const next of [asked, withQuestion(state), withDecisions(state), ended]) {
    const request = await requestOf(next, form);
    if (request !== undefined) return request;
  }
  return null;
}

function withQuestion(state: AgentState): AgentState {
  return state.withUserMessage('And now?', { clock: steppedClock(AT) }, AT);
}

/** The state with an approval of each call that waits for one. */
function withDecisions(state: AgentState): AgentState {
  const waiting = state.currentStep?.toolExecutions.filter(({ isAwaitingApproval }) => isAwaitingApproval);
  if (!waiting?.length) return state;
  const toolExecutions = waiting.map((execution) => execution.withDecision({ type: 'approved', at: AT }));
  return applyOutcome(state, { type: 'toolsAdvanced', toolExecutions, at: AT });
}

async function requestOf(state: AgentState, form: RequestForm): Promise<object | undefined> {
  const scripted = scriptedDriver('Done.', 'Done.', 'Done.');
  const loop = createAgentLoop({
    driver: { infer: (...given) => scripted.infer(...given), formOf: () => form },
    tools: toolsOf(state),
    clock: steppedClock(Date.UTC(2027, 0, 1, 1)),
  });
  await loop.run(state).catch((error: unknown) => {
    // The subagent inside of some states is a stand-in, which no loop can continue.
    if (!(error instanceof StateFormatError)) throw error;
  });
  const [request] = scripted.requests;
  return request && shown(request);
}

/** The parts of a request that providers receive. */
function shown({ systemPrompt, tools, toolChoice, messages }: InferenceRequest): object {
  return {
    systemPrompt,
    tools: tools.map(({ name }) => name),
    toolChoice,
    messages: messages
      .toArray()
      .map(({ role, content, providerOptions }) => ({ role, content, providerOptions })),
  };
}

/** A tool for each legal name that the state calls. */
function toolsOf({ messages, steps, currentStep }: AgentState): readonly Tool[] {
  const stepNames = [...steps, ...(currentStep ? [currentStep] : [])].flatMap(({ toolExecutions }) =>
    toolExecutions.map(({ name }) => name),
  );
  const names = messages
    .toArray()
    .flatMap(({ content }) => content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : [])));
  const legal = [...new Set([...stepNames, ...names])].filter((name) => /^[\w-]{1,64}$/.test(name));
  return legal
    .toSorted()
    .map((name) =>
      tool({ name, description: name, inputSchema: { type: 'object' }, execute: () => 'Executed.' }),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const values: Record<string, () => object> = {};
  for (const [name, state] of await storedStates()) {
    const requests = await firstRequests(state);
    values[name] = () => requests;
  }
  const written = await writeGolden(requestsFolder, values);
  process.stdout.write(`Written: ${written.join(', ') || 'nothing, all files exist'}\n`);
}
