import type { RecordedRequest } from '../../server.ts';
import type { View } from '../view.ts';

/** Reads a request of one protocol. `reasons`: true when the model reasons without being asked to. */
export type Reader = (request: RecordedRequest, reasons: boolean) => View;

/** The mode of a model that reasons or does not. */
export function modeOf(reasons: boolean): View['thinking'] {
  return reasons ? 'on' : 'off';
}
