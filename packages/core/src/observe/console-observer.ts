import { mustBe, optionsCheck } from '../arguments.ts';
import type { StepId } from '../state/values/ids.ts';
import type { InferenceDelta } from '../loop/inference/driver.ts';
import { eventLines, type EventLine, type Tone } from './event-lines.ts';
import type { AgentEvent, AgentEventListener } from '../loop/steps/events.ts';

/** The options of `consoleObserver`. */
export interface ConsoleObserverOptions {
  /** Writes one line, without its line end; default `console.log`. */
  readonly write?: (line: string) => void;
  /** Colours by ANSI sequences, for a terminal; default false. */
  readonly colors?: boolean;
  /** Shows the text of the model line by line as it arrives; default true. */
  readonly showText?: boolean;
  /** Shows the reasoning of the model in the same way; default false. */
  readonly showReasoning?: boolean;
  /** The number of characters of arguments, results and messages that are shown; default 120. */
  readonly maxLength?: number;
}

// A check inside of a function is not in the bundle of a program that does not call it.
const checkOptions = (options: ConsoleObserverOptions): ConsoleObserverOptions =>
  optionsCheck<ConsoleObserverOptions>('consoleObserver', {
    write: mustBe.function,
    colors: mustBe.boolean,
    showText: mustBe.boolean,
    showReasoning: mustBe.boolean,
    maxLength: mustBe.number(1),
  })(options);

/**
 * Creates a listener that prints runs to a terminal: executions, steps, texts of the model, tool calls with their
 * arguments and results, usage and cost, stop reasons, and errors. Runs of agents with a parent are indented; those of
 * subagents are labelled with their names. Control characters are replaced, those of bidirectional text included, so that
 * no text of a model or tool can control the terminal.
 *
 * @example
 * const loop = createAgentLoop({ driver, listeners: [consoleObserver({ colors: true })] });
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 */
export function consoleObserver(options: ConsoleObserverOptions = {}): AgentEventListener {
  const { write = writeToConsole, colors = false, maxLength = 120 } = checkOptions(options);
  const texts = new StreamedTexts(options);
  return (outerEvent) => {
    const { event, names } = innermost(outerEvent);
    const depth = names.length === 0 ? depthOf(event) : names.length * DEPTH_OF_CALLS;
    const label = names.length === 0 ? '' : `[${names.join(' › ')}] `;
    for (const { level, tone, text: said } of [...texts.linesOf(event), ...eventLines(event, maxLength)]) {
      const text = level === 0 ? label + said : said;
      const printable = text.replaceAll(CONTROL_CHARACTERS, '\u{FFFD}');
      write('  '.repeat(depth + level) + (colors ? painted(printable, tone) : printable));
    }
  };
}

function writeToConsole(line: string): void {
  // oxlint-disable-next-line no-console -- the one output that every runtime has
  console.log(line);
}

/** All control characters except the tab, and those that reorder other characters. */
const CONTROL_CHARACTERS = /[^\P{Cc}\t]|\p{Bidi_Control}/gu;

/** The indentation of a subagent's lines, which are below its call. */
const DEPTH_OF_CALLS = 3;

/** The event of the innermost agent, and the names of the agents on the path to it. */
function innermost(outerEvent: AgentEvent): {
  readonly event: AgentEvent;
  readonly names: readonly string[];
} {
  const names: string[] = [];
  let event = outerEvent;
  while (event.type === 'subagent') {
    names.push(event.toolName);
    ({ event } = event);
  }
  return { event, names };
}

/** The indentation of the lines of an agent with a parent. */
function depthOf({ state }: AgentEvent): number {
  return state.parentAgentId === undefined ? 0 : 2;
}

/** SGR codes of ANSI: bold, dim, green, red. */
const COLORS: { readonly [T in Tone]: number | undefined } = {
  heading: 1,
  plain: undefined,
  detail: 2,
  good: 32,
  bad: 31,
};

function painted(text: string, tone: Tone): string {
  const color = COLORS[tone];
  return color === undefined ? text : `\u{1B}[${color}m${text}\u{1B}[0m`;
}

/** The start of a line whose end has not arrived. */
interface Arriving {
  readonly type: InferenceDelta['type'];
  readonly id: string;
  readonly rest: string;
}

/** Joins the deltas of the inferences in progress to lines. */
class StreamedTexts {
  private readonly arriving = new Map<StepId, Arriving>();
  private readonly shown: ReadonlySet<string>;

  constructor({ showText = true, showReasoning = false }: ConsoleObserverOptions) {
    this.shown = new Set([...(showText ? ['text'] : []), ...(showReasoning ? ['reasoning'] : [])]);
  }

  /** The lines that an event completes. */
  linesOf(event: AgentEvent): readonly EventLine[] {
    switch (event.type) {
      case 'inference-started':
        // After a crash the inference starts again, and its deltas arrive again.
        this.arriving.delete(event.stepId);
        return [];
      case 'inference-delta':
        return this.add(event.stepId, event.delta);
      case 'inference-completed': {
        const hasArrived = this.arriving.has(event.stepId);
        if (hasArrived) return this.end(event.stepId);
        const { content } = event.response;
        return content.flatMap((part) =>
          part.type === 'text' || part.type === 'reasoning' ? this.whole(part) : [],
        );
      }
      case 'step-completed':
        return this.end(event.stepExecution.id);
      default:
        return [];
    }
  }

  private add(stepId: StepId, { type, id, text }: InferenceDelta): readonly EventLine[] {
    if (!this.shown.has(type)) return [];
    const before = this.arriving.get(stepId);
    const isSame = before?.type === type && before.id === id;
    const unended = `${isSame ? before.rest : ''}${text}`;
    // Split only at line ends: a long line arrives in many pieces.
    const lines = text.includes('\n') ? unended.split('\n') : [unended];
    const rest = lines.pop() ?? '';
    this.arriving.set(stepId, { type, id, rest });
    return [...(isSame ? [] : restOf(before)), ...lines.map((line) => textLine(type, line))];
  }

  private end(stepId: StepId): readonly EventLine[] {
    const lines = restOf(this.arriving.get(stepId));
    this.arriving.delete(stepId);
    return lines;
  }

  /** The lines of a whole text, for a driver that does not stream. */
  private whole({ type, text }: { readonly type: 'text' | 'reasoning'; readonly text: string }): EventLine[] {
    return this.shown.has(type) ? text.split('\n').map((line) => textLine(type, line)) : [];
  }
}

function restOf(arriving: Arriving | undefined): readonly EventLine[] {
  return arriving && arriving.rest !== '' ? [textLine(arriving.type, arriving.rest)] : [];
}

function textLine(type: Arriving['type'], text: string): EventLine {
  return { level: 2, tone: type === 'reasoning' ? 'detail' : 'plain', text: `│ ${text.replace(/\r$/, '')}` };
}
