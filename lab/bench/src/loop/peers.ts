import { load } from '../../peers/load.ts';
import type { Peer } from '../peers/peer.ts';

export type PeerName =
  | 'core'
  | 'driver-ai-sdk'
  | 'generateText'
  | 'ToolLoopAgent'
  | '@openai/agents'
  | '@langchain/langgraph'
  | '@strands-agents/sdk'
  | 'raw';

export interface PeerEntry {
  /** The modules that a user imports. */
  readonly modules: readonly string[];
  /** Imports one of the modules from where it is installed. */
  importModule(specifier: string): Promise<unknown>;
  /** The folder from which packages are found. */
  readonly folder: URL;
  /** True when no target depends on it: a quick run spends less on it. */
  readonly isReference?: boolean;
  /** Imports the adapter, and with it the framework. */
  open(): Promise<Peer>;
}

const MEMBER = {
  folder: new URL('../..', import.meta.url),
  importModule: (specifier: string): Promise<unknown> => import(specifier),
};

const OUTSIDER = {
  folder: new URL('../../peers/', import.meta.url),
  importModule: (specifier: string): Promise<unknown> => load(specifier),
  isReference: true,
};

/** Everything that is measured, in the order of the tables. */
export const PEERS: Readonly<Record<PeerName, PeerEntry>> = {
  core: {
    ...MEMBER,
    modules: ['@holdfast/core'],
    open: async () => (await import('../peers/core.ts')).core,
  },
  'driver-ai-sdk': {
    ...MEMBER,
    modules: ['@holdfast/core', '@holdfast/driver-ai-sdk'],
    open: async () => (await import('../peers/driver-ai-sdk.ts')).driverAiSdk,
  },
  generateText: {
    ...MEMBER,
    modules: ['ai'],
    open: async () => (await import('../peers/generate-text.ts')).aiGenerateText,
  },
  ToolLoopAgent: {
    ...MEMBER,
    modules: ['ai'],
    isReference: true,
    open: async () => (await import('../peers/tool-loop-agent.ts')).aiToolLoopAgent,
  },
  '@openai/agents': {
    ...OUTSIDER,
    modules: ['@openai/agents'],
    open: async () => (await import('../peers/openai-agents.ts')).openaiAgents,
  },
  '@langchain/langgraph': {
    ...OUTSIDER,
    modules: ['@langchain/langgraph', '@langchain/langgraph/prebuilt'],
    open: async () => (await import('../peers/langgraph.ts')).langgraph,
  },
  '@strands-agents/sdk': {
    ...OUTSIDER,
    modules: ['@strands-agents/sdk'],
    open: async () => (await import('../peers/strands.ts')).strands,
  },
  raw: {
    ...MEMBER,
    modules: [],
    open: async () => (await import('../peers/raw.ts')).raw,
  },
};

// The keys of the table above are the names.
export const PEER_NAMES = Object.keys(PEERS) as readonly PeerName[];
