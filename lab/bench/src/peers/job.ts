const SYSTEM = 'You are a test agent.';
const USER = 'Please echo.';
const TEXT_LENGTH = 170;
const RESULT_LENGTH = 980;
const USAGE = { inputTokens: 10, outputTokens: 5 } as const;

export interface JobOptions {
  /** Steps with tool calls; one more answers. */
  readonly steps: number;
  /** Tool calls a step; default 1. */
  readonly parallel?: number;
  /** Milliseconds until the model answers; default at once. */
  readonly delay?: number;
  /** Characters of a call's text; default 170. */
  readonly textLength?: number;
  /** Characters of a call's result; default 980. */
  readonly resultLength?: number;
  /** Called inside the last call of the model, when all of the run is still alive. */
  readonly onLastCall?: () => void;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  /** About 200 bytes as JSON, unless the job asks for more. */
  readonly args: EchoArgs;
}

export interface EchoArgs {
  readonly n: number;
  readonly text: string;
}

/** The answer of the model: calls, or the final text. */
export interface Turn {
  readonly calls: readonly Call[];
  readonly text: string;
}

/**
 * The job of every peer. The model is stateless: it knows the step by the id of the newest tool result that
 * it is shown, so that one agent can serve many runs at once.
 */
export class Job {
  readonly system = SYSTEM;
  readonly user = USER;
  /** Tokens of every answer. */
  readonly usage = USAGE;
  readonly steps: number;
  private readonly options: JobOptions;
  private readonly text: string;
  private readonly result: string;
  private modelCalls = 0;
  private toolCalls = 0;

  constructor(options: JobOptions) {
    this.options = options;
    this.steps = options.steps;
    this.text = 'a'.repeat(options.textLength ?? TEXT_LENGTH);
    this.result = 'r'.repeat(options.resultLength ?? RESULT_LENGTH);
  }

  /** The delay of the model; `undefined` when it answers at once. */
  wait(): Promise<void> | undefined {
    const { delay = 0 } = this.options;
    return delay > 0 ? new Promise((resolve) => void setTimeout(resolve, delay)) : undefined;
  }

  /** The model's answer to a prompt that ends with the result of this call; `undefined`: with no result. */
  turn(lastCallId: string | undefined): Turn {
    this.modelCalls++;
    const step = lastCallId === undefined ? 0 : Number(lastCallId.split('_')[1]) + 1;
    if (step < this.steps) return { calls: this.callsOf(step), text: '' };
    this.options.onLastCall?.();
    return { calls: [], text: 'done' };
  }

  /** The tool: about 1 KB as JSON, unless the job asks for more or less. */
  echo({ n }: EchoArgs): { readonly n: number; readonly ok: true; readonly data: string } {
    this.toolCalls++;
    return { n, ok: true, data: this.result };
  }

  /** @throws Error when the runs did not do all of the work, or ended with another text. */
  verify(texts: readonly unknown[]): void {
    const { steps, parallel = 1 } = this.options;
    const wrong = texts.findIndex((text) => text !== 'done');
    if (wrong >= 0) throw new Error(`A run ended with ${JSON.stringify(texts[wrong])}.`);
    const expected = [texts.length * (steps + 1), texts.length * steps * parallel];
    if (this.modelCalls !== expected[0] || this.toolCalls !== expected[1]) {
      const found = `${this.modelCalls} model calls and ${this.toolCalls} tool calls`;
      throw new Error(`${texts.length} runs made ${found}, not ${expected.join(' and ')}.`);
    }
  }

  private callsOf(step: number): readonly Call[] {
    const { parallel = 1 } = this.options;
    const { text } = this;
    return Array.from({ length: parallel }, (_, index) => ({
      id: `call_${step}_${index}`,
      name: 'echo',
      args: { n: step * parallel + index, text },
    }));
  }
}
