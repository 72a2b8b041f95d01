import { tokenize, type Sign, type Token } from './arithmetic-tokens.ts';

const longestExpression = 1000;
const deepestParentheses = 100;

/** Infix and postfix signs that make something worth working out; a lone number or percentage is not. */
const operations: ReadonlySet<Token['symbol']> = new Set<Sign>([
  '+',
  '-',
  '*',
  '/',
  'modulo',
  '^',
  'percentOf',
  'squared',
  'cubed',
]);

/**
 * The value of an arithmetic expression: numbers, `+ - * / % ^`, parentheses, unary signs, and the words
 * plus, minus, times, divided by, modulo, to the power of, squared, cubed, percent. `^` binds tightest and
 * to the right (`-2 ^ 2` is -4). `a % b` is the remainder with the sign of `a`; `a % of b` is a share; `a %`
 * with no number after it is a hundredth. Numbers are doubles; a fraction is rounded to 15 digits, so that
 * 0.1 + 0.2 is 0.3.
 * @throws SyntaxError when the text is not an expression.
 * @throws RangeError when it has no finite real value, or is longer than 1000 characters.
 */
export function evaluate(expression: string): number {
  if (expression.length > longestExpression) {
    throw new RangeError(
      `The expression has ${expression.length} characters; at most ${longestExpression} are read.`,
    );
  }
  const parser = new Parser(expression, tokenize(expression, false));
  const value = parser.parseAll();
  if (parser.problem !== undefined) throw new RangeError(`${parser.problem} in "${expression}".`);
  if (!Number.isFinite(value)) throw new RangeError(`The value of "${expression}" is too large.`);
  return Number.isInteger(value) ? value + 0 : Number(value.toPrecision(15));
}

/**
 * The expressions with at least one operation that stand in a text, as written, from left to right. Whether
 * they have a value is for `evaluate` to say: `1 / 0` is found too.
 */
export function findExpressions(text: string): readonly string[] {
  const tokens = tokenize(text, true);
  const found: string[] = [];
  for (let index = 0; index < tokens.length;) {
    const rest = tokens.slice(index, index + longestExpression);
    const length = new Parser(text, rest).measure();
    const part = rest.slice(0, length);
    const last = part.at(-1);
    if (last !== undefined && part.some((token, at) => at > 0 && operations.has(token.symbol))) {
      found.push(text.slice(part[0]?.start, last.end));
    }
    index += Math.max(length, 1);
  }
  return found;
}

/** Recursive descent, one method a level of precedence, loosest first. */
class Parser {
  /** Why the expression has no value; the first reason wins. */
  problem: string | undefined;
  private readonly text: string;
  private readonly tokens: readonly Token[];
  private position = 0;
  private openParentheses = 0;
  /** Up to here the tokens are an expression, whatever follows. */
  private completeUpTo = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.text = text;
    this.tokens = tokens;
  }

  /** The value of all the tokens. */
  parseAll(): number {
    const value = this.sum();
    if (this.position < this.tokens.length) throw this.unexpected('an operator');
    return value;
  }

  /** How many of the first tokens form an expression; what hangs loose after it is left out. */
  measure(): number {
    try {
      this.sum();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    return this.completeUpTo;
  }

  private sum(): number {
    let value = this.product();
    for (;;) {
      if (this.take('+')) value += this.product();
      else if (this.take('-')) value -= this.product();
      else return value;
    }
  }

  private product(): number {
    let value = this.share();
    for (;;) {
      if (this.take('*')) value *= this.share();
      else if (this.take('/')) value /= this.notZero(this.share(), 'Cannot divide by zero');
      else if (this.take('modulo')) value %= this.notZero(this.share(), 'There is no remainder modulo zero');
      else return value;
    }
  }

  private share(): number {
    let value = this.signed();
    while (this.take('percentOf')) value = (value * this.signed()) / 100;
    return value;
  }

  private signed(): number {
    let factor = 1;
    for (;;) {
      if (this.take('-')) factor = -factor;
      else if (!this.take('+')) return factor * this.power();
    }
  }

  private power(): number {
    const base = this.postfixed();
    if (!this.take('^')) return base;
    const value = base ** this.signed();
    if (Number.isNaN(value)) this.problem ??= 'A root of a negative number has no real value';
    return base === 0 ? this.notInfinite(value) : value;
  }

  private postfixed(): number {
    let value = this.primary();
    for (;;) {
      if (this.openParentheses === 0) this.completeUpTo = this.position;
      if (this.take('percent')) value /= 100;
      else if (this.take('squared')) value **= 2;
      else if (this.take('cubed')) value **= 3;
      else return value;
    }
  }

  private primary(): number {
    const token = this.tokens[this.position];
    if (token !== undefined && token.symbol === undefined) {
      this.position += 1;
      return token.number;
    }
    if (!this.take('(')) throw this.unexpected('a number');
    if (this.openParentheses === deepestParentheses)
      throw this.unexpected(`at most ${deepestParentheses} nested "("`);
    this.openParentheses += 1;
    const value = this.sum();
    if (!this.take(')')) throw this.unexpected('")"');
    this.openParentheses -= 1;
    return value;
  }

  /** Steps over the sign if it is next. */
  private take(sign: Sign): boolean {
    if (this.tokens[this.position]?.symbol !== sign) return false;
    this.position += 1;
    return true;
  }

  private notZero(value: number, problem: string): number {
    if (value === 0) this.problem ??= problem;
    return value;
  }

  private notInfinite(value: number): number {
    if (!Number.isFinite(value)) this.problem ??= 'Cannot divide by zero';
    return value;
  }

  private unexpected(wanted: string): SyntaxError {
    const token = this.tokens[this.position];
    const found =
      token === undefined ? 'it ends there' : `"${this.text.slice(token.start, token.end)}" stands there`;
    const position = (token?.start ?? this.text.length) + 1;
    return new SyntaxError(`Expected ${wanted} at character ${position} of "${this.text}", but ${found}.`);
  }
}
