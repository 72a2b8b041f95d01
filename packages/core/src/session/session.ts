import { checkArgument, mustBe, optionsCheck } from '../arguments.ts';
import { systemClock, toInstant, type Clock, type Instant } from '../clock.ts';
import {
  DocumentReader,
  orderedReader,
  readCount,
  readFields,
  readInstant,
  readOneOf,
  readString,
  readTrue,
  shapeOf,
  since,
  type Fields,
  type Read,
} from '../document.ts';
import { compact } from '../json.ts';
import {
  agentDefinition,
  initialState,
  readAgentDefinition,
  type AgentDefinition,
} from '../state/agent-definition.ts';
import { AgentState } from '../state/agent-state.ts';
import { requireState } from '../state/require-state.ts';
import { SessionId } from '../state/values/ids.ts';
import { orKnown } from '../state/values/known-part.ts';
import { openSnapshot, sealSnapshot, type SnapshotEnvelope } from '../state/snapshot.ts';
import { ExecutionBudget, readBudgetLimits, type BudgetLimits } from '../state/execution/budget.ts';
import { executionSummary, type ExecutionSummary } from './execution-summary.ts';
import {
  checkDescription,
  LABELS,
  OWNER,
  readLabels,
  readOwner,
  readTitle,
  TITLE,
  type SessionDescription,
  type SessionLabels,
} from './title-labels-owner.ts';
import {
  NO_TOTALS,
  readSessionTotals,
  sumOfTotals,
  totalsOf,
  totalsWithout,
  type SessionTotals,
} from './session-totals.ts';
import { SESSION_STATUSES, type SessionInfo, type SessionStatus } from './session-info.ts';

/**
 * Names one saved state of a session. A session that was deleted and created again has another incarnation, whatever
 * its version.
 */
export interface SessionRevision {
  /** Assigned by the store at creation; `''` before. */
  readonly incarnation: string;
  /** 0 before creation, 1 after creation; each save adds 1. */
  readonly version: number;
}

const readRevision: Read<SessionRevision> = orderedReader({ incarnation: readString, version: readCount });
const readBudget: Read<ExecutionBudget> = (reader, value) =>
  ExecutionBudget.of(readBudgetLimits(reader, value));

/** The members of a stored session. The state is the last, because its version differs from that of the session. */
const SESSION = shapeOf({
  sessionId: SessionId.read,
  'parentId?': SessionId.read,
  'forkedFrom?': SessionId.read,
  'owner?': since(2, readOwner),
  'title?': since(2, readTitle),
  'labels?': since(2, readLabels),
  'budget?': since(2, orKnown(readBudget)),
  'totals?': since(2, readSessionTotals),
  'awaitsResume?': since(2, readTrue),
  status: readOneOf(SESSION_STATUSES),
  revision: readRevision,
  createdAt: readInstant,
  updatedAt: readInstant,
  definition: orKnown(readAgentDefinition),
  state: AgentState.read,
});

type AgentSessionFields = Omit<Fields<typeof SESSION>, 'totals' | 'awaitsResume'> &
  Pick<AgentSession, 'agentName' | 'awaitsResume' | 'pastTotals' | 'endedExecutions'>;

/** An execution that has ended since the last save, and its index among all executions of the session, from 0. */
export interface EndedExecution {
  readonly index: number;
  readonly summary: ExecutionSummary;
}

/** Options of `AgentSession.create`. */
export interface AgentSessionInit extends SessionDescription {
  /** Any text of 1 to 1,000 characters; a UUID when absent. */
  readonly sessionId?: string | undefined;
  readonly definition: AgentDefinition;
  /** The parent of the new session, which is notified when the execution of this session has ended. */
  readonly parentId?: string | undefined;
  /** The session that this one is a copy of. */
  readonly forkedFrom?: string | undefined;
  /** The tenant or the user that the session belongs to: 1 to 1,000 characters. It never changes. */
  readonly owner?: string | undefined;
  /**
   * The limits of all executions of the session together. Default: no limit. An execution that reaches one ends `stopped`.
   * `maxCost` requires that the loop has prices.
   */
  readonly budget?: BudgetLimits | undefined;
  /** Default: an empty state with the definition's prompt, model and metadata. */
  readonly state?: AgentState | undefined;
  /** True when no worker may continue the execution of the state by itself: see `AgentSession.awaitsResume`. */
  readonly awaitsResume?: boolean | undefined;
  /** The creation time. Default: the present time of the clock. */
  readonly at?: Instant;
  /** The source of the time and the ids that the caller omits. Default: the system clock. */
  readonly clock?: Clock;
}

