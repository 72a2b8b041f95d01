import * as files from './files.ts';
import * as order from './order.ts';
import * as reasoning from './reasoning.ts';
import * as results from './results.ts';
import * as schemas from './schemas.ts';
import * as shape from './shape.ts';
import * as values from './values.ts';

/** All checks, by the names that the rules use. */
export const checks = { ...values, ...shape, ...order, ...results, ...reasoning, ...files, ...schemas };

export type CheckName = keyof typeof checks;
