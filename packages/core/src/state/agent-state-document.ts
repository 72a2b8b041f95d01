import {
  byClass,
  readCount,
  readInstant,
  readOrdered,
  shapeOf,
  since,
  type DocumentReader,
  type Fields,
  type Read,
} from '../document.ts';
import { compact } from '../json.ts';
import { AgentContext } from './context.ts';
import { ExecutionState } from './execution/execution.ts';
import { readContextLimit } from './inference/context-limit.ts';
import { readLlmConfig } from './inference/llm-config.ts';
import type { Init } from './values/copy.ts';
import { AgentId } from './values/ids.ts';
import { orKnown } from './values/known-part.ts';
import { versionOf, writeExecution } from './execution/execution-document.ts';
import { openSnapshot, sealSnapshot, type SnapshotEnvelope } from './snapshot.ts';

const FORMAT = 'holdfast/agent-state';

const AGENT_STATE = shapeOf({
  agentId: AgentId.read,
  'parentAgentId?': AgentId.read,
  createdAt: readInstant,
  updatedAt: readInstant,
  executionCount: readCount,
  'contextLimit?': since(2, readContextLimit),
  'llmConfig?': orKnown(readLlmConfig),
  context: AgentContext.read,
  'execution?': byClass,
});

/** The stored members of a state. All other members are derived from them. */
export type AgentStateFields = Init<
  Fields<typeof AGENT_STATE> & { readonly execution: ExecutionState | undefined },
  'agentId' | 'createdAt' | 'updatedAt' | 'executionCount' | 'context'
>;

/** The large members of a document, which a store can save separately. */
interface LargeParts {
  readonly llmConfig?: object | undefined;
  readonly context?: object;
  readonly execution?: object | undefined;
}

export function writeAgentState(state: AgentStateFields): SnapshotEnvelope {
  const { llmConfig, context, execution } = state;
  return writeAgentStateWith(state, execution === undefined ? 1 : versionOf(execution), {
    llmConfig,
    context: context.toJSON(),
    execution: execution && writeExecution(execution, context.store),
  });
}

/** Returns the document of a state in the given version or a later one, with the given large members. */
export function writeAgentStateWith(
  state: AgentStateFields,
  version: number,
  parts: LargeParts,
): SnapshotEnvelope {
  const { agentId, parentAgentId, createdAt, updatedAt, executionCount, contextLimit } = state;
  const document = { agentId, parentAgentId, createdAt, updatedAt, executionCount, contextLimit, ...parts };
  const ownVersion = contextLimit === undefined ? 1 : 2;
  return sealSnapshot(FORMAT, Math.max(version, ownVersion), compact(document));
}

/** Reads the members of a state. The members of a version 1 document are not migrated yet. */
export function readAgentState(reader: DocumentReader, value: unknown): AgentStateFields {
  const members = openSnapshot(reader, FORMAT, value);
  const own = readOrdered(reader, members, AGENT_STATE);
  const { createdAt, updatedAt, context } = own;
  if (updatedAt < createdAt) reader.fail('updatedAt at or after createdAt', updatedAt);
  const readExecution: Read<ExecutionState> = (r, execution) =>
    ExecutionState.decode(r, execution, context.store);
  return { ...own, execution: reader.optional(members, 'execution', readExecution) };
}
