import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { readTurns, type Turn } from './conversation.ts';
import { describeCall, sentence, shortened } from './facts.ts';
import { noRule, readGoals } from './rules.ts';
import { settle, type Call, type Item, type Settlement } from './settlement.ts';

/** The next action: the calls, or the text without calls. */
export interface Decision {
  /** The rules that matched, and their results. */
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly text: string;
}

type Request = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'toolChoice'>;

/** Decides from the prompt and the tools alone: the same request gives the same decision. */
export function decide(request: Request): Decision {
  const turns = readTurns(request.prompt);
  const turn = turns.at(-1) ?? { question: '', calls: [], answer: '' };
  if (turn.answer !== '' && request.prompt.at(-1)?.role === 'assistant') return nothingToAdd(turn);
  const tools = (request.tools ?? []).filter((tool) => tool.type === 'function');
  const names = tools.map((tool) => tool.name);
  const may = permission(names, request.toolChoice);
  const settlement = settle(readGoals(turns, names), turn.calls);
  const calls = settlement.items.flatMap(({ state }) =>
    state.kind === 'ready' && may(state.call.tool) === undefined ? [state.call] : [],
  );
  const reasoning = settlement.items.map((item) => explain(item, may)).join(' ');
  if (calls.length > 0) return { reasoning, calls, text: '' };
  const said = { reasoning, calls, text: answer(settlement, may) };
  return isDemanded(request) && turn.calls.length === 0 ? onDemand(said, emptyCalls(tools, may)) : said;
}

function isDemanded({ toolChoice }: Request): boolean {
  return toolChoice?.type === 'required' || toolChoice?.type === 'tool';
}

/** The decision in place of an answer when the request demands a tool call. */
function onDemand({ reasoning, text }: Decision, calls: readonly Call[]): Decision {
  if (calls.length > 0) {
    const call = `A tool call is demanded; ${calls[0]?.tool} is one that needs no input.`;
    return { reasoning: `${reasoning} ${call}`, calls, text: '' };
  }
  const apology = 'A tool call was demanded of me, but I know of none that I could make.';
  return { reasoning: `${reasoning} ${apology}`, calls, text: `${text} ${apology}` };
}

function nothingToAdd(turn: Turn): Decision {
  const reasoning = `The last message, “${shortened(turn.question)}”, is answered already.`;
  return { reasoning, calls: [], text: 'I have nothing to add to my last answer.' };
}

/** Why a tool may not be called, `undefined` when it may. */
type Permission = (tool: string) => string | undefined;

function permission(names: readonly string[], choice: Request['toolChoice']): Permission {
  return (tool) => {
    if (!names.includes(tool)) return `no tool “${tool}” is offered to me here`;
    if (choice?.type === 'none') return `I was told not to call tools for this answer`;
    const isOther = choice?.type === 'tool' && choice.toolName !== tool;
    return isOther ? `I was told to call only “${choice.toolName}”` : undefined;
  };
}

/** The call to make when any is demanded: of the first allowed tool that needs no input. */
function emptyCalls(tools: readonly LanguageModelV4FunctionTool[], may: Permission): readonly Call[] {
  const tool = tools.find(
    ({ name, inputSchema }) => may(name) === undefined && !inputSchema.required?.length,
  );
  return tool === undefined ? [] : [{ tool: tool.name, input: {} }];
}

function explain({ rule, goal, state }: Item, may: Permission): string {
  if (rule === noRule) return `No rule matched ${goal.because}.`;
  const match = `Rule “${rule}” matched ${goal.because}`;
  switch (state.kind) {
    case 'ready': {
      const obstacle = may(state.call.tool);
      const call = `I call ${state.call.tool} with ${JSON.stringify(state.call.input)}`;
      return `${match}; ${obstacle ?? call}.`;
    }
    case 'done':
      return `${match}; ${state.call.tool} ${endings[state.outcome.kind]}.`;
    case 'waiting':
      return `${match}; it waits for what comes before it.`;
    case 'impossible':
      return `${match}; there is nothing to do it with.`;
    default:
      return `${match}; no tool is needed.`;
  }
}

const endings = { value: 'has answered', failure: 'has failed', denied: 'was not allowed' } as const;

function answer({ items, others }: Settlement, may: Permission): string {
  const sentences = [
    ...items.map((item) => report(item, may)),
    ...others.map((call) => sentence(describeCall(call))),
  ];
  return sentences.reduce(
    (text, next) => (text === '' ? next : `${text}${text.includes('\n') ? '\n' : ' '}${next}`),
    '',
  );
}

function report({ goal, state }: Item, may: Permission): string {
  switch (state.kind) {
    case 'ready': {
      const obstacle = may(state.call.tool) ?? 'it is not its turn yet';
      return `I could not do what ${goal.because} asks for: ${obstacle}.`;
    }
    case 'done':
      return reportOutcome(state);
    default:
      return state.text;
  }
}

function reportOutcome({ call, outcome, errand }: Extract<Item['state'], { kind: 'done' }>): string {
  switch (outcome.kind) {
    case 'value':
      return errand.say({ ...call, value: outcome.value });
    case 'denied':
      return sentence(`The call of ${call.tool} was denied${outcome.reason ? `: ${outcome.reason}` : ''}`);
    default:
      return sentence(`The tool ${call.tool} reported an error: ${outcome.message}`);
  }
}
