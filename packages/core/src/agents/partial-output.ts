import type { AgentEvent } from '../loop/events.ts';
import { PartialJson } from './partial-json.ts';

/** A value of which members, items and the ends of strings may be missing. */
export type PartialOutput<T> = T extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: PartialOutput<T[Name]> }
    : T;

/** Yields the JSON value of each response while the model writes it, each time it has grown. */
export async function* partialsOf<T>(
  events: AsyncIterable<AgentEvent>,
): AsyncGenerator<PartialOutput<T>, void> {
  let json = new PartialJson();
  for await (const event of events) {
    if (event.type === 'inference-started') json = new PartialJson();
    if (event.type !== 'inference-delta' || event.delta.type !== 'text') continue;
    const value = json.push(event.delta.text) ? json.value : undefined;
    // The caller names the type that the model is asked to write. The text is not checked yet.
    if (value !== undefined) yield value as PartialOutput<T>;
  }
}
