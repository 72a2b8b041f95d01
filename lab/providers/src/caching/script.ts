import { textOfTokens, type AgentShape } from './agents.ts';

/** A call of a tool. */
interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly input: { readonly what: string };
}

/** A response of the model: calls, or a final text. */
export type ScriptedAnswer = readonly ScriptedCall[] | string;

/** The responses of the model in one turn. */
export function answersOf(shape: AgentShape, turn: number): readonly ScriptedAnswer[] {
  const steps = shape.steps(turn).map((calls, step) => callsOf(shape, `${turn}_${step}`, calls));
  return [...steps, textOfTokens(`Answer ${turn}`, shape.answer)];
}

function callsOf({ tools, callInput }: AgentShape, step: string, count: number): readonly ScriptedCall[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `call_${step}_${index}`,
    name: `tool_${index % tools}`,
    input: { what: textOfTokens(`${step}_${index}`, callInput) },
  }));
}
