import { checkArgument, mustBe } from '../arguments.ts';
import type { AgentEvent, AgentEventListener, AgentEventType } from '../loop/events.ts';

/** The events of a type. */
export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { readonly type: T }>;

/**
 * A listener that is told of one type of event, or of some.
 * @throws TypeError `ARGUMENT_INVALID` for a listener that is not a function.
 * @example
 * const loop = createAgentLoop({ driver, listeners: [eventListener('tool-completed', ({ toolExecution }) => count(toolExecution.name))] });
 */
export function eventListener<T extends AgentEventType>(
  types: T | readonly T[],
  listener: (event: AgentEventOf<T>) => void,
): AgentEventListener {
  checkArgument('listener of on', listener, mustBe.function);
  const wanted: ReadonlySet<AgentEventType> = new Set<AgentEventType>(
    typeof types === 'string' ? [types] : types,
  );
  // What it returns is handed on: a promise among it may be rejected, which is for the loop to know.
  return (event) => (wanted.has(event.type) ? listener(event as AgentEventOf<T>) : undefined);
}