const checkInit = optionsCheck<AgentSessionInit>(
  'AgentSession.create',
  {
    sessionId: mustBe.anything,
    definition: mustBe.anything,
    parentId: mustBe.anything,
    forkedFrom: mustBe.anything,
    owner: OWNER,
    title: TITLE,
    labels: LABELS,
    budget: mustBe.object,
    state: { expected: 'an AgentState', accepts: (value) => value instanceof AgentState },
    awaitsResume: mustBe.boolean,
    at: mustBe.anything,
    clock: mustBe.clock,
  },
  {
    id: 'use "sessionId"',
    name: 'pass a definition, as in definition: { name: "assistant" }',
    agentName: 'pass a definition, as in definition: { name: "assistant" }',
    expiry: 'pass it to the store, as in store.create(session, { expiry })',
  },
);

const FORMAT = 'holdfast/agent-session';
const STATUS = mustBe.oneOf(SESSION_STATUSES);
const UNSAVED: SessionRevision = Object.freeze({ incarnation: '', version: 0 });
const NONE_ENDED: readonly EndedExecution[] = Object.freeze([]);

/** An agent in a store: its state, the definition that it was created with, and a revision. Immutable. */
export class AgentSession {
  readonly sessionId: SessionId;
  /** The parent of the session: the session that this one works for. */
  readonly parentId: SessionId | undefined;
  /** The session that this one is a copy of. */
  readonly forkedFrom: SessionId | undefined;
  /** The tenant or the user that the session belongs to. */
  readonly owner: string | undefined;
  readonly title: string | undefined;
  /** Names and values that the application gave the session. */
  readonly labels: SessionLabels | undefined;
  /** The limits of all executions of the session together; `undefined`: no limit. */
  readonly budget: ExecutionBudget | undefined;
  /** The name of the definition. A runtime finds the loop of the agent by this name. */
  readonly agentName: string;
  readonly status: SessionStatus;
  readonly revision: SessionRevision;
  readonly createdAt: Instant;
  /** When the session was last saved; before the first save, equal to `createdAt`. */
  readonly updatedAt: Instant;
  /** The definition that the session was created with. */
  readonly definition: AgentDefinition;
  readonly state: AgentState;
  /**
   * True when the execution waits until a call acts on it, such as `resume()` or a message: the session is not due before.
   * So waits the execution of a fork.
   */
  readonly awaitsResume: boolean;
  /** The use of the executions before the state's own execution. @internal */
  readonly pastTotals: SessionTotals;
  /** The executions that ended since the last save. The store appends them to the list of executions. @internal */
  readonly endedExecutions: readonly EndedExecution[];

  private constructor(fields: AgentSessionFields) {
    this.sessionId = fields.sessionId;
    this.parentId = fields.parentId;
    this.forkedFrom = fields.forkedFrom;
    this.owner = fields.owner;
    this.title = fields.title;
    this.labels = fields.labels;
    this.budget = fields.budget;
    this.agentName = fields.agentName;
    this.status = fields.status;
    this.revision = fields.revision;
    this.createdAt = fields.createdAt;
    this.updatedAt = fields.updatedAt;
    this.definition = fields.definition;
    this.state = fields.state;
    this.awaitsResume = fields.awaitsResume;
    this.pastTotals = fields.pastTotals;
    this.endedExecutions = fields.endedExecutions;
    Object.freeze(this);
  }

  /**
   * Creates a session. It is not in a store until `SessionStore.create` saves it.
   * @throws HoldfastError `ID_INVALID`; HoldfastError `CONTEXT_INVALID` for an invalid definition; TypeError
   * `ARGUMENT_INVALID` for an unknown option, or a `state` that is not an AgentState.
   */
  static create(init: AgentSessionInit): AgentSession {
    const { clock = systemClock } = checkInit(init);
    const at = toInstant(init.at ?? clock.now());
    const definition = agentDefinition(init.definition);
    return new AgentSession({
      sessionId: init.sessionId === undefined ? SessionId.create(clock) : SessionId.parse(init.sessionId),
      parentId: init.parentId === undefined ? undefined : SessionId.parse(init.parentId),
      forkedFrom: init.forkedFrom === undefined ? undefined : SessionId.parse(init.forkedFrom),
      owner: init.owner,
      title: init.title,
      labels: init.labels && Object.freeze({ ...init.labels }),
      budget: init.budget && ExecutionBudget.of(init.budget),
      agentName: definition.name,
      status: 'active',
      revision: UNSAVED,
      createdAt: at,
      updatedAt: at,
      definition,
      state: init.state ?? initialState(definition, clock, at),
      awaitsResume: init.awaitsResume ?? false,
      pastTotals: NO_TOTALS,
      endedExecutions: NONE_ENDED,
    });
  }

  /** The number of saves, the creation included; 0 before creation. */
  get version(): number {
    return this.revision.version;
  }

