import { isSameJson, type JsonObject } from '../json.ts';
import type { AgentState } from '../state/agent-state.ts';
import {
  versionOf,
  versionOfFinished,
  writeExecutionWith,
  writeFinishedSteps,
} from '../state/execution/execution-document.ts';
import { isGrownStore, MessageRefWriter } from '../state/messages/message-refs.ts';
import { writeStep, type StepDocument } from '../state/execution/step-document.ts';
import type { ExecutionState } from '../state/execution/execution.ts';
import type { AgentStep } from '../state/execution/step.ts';
import type { MessageStore, Section } from '../state/messages/message-store.ts';
import { Metadata } from '../state/values/metadata.ts';
import { List } from '../state/values/list.ts';

/**
 * The change from one state of an agent to a later one. All members are parts of documents of the state, and
 * `version` is the lowest version of that format that has them.
 */
export interface StatePatch {
  readonly version: number;
  /** The identity, when the state is that of another agent. */
  readonly identity?: object;
  readonly updatedAt: number;
  readonly executionCount: number;
  /** Changed values, by name; `null` for a removed value. */
  readonly values?: Readonly<Record<string, unknown>>;
  readonly sections?: readonly SectionChange[];
  /** True when the state has only these sections, in this order. */
  readonly isWhole?: true;
  /** The execution without its steps; `null` for none. */
  readonly execution?: object | null;
  /** The number of closed steps that stay, and the closed steps behind them. */
  readonly keepSteps?: number;
  readonly steps?: readonly object[];
  /** The open step. `stepChange`: changed members of the open step as an earlier patch of the series had it. */
  readonly step?: object;
  readonly stepChange?: StepChange;
  /** Messages that the steps of the patch refer to, and that the message store does not have. */
  readonly otherMessages?: readonly object[];
}

/** The change of one section of the message store. */
export interface SectionChange {
  readonly name: string;
  readonly keep: number;
  readonly append: readonly object[];
}

/** The changed members of an open step. */
export interface StepChange {
  readonly response?: object;
  readonly errors?: readonly object[];
  readonly inferenceFailures?: readonly object[];
  /** Changed or added tool executions, by their index. */
  readonly calls?: readonly (readonly [index: number, toolExecution: object])[];
}

/** Computes the patches of a series, each at the cost of the change. */
export class StatePatchWriter {
  private state: AgentState;
  /** The writer of references that was used last, and its store. */
  private last: { readonly refs: MessageRefWriter; readonly store: MessageStore } | undefined;
  /** The open step, if the series has its document. */
  private writtenStep: AgentStep | undefined;

  constructor(base: AgentState) {
    this.state = base;
  }

  /** Begins a series at a state. */
  restart(base: AgentState): void {
    this.state = base;
    this.writtenStep = undefined;
  }

  /** Returns the patch from the last state to this one; `undefined` when they are the same object. */
  write(after: AgentState): JsonObject | undefined {
    const before = this.state;
    if (after === before) return undefined;
    if (!isGrownStore(before.store, after.store)) this.writtenStep = undefined;
    const patch = {
      ...identityChange(before, after),
      updatedAt: after.updatedAt,
      executionCount: after.executionCount,
      ...valueChanges(before, after),
      ...sectionChanges(before.store, after.store),
      ...this.executionChange(before.execution, after),
    };
    if (after.contextLimit !== before.contextLimit) patch.version = Math.max(patch.version, 2);
    this.state = after;
    return patch as unknown as JsonObject;
  }

  private executionChange(
    before: ExecutionState | undefined,
    { execution, store }: AgentState,
  ): Partial<StatePatch> & Pick<StatePatch, 'version'> {
    if (execution === before) return { version: 1 };
    if (execution === undefined) return { version: 1, execution: null };
    const refs = this.refsFor(store);
    const isSame = before?.executionId === execution.executionId;
    const keepSteps = isSame ? before.stepExecutions.commonLength(execution.stepExecutions) : 0;
    if (!continuesViews(execution, keepSteps))
      refs.view(execution.stepExecutions.at(keepSteps - 1)?.step.input ?? List.empty(), undefined);
    const steps = writeFinishedSteps(execution, refs, keepSteps);
    // A step without the request of the step before needs the version of that request.
    const version = versionOf(execution, versionOfFinished(execution, Math.max(0, keepSteps - 1)));
    const head = writeExecutionWith({ ...execution, currentStep: undefined }, refs, undefined);
    const change = { version, execution: head, keepSteps, ...(steps.length > 0 && { steps }) };
    const step = this.stepChange(execution, refs, isSame && keepSteps === before.stepExecutions.length);
    const { otherMessages } = refs;
    const hasNone = otherMessages.isEmpty || step.stepChange !== undefined;
    return hasNone ? { ...change, ...step } : { ...change, ...step, otherMessages: otherMessages.toArray() };
  }

