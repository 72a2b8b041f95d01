import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { describeValue, HoldfastError } from '../errors.ts';
import type { Read } from '../json.ts';

declare const kind: unique symbol;

/** A string that was checked to be an id of one kind; ids of different kinds do not mix. */
export type Id<Kind extends string> = string & { readonly [kind]: Kind };

/** Makes and checks the ids of one kind. */
export interface IdKind<Kind extends string> {
  /** A fresh id. */
  create(clock?: Clock): Id<Kind>;
  /**
   * The same text as an id; the letters of a UUID become lower case, so that equal ids are equal strings.
   * @throws HoldfastError `ID_INVALID` when it is not one.
   */
  parse(value: unknown): Id<Kind>;
  /** True when the value is such an id. */
  is(value: unknown): value is Id<Kind>;
  /** Reads one from a document. @internal */
  readonly read: Read<Id<Kind>>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAX_SESSION_ID_LENGTH = 1_000;

function idKind<Kind extends string>(
  name: Kind,
  expected: string,
  test: (text: string) => boolean,
  normalise: (text: string) => string = (text) => text,
): IdKind<Kind> {
  const is = (value: unknown): value is Id<Kind> => typeof value === 'string' && test(value);
  const parse = (value: unknown): Id<Kind> => {
    const id = typeof value === 'string' ? normalise(value) : value;
    if (is(id)) return id;
    throw new HoldfastError('ID_INVALID', `A ${name} must be ${expected}, found ${describeValue(value)}.`);
  };
  return Object.freeze<IdKind<Kind>>({
    create: (clock = systemClock) => parse(clock.newId()),
    parse,
    is,
    read: (reader, value) => (is(value) ? value : reader.fail(`a ${name}: ${expected}`, value)),
  });
}

const uuidKind = <Kind extends string>(name: Kind): IdKind<Kind> =>
  idKind(
    name,
    'a UUID in lower case',
    (text) => text.length === 36 && UUID.test(text),
    (text) => text.toLowerCase(),
  );

/** Who the agent is, over all its executions. */
export type AgentId = Id<'AgentId'>;
export const AgentId: IdKind<'AgentId'> = uuidKind('AgentId');
/** One run of an agent. */
export type ExecutionId = Id<'ExecutionId'>;
export const ExecutionId: IdKind<'ExecutionId'> = uuidKind('ExecutionId');
/** One step of a run. */
export type StepId = Id<'StepId'>;
export const StepId: IdKind<'StepId'> = uuidKind('StepId');
/** One tool call as it is carried out; stable over attempts, and so its idempotency key. */
export type ToolExecutionId = Id<'ToolExecutionId'>;
export const ToolExecutionId: IdKind<'ToolExecutionId'> = uuidKind('ToolExecutionId');
/** One message of a conversation. */
export type MessageId = Id<'MessageId'>;
export const MessageId: IdKind<'MessageId'> = uuidKind('MessageId');
/** A session: any text that the application chooses, 1 to 1,000 characters of well-formed Unicode. */
export type SessionId = Id<'SessionId'>;
export const SessionId: IdKind<'SessionId'> = idKind(
  'SessionId',
  `1 to ${MAX_SESSION_ID_LENGTH} characters of well-formed Unicode`,
  (text) => text.length > 0 && text.length <= MAX_SESSION_ID_LENGTH && text.isWellFormed(),
);
