import { answerDefects } from './answering.ts';
import { outcomeDefects } from './ending.ts';
import type { Defect } from './engine-parts.ts';
import { suspectDefects } from './isolating.ts';
import { stopDefects } from './stopping.ts';
import { momentDefects, wakingDefects } from './waking.ts';

/** Defects around an engine, by what the engine does. */
export const defects: Readonly<Record<string, Defect>> = {
  ...wakingDefects,
  ...momentDefects,
  ...outcomeDefects,
  ...answerDefects,
  ...stopDefects,
  ...suspectDefects,
};
