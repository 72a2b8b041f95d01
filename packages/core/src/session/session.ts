import { mustBe, optionsCheck } from '../arguments.ts';
import type { Clock, Instant } from '../clock.ts';
import { systemClock, toInstant } from '../clock.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import type { Read } from '../document.ts';
import { DocumentReader, orderedReader, readCount, readInstant, readOneOf, readString } from '../document.ts';
import { compact } from '../json.ts';
import type { AgentDefinition } from '../state/agent-definition.ts';
import { agentDefinition, initialState, readAgentDefinition } from '../state/agent-definition.ts';
import { AgentState } from '../state/agent-state.ts';
import { requireState } from '../state/require-state.ts';
import { SessionId } from '../state/values/ids.ts';
import type { SnapshotEnvelope } from '../state/documents/snapshot.ts';
import { openSnapshot, sealSnapshot } from '../state/documents/snapshot.ts';
import type { SessionInfo, SessionStatus } from './session-info.ts';
import { SESSION_STATUSES } from './session-info.ts';

/**
 * Which state of which session a store holds. A session that was deleted and created again is another
 * incarnation, whatever its version.
 */
export interface SessionRevision {
  /** Minted by the store at creation; `''` before. */
  readonly incarnation: string;
  /** 0 before creation, 1 after it, one more with each save. */
  readonly version: number;
}

type AgentSessionFields = Pick<
  AgentSession,
  | 'sessionId'
  | 'parentId'
  | 'forkedFrom'
  | 'agentName'
  | 'status'
  | 'revision'
  | 'createdAt'
  | 'updatedAt'
  | 'definition'
  | 'state'
>;

/** What is said about a new session. */
export interface AgentSessionInit {
  /** Any text of 1 to 1,000 characters; a UUID when absent. */
  readonly sessionId?: string | undefined;
  readonly definition: AgentDefinition;
  /** The session of the agent that starts this one. */
  readonly parentId?: string | undefined;
  /** The session that this one is a copy of. */
  readonly forkedFrom?: string | undefined;
  /** Default: an empty state with the definition's prompt, model and metadata. */
  readonly state?: AgentState | undefined;
  /** When it is made; default: what the clock says. */
  readonly at?: Instant;
  /** Where the time and the ids come from that are not given; default: the clock of the machine. */
  readonly clock?: Clock;
}

const checkInit = optionsCheck<AgentSessionInit>(
  'AgentSession.create',
  {
    sessionId: mustBe.anything,
    definition: mustBe.anything,
    parentId: mustBe.anything,
    forkedFrom: mustBe.anything,
    state: { expected: 'an AgentState', accepts: (value) => value instanceof AgentState },
    at: mustBe.anything,
    clock: mustBe.clock,
  },
  {
    id: 'write "sessionId"',
    name: 'give a definition, as in definition: { name: "assistant" }',
    agentName: 'give a definition, as in definition: { name: "assistant" }',
    expiry: 'give it to the store, as in store.create(session, { expiry })',
  },
);

const FORMAT = 'holdfast/agent-session';
const UNSAVED: SessionRevision = Object.freeze({ incarnation: '', version: 0 });

/** An agent as a store keeps it: its state, what it is an instance of, and which revision this is. Immutable. */
export class AgentSession {
  readonly sessionId: SessionId;
  /** The session of the agent that started this one. */
  readonly parentId: SessionId | undefined;
  /** The session that this one is a copy of. */
  readonly forkedFrom: SessionId | undefined;
  /** The definition's name: by it a runtime finds the code of the agent. */
  readonly agentName: string;
  readonly status: SessionStatus;
  readonly revision: SessionRevision;
  readonly createdAt: Instant;
  /** When it was saved last; `createdAt` before. */
  readonly updatedAt: Instant;
  /** The definition that the session was created with. */
  readonly definition: AgentDefinition;
  readonly state: AgentState;

  private constructor(fields: AgentSessionFields) {
    this.sessionId = fields.sessionId;
    this.parentId = fields.parentId;
    this.forkedFrom = fields.forkedFrom;
    this.agentName = fields.agentName;
    this.status = fields.status;
    this.revision = fields.revision;
    this.createdAt = fields.createdAt;
    this.updatedAt = fields.updatedAt;
    this.definition = fields.definition;
    this.state = fields.state;
    Object.freeze(this);
  }

