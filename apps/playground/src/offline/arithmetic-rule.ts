import { findExpressions } from '../arithmetic.ts';
import { errand } from './errand.ts';
import { resultsIn, textIn } from './facts.ts';
import { errandsIn, type Errand, type Reading, type Result, type Rule } from './goal.ts';
import { withoutEnd } from './without-end.ts';

const reference = String.raw`\b(?:it|that|this|the (?:result|answer|value|number|sum|product|total))\b`;
const references = new RegExp(reference, 'gi');
const operand = String.raw`(?:-?\d+(?:\.\d+)?|${reference})`;
/** Orders in words, turned into the expression they mean. */
const rewordings: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`\b(?:add|sum of) (${operand}) (?:and|to) (${operand})`, 'gi'), '$1 + $2'],
  [new RegExp(String.raw`\bsubtract (${operand}) from (${operand})`, 'gi'), '$2 - $1'],
  [
    new RegExp(String.raw`\b(?:multiply|product of) (${operand}) (?:by|with|and) (${operand})`, 'gi'),
    '$1 * $2',
  ],
  [new RegExp(String.raw`\bdivide (${operand}) by (${operand})`, 'gi'), '$1 / $2'],
  [new RegExp(String.raw`\bdouble (${operand})`, 'gi'), '$1 * 2'],
  [new RegExp(String.raw`\bhalf of (${operand})`, 'gi'), '$1 / 2'],
];
const asks = /[?=]|\b(?:what|how (?:much|many)|calculate|compute|work out|evaluate|solve|result|value|is)\b/i;
const tight = /^[\d.,]+[-–/][\d.,]+$/;

/** Arithmetic anywhere in a clause; "it" and its like stand for the value worked out last. */
export const arithmetic: Rule = {
  name: 'arithmetic',
  tool: 'calculator',
  ability: 'work out arithmetic (“what is 17 * 23?”, “15 % of 80”)',
  read(reading) {
    const reworded = rewordings.reduce(
      (text, [pattern, meaning]) => text.replace(pattern, meaning),
      reading.clause,
    );
    const direct = expressionsIn(reworded);
    const all = withReference(reworded, '1');
    if (all.length === 0) return direct.map(calculation);
    return all.map((expression, index) =>
      direct.includes(expression) ? calculation(expression) : referring({ text: reworded, index, reading }),
    );
  },
};

/** The expressions that a text means; "pages 3-5" means none. */
export function expressionsIn(text: string): readonly string[] {
  const found = findExpressions(text);
  const isBare = found[0] === withoutEnd(text, ' .!?=');
  return asks.test(text) || isBare ? found : found.filter((expression) => !tight.test(expression));
}

/** The errand of working out an expression. */
export function calculation(expression: string): Errand {
  return errand({ tool: 'calculator', because: `the expression “${expression}”`, input: { expression } });
}

interface Referring {
  readonly text: string;
  /** Which of the expressions in the text. */
  readonly index: number;
  readonly reading: Reading;
}

/** The errand of working out an expression that has "it" or the like in it. */
function referring({ text, index, reading }: Referring): Errand {
  const isNew = index > 0 || errandsIn(reading.goals).some((goal) => goal.tool === 'calculator');
  return {
    ...calculation(text),
    because: `“${text}”, which builds on the value before`,
    after: ['calculator'],
    prepare(earlier) {
      const value = lastValue(isNew ? earlier : reading.past.flatMap(resultsIn));
      const expression = value === undefined ? undefined : withReference(text, value)[index];
      return expression === undefined ? undefined : { expression };
    },
    otherwise: `I know of no earlier result that “${text}” could build on.`,
  };
}

/** The expressions in a text whose references are replaced by a value; none when it has no reference. */
function withReference(text: string, value: string): readonly string[] {
  const written = value.startsWith('-') ? `(${value})` : value;
  const replaced = text.replaceAll(references, written);
  return replaced === text ? [] : findExpressions(replaced);
}

function lastValue(results: readonly Pick<Result, 'tool' | 'value'>[]): string | undefined {
  return textIn(results.findLast((result) => result.tool === 'calculator')?.value, 'value');
}
