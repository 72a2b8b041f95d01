import { tool, toolResult, type Tool, type ToolEffect } from '@holdfast/core';
import type { ToolOutput } from '@holdfast/core/driver';
import { z } from 'zod';
import type { Dice } from './dice.ts';
import type { Kind } from './kinds.ts';
import { oddFile, oddText, oddValue, TOOL_NAMES } from './values.ts';

/** A tool as a release declares it. */
interface Declaration {
  readonly name: string;
  readonly description: string;
  readonly schema: keyof typeof SCHEMAS;
  readonly effect: ToolEffect;
}

/** The tools of a release. */
export type Declarations = readonly Declaration[];

const SCHEMAS = {
  city: z.object({ city: z.string().optional() }),
  place: z.object({ place: z.object({ name: z.string() }) }),
};

export function oddDeclarations(dice: Dice): Declarations {
  const names = new Set(dice.list(0, 3, () => dice.of(TOOL_NAMES)));
  return [...names].map((name) => declaration(dice, name));
}

function declaration(dice: Dice, name: string): Declaration {
  return {
    name,
    description: oddText(dice) || 'A tool.',
    schema: dice.chance(0.8) ? 'city' : 'place',
    effect: dice.of<ToolEffect>(['readOnly', 'idempotent', 'once']),
  };
}

/** The tools after a deploy, and what it did. */
export interface Deploy {
  readonly kind: Kind;
  readonly tools: Declarations;
}

/** A deploy changes one tool. */
export function deployed(dice: Dice, tools: Declarations): Deploy {
  const [first, ...others] = tools;
  const name = dice.of(TOOL_NAMES.filter((free) => tools.every((one) => one.name !== free)) as [string]);
  if (first === undefined || dice.chance(0.2))
    return { kind: 'new tool', tools: [...tools, declaration(dice, name)] };
  const changed = dice.of([first, ...others]);
  const replaced = (change: Partial<Declaration>): Declarations =>
    tools.map((one) => (one === changed ? { ...one, ...change } : one));
  return dice.of<Deploy>([
    { kind: 'renamed tool', tools: replaced({ name }) },
    { kind: 'removed tool', tools: tools.filter((one) => one !== changed) },
    { kind: 'changed schema', tools: replaced({ schema: changed.schema === 'city' ? 'place' : 'city' }) },
  ]);
}

export function toolsOf(dice: Dice, declarations: Declarations): readonly Tool[] {
  return declarations.map(({ schema, ...declared }) =>
    tool({ ...declared, inputSchema: SCHEMAS[schema], execute: () => oddResult(dice) }),
  ) as readonly Tool[];
}

function oddResult(dice: Dice) {
  if (dice.chance(0.1)) throw new Error(oddText(dice));
  if (dice.chance(0.75)) return oddValue(dice);
  const modelOutput = oddOutput(dice);
  return toolResult({ value: 'A result.', modelOutput });
}

function oddOutput(dice: Dice): ToolOutput {
  switch (dice.number(0, 3)) {
    case 0:
      return { type: 'text', value: oddText(dice) };
    case 1:
      return { type: 'error-text', value: oddText(dice) };
    case 2:
      return { type: 'json', value: oddValue(dice) };
    default:
      return {
        type: 'content',
        value: dice.list(0, 3, () =>
          dice.chance(0.5) ? oddFile(dice) : { type: 'text' as const, text: oddText(dice) },
        ),
      };
  }
}
