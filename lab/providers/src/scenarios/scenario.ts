import type { z } from 'zod';
import type { Answer, Feature } from '../wire.ts';
import type { Picture, ScenarioTool } from './tools.ts';

/** A message of the user, and the answers of the model until the turn ends. */
export interface Turn {
  readonly text: string;
  readonly pictures?: readonly Picture[];
  readonly answers: readonly Answer[];
}

/** A conversation with a model: a row of the matrix. */
export interface Scenario {
  readonly name: string;
  /** The features that a provider needs. */
  readonly needs: readonly Feature[];
  readonly tools: readonly ScenarioTool[];
  /** The schema of the last answer. */
  readonly output?: z.ZodObject;
  readonly turns: readonly Turn[];
}

/** All answers of a scenario, in order. */
export function answersOf({ turns }: Scenario): readonly Answer[] {
  return turns.flatMap(({ answers }) => answers);
}

/** True when a provider has what a scenario needs. */
export function isSupported({ needs }: Scenario, features: ReadonlySet<Feature>): boolean {
  return needs.every((feature) => features.has(feature));
}
