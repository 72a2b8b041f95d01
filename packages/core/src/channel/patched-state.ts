import {
  DocumentReader as Reader,
  readInstant,
  readString,
  type DocumentReader,
  type Read,
} from '../document.ts';
import type { JsonObject } from '../json.ts';
import { AgentState } from '../state/agent-state.ts';
import type { AgentContext } from '../state/context.ts';
import { snapshotVersion } from '../state/snapshot.ts';
import { ExecutionState } from '../state/execution/execution.ts';
import type { StepExecution } from '../state/execution/step-execution.ts';
import { readContextLimit } from '../state/inference/context-limit.ts';
import { readLlmConfig, readResponseFormat } from '../state/inference/llm-config.ts';
import { MessageStore } from '../state/messages/message-store.ts';
import { readMessage, type Messages } from '../state/messages/messages.ts';
import { Metadata, readMetadata } from '../state/values/metadata.ts';
import { AgentId } from '../state/values/ids.ts';
import { GrownList } from '../state/values/known-part.ts';
import { List } from '../state/values/list.ts';
import type { SectionChange, StatePatch, StepChange } from './state-patch.ts';

/** The document of an open step, and the messages of its patch that it refers to. */
interface StepOfPatch {
  readonly step: Readonly<Record<string, unknown>>;
  readonly otherMessages: readonly object[] | undefined;
}

/** A state to which the patches of one series are applied, in order. Immutable. */
export class PatchedState {
  readonly state: AgentState;
  /** The open step as the patches had it. */
  private readonly written: StepOfPatch | undefined;

  constructor(state: AgentState, written?: StepOfPatch) {
    this.state = state;
    this.written = written;
  }

  /**
   * Returns the state after a patch.
   * @throws StateFormatError for a patch that does not fit the state; `STATE_VERSION` when a newer release wrote it.
   */
  with(document: JsonObject): PatchedState {
    return Reader.read(document, (reader) => this.patched(reader, document as unknown as StatePatch));
  }

  private patched(reader: DocumentReader, patch: StatePatch): PatchedState {
    requireVersion(reader, patch.version);
    const before = this.state;
    const context = patchedContext(reader, before.context, patch);
    const written = this.writtenAfter(reader, patch);
    const state = AgentState.restore({
      ...readIdentity(reader, before, patch.identity),
      updatedAt: readInstant(reader, patch.updatedAt),
      executionCount: patch.executionCount,
      contextLimit: valueOf(reader, patch, 'contextLimit', readContextLimit, before.contextLimit),
      llmConfig: valueOf(reader, patch, 'llmConfig', readLlmConfig, before.llmConfig),
      context,
      execution: executionAfter(reader, { before: before.execution, patch, store: context.store, written }),
    });
    return new PatchedState(state, written);
  }

  private writtenAfter(reader: DocumentReader, patch: StatePatch): StepOfPatch | undefined {
    const { execution, step, stepChange, otherMessages } = patch;
    if (execution === undefined) return this.written;
    if (stepChange === undefined) return step && { step: reader.object(step), otherMessages };
    const { written } = this;
    if (written === undefined) return reader.fail('a whole step before changes of it', stepChange);
    return { ...written, step: changedStep(written.step, stepChange) };
  }
}

function requireVersion(reader: DocumentReader, version: number): void {
  const newest = snapshotVersion('holdfast/agent-state');
  if (!(version <= newest)) reader.fail(`version ${newest} or older`, version, 'STATE_VERSION');
  reader.version = version;
}

type Identity = Pick<AgentState, 'agentId' | 'parentAgentId' | 'createdAt'>;

function readIdentity(
  reader: DocumentReader,
  { agentId, parentAgentId, createdAt }: Identity,
  changed: object | undefined,
): Identity {
  if (changed === undefined) return { agentId, parentAgentId, createdAt };
  const members = reader.object(changed);
  return {
    agentId: reader.required(members, 'agentId', AgentId.read),
    parentAgentId: reader.optional(members, 'parentAgentId', AgentId.read),
    createdAt: reader.required(members, 'createdAt', readInstant),
  };
}

/** Returns a value after a patch: the changed one, or the one before. */
function valueOf<T>(
  reader: DocumentReader,
  { values = {} }: StatePatch,
  name: string,
  read: Read<T>,
  before: T | undefined,
): T | undefined {
  if (values[name] === undefined) return before;
  return values[name] === null ? undefined : reader.required(values, name, read);
}

function patchedContext(reader: DocumentReader, before: AgentContext, patch: StatePatch): AgentContext {
  const { sections = [], isWhole, values } = patch;
  if (sections.length === 0 && values === undefined && !isWhole) return before;
  const { systemPrompt, responseFormat, metadata } = before;
  return before.with({
    systemPrompt: valueOf(reader, patch, 'systemPrompt', readString, systemPrompt),
    responseFormat: valueOf(reader, patch, 'responseFormat', readResponseFormat, responseFormat),
    metadata: valueOf(reader, patch, 'metadata', readMetadata, metadata) ?? Metadata.empty,
    store: sections.reduce(
      (store, change) => store.withChecked(change.name, messagesAfter(reader, store, change)),
      isWhole ? MessageStore.empty : before.store,
    ),
  });
}

function messagesAfter(
  reader: DocumentReader,
  store: MessageStore,
  { name, keep, append }: SectionChange,
): Messages {
  const before = store.section(name);
  const added = reader.list(append, readMessage);
  return firstOf(reader, before, keep).concat(added);
}

function firstOf<T>(reader: DocumentReader, list: List<T>, count: number): List<T> {
  if (count === list.length) return list;
  if (!(count < list.length)) return reader.fail(`at most ${list.length} elements to keep`, count);
  return List.from(list.slice(0, count));
}

interface ExecutionParts {
  readonly before: ExecutionState | undefined;
  readonly patch: StatePatch;
  readonly store: MessageStore;
  readonly written: StepOfPatch | undefined;
}

function executionAfter(
  reader: DocumentReader,
  { before, patch, store, written }: ExecutionParts,
): ExecutionState | undefined {
  const { execution, keepSteps = 0, steps = [] } = patch;
  if (execution === undefined) return before;
  if (execution === null) return undefined;
  const known = before?.stepExecutions ?? List.empty<StepExecution>();
  const { step: currentStep, otherMessages = patch.otherMessages } = written ?? {};
  const grown = new GrownList(firstOf(reader, known, keepSteps), steps);
  const document = { ...execution, steps: grown, ...(currentStep && { currentStep }) };
  const whole = otherMessages ? { ...document, otherMessages } : document;
  return ExecutionState.decode(reader, whole, store);
}

function changedStep(step: StepOfPatch['step'], { calls = [], ...members }: StepChange): StepOfPatch['step'] {
  if (calls.length === 0) return { ...step, ...members };
  const toolExecutions = [...((step['toolExecutions'] as readonly object[] | undefined) ?? [])];
  for (const [index, call] of calls) toolExecutions[index] = call;
  return { ...step, ...members, toolExecutions };
}