  /**
   * A session that no store has seen yet.
   * @throws HoldfastError `ID_INVALID`, `CONTEXT_INVALID` for a definition that does not fit; TypeError `ARGUMENT_INVALID`
   * for an unknown member, or what is not a state.
   */
  static create(init: AgentSessionInit): AgentSession {
    const { clock = systemClock } = checkInit(init);
    const at = toInstant(init.at ?? clock.now());
    const definition = agentDefinition(init.definition);
    return new AgentSession({
      sessionId: init.sessionId === undefined ? SessionId.create(clock) : SessionId.parse(init.sessionId),
      parentId: init.parentId === undefined ? undefined : SessionId.parse(init.parentId),
      forkedFrom: init.forkedFrom === undefined ? undefined : SessionId.parse(init.forkedFrom),
      agentName: definition.name,
      status: 'active',
      revision: UNSAVED,
      createdAt: at,
      updatedAt: at,
      definition,
      state: init.state ?? initialState(definition, clock, at),
    });
  }

  /** How often the session was saved, its creation included; 0 before that. */
  get version(): number {
    return this.revision.version;
  }

  /** What a list shows of it. */
  get info(): SessionInfo {
    const { sessionId, parentId, agentName, status, version, createdAt, updatedAt, state } = this;
    const executionStatus = state.status;
    const waitingFor = state.execution?.waiting[0]?.type;
    return Object.freeze({
      sessionId,
      parentId,
      agentName,
      status,
      version,
      createdAt,
      updatedAt,
      executionStatus,
      waitingFor,
    });
  }

  /**
   * A copy with another state; it must be saved to be kept. `this` when it is the same one.
   * @throws TypeError `ARGUMENT_INVALID` for what is not a state.
   */
  withState(state: AgentState): AgentSession {
    requireState(state, 'session.withState');
    return state === this.state ? this : this.with({ state });
  }

  /**
   * A copy with another status; it must be saved to be kept. `this` when it is the same one.
   * @throws RangeError `ARGUMENT_INVALID` for what is no status.
   */
  withStatus(status: SessionStatus): AgentSession {
    if (!SESSION_STATUSES.includes(status)) {
      throw invalidArgument(
        `The status of a session is one of ${SESSION_STATUSES.join(', ')}, found ${describeValue(status)}.`,
      );
    }
    return status === this.status ? this : this.with({ status });
  }

  /** The same as a store has written it. For stores. */
  withRevision(revision: SessionRevision, at: Instant): AgentSession {
    return this.with({ revision: Object.freeze({ ...revision }), updatedAt: Math.max(this.updatedAt, at) });
  }

  private with(changes: Partial<AgentSessionFields>): AgentSession {
    const { sessionId, parentId, forkedFrom, agentName, status } = this;
    const { revision, createdAt, updatedAt, definition, state } = this;
    return new AgentSession({
      sessionId,
      parentId,
      forkedFrom,
      agentName,
      status,
      revision,
      createdAt,
      updatedAt,
      definition,
      state,
      ...changes,
    });
  }

  /** The session as one versioned JSON document. */
  toJSON(): SnapshotEnvelope {
    return writeSession(this, { definition: this.definition, state: this.state.toJSON() });
  }

  /** The document is handed over, as to `AgentState.fromJSON`. @throws StateFormatError as there. */
  static fromJSON(json: unknown): AgentSession {
    const read: Read<AgentSessionFields> = (reader, value) =>
      readSession(reader, openSnapshot(reader, FORMAT, value));
    return new AgentSession(DocumentReader.read(json, read));
  }
}

/** The document of a session, with these as the parts that are large. */
export function writeSession(
  session: AgentSession,
  parts: { readonly definition?: object; readonly state: object },
): SnapshotEnvelope {
  const { sessionId, parentId, forkedFrom, status, revision, createdAt, updatedAt } = session;
  const document = { sessionId, parentId, forkedFrom, status, revision, createdAt, updatedAt, ...parts };
  return sealSnapshot(FORMAT, 1, compact(document));
}

const NAMES = new Set([
  'sessionId',
  'parentId',
  'forkedFrom',
  'status',
  'revision',
  'createdAt',
  'updatedAt',
  'definition',
  'state',
]);

const readRevision: Read<SessionRevision> = orderedReader({ incarnation: readString, version: readCount });

const readSession: Read<AgentSessionFields> = (reader, value) => {
  const members = reader.members(value, NAMES);
  const definition = reader.required(members, 'definition', readAgentDefinition);
  return {
    sessionId: reader.required(members, 'sessionId', SessionId.read),
    parentId: reader.optional(members, 'parentId', SessionId.read),
    forkedFrom: reader.optional(members, 'forkedFrom', SessionId.read),
    agentName: definition.name,
    status: reader.required(members, 'status', readOneOf(SESSION_STATUSES)),
    revision: reader.required(members, 'revision', readRevision),
    createdAt: reader.required(members, 'createdAt', readInstant),
    updatedAt: reader.required(members, 'updatedAt', readInstant),
    definition,
    state: reader.required(members, 'state', AgentState.read),
  };
};
