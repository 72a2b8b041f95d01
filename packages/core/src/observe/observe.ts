import type { AgentEvent, AgentEventListener, AgentEventType } from '../loop/events.ts';

/** The events of a type. */
export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { readonly type: T }>;

/**
 * A listener that is told of one type of event, or of some.
 * @example
 * const loop = createAgentLoop({ driver, listeners: [on('tool-completed', ({ toolExecution }) => count(toolExecution.name))] });
 */
export function on<T extends AgentEventType>(
  types: T | readonly T[],
  listener: (event: AgentEventOf<T>) => void,
): AgentEventListener {
  const wanted: ReadonlySet<AgentEventType> = new Set<AgentEventType>(
    typeof types === 'string' ? [types] : types,
  );
  // What it returns is handed on: a promise among it may be rejected, which is for the loop to know.
  return (event) => (wanted.has(event.type) ? listener(event as AgentEventOf<T>) : undefined);
}

/** A listener that is told of all events: `on` without a choice. */
export function wiretap(listener: (event: AgentEvent) => void): AgentEventListener {
  return listener;
}