  private stepChange(
    { currentStep, stepExecutions: { last } }: ExecutionState,
    refs: MessageRefWriter,
    isContinued: boolean,
  ): Pick<StatePatch, 'step' | 'stepChange'> {
    const before = isContinued ? this.writtenStep : undefined;
    this.writtenStep = currentStep;
    if (currentStep === undefined) return {};
    const step = refs.writeDetached(() => writeStep(currentStep, refs, last?.step));
    if (before === undefined || !isGrown(before, currentStep)) return { step };
    return { stepChange: changeOf(before, currentStep, step) };
  }

  /** Returns a writer without messages of its own. Its index of the store is shared where the store has grown. */
  private refsFor(store: MessageStore): MessageRefWriter {
    const { last } = this;
    const isKnown = last !== undefined && isGrownStore(last.store, store);
    const refs = isKnown ? last.refs.forGrownStore(store, false) : new MessageRefWriter(store);
    this.last = { refs, store };
    return refs;
  }
}

/**
 * True when the input of each step from this index on begins with the input of the step before. Otherwise the writer of
 * references needs the input of the step before.
 */
function continuesViews({ stepExecutions, currentStep }: ExecutionState, from: number): boolean {
  const steps = stepExecutions.slice(Math.max(0, from - 1)).map(({ step }) => step);
  const all = currentStep ? [...steps, currentStep] : steps;
  return all.every(({ input }, index) => {
    const before = all[index - 1];
    return before === undefined || input.since(before.input) !== undefined;
  });
}

function identityChange(before: AgentState, after: AgentState): Pick<StatePatch, 'identity'> {
  const { agentId, parentAgentId, createdAt } = after;
  const isSame =
    agentId === before.agentId && parentAgentId === before.parentAgentId && createdAt === before.createdAt;
  return isSame ? {} : { identity: { agentId, ...(parentAgentId && { parentAgentId }), createdAt } };
}

function valueChanges(before: AgentState, after: AgentState): Pick<StatePatch, 'values'> {
  const known = valuesOf(before);
  const changed = Object.entries(valuesOf(after)).filter(([name, value]) => known[name] !== value);
  if (changed.length === 0) return {};
  const written = changed.map(([name, value]) => [
    name,
    value instanceof Metadata ? value.values : (value ?? null),
  ]);
  return { values: Object.fromEntries(written) };
}

function valuesOf(state: AgentState): Record<string, unknown> {
  const { contextLimit, llmConfig, systemPrompt, metadata, responseFormat } = state;
  return { contextLimit, llmConfig, systemPrompt, metadata, responseFormat };
}

function sectionChanges(before: MessageStore, after: MessageStore): Pick<StatePatch, 'sections' | 'isWhole'> {
  if (before === after) return {};
  const isGrown = before.sections.every(({ name }, index) => after.sections[index]?.name === name);
  const changes = after.sections.map((section) => sectionChange(isGrown ? before : undefined, section));
  const sections = changes.filter((change) => change !== undefined);
  return isGrown ? { sections } : { sections, isWhole: true };
}

function sectionChange(
  before: MessageStore | undefined,
  { name, messages }: Section,
): SectionChange | undefined {
  const known = before?.section(name);
  const keep = known?.commonLength(messages) ?? 0;
  const isSame = known?.length === keep && messages.length === keep && before?.names.includes(name);
  return isSame ? undefined : { name, keep, append: messages.slice(keep) };
}

/** True when a step differs from an earlier form of it only in members of `StepChange`. */
function isGrown(before: AgentStep, after: AgentStep): boolean {
  return (
    before.id === after.id &&
    before.input === after.input &&
    isSameJson(before.request, after.request) &&
    before.taggedOutput === after.taggedOutput &&
    before.toolExecutions.length <= after.toolExecutions.length &&
    (before.response === undefined || before.response === after.response) &&
    before.errors.length <= after.errors.length &&
    before.inferenceFailures.length <= after.inferenceFailures.length
  );
}

function changeOf(before: AgentStep, after: AgentStep, document: StepDocument): StepChange {
  const { response, errors, inferenceFailures, toolExecutions = [] } = document;
  const known = before.toolExecutions;
  const calls = [...toolExecutions.entries()].filter(
    ([index]) => known[index] !== after.toolExecutions[index],
  );
  return {
    ...(response && before.response !== after.response && { response }),
    ...(errors && before.errors !== after.errors && { errors }),
    ...(inferenceFailures && before.inferenceFailures !== after.inferenceFailures && { inferenceFailures }),
    ...(calls.length > 0 && { calls }),
  };
}
