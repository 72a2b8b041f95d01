import { checkArgument, mustBe, similarName } from '../arguments.ts';
import { invalidArgument } from '../errors.ts';
import { EVENT_MEMBERS } from '../loop/redact.ts';
import type { AgentEvent, AgentEventListener, AgentEventType } from '../loop/steps/events.ts';

/** The events with a type. */
export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { readonly type: T }>;

const TYPES = mustBe.listOf(
  'types of events, as in eventListener("step-completed", listener)',
  mustBe.string.accepts,
);

function requireEventType(type: string): void {
  const known = Object.keys(EVENT_MEMBERS);
  if (known.includes(type)) return;
  const similar = similarName(type, known);
  const hint = similar === undefined ? '.' : `: did you mean "${similar}"?`;
  throw invalidArgument(`Unknown event type "${type}"${hint} Known types: ${known.join(', ')}.`);
}

/**
 * Creates a listener that receives only events of one type, or of several.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown type, and for a listener that is not a function.
 * @example
 * const loop = createAgentLoop({ driver, listeners: [eventListener('tool-completed', ({ toolExecution }) => count(toolExecution.name))] });
 */
export function eventListener<T extends AgentEventType>(
  types: T | readonly T[],
  listener: (event: AgentEventOf<T>) => void,
): AgentEventListener {
  const list = typeof types === 'string' ? [types] : checkArgument('types of eventListener', types, TYPES);
  for (const type of list) requireEventType(type);
  checkArgument('listener of eventListener', listener, mustBe.function);
  const wanted: ReadonlySet<AgentEventType> = new Set(list);
  // The result is returned, so that the loop handles the rejection of a promise.
  return (event) => (wanted.has(event.type) ? listener(event as AgentEventOf<T>) : undefined);
}
