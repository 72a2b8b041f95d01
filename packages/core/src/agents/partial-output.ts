import type { AgentEvent } from '../loop/steps/events.ts';
import { PartialJson } from './partial-json.ts';

/** A value of which members, items and the ends of strings may be missing. */
export type PartialOutput<T> = T extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: PartialOutput<T[Name]> }
    : T;

/** The cost of a value that any text may have. */
const SMALL_COST = 256;
/** The cost of a larger value for each character that has arrived since the value before. */
const COST_PER_CHARACTER = 8;

/**
 * Yields the JSON value of each response while the model writes it, each time it has grown. A value is a copy of the lists
 * and objects that have not ended. When they have hundreds of members, values are further apart, so that all of them
 * together cost linear time.
 */
export async function* partialsOf<T>(
  events: AsyncIterable<AgentEvent>,
): AsyncGenerator<PartialOutput<T>, void> {
  let json = new PartialJson();
  let arrived = 0;
  for await (const event of events) {
    if (event.type === 'inference-started') [json, arrived] = [new PartialJson(), 0];
    if (event.type !== 'inference-delta' || event.delta.type !== 'text') continue;
    if (!json.push(event.delta.text)) continue;
    arrived += event.delta.text.length;
    if (json.valueCost > Math.max(SMALL_COST, COST_PER_CHARACTER * arrived)) continue;
    arrived = 0;
    const { value } = json;
    // The caller names the type that the model is asked to write. The text is not checked yet.
    if (value !== undefined) yield value as PartialOutput<T>;
  }
}
