import { checkArgument, mustBe, similarName } from '../arguments.ts';
import { invalidArgument } from '../errors.ts';
import type { AgentEvent, AgentEventListener, AgentEventType } from '../loop/steps/events.ts';

/** The events with a type. */
export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { readonly type: T }>;

const TYPES = mustBe.listOf(
  'types of events, as in eventListener("step-completed", listener)',
  mustBe.string.accepts,
);

/** The type checker refuses a table that lacks a type. */
const EVENT_TYPES: Readonly<Record<AgentEventType, true>> = {
  'execution-started': true,
  'execution-resumed': true,
  'execution-suspended': true,
  'execution-stopped': true,
  'execution-completed': true,
  'execution-failed': true,
  'message-taken-in': true,
  'step-started': true,
  'step-completed': true,
  'inference-started': true,
  'inference-delta': true,
  'inference-completed': true,
  'inference-failed': true,
  'step-restarted': true,
  'tool-started': true,
  'tool-waiting': true,
  'tool-progress': true,
  'tool-completed': true,
  'tool-blocked': true,
  'continuation-evaluated': true,
  'stop-signal-raised': true,
  'usage-updated': true,
  subagent: true,
};

function requireEventType(type: string): void {
  if (Object.hasOwn(EVENT_TYPES, type)) return;
  const known = Object.keys(EVENT_TYPES);
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
  for (const type of typeof types === 'string'
    ? [types]
    : checkArgument('types of eventListener', types, TYPES))
    requireEventType(type);
  checkArgument('listener of eventListener', listener, mustBe.function);
  const wanted: ReadonlySet<AgentEventType> = new Set<AgentEventType>(
    typeof types === 'string' ? [types] : types,
  );
  // The result is returned, so that the loop handles the rejection of a promise.
  return (event) => (wanted.has(event.type) ? listener(event as AgentEventOf<T>) : undefined);
}
