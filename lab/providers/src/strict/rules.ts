import { z } from 'zod';
import { checks, type CheckName } from './checks/index.ts';
import type { Context, Find, Violation } from './checks/check.ts';
import list from './rules.json' with { type: 'json' };
import type { View } from './view.ts';

/** When a rule holds: for these models, for these ways to reason, with or without tools. */
const condition = z.strictObject({
  model: z.string().optional(),
  thinking: z.array(z.enum(['off', 'on', 'enabled', 'adaptive'])).optional(),
  tools: z.boolean().optional(),
});

const ruleSchema = z.strictObject({
  id: z.string(),
  /** The dialects that refuse by this rule. */
  for: z.array(z.string()).min(1),
  field: z.string(),
  rule: z.string(),
  check: z.looseObject({ name: z.enum(Object.keys(checks) as [CheckName, ...CheckName[]]) }),
  when: condition.optional(),
  status: z.number(),
  /** The provider's words. `{path}` and other names are filled in. */
  error: z.string(),
  /** `ours`: the sources do not quote the provider. */
  words: z.literal('ours').optional(),
  sources: z.array(z.string()),
  date: z.string().regex(/^20\d\d-\d\d$/),
  certainty: z.enum(['documented', 'several reports', 'one report', 'source code', 'disputed', 'assumed']),
  assumed: z.literal(true).optional(),
});

/** A reason for which a provider refuses the form of a request. */
export type Rule = z.infer<typeof ruleSchema>;

/** All rules, as `rules.json` has them. */
export const rules: readonly Rule[] = z.array(ruleSchema).parse(list);

/** Rules without a document or a report of the provider concerned. */
export function assumedRules(): readonly Rule[] {
  return rules.filter(({ assumed }) => assumed);
}

/** The rules of these dialects. */
export function rulesFor(dialects: readonly string[]): readonly Rule[] {
  return rules.filter((rule) => rule.for.some((dialect) => dialects.includes(dialect)));
}

/** The places at which a request breaks a rule. */
export function violationsOf(rule: Rule, view: View, context: Context): readonly Violation[] {
  return holds(rule, view) ? finder(rule)(view, context) : [];
}

function holds({ when = {} }: Rule, { model, thinking, tools }: View): boolean {
  if (when.model !== undefined && !new RegExp(when.model, 'u').test(model)) return false;
  if (when.thinking !== undefined && !when.thinking.includes(thinking)) return false;
  return when.tools === undefined || when.tools === tools.length > 0;
}

const finders = new WeakMap<Rule, Find>();

/** The check of a rule with its parameters, which are parsed once. */
export function finder(rule: Rule): Find {
  const known = finders.get(rule);
  if (known) return known;
  const { name, ...given } = rule.check;
  const { parameters, find } = checks[name] as unknown as {
    readonly parameters: z.ZodType<object>;
    readonly find: (parameters: object) => Find;
  };
  const found = find(parameters.parse(given));
  finders.set(rule, found);
  return found;
}
