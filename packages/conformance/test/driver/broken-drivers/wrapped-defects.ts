import { answeringDefects } from './answering.ts';
import { askingDefects } from './asking.ts';
import type { Defect } from './driver-parts.ts';
import { failingDefects } from './failing.ts';

/** Every defect that can be put around any driver. */
export const wrappedDefects: Readonly<Record<string, Defect>> = {
  ...answeringDefects,
  ...askingDefects,
  ...failingDefects,
};