  /** The facts about the session that lists show. */
  get info(): SessionInfo {
    return Object.freeze({
      sessionId: this.sessionId,
      parentId: this.parentId,
      owner: this.owner,
      title: this.title,
      labels: this.labels,
      agentName: this.agentName,
      status: this.status,
      version: this.version,
      createdAt: this.createdAt,
      updatedAt: this.updatedAt,
      executionStatus: this.state.status,
      waitingFor: this.state.execution?.waiting[0]?.type,
      totals: this.totals,
    });
  }

  /** The use of all executions of the session together, the unfinished one included. */
  get totals(): SessionTotals {
    return sumOfTotals(this.pastTotals, totalsOf(this.state.execution));
  }

  /**
   * Returns a copy with this state, which the caller must save. Returns `this` when the state is the same object.
   * @throws TypeError `ARGUMENT_INVALID` for a value that is not an AgentState.
   */
  withState(state: AgentState): AgentSession {
    requireState(state, 'session.withState');
    if (state === this.state) return this;
    const awaitsResume = this.awaitsResume && state.execution === this.state.execution;
    const summary = this.state.executionId === state.executionId ? undefined : executionSummary(this.state);
    if (summary === undefined) return this.with({ state, awaitsResume });
    const ended = { index: this.pastTotals.executions, summary };
    const endedExecutions = [...this.endedExecutions, ended];
    return this.with({ state, awaitsResume, pastTotals: this.totals, endedExecutions });
  }

  /**
   * Returns a copy with this title and these labels, which the caller must save. A member that is absent does not
   * change; `undefined` removes it.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid title or label.
   */
  withDescription(description: SessionDescription): AgentSession {
    checkDescription(description);
    const { title, labels } = { title: this.title, labels: this.labels, ...description };
    return this.with({ title, labels: labels && Object.freeze({ ...labels }) });
  }

  /**
   * Returns a copy with this status, which the caller must save. Returns `this` when the status is the same.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown status.
   */
  withStatus(status: SessionStatus): AgentSession {
    checkArgument('The status of a session', status, STATUS);
    return status === this.status ? this : this.with({ status });
  }

  /** Returns a copy whose execution waits for no call any more. @internal */
  withoutWait(): AgentSession {
    return this.awaitsResume ? this.with({ awaitsResume: false }) : this;
  }

  /** Returns a copy with this revision, saved at this instant. For stores. */
  withRevision(revision: SessionRevision, at: Instant): AgentSession {
    return this.basedOn(revision, at).with({ endedExecutions: NONE_ENDED });
  }

  /** Returns a copy with the changes of this session since its last save, to save on another revision. @internal */
  basedOn(revision: SessionRevision, at: Instant): AgentSession {
    return this.with({ revision: Object.freeze({ ...revision }), updatedAt: Math.max(this.updatedAt, at) });
  }

  private with(changes: Partial<AgentSessionFields>): AgentSession {
    return new AgentSession({ ...this, ...changes });
  }

  /** Returns the session as one JSON document with its format version. */
  toJSON(): SnapshotEnvelope {
    return writeSession(this, { definition: this.definition, state: this.state.toJSON() });
  }

  /**
   * Reads a session from a document of this or an older version. The parts of the document become parts of the session:
   * they are frozen, not copied.
   * @throws StateFormatError with the path of the invalid value; `STATE_VERSION` when a newer release wrote the
   * document.
   */
  static fromJSON(json: unknown): AgentSession {
    const read: Read<AgentSessionFields> = (reader, value) =>
      readSession(reader, openSnapshot(reader, FORMAT, value));
    return new AgentSession(DocumentReader.read(json, read));
  }
}

/** Returns the document of a session, with `parts` as its definition and state. */
export function writeSession(
  session: AgentSession,
  parts: { readonly definition?: object; readonly state: object },
): SnapshotEnvelope {
  const { sessionId, parentId, forkedFrom, status, revision, createdAt, updatedAt } = session;
  const { owner, title, labels, pastTotals } = session;
  const budget = session.budget?.toJSON();
  const totals = pastTotals.executions > 0 ? session.totals : undefined;
  const version1 = { sessionId, parentId, forkedFrom, status, revision, createdAt, updatedAt, ...parts };
  const awaitsResume = session.awaitsResume || undefined;
  const added = compact({ owner, title, labels, budget, totals, awaitsResume });
  const version = Object.keys(added).length > 0 ? 2 : 1;
  return sealSnapshot(FORMAT, version, compact({ ...version1, ...added }));
}

const readSession: Read<AgentSessionFields> = (reader, value) => {
  const { totals, awaitsResume = false, ...fields } = readFields(reader, value, SESSION);
  const { definition, state } = fields;
  return {
    ...fields,
    agentName: definition.name,
    awaitsResume,
    pastTotals: totals ? totalsWithout(totals, totalsOf(state.execution)) : NO_TOTALS,
    endedExecutions: NONE_ENDED,
  };
};
