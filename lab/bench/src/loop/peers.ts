import { load } from '../../peers/load.ts';
import type { Peer } from '../peers/peer.ts';

export interface PeerEntry {
  /** The modules that a user imports. */
  readonly modules: readonly string[];
  /** Imports one of the modules from where it is installed. */
  importModule(specifier: string): Promise<unknown>;
  /** The folder from which packages are found. */
  readonly folder: URL;
  /** True when no target depends on it: a quick run spends less on it. */
  readonly isReference: boolean;
  /** Imports the adapter, and with it the framework. */
  open(): Promise<Peer>;
}

type OpenPeer = PeerEntry['open'];

/** A peer that is installed in this package. */
function member(modules: readonly string[], open: OpenPeer, isReference = false): PeerEntry {
  const folder = new URL('../..', import.meta.url);
  return { folder, modules, open, isReference, importModule: (specifier) => import(specifier) };
}

/** A peer that is installed in the folder of the others. */
function outsider(modules: readonly string[], open: OpenPeer): PeerEntry {
  const folder = new URL('../../peers/', import.meta.url);
  return { folder, modules, open, isReference: true, importModule: load };
}

/** Everything that is measured, in the order of the tables. */
export const PEERS = {
  core: member(['@holdfast/core'], async () => (await import('../peers/core.ts')).core),
  'driver-ai-sdk': member(
    ['@holdfast/core', '@holdfast/driver-ai-sdk'],
    async () => (await import('../peers/driver-ai-sdk.ts')).driverAiSdk,
  ),
  generateText: member(['ai'], async () => (await import('../peers/generate-text.ts')).aiGenerateText),
  ToolLoopAgent: member(
    ['ai'],
    async () => (await import('../peers/tool-loop-agent.ts')).aiToolLoopAgent,
    true,
  ),
  '@openai/agents': outsider(
    ['@openai/agents'],
    async () => (await import('../peers/openai-agents.ts')).openaiAgents,
  ),
  '@langchain/langgraph': outsider(
    ['@langchain/langgraph', '@langchain/langgraph/prebuilt'],
    async () => (await import('../peers/langgraph.ts')).langgraph,
  ),
  '@strands-agents/sdk': outsider(
    ['@strands-agents/sdk'],
    async () => (await import('../peers/strands.ts')).strands,
  ),
  raw: member([], async () => (await import('../peers/raw.ts')).raw),
};

export type PeerName = keyof typeof PEERS;

// The keys of the table above are the names.
export const PEER_NAMES = Object.keys(PEERS) as readonly PeerName[];
