import type { Instant } from '../../clock.ts';
import { readInstant, readString, shapeReader, type Read } from '../../document.ts';

/** The model that an execution calls instead of its agent's own, and until when. */
export interface ExecutionFallback {
  readonly model: string;
  readonly until: Instant;
}

/** @internal */
export const readFallback: Read<ExecutionFallback> = shapeReader({ model: readString, until: readInstant });
