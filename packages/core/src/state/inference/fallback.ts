import type { Instant } from '../../clock.ts';
import type { Read } from '../../document.ts';
import { readInstant, readShape, readString, shapeOf } from '../../document.ts';

/** The model that an execution calls instead of its agent's own, and until when. */
export interface ExecutionFallback {
  readonly model: string;
  readonly until: Instant;
}

const SHAPE = shapeOf({ model: readString, until: readInstant });

/** @internal */
export const readFallback: Read<ExecutionFallback> = (reader, value) => readShape(reader, value, SHAPE);
