import { describeValue, invalidArgument } from '../errors.ts';
import { AgentState } from './agent-state.ts';

/** @throws TypeError `ARGUMENT_INVALID` for what is not a state, with advice for a session and for stored JSON. @internal */
export function requireState(value: unknown, owner: string): void {
  if (value instanceof AgentState) return;
  const message = `${owner} takes an AgentState, found ${describeValue(value)}${stateAdvice(value)}.`;
  throw invalidArgument(message, TypeError);
}

/** The advice for a value that has a state, or that is the JSON of a state. */
function stateAdvice(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  if ('state' in value && value.state instanceof AgentState) return ': pass session.state';
  return 'format' in value ? ': read JSON with AgentState.fromJSON(json)' : '';
}
