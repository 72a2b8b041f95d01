import { systemClock, type Clock } from '../../clock.ts';
import { describeValue, HoldfastError } from '../../errors.ts';
import type { Read } from '../../document.ts';
import { requireClock } from '../../arguments.ts';

declare const kind: unique symbol;

/** A string that is checked to be an id of one kind. Ids of different kinds are different types. */
export type Id<Kind extends string> = string & { readonly [kind]: Kind };

/** Creates and checks the ids of one kind. */
export interface IdKind<Kind extends string> {
  /** Creates a new id. */
  create(clock?: Clock): Id<Kind>;
  /**
   * Returns the text as an id, with the letters of a UUID in lower case, so that equal ids are equal strings.
   * @throws HoldfastError `ID_INVALID` for a value that is not an id of this kind.
   */
  parse(value: unknown): Id<Kind>;
  /** True when the value is an id of this kind. */
  is(value: unknown): value is Id<Kind>;
  /** Reads an id from a document. @internal */
  readonly read: Read<Id<Kind>>;
}

const MAX_TEXT_LENGTH = 1_000;

function idKind<Kind extends string>(
  name: Kind,
  expected: string,
  test: (text: string) => boolean,
  normalise: (text: string) => string = (text) => text,
): IdKind<Kind> {
  const is = (value: unknown): value is Id<Kind> => typeof value === 'string' && test(value);
  const parse = (value: unknown): Id<Kind> => {
    if (is(value)) return value;
    const id = typeof value === 'string' ? normalise(value) : value;
    if (is(id)) return id;
    const message = `${article(name)} ${name} must be ${expected}, found ${describeValue(value)}.`;
    throw new HoldfastError('ID_INVALID', message);
  };
  return Object.freeze<IdKind<Kind>>({
    create: (clock = systemClock) => {
      if (clock === systemClock) return clock.newId() as Id<Kind>;
      requireClock(clock);
      return parse(clock.newId());
    },
    parse,
    is,
    read: (reader, value) =>
      is(value) ? value : reader.fail(`${article(name).toLowerCase()} ${name}: ${expected}`, value),
  });
}

function article(name: string): string {
  return /^[AEIOU]/.test(name) ? 'An' : 'A';
}

const textKind = <Kind extends string>(name: Kind): IdKind<Kind> =>
  idKind(name, `1 to ${MAX_TEXT_LENGTH} characters of well-formed Unicode`, isIdText);

function isIdText(text: string): boolean {
  return text.length > 0 && text.length <= MAX_TEXT_LENGTH && text.isWellFormed();
}

// Every id of a document is checked when it is read. A regular expression takes four times as long as this table.
const HEX_DIGIT = 1;
const DASH = 2;
const kindOf = Uint8Array.from({ length: 128 }, (_, code) => kindOfSign(String.fromCharCode(code)));
const UUID = Array.from('00000000-0000-0000-0000-000000000000', (sign) => kindOf[sign.charCodeAt(0)]);

function kindOfSign(sign: string): number {
  if (sign === '-') return DASH;
  return '0123456789abcdef'.includes(sign) ? HEX_DIGIT : 0;
}

/** True for a UUID of any version (RFC 9562) in lower case. */
function isUuid(text: string): boolean {
  if (text.length !== UUID.length) return false;
  for (let index = 0; index < UUID.length; index++) {
    if (kindOf[text.charCodeAt(index)] !== UUID[index]) return false;
  }
  return true;
}

const uuidKind = <Kind extends string>(name: Kind): IdKind<Kind> =>
  idKind(name, 'a UUID in lower case', isUuid, (text) => text.toLowerCase());

/** The identity of an agent over all its executions. */
export type AgentId = Id<'AgentId'>;
export const AgentId: IdKind<'AgentId'> = uuidKind('AgentId');
/** The id of one execution. */
export type ExecutionId = Id<'ExecutionId'>;
export const ExecutionId: IdKind<'ExecutionId'> = uuidKind('ExecutionId');
/** The id of one step. */
export type StepId = Id<'StepId'>;
export const StepId: IdKind<'StepId'> = uuidKind('StepId');
/** The id of one tool execution. It is the same for all attempts, and therefore the idempotency key. */
export type ToolExecutionId = Id<'ToolExecutionId'>;
export const ToolExecutionId: IdKind<'ToolExecutionId'> = uuidKind('ToolExecutionId');
/**
 * The id of one message: any text, so that messages of other systems keep their ids. Holdfast creates UUIDs, or the id
 * of the step with a suffix.
 */
export type MessageId = Id<'MessageId'>;
export const MessageId: IdKind<'MessageId'> = textKind('MessageId');
/** The id of a session: a text that the application chooses, 1 to 1,000 characters of well-formed Unicode. */
export type SessionId = Id<'SessionId'>;
export const SessionId: IdKind<'SessionId'> = textKind('SessionId');
