import { readCount, readInstant, type DocumentReader } from '../document.ts';
import { compact } from '../json.ts';
import type { AgentStateFields, AgentStateView } from './agent-state-view.ts';
import { AgentContext } from './context.ts';
import { ExecutionState } from './execution/execution.ts';
import { readLlmConfig } from './inference/llm-config.ts';
import { AgentId } from './values/ids.ts';
import { versionOf, writeExecution } from './execution/execution-document.ts';
import { openSnapshot, sealSnapshot, type SnapshotEnvelope } from './snapshot.ts';

const FORMAT = 'holdfast/agent-state';

/** The large members of a document, which a store can save separately. */
interface LargeParts {
  readonly llmConfig?: object | undefined;
  readonly context?: object;
  readonly execution?: object | undefined;
}

/** Returns the document of a state. */
export function writeAgentState(state: AgentStateView): SnapshotEnvelope {
  const { llmConfig, context, execution, store } = state;
  return writeAgentStateWith(state, execution === undefined ? 1 : versionOf(execution), {
    llmConfig,
    context: context.toJSON(),
    execution: execution && writeExecution(execution, store),
  });
}

/** Returns the document of a state in the given version, with the given large members. */
export function writeAgentStateWith(
  state: AgentStateView,
  version: number,
  parts: LargeParts,
): SnapshotEnvelope {
  const { agentId, parentAgentId, createdAt, updatedAt, executionCount } = state;
  const document = { agentId, parentAgentId, createdAt, updatedAt, executionCount, ...parts };
  return sealSnapshot(FORMAT, version, compact(document));
}

const NAMES = new Set([
  'agentId',
  'parentAgentId',
  'createdAt',
  'updatedAt',
  'executionCount',
  'llmConfig',
  'context',
  'execution',
]);

/** Reads the members of a state. The members of a version 1 document are not migrated yet. */
export function readAgentState(reader: DocumentReader, value: unknown): AgentStateFields {
  const members = reader.members(openSnapshot(reader, FORMAT, value), NAMES);
  const createdAt = reader.required(members, 'createdAt', readInstant);
  const updatedAt = reader.required(members, 'updatedAt', readInstant);
  if (updatedAt < createdAt) reader.fail('updatedAt at or after createdAt', updatedAt);
  const context = reader.required(members, 'context', AgentContext.read);
  return {
    agentId: reader.required(members, 'agentId', AgentId.read),
    parentAgentId: reader.optional(members, 'parentAgentId', AgentId.read),
    createdAt,
    updatedAt,
    executionCount: reader.required(members, 'executionCount', readCount),
    llmConfig: reader.optional(members, 'llmConfig', readLlmConfig),
    context,
    execution: reader.optional(members, 'execution', (r, execution) =>
      ExecutionState.decode(r, execution, context.store),
    ),
  };
}
