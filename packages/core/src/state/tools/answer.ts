import type { Instant } from '../../clock.ts';
import { orderedReader, readInstant, readString, type Read } from '../../document.ts';
import { readOutcome, type ToolOutcome } from './tool-outcome.ts';

/** The answer to a call of a tool without `execute`. A call has at most one answer. */
export interface Answer {
  /** When the answer was given, or when the answer timeout passed. */
  readonly at: Instant;
  /** The person or system that answered, in the application's terms. */
  readonly by?: string;
  /** The outcome of the call, until the loop has recorded it. */
  readonly outcome?: ToolOutcome;
}

export const readAnswer: Read<Answer> = orderedReader({
  at: readInstant,
  'by?': readString,
  'outcome?': readOutcome,
});

export function recordedAnswer(answer: Answer | undefined): Answer | undefined {
  if (answer?.outcome === undefined) return answer;
  const { outcome: _, ...recorded } = answer;
  return Object.freeze(recorded);
}
