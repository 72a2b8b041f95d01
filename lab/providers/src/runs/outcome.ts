/** How the model is called: for one answer, or for a stream. */
export type Mode = 'generated' | 'streamed';

export const MODES: readonly Mode[] = ['generated', 'streamed'];

/** The facts of one step that both sides report. */
export interface StepFacts {
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
  readonly usage: Readonly<Record<string, number | undefined>>;
  readonly calls: readonly string[];
  readonly sources: readonly unknown[];
  readonly files: number;
}

/** The system prompt of every scenario. */
export const SYSTEM_PROMPT = 'Answer in one sentence.';
export const MAX_OUTPUT_TOKENS = 1_000;
