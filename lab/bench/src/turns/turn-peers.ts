import {
  AgentSession,
  AgentState,
  assistantMessage,
  createAgentLoop,
  sendMessage,
  SessionRuntime,
  userMessage,
  type AgentLoop,
  type Message,
} from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { generateText } from 'ai';
import { instantModel } from '../peers/instant-model.ts';
import { Job } from '../peers/job.ts';
import { coreLoop, echoTool } from '../peers/core.ts';
import { openSessionStore, type OpenStore, type SessionStoreName } from '../stores/session-stores.ts';
import type { StorePlace } from '../stores/store-peer.ts';

/** A conversation of so many messages that takes one turn after the other. */
export interface Conversation {
  /** Sends a question, and returns the text of the model. */
  turn(): Promise<string | undefined>;
  /** Deletes the conversation. */
  close(): Promise<unknown>;
}

/** A peer that takes turns in conversations. */
export interface TurnPeer {
  /** A conversation that has so many messages, the last of them from a turn that this process took. */
  begin(messages: number): Promise<Conversation>;
  close(): Promise<void>;
}

const TEXT = 't'.repeat(200);
const QUESTION = 'Continue.';
const AGENT = 'bench';

/** The steps with a tool call before the answer, in a turn of several steps. */
const STEPS = 10;

/**
 * Opens what takes turns; in a store, at a place of its own. `core` is the loop with a driver that answers at once,
 * `driver-ai-sdk` the loop with that driver and an AI SDK model that does; both store nothing, and their turns with `steps`
 * call a tool in each step. `core memory` stores the sessions of `core` in memory. The stores have sessions of
 * `driver-ai-sdk`.
 */
export const TURNS = {
  generateText: async () => aiTurns(),
  core: async () => loopTurns(plainLoop()),
  'driver-ai-sdk': async () => loopTurns(aiSdkLoop()),
  'core steps': async () => loopTurns(plainLoop(STEPS)),
  'driver-ai-sdk steps': async () => loopTurns(aiSdkLoop(STEPS)),
  'core memory': async (place) => sessionTurns(await openSessionStore('memory', place), plainLoop()),
  memory: stored('memory'),
  redis: stored('redis'),
  sqlite: stored('sqlite'),
  'sqlite NORMAL': stored('sqlite NORMAL'),
} satisfies Readonly<Record<string, (place: StorePlace) => Promise<TurnPeer>>>;

export type TurnName = keyof typeof TURNS;

// The keys of the table above are the names.
export const TURN_NAMES = Object.keys(TURNS) as readonly TurnName[];

function stored(name: SessionStoreName) {
  return async (place: StorePlace) => sessionTurns(await openSessionStore(name, place), aiSdkLoop());
}

function plainLoop(steps = 0): AgentLoop {
  return coreLoop(new Job({ steps }));
}

function aiTurns(): TurnPeer {
  const model = instantModel(new Job({ steps: 0 }));
  return {
    begin: async (count) => {
      const history = Array.from({ length: count }, (_, index) => ({ role: roleOf(index), content: TEXT }));
      const messages = [...history, { role: 'user' as const, content: QUESTION }];
      return { turn: async () => (await generateText({ model, messages })).text, close: nothing };
    },
    close: nothing,
  };
}

function loopTurns(loop: AgentLoop): TurnPeer {
  return {
    begin: async (count) => {
      let state = stateOf(count);
      const turn = async (): Promise<string | undefined> => {
        state = await loop.run(state.withUserMessage(QUESTION));
        return state.finalResponse;
      };
      return { turn, close: nothing };
    },
    close: nothing,
  };
}

/** A turn as an application takes it: it claims the session, saves at each effect, and releases the claim. */
function sessionTurns({ store, close }: OpenStore, loop: AgentLoop): TurnPeer {
  const runtime = new SessionRuntime({ store, agents: { [AGENT]: loop } });
  return {
    begin: async (count) => {
      const state = stateOf(count - 2);
      const { sessionId } = await store.create(AgentSession.create({ definition: { name: AGENT }, state }));
      const turn = async (): Promise<string | undefined> =>
        (await runtime.execute(sessionId, sendMessage(QUESTION))).state.finalResponse;
      // From here on this process is the last that saved it.
      await turn();
      return { turn, close: () => runtime.delete(sessionId) };
    },
    close,
  };
}

function aiSdkLoop(steps = 0): AgentLoop {
  const job = new Job({ steps });
  return createAgentLoop({ driver: aiSdkDriver({ model: instantModel(job) }), tools: [echoTool(job)] });
}

function stateOf(count: number): AgentState {
  return AgentState.empty().withMessages(Array.from({ length: count }, (_, index) => messageOf(index)));
}

function messageOf(index: number): Message {
  return roleOf(index) === 'user' ? userMessage(TEXT) : assistantMessage(TEXT);
}

function roleOf(index: number): 'user' | 'assistant' {
  return index % 2 === 0 ? 'user' : 'assistant';
}

async function nothing(): Promise<void> {}
