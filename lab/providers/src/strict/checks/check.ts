import { z } from 'zod';
import type { Issuer } from '../issuer.ts';
import { textOf, type Part, type PartType, type Path, type Place, type Turn, type View } from '../view.ts';

/** A place at which a request breaks a rule. `fill`: values for the provider's message. */
export interface Violation {
  readonly path: Path;
  readonly fill?: Readonly<Record<string, string | number>>;
}

/** The knowledge of the server besides the request. */
export interface Context {
  readonly issuer: Issuer;
}

/** Finds the places at which a request breaks a rule. */
export type Find = (view: View, context: Context) => readonly Violation[];

/** A check: its parameters as they stand in the rules, and how it looks for violations. */
export interface Check<Parameters = never> {
  readonly parameters: z.ZodType<Parameters>;
  readonly find: (parameters: Parameters) => Find;
}

/** Makes a check. */
export function check<Parameters>(
  parameters: z.ZodType<Parameters>,
  find: (view: View, parameters: Parameters, context: Context) => readonly Violation[],
): Check<Parameters> {
  return { parameters, find: (given) => (view, context) => find(view, given, context) };
}

/** Which turns a check looks at. `with` and `without` name parts, such as `call` or `file:document`. */
export const scope = {
  role: z.string().optional(),
  with: z.string().optional(),
  without: z.string().optional(),
  /** The last turn of the request only. */
  last: z.boolean().optional(),
  /** All turns but a last one of the assistant, which the model continues. */
  settled: z.boolean().optional(),
  /** The last part of a turn only. */
  end: z.boolean().optional(),
  /** Only turns after the last message of the user. */
  open: z.boolean().optional(),
  /** Parts that have this value are left out. */
  unless: z.string().optional(),
};

/** Names values: `call.id` is the id of each call. */
export const selector = z.string().regex(/^[a-z-]+(?::[a-z]+)?(?:\.\w+)?$/);

type Scope = Readonly<{ [Name in keyof typeof scope]?: z.infer<(typeof scope)[Name]> }>;

/** A value that a selector found. `turn` is -1 outside the messages. */
export interface Selected extends Place {
  readonly part: Part;
  readonly turn: number;
}

/** The values of a selector such as `call.id`, in their order. */
export function select(view: View, of: string, within: Scope = {}): readonly Selected[] {
  const [, member = ''] = of.split('.');
  return selectParts(view, of, within).flatMap(({ part, turn }) => {
    const place = part.at[member];
    return place ? [{ ...place, part, turn }] : [];
  });
}

/** The parts of a selector such as `call`, `file:image` or `call.id`. */
export function selectParts(view: View, of: string, within: Scope = {}) {
  const [type = ''] = of.split('.');
  if (type === 'tool') return view.tools.map((part) => ({ part, turn: -1 }));
  const outside = type === 'message' || Object.keys(within).length > 0 ? [] : [...view.system, ...view.tools];
  return [
    ...outside.filter((part) => isType(part, type)).map((part) => ({ part, turn: -1 })),
    ...turnsOf(view, within).flatMap(({ turn, index }) =>
      candidates(turn, within)
        .filter((part) => isType(part, type))
        .map((part) => ({ part, turn: index })),
    ),
  ];
}

function candidates({ message, parts }: Turn, { end, unless = '' }: Scope): readonly Part[] {
  return [message, ...(end ? parts.slice(-1) : parts)].filter(({ at }) => at[unless] === undefined);
}

/** The turns of a scope, with their index in the request. */
export function turnsOf({ turns }: View, { role, last, open, settled, ...parts }: Scope) {
  const start = open ? turns.findLastIndex((turn) => turn.role === 'user' && !hasPart(turn, 'result')) : -1;
  return turns
    .map((turn, index) => ({ turn, index }))
    .filter(({ turn, index }) => {
      if (role !== undefined && turn.role !== role) return false;
      const isLast = index === turns.length - 1;
      if (index <= start || (last && !isLast)) return false;
      if (settled && isLast && turn.role === 'assistant') return false;
      if (parts.with !== undefined && !hasPart(turn, parts.with)) return false;
      return parts.without === undefined || !hasPart(turn, parts.without);
    });
}

/** True when a turn has a part of this type, such as `file:document`. */
function hasPart({ parts }: Turn, type: string): boolean {
  return parts.some((part) => isType(part, type));
}

function isType(part: Part, name: string): boolean {
  const [type, kind] = name.split(':') as [PartType, string?];
  return part.type === type && (kind === undefined || part.at['kind']?.value === kind);
}

/** The start of a value, for a message. */
export function shown(value: unknown): string {
  const text = textOf(value) || JSON.stringify(value) || '';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
